"""Looking through what a call wants to write, before anything is stored: the finding is named, never echoed."""

from collections.abc import Mapping
from typing import Any, cast

from tokonoma.policy.detections import Detection, find_masks, format_for_journal, mask_text
from tokonoma.policy.rules import WriteAction, WriteRules
from tokonoma.policy.scan import Scanner


class WriteScreen:
    """One a call. `refused` holds (field, kind) of what must not be stored; `masks` the masks that the texts hold."""

    def __init__(self, scanner: Scanner, writes: WriteRules, salt: bytes) -> None:
        self._scanner, self._writes, self._salt = scanner, writes, salt
        self._known = scanner.natures.keys()
        self.refusals: list[tuple[str, str]] = []
        self.masks: set[str] = set()
        self.detections: list[str] = []

    def screen(self, value: Any, field: str = "") -> Any:
        """The value with what the policy wants redacted replaced; the same object where nothing was."""
        if isinstance(value, str):
            return self._screen_text(value, field)
        if isinstance(value, Mapping):
            members = cast("Mapping[Any, Any]", value)
            inner = f"{field}." if field else ""
            made = {self.screen(key, field): self.screen(each, f"{inner}{key}") for key, each in members.items()}
            return made if any(made.get(key) is not each for key, each in members.items()) else members
        if isinstance(value, list):
            items = cast("list[Any]", value)
            listed = [self.screen(each, f"{field}[{place}]") for place, each in enumerate(items)]
            return listed if any(one is not other for one, other in zip(listed, items, strict=True)) else items
        return value

    def _screen_text(self, text: str, field: str) -> str:
        self.masks.update(find_masks(text, self._known))
        finds = self._scanner.scan(text)
        if not finds:
            return text
        self.detections += format_for_journal(text, finds, self._salt)
        self.refusals += [(self._field_name(field), find.kind) for find in finds if self._action(find) == "refuse"]
        redact = [find for find in finds if self._action(find) == "redact"]
        return mask_text(text, redact) if redact else text

    def _field_name(self, field: str) -> str:
        """A field's name may be what was found, when it is a key of somebody's own."""
        finds = self._scanner.scan(field)
        return mask_text(field, finds) or "a value"

    def _action(self, find: Detection) -> WriteAction:
        return self._writes.secret if find.nature == "secret" else self._writes.pii

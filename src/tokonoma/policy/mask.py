"""Masking what leaves: every string of a value, but those whose type says that they are nobody's text."""

import types
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, Required, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from tokonoma.core.concurrency import Deferred
from tokonoma.core.ids import OPAQUE
from tokonoma.policy.detections import format_for_journal, mask_text
from tokonoma.policy.scan import Scanner

_SENSITIVE_NUMBER = 10**9  # a number from here on may be a telephone's or a card's
_WRAPPERS = (NotRequired, Required, Deferred)


class Masker:
    def __init__(self, scanner: Scanner, hidden: frozenset[str], salt: bytes) -> None:
        self._scanner, self._hidden, self._salt = scanner, hidden, salt
        self.detections: list[str] = []

    def mask(self, value: Any, hint: Any = None) -> Any:
        """The value with finds of hidden kinds masked; `hint` is the type that the tool promises."""
        hint, plain = _unwrap_hint(hint)
        if isinstance(value, str):
            return value if plain or get_origin(hint) is Literal else self._mask_text(value)
        if isinstance(value, Mapping):
            return self._mask_mapping(cast("Mapping[Any, Any]", value), hint)
        if isinstance(value, list | tuple):
            inner = next(iter(get_args(hint)), None) if get_origin(hint) in (list, tuple) else None
            return [self.mask(each, inner) for each in cast("list[Any]", value)]
        if isinstance(value, int) and abs(value) >= _SENSITIVE_NUMBER and hint is None:
            shown = self._mask_text(str(value))
            return value if shown == str(value) else shown
        return value

    def _mask_mapping(self, value: Mapping[Any, Any], hint: Any) -> dict[Any, Any]:
        if is_typeddict(hint):
            hints = _member_hints(hint)
            return {key: self.mask(each, hints.get(key)) for key, each in value.items()}
        args = get_args(hint)
        inner = args[1] if get_origin(hint) is dict and len(args) == 2 else None
        return {self.mask(key) if isinstance(key, str) else key: self.mask(each, inner) for key, each in value.items()}

    def _mask_text(self, text: str) -> str:
        finds = [find for find in self._scanner.scan(text) if find.kind in self._hidden]
        if not finds:
            return text
        self.detections += format_for_journal(text, finds, self._salt)
        return mask_text(text, finds)


_MEMBER_HINTS: dict[Any, dict[str, Any]] = {}


def _member_hints(hint: Any) -> dict[str, Any]:
    found = _MEMBER_HINTS.get(hint)
    if found is None:
        found = _MEMBER_HINTS[hint] = get_type_hints(hint, include_extras=True)
    return found


def _unwrap_hint(hint: Any) -> tuple[Any, bool]:
    """A type without its wrappings, and whether it is Plain."""
    plain = False
    while hint is not None:
        if hasattr(hint, "__metadata__"):
            plain = plain or OPAQUE in hint.__metadata__
            hint = hint.__origin__
        elif get_origin(hint) in _WRAPPERS:
            hint = get_args(hint)[0]
        elif get_origin(hint) in (Union, types.UnionType):
            options = [each for each in get_args(hint) if each is not type(None)]
            hint = options[0] if len(options) == 1 else None
        else:
            break
    return (None if hint is Any else hint), plain

"""What detectors find in texts, and how it is hidden: in a result, and in what a call wants to store. Pure."""

import hashlib
import hmac
import types
import typing
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_origin

from tokonoma.core.concurrency import Deferred
from tokonoma.core.ids import OPAQUE

if TYPE_CHECKING:
    from tokonoma.policy.scan import Scanner

Nature = Literal["pii", "secret"]
"""What a detection is by nature. The policy decides which class a text with it gets."""

MatchCheck = Callable[[str, int, int], bool]
"""(normalized text, start, end) → whether the match is meant."""

MatchFinder = Callable[[str], Iterator[tuple[int, int]]]
"""normalized text → start and end of each match."""

_SENSITIVE_NUMBER = 10**9  # a number from here on may be a telephone number or a card number
MASK_PREFIX = "masked:"
_WRAPPERS = (typing.NotRequired, typing.Required, Deferred)


@dataclass(frozen=True, slots=True)
class Detector:
    """An RE2 pattern, what a match of it is, and a check in code of what RE2 cannot express."""

    kind: str
    nature: Nature
    pattern: str
    check: MatchCheck | None = None
    group: int = 0  # the part of the match that is the detection
    trim: str = ""  # signs that are not part of it at its end
    find: MatchFinder | None = None  # finds the matches; the pattern only says whether there can be any
    words: tuple[str, ...] = ()  # in lower case: one of them is in every match, and no pattern is needed to see that


@dataclass(frozen=True, slots=True)
class Detection:
    """It stands at `text[start:end]`; the text itself is not stored here."""

    kind: str
    nature: Nature
    start: int
    end: int


def is_separate_word(text: str, start: int, end: int) -> bool:
    """Whether no ASCII letter or digit touches the word."""
    return not (start and is_ascii_alnum(text[start - 1])) and not (end < len(text) and is_ascii_alnum(text[end]))


def is_ascii_alnum(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


def resolve_overlaps(detections: Iterable[Detection]) -> list[Detection]:
    """In order of place, without overlaps: a secret wins over personal data, then the longer one, then the earlier."""
    resolved: list[Detection] = []
    group: list[Detection] = []  # those that overlap each other, directly or through others
    end = 0
    for one in sorted(detections, key=attrgetter("start")):
        if one.start >= end:
            resolved += _choose_detections(group)
            group = []
        group.append(one)
        end = max(end, one.end)
    return resolved + _choose_detections(group)


def _choose_detections(group: list[Detection]) -> list[Detection]:
    if len(group) < 2:
        return group
    chosen: list[Detection] = []  # in order of place
    for one in sorted(group, key=lambda each: (each.nature != "secret", each.start - each.end, each.start, each.kind)):
        place = bisect_left(chosen, one.start, key=attrgetter("start"))
        # Those already chosen do not overlap each other: only the two beside it can overlap this one.
        if (place == 0 or chosen[place - 1].end <= one.start) and (
            place == len(chosen) or one.end <= chosen[place].start
        ):
            chosen.insert(place, one)
    return chosen


def format_mask(kind: str) -> str:
    """What stands in place of a detection. Texts of people say `[email]` too, but not this."""
    return f"[{MASK_PREFIX}{kind}]"


def mask_text(text: str, detections: Sequence[Detection]) -> str:
    """Replace each detection by its mask. They must not overlap. One that reaches over several lines is replaced in
    each of them: the lines of a file keep their numbers, and no part of it can be taken for a text."""
    if not detections:
        return text
    parts: list[str] = []
    place = 0
    for one in detections:
        lines, mask = text[one.start : one.end].split("\n"), format_mask(one.kind)
        parts += (text[place : one.start], "\n".join(mask if line.strip() else "" for line in lines))
        place = one.end
    return "".join([*parts, text[place:]])


def format_for_journal(text: str, detections: Iterable[Detection], salt: bytes) -> list[str]:
    """`email:1f0c9a2b`. The same text gives the same hash on this server, and another hash on any other server."""
    pairs = ((one.kind, text[one.start : one.end].encode("utf-8", "surrogatepass")) for one in detections)
    return [f"{kind}:{hmac.new(salt, data, hashlib.sha256).hexdigest()[:8]}" for kind, data in pairs]


def count_by_kind(detections: Iterable[Detection]) -> dict[str, int]:
    return dict(sorted(Counter(one.kind for one in detections).items()))


def find_masks(text: str, kinds: Collection[str]) -> list[str]:
    """The masks that a text holds: it may be a masked result that is written back."""
    return [kind for kind in sorted(kinds) if format_mask(kind) in text] if MASK_PREFIX in text else []


def scan_named(scanner: "Scanner", name: str, text: str) -> list[Detection]:
    """What is found in a value beside its name: `password` says what stands after it."""
    start = len(name) + 2
    found = (one for one in scanner.scan(f"{name}: {text}") if one.end > start)
    return [replace(one, start=max(0, one.start - start), end=one.end - start) for one in found]


class Masker:
    """Masks detections of the hidden kinds in every string of a value, except in strings of opaque types and, with
    `keeps_keys`, in the keys of mappings."""

    def __init__(self, scanner: "Scanner", hidden: frozenset[str], salt: bytes, *, keeps_keys: bool = False) -> None:
        self._scanner, self._hidden, self._salt, self._keeps_keys = scanner, hidden, salt, keeps_keys
        self.detections: list[str] = []

    def mask(self, value: Any, hint: Any = None) -> Any:
        """`hint` is the type that the tool declares for the value."""
        hint, opaque = _unwrap_hint(hint)
        if isinstance(value, str):
            return value if opaque or get_origin(hint) is Literal else self._mask_text(value)
        if isinstance(value, Mapping):
            return self._mask_mapping(cast("Mapping[Any, Any]", value), hint)
        if isinstance(value, list | tuple):
            inner = next(iter(get_args(hint)), None) if get_origin(hint) in (list, tuple) else None
            return [self.mask(each, inner) for each in cast("list[Any]", value)]
        if isinstance(value, int) and abs(value) >= _SENSITIVE_NUMBER and hint is None:
            masked = self._mask_text(str(value))
            return value if masked == str(value) else masked
        return value

    def _mask_mapping(self, value: Mapping[Any, Any], hint: Any) -> dict[Any, Any]:
        if typing.is_typeddict(hint):
            hints = _member_hints(hint)
            return {key: self.mask(each, hints.get(key)) for key, each in value.items()}
        args = get_args(hint)
        inner = args[1] if get_origin(hint) is dict and len(args) == 2 else None
        return {
            self._mask_key(key): self._mask_text(each, key)
            if isinstance(each, str) and isinstance(key, str) and inner is None
            else self.mask(each, inner)
            for key, each in value.items()
        }

    def _mask_key(self, key: Any) -> Any:
        return key if self._keeps_keys or not isinstance(key, str) else self._mask_text(key)

    def _mask_text(self, text: str, name: str = "") -> str:
        found = scan_named(self._scanner, name, text) if name else self._scanner.scan(text)
        hidden = [one for one in found if one.kind in self._hidden]
        if not hidden:
            return text
        self.detections += format_for_journal(text, hidden, self._salt)
        return mask_text(text, hidden)


@cache
def _member_hints(hint: Any) -> dict[str, Any]:
    return typing.get_type_hints(hint, include_extras=True)


def _unwrap_hint(hint: Any) -> tuple[Any, bool]:
    """A type without its wrappers, and whether it is opaque."""
    opaque = False
    while hint is not None:
        if hasattr(hint, "__metadata__"):
            opaque = opaque or OPAQUE in hint.__metadata__
            hint = hint.__origin__
        elif get_origin(hint) in _WRAPPERS:
            hint = get_args(hint)[0]
        elif get_origin(hint) in (typing.Union, types.UnionType):
            options = [each for each in get_args(hint) if each is not type(None)]
            hint = options[0] if len(options) == 1 else None
        else:
            break
    return (None if hint is Any else hint), opaque


class WriteScreen:
    """Screens the arguments of one call. `actions` says what to do with each nature: allow, redact or refuse.
    `refusals` holds (field, kind) of what must not be stored; `masks` the masks that the texts hold."""

    def __init__(self, scanner: "Scanner", actions: Mapping[Nature, str], salt: bytes) -> None:
        self._scanner, self._actions, self._salt = scanner, actions, salt
        self.refusals: list[tuple[str, str]] = []
        self.masks: set[str] = set()
        self.detections: list[str] = []

    def screen(self, value: Any, field: str = "") -> Any:
        """The value with redactions; the same object if nothing was redacted."""
        if isinstance(value, str):
            return self._screen_text(value, field)
        if isinstance(value, Mapping):
            members = cast("Mapping[Any, Any]", value)
            prefix = f"{field}." if field else ""
            screened = {self.screen(key, field): self.screen(each, f"{prefix}{key}") for key, each in members.items()}
            return screened if any(screened.get(key) is not each for key, each in members.items()) else members
        if isinstance(value, list):
            items = cast("list[Any]", value)
            listed = [self.screen(each, f"{field}[{place}]") for place, each in enumerate(items)]
            return listed if any(one is not other for one, other in zip(listed, items, strict=True)) else items
        return value

    def _screen_text(self, text: str, field: str) -> str:
        if not text:
            return text
        self.masks.update(find_masks(text, self._scanner.natures.keys()))
        _, is_nested, key = field.rpartition(".")
        found = scan_named(self._scanner, key, text) if is_nested else self._scanner.scan(text)
        if not found:
            return text
        self.detections += format_for_journal(text, found, self._salt)
        # The name of a field may itself be a detection: a key of a mapping is free text.
        name = mask_text(field, self._scanner.scan(field)) or "a value"
        self.refusals += [(name, one.kind) for one in found if self._actions[one.nature] == "refuse"]
        redacted = [one for one in found if self._actions[one.nature] == "redact"]
        return mask_text(text, redacted) if redacted else text

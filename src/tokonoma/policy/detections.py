"""Finds: what the detectors saw in a text, told apart where they overlap, and put out of sight. Pure."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Nature = Literal["pii", "secret"]
"""What a find is by nature. Which class a text with it gets is the policy's to say."""


@dataclass(frozen=True, slots=True)
class Detection:
    """`text[start:end]` is one; the text itself is never kept."""

    kind: str
    nature: Nature
    start: int
    end: int


def resolve_overlaps(finds: Iterable[Detection]) -> list[Detection]:
    """In order of place and none over another: a secret before personal data, then the longer, then the earlier."""
    kept: list[Detection] = []
    for find in sorted(finds, key=lambda each: (each.nature != "secret", each.start - each.end, each.start, each.kind)):
        if all(find.end <= other.start or other.end <= find.start for other in kept):
            kept.append(find)
    return sorted(kept, key=lambda each: each.start)


def mask_text(text: str, finds: Sequence[Detection]) -> str:
    """Each find replaced by its kind: `[email]`. They must be resolved."""
    parts: list[str] = []
    place = 0
    for find in finds:
        parts += (text[place : find.start], f"[{find.kind}]")
        place = find.end
    return "".join([*parts, text[place:]])


def kinds_of(finds: Iterable[Detection]) -> tuple[str, ...]:
    return tuple(sorted({find.kind for find in finds}))


def format_for_journal(text: str, finds: Iterable[Detection], salt: bytes) -> list[str]:
    """For the journal: `email:1f0c9a2b`. The same text gives the same hash here, and nowhere else."""
    return [f"{find.kind}:{_hash(text[find.start : find.end], salt)}" for find in finds]


def count_by_kind(finds: Iterable[Detection]) -> dict[str, int]:
    return dict(sorted(Counter(find.kind for find in finds).items()))


def find_masks(text: str, kinds: Collection[str]) -> list[str]:
    """Masks that a text holds: of a redacted reading, if somebody writes it back."""
    return [kind for kind in sorted(kinds) if f"[{kind}]" in text] if "[" in text else []


def only(finds: Sequence[Detection], wanted: Callable[[Detection], bool]) -> list[Detection]:
    return [find for find in finds if wanted(find)]


def _hash(found: str, salt: bytes) -> str:
    return hmac.new(salt, found.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:8]

"""What counts as a match of a term in a normalized text. Pure functions."""

import re
from collections.abc import Iterator

from tokonoma.modules.manual.edges import find_word_edges

_MIN_TIGHT_CHARS = 5  # of a term that is searched without its spaces


def compile_spaced(needle: str) -> re.Pattern[str]:
    """The letters with little between them, from the start of a word to the end of one: `containerd` is not in
    `a container does`."""
    letters = r"[\W_]{0,2}".join(map(re.escape, needle))
    return re.compile(rf"(?<![a-z0-9]){letters}(?:e?s)?(?![a-z0-9])")


def iter_matches(text: str, needle: str) -> Iterator[int]:
    """Every place of a normalized text at which `find_exact` finds the needle."""
    edges = find_word_edges(needle) if needle else None
    at = text.find(needle) if needle else -1
    while at >= 0:
        if edges is None or edges(text, at, at + len(needle)):
            yield at
        at = text.find(needle, at + 1)


def can_be_loose(needle: str) -> bool:
    """Whether a term without its spaces is long enough to be searched."""
    return bool(needle) and not (len(needle) < _MIN_TIGHT_CHARS and needle.isascii())

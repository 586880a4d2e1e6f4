"""Long texts are cut into pieces that overlap, each with a vector of its own; the best piece counts."""

import re

MAX_CHUNKS = 64
"""Pieces of one text. What lies behind them is found by words."""

_OVERLAP = 0.1
_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"[。．！？!?]|\.\s|\n"), re.compile(r"[\s、，,;；]"))
"""Where a text may be cut, best first: between paragraphs, sentences, words."""


def split_text(text: str, reach: int) -> list[str]:
    """The text itself, if one vector can speak for it; nothing, if it is blank."""
    text = text.strip()
    found: list[str] = []
    start = 0
    while start < len(text) and len(found) < MAX_CHUNKS:
        end = _find_end(text, start, reach)
        found.append(text[start:end].strip())
        if end >= len(text):
            break
        start = max(end - int(reach * _OVERLAP), start + 1)
    return [piece for piece in found if piece]


def _find_end(text: str, start: int, reach: int) -> int:
    """Within the last third that fits, the best place to cut."""
    most = start + reach
    if most >= len(text):
        return len(text)
    least = start + max(reach * 2 // 3, 1)
    for mark in _ENDS:
        places = [found.end() for found in mark.finditer(text, least, most)]
        if places:
            return places[-1]
    return most

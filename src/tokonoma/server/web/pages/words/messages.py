"""What tools, checks and settings say, in Japanese. Their texts are English; a page that knows one shows it in its own
language, and any other as it is.

`{}` stands for a value, which is taken over as it is. Texts are compared piece by piece with `str.find`, so the time is
proportional to the text."""

from collections.abc import Sequence
from functools import cache

from tokonoma.server.web.pages.words import said_findings, said_refusals, said_settings, said_tools

MESSAGES = {
    **said_refusals.MESSAGES,
    **said_findings.MESSAGES,
    **said_settings.MESSAGES,
    **said_tools.MESSAGES,
}
_MAX_LENGTH = 2_000
_LISTED = "; "
"""Between reasons that a tool gives together."""


def find_message(text: str) -> str | None:
    """The text in Japanese; None for one that is not in the tables. Reasons that are listed are found one by one."""
    if len(text) > _MAX_LENGTH:
        return None
    found = _find_one(text)
    if found is not None or _LISTED not in text:
        return found
    parts = [_find_one(part) for part in text.split(_LISTED)]
    return "、".join(part for part in parts if part is not None) if all(parts) else None


def _find_one(text: str) -> str | None:
    exact = MESSAGES.get(text)
    if exact is not None:
        return exact
    for pieces, japanese in _list_patterns():
        if text.startswith(pieces[0]) and (values := _take_values(text, pieces)) is not None:
            return japanese.format(*values)
    return None


@cache
def _list_patterns() -> list[tuple[Sequence[str], str]]:
    """Those with values, the longest first: a short one may be the beginning of another."""
    patterns = [(english.split("{}"), japanese) for english, japanese in MESSAGES.items() if "{}" in english]
    return sorted(patterns, key=lambda each: -sum(map(len, each[0])))


def _take_values(text: str, pieces: Sequence[str]) -> list[str] | None:
    """What stands between the pieces, or None if the text is another."""
    first, *between, last = pieces
    end = len(text) - len(last)
    if not text.endswith(last) or end < len(first):
        return None
    values: list[str] = []
    at = len(first)
    for piece in between:
        found = text.find(piece, at, end)
        if found < 0:
            return None
        values.append(text[at:found])
        at = found + len(piece)
    return [*values, text[at:end]]

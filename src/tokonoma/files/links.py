"""Links, comments and marks in a line of Markdown. Pure functions, in time linear in the length of the text.

A regular expression for a link starts again at every bracket, and each start may look through all that follows. Here
the next closing sign is looked up once and remembered.
"""

import re
from collections.abc import Iterator

_MAX_LABEL = 300
_TARGET_END, _LINK_END, _ANCHOR_END = re.compile(r"[)\s>]"), re.compile(r"[)\n]"), re.compile(r"[)\s]")
_SPACES = re.compile(r"\s*")
_SIGNS = re.compile(r"[*_`]+")


class _NextMatch:
    """Where a pattern matches next. Asked for rising places, it looks at each character once."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern, self._text, self._at = pattern, text, -1

    def after(self, place: int) -> int:
        """The first match from here on; the length of the text if there is none."""
        if self._at < place:
            found = self._pattern.search(self._text, place)
            self._at = found.start() if found else len(self._text)
        return self._at


def find_link_targets(text: str) -> Iterator[str]:
    """The targets of `[label](target "title")`, not of pictures. A label and a link end in the line in which they
    start."""
    stops, ends = _NextMatch(_TARGET_END, text), _NextMatch(_LINK_END, text)
    start = 0
    place = text.find("](")
    while place >= 0:
        body = place + 2
        if _has_label(text, start, place):
            first = _skip_opening(text, body, stops)
            stop = stops.after(first)
            end = ends.after(stop)
            if stop > first and text[end : end + 1] == ")":
                yield text[first:stop]
                start = body = end + 1
        place = text.find("](", body)


def find_anchor_links(text: str) -> Iterator[str]:
    """The anchors of `[label](#anchor)`."""
    stops = _NextMatch(_ANCHOR_END, text)
    start = 0
    place = text.find("](#")
    while place >= 0:
        first = place + 3
        stop = stops.after(first)
        if (
            stop > first
            and text[stop : stop + 1] == ")"
            and text.rfind("[", _label_start(text, start, place), place) >= 0
        ):
            yield text[first:stop]
            start = first = stop + 1
        place = text.find("](#", first)


def remove_comments(text: str) -> str:
    """The text without its HTML comments; one that does not end stays."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join([*parts, text[at:]])


def strip_marks(text: str) -> str:
    """The text without signs of emphasis and code, and with the labels of its links instead of the links."""
    parts: list[str] = []
    at = 0
    place = text.find("[")
    while place >= 0 and (close := text.find("]", place)) >= 0:
        body = close + 1
        if text.startswith("(", body):
            end = text.find(")", body)
            if end < 0:
                break
            before = text[at : place - 1] if text[place - 1 : place] == "!" and place > at else text[at:place]
            parts += (_SIGNS.sub("", before), text[place + 1 : close])
            at = body = end + 1
        place = text.find("[", body)
    return "".join([*parts, _SIGNS.sub("", text[at:])])


def _label_start(text: str, start: int, place: int) -> int:
    """A label contains no closing bracket."""
    return max(start, text.rfind("]", start, place) + 1)


def _has_label(text: str, start: int, place: int) -> bool:
    low = max(_label_start(text, start, place), place - _MAX_LABEL - 1)
    low = max(low, text.rfind("\n", low, place) + 1)
    opening = text.rfind("[", low, place)
    while opening >= 0 and opening and text[opening - 1] == "!":
        opening = text.rfind("[", low, opening)
    return opening >= 0


def _skip_opening(text: str, body: int, stops: _NextMatch) -> int:
    """The first character of a target: after spaces and, if something follows it, after `<`."""
    found = _SPACES.match(text, body)
    first = found.end() if found else body
    return first + 1 if text[first : first + 1] == "<" and stops.after(first + 1) > first + 1 else first

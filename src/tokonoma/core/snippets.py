"""Text for people: the part of a long text that answers a query."""

import re

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_STEP = 200


def extract_snippet(text: str, query: str, size: int) -> tuple[str, bool]:
    """The text itself if it is short; else the window of about `size` characters with most of the query in it."""
    if len(text) <= size:
        return text, False
    wanted = _split_query(query)
    if not wanted:
        return text[:size], True
    folded = text.casefold()
    if len(folded) != len(text):  # a few letters grow when folded: then places would not match
        folded = text.lower() if len(text.lower()) == len(text) else text
    start = _find_window(folded, wanted, size)
    return text[start : start + size], True


def _split_query(query: str) -> set[str]:
    """What to look for: words of alphabets whole, and pairs of characters where words are not set apart."""
    found: set[str] = set()
    for word in _WORDS.findall(query.casefold()[:2000]):
        if word.isascii() or len(word) <= 2:
            found.add(word)
        else:
            found |= {word[place : place + 2] for place in range(len(word) - 1)}
    return found


def _find_window(folded: str, wanted: set[str], size: int) -> int:
    """Where the window begins that holds most different wanted pieces; the first of equals."""
    places: list[tuple[int, str]] = []
    for piece in wanted:
        place = folded.find(piece)
        while place >= 0 and len(places) < 20_000:
            places.append((place, piece))
            place = folded.find(piece, place + max(1, len(piece)))
    best, most, low, inside = 0, 0, 0, dict[str, int]()
    places.sort()
    for place, piece in places:
        inside[piece] = inside.get(piece, 0) + 1
        while places[low][0] < place - size + _STEP:
            gone = places[low][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            low += 1
        if len(inside) > most:
            best, most = places[low][0], len(inside)
    return max(0, min(best - _STEP // 4, len(folded) - size))

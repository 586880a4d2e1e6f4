"""Where in a JSON file a term stands, as a JSON Pointer (RFC 6901)."""

import json
from collections.abc import Sequence
from typing import Any, cast

from tokonoma.core.normalize import fold
from tokonoma.modules.manual.terms import Term

_VISITED = 100_000  # values looked at


def pointer(text: str, terms: Sequence[Term]) -> str | None:
    """The first key or value, in the order of the file, that holds one of the terms; None if none does."""
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    wanted = [term.folded for term in terms if term.folded]
    waiting: list[tuple[str, Any]] = [("", root)]
    for _ in range(_VISITED):
        if not waiting:
            return None
        place, value = waiting.pop()
        if _holds(place.rpartition("/")[2].replace("~1", "/").replace("~0", "~"), wanted):
            return place
        if isinstance(value, dict):
            below = [(f"{place}/{_escaped(key)}", each) for key, each in cast("dict[str, Any]", value).items()]
            waiting += reversed(below)
        elif isinstance(value, list):
            listed = cast("list[Any]", value)
            waiting += reversed([(f"{place}/{number}", each) for number, each in enumerate(listed)])
        elif isinstance(value, str) and _holds(value, wanted):
            return place
    return None


def _holds(text: str, wanted: Sequence[str]) -> bool:
    folded = fold(text)
    return any(each in folded for each in wanted)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

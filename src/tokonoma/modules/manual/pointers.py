"""Where in a JSON file a term stands, as a JSON Pointer (RFC 6901)."""

import json
from collections.abc import Sequence
from typing import Any, cast

from tokonoma.core.normalize import normalize
from tokonoma.modules.manual.terms import QueryTerm

_MAX_VISITED = 100_000  # values looked at


def find_pointer(text: str, terms: Sequence[QueryTerm]) -> str | None:
    """The first key or value, in the order of the file, that holds one of the terms; None if none does."""
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    wanted = [term.folded for term in terms if term.folded]
    waiting: list[tuple[str, Any]] = [("", root)]
    for _ in range(_MAX_VISITED):
        if not waiting:
            return None
        place, value = waiting.pop()
        if _contains(place.rpartition("/")[2].replace("~1", "/").replace("~0", "~"), wanted):
            return place
        if isinstance(value, dict):
            below = [(f"{place}/{_escape_key(key)}", each) for key, each in cast("dict[str, Any]", value).items()]
            waiting += reversed(below)
        elif isinstance(value, list):
            listed = cast("list[Any]", value)
            waiting += reversed([(f"{place}/{number}", each) for number, each in enumerate(listed)])
        elif isinstance(value, str) and _contains(value, wanted):
            return place
    return None


def _contains(text: str, wanted: Sequence[str]) -> bool:
    folded = normalize(text)
    return any(each in folded for each in wanted)


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

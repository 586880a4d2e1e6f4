"""JSONL, read strictly: one object a line, no comments, no NaN, no key twice, bounded in size and depth. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import orjson

from tokonoma.gateway.expand import MAX_DEPTH, measure_depth
from tokonoma.gateway.problems import BatchProblems

_ID = re.compile(r'"id"\s*:\s*"([\w-]{1,64})"')


@dataclass(frozen=True, slots=True)
class BatchLimits:
    steps: int = 100
    characters: int = 4 * 1024 * 1024
    seconds: float = 600  # the longest time limit that may be asked for


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line that is not blank. Of a broken one at least the id is kept, so that others may name it."""

    number: int
    value: dict[str, Any] | None
    id: str = ""


def read_lines(text: str, faults: BatchProblems, limits: BatchLimits) -> list[JsonLine]:
    """The lines, each with its number. A limit that is passed is the only fault told: the rest was not looked at."""
    if len(text) > limits.characters:
        faults.add(1, f"The batch has {len(text)} characters; at most {limits.characters} are allowed.")
        return []
    # U+2028 and its kind may stand inside a JSON string: only a line feed ends a line.
    written = [(number, raw) for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1) if raw.strip()]
    if not written:
        faults.add(1, "The batch is empty. Write one JSON object a line, each with id, module and tool.")
    elif len(written) > limits.steps:
        number = written[limits.steps][0]
        faults.add(number, f"The batch has {len(written)} steps; at most {limits.steps} are allowed.")
        return []
    return [_parse_line(number, raw, faults) for number, raw in written]


def _parse_line(number: int, raw: str, faults: BatchProblems) -> JsonLine:
    wrong = list(_find_problems(raw))
    if not wrong:
        return JsonLine(number, orjson.loads(raw))
    id = found[1] if (found := _ID.search(raw)) else ""
    for message in wrong:
        faults.add(number, message, id=id)
    return JsonLine(number, None, id)


def _find_problems(raw: str) -> Iterator[str]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if raw.lstrip().startswith(("//", "#", "/*")):
            yield "Not JSON: comments are not allowed."
        else:
            yield f"Not JSON: {error.msg} (column {error.colno}). Each line is one whole JSON object."
        return
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else f"only {raw.strip()[:40]}"
        yield f"This line is {kind}. Each line is one JSON object, without brackets or commas around the lines."
    elif measure_depth(cast(dict[str, Any], value)) > MAX_DEPTH:
        yield f"The objects of this line nest deeper than {MAX_DEPTH}."
    else:
        yield from (f"The key {key!r} stands twice in one object." for key in _find_duplicate_keys(raw))


def _find_duplicate_keys(raw: str) -> list[str]:
    """The keys that one object holds twice: a reader would silently keep the last."""
    doubled: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) != len(dict(pairs)):
            doubled.extend(key[:60] for key, count in Counter(key for key, _ in pairs).items() if count > 1)

    # The values are not kept, so numbers need not be read.
    json.loads(raw, object_pairs_hook=look, parse_int=len, parse_float=len)
    return doubled

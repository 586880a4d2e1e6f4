"""Parsing a batch: JSONL lines become steps. All problems of all lines are collected before anything runs.

JSONL is read strictly: one object a line, no comments, no NaN, no duplicate keys, bounded in size and depth. Pure.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import orjson

from tokonoma.catalogue.slips import describe_name
from tokonoma.core.errors import Invalid, Refusal, find_nearest
from tokonoma.core.field_paths import InvalidPath, parse_field_path, shorten
from tokonoma.core.json_keys import find_duplicate_keys, has_duplicate_keys
from tokonoma.core.module import ToolInfo
from tokonoma.gateway import references as refs
from tokonoma.gateway.references import MAX_DEPTH, StepReference, find_references
from tokonoma.gateway.slips import read_step

FindTool = Callable[[str, str], ToolInfo]
"""module, tool → the tool that this caller can see; a Refusal names the nearest ones"""
CheckParams = Callable[[ToolInfo, Mapping[str, Any]], object]
"""Refuses bad parameters with `problems`, each with `field` and `message`, and the `signature`"""

FIELDS = ("id", "module", "tool", "params", "after", "output", "fields", "time_limit")
_MAX_FIELDS = 100
_MAX_REFERENCES = 1000
MAX_PROBLEMS = 100  # reported; the rest are only counted
_MAX_COMPARED = 20  # problems with a search for near names: each costs a comparison with every known name
_ID = re.compile(r'"id"\s*:\s*"([\w-]{1,64})"')


class BatchProblems:
    """What is wrong with a batch, line by line."""

    def __init__(self) -> None:
        self._problems: list[dict[str, Any]] = []
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, line: int, message: str, *, id: str = "", field: str = "", **more: Any) -> None:
        """Add one problem. `more` may hold `allowed`, `nearest`, `signature`, …; empty values are left out."""
        self._count += 1
        if len(self._problems) < MAX_PROBLEMS:
            problem = {"line": line, "id": id, "field": field, "message": message, **more}
            self._problems.append({key: value for key, value in problem.items() if value not in (None, "", [])})

    def find_near(self, name: str, known: Iterable[str]) -> list[str]:
        """The known names that may have been meant."""
        return find_nearest(name, islice(known, 1000)) if self._count < _MAX_COMPARED else []

    def to_refusal(self, lines: int) -> Invalid:
        errors = sorted(self._problems, key=lambda problem: problem["line"])
        first = f"Line {errors[0]['line']}: {errors[0]['message']}"
        count = f"{self._count} problems in {lines} lines" if self._count > 1 else "a problem"
        details: dict[str, Any] = {"errors": errors}
        if self._count > len(errors):
            details["errors_total"] = self._count
        return Invalid(f"Nothing was run: the batch has {count}. {first}", reason="plan", **details)


@dataclass(frozen=True, slots=True)
class BatchLimits:
    steps: int = 100
    characters: int = 4 * 1024 * 1024
    seconds: float = 600  # the longest time limit that may be asked for


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line that is not blank. A broken line keeps its id, so that others may name it."""

    number: int
    value: dict[str, Any] | None
    id: str = ""


def read_lines(text: str, problems: BatchProblems, limits: BatchLimits) -> list[JsonLine]:
    """The lines, each with its number. Above a limit that is the only problem: the rest was not read."""
    if len(text) > limits.characters:
        problems.add(1, f"The batch has {len(text)} characters; at most {limits.characters} are allowed.")
        return []
    # U+2028 and its kind may stand inside a JSON string: only a line feed ends a line.
    written = list(islice(_iterate_lines(text.removeprefix("\ufeff")), limits.steps + 1))
    if not written:
        problems.add(1, "The batch is empty. Write one JSON object per line, each with id, module and tool.")
    elif len(written) > limits.steps:
        number = written[limits.steps][0]
        count = sum(1 for _ in _iterate_lines(text))
        problems.add(number, f"The batch has {count} steps; at most {limits.steps} are allowed.")
        return []
    return [_parse_line(number, raw, problems) for number, raw in written]


def _iterate_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, one by one: a text may have millions."""
    start = number = 0
    while start < len(text):
        end = text.find("\n", start)
        raw = text[start : end if end >= 0 else None]
        start, number = end + 1 if end >= 0 else len(text), number + 1
        if raw.strip():
            yield number, raw


def _parse_line(number: int, raw: str, problems: BatchProblems) -> JsonLine:
    messages = list(_find_problems(raw))
    id = found[1] if messages and (found := _ID.search(raw)) else ""
    for message in messages:
        problems.add(number, message, id=id)
    return JsonLine(number, None if messages else orjson.loads(raw), id)


def _find_problems(raw: str) -> Iterator[str]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        is_comment = raw.lstrip().startswith(("//", "#", "/*"))
        other = f"{error.msg} (column {error.colno}). Each line must be one complete JSON object."
        yield f"Not JSON: {'comments are not allowed.' if is_comment else other}"
        return
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else f"only {raw.strip()[:40]}"
        yield f"This line is {kind}. Each line is one JSON object, without brackets or commas around the lines."
    elif refs.measure_depth(cast(dict[str, Any], value)) > MAX_DEPTH:
        yield f"The objects of this line are nested deeper than {MAX_DEPTH}."
    elif has_duplicate_keys(raw.encode(), value):
        yield from (f"The key {key!r} occurs twice in one object." for key in find_duplicate_keys(raw))


@dataclass(frozen=True, slots=True)
class BatchStep:
    line: int
    id: str  # empty only in a batch that is refused
    tool: ToolInfo
    params: Mapping[str, Any]  # references not yet expanded
    after: tuple[str, ...]  # the steps that it waits for: from `after`, then (in a plan) from its references
    references: tuple[StepReference, ...]
    output: bool = False
    fields: tuple[str, ...] | None = None
    time_limit: float | None = None

    @property
    def reads(self) -> set[str]:
        """The steps whose results it reads."""
        return {reference.id for reference in self.references}


class StepParser:
    """Parses the lines of one batch, field by field, and adds every problem to `problems`."""

    def __init__(self, problems: BatchProblems, lookup: FindTool, check: CheckParams, limits: BatchLimits) -> None:
        self._problems, self._find, self._check, self._limits = problems, lookup, check, limits
        self._line, self._id = 0, ""
        self.corrections: list[str] = []

    def parse_step(self, line: int, given: Mapping[str, Any]) -> BatchStep:
        self._line, self._id = line, ""
        raw, corrections = read_step(given)
        self._id = self._parse_id(raw)
        self._note(*corrections)
        for key in {key: given[key] for key in given if given[key] is None} | raw:
            if key not in FIELDS:
                near = self._problems.find_near(key, FIELDS)
                self._add_problem(key[:60], f"Unknown field {shorten(key)!r}.", allowed=FIELDS, nearest=near)
        tool = self._find_tool(raw)
        params = self._parse_params(raw)
        found = list(islice(find_references(params or {}), _MAX_REFERENCES + 1))
        if tool is not None and params is not None:
            self._check_params(tool, params, bool(found))
        output = raw.get("output", False)
        if not isinstance(output, bool):
            self._add_problem("output", "output must be true or false.")
        return BatchStep(
            line=line,
            id=self._id,
            tool=cast(ToolInfo, tool),  # None only in a batch that is refused
            params=params or {},
            after=self._parse_after(raw),
            references=self._collect_references(found),
            output=output is True,
            fields=self._parse_fields(raw, output is True),
            time_limit=self._parse_time_limit(raw),
        )

    def _add_problem(self, field: str, message: str, **more: Any) -> None:
        self._problems.add(self._line, message, id=self._id, field=field, **more)

    def _note(self, *corrections: str) -> None:
        self.corrections += [f"{self._id}: {each}" for each in corrections]

    def _parse_text(self, raw: Mapping[str, Any], key: str) -> str | None:
        value = raw.get(key)
        if isinstance(value, str) and value:
            return value
        self._add_problem(key, f"{key} is required." if key not in raw else f"{key} must be a non-empty string.")
        return None

    def _parse_id(self, raw: Mapping[str, Any]) -> str:
        id = self._parse_text(raw, "id") or ""
        if not id or refs.STEP_ID.fullmatch(id):
            return id
        self._add_problem("id", f"The id {shorten(id)!r} must be 1 to 64 letters, digits, _ or -.")
        return ""

    def _find_tool(self, raw: Mapping[str, Any]) -> ToolInfo | None:
        module, tool = self._parse_text(raw, "module"), self._parse_text(raw, "tool")
        if module is None or tool is None:
            return None
        try:
            found = self._find(module, tool)
            self._note(*filter(None, [describe_name(tool, found)]))
            return found
        except Refusal as refusal:
            field = "module" if refusal.reason == "module" else "tool"
            self._add_problem(field, refusal.message, nearest=refusal.details.get("nearest"))
            return None

    def _parse_params(self, raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
        params = raw.get("params", {})
        if isinstance(params, dict):
            return cast(dict[str, Any], params)
        self._add_problem("params", "params must be an object.")
        return None

    def _collect_references(self, found: Sequence[refs.FoundReference]) -> tuple[StepReference, ...]:
        if len(found) > _MAX_REFERENCES:
            self._add_problem("params", f"The step has more than {_MAX_REFERENCES} references.")
        named: dict[str, StepReference] = {}
        for place, each in found:
            if isinstance(each, InvalidPath):
                self._add_problem(place, str(each))
            else:
                named.setdefault(each.text, each)
        return tuple(named.values())

    def _check_params(self, tool: ToolInfo, params: Mapping[str, Any], has_references: bool) -> None:
        """The value of a parameter with a reference is checked when it is known; its name is checked now."""
        try:
            self._check(tool, params if has_references else refs.expand(params, {}))
        except Refusal as refusal:
            problems = cast(list[Mapping[str, Any]], refusal.details.get("problems", []))
            unknown = {key for key, value in params.items() if next(find_references({key: value}), None)}
            known: Mapping[str, Any] = tool.input.get("properties", {})
            signature = {"signature": tool.signature}  # once a line
            for problem in problems or [{"field": "", "message": refusal.message}]:
                name = str(problem["field"]).partition(".")[0]
                if (name in unknown and name in known) or (not name and has_references):
                    continue
                field = f"params.{problem['field']}" if name else "params"
                more = {key: value for key, value in problem.items() if key not in ("field", "message")}
                self._add_problem(field, f"{field}: {problem['message']}", **more, **signature)
                signature = {}

    def _parse_after(self, raw: Mapping[str, Any]) -> tuple[str, ...]:
        given = raw.get("after", [])
        listed = [given] if isinstance(given, str) else given
        if isinstance(listed, list) and all(isinstance(each, str) for each in cast(list[Any], listed)):
            return tuple(dict.fromkeys(cast(list[str], listed)))
        self._add_problem("after", "after must be the id of a step or a list of ids.")
        return ()

    def _parse_fields(self, raw: Mapping[str, Any], output: bool) -> tuple[str, ...] | None:
        if "fields" not in raw:
            return None
        given = raw["fields"]
        if not isinstance(given, list) or not all(isinstance(each, str) for each in cast(list[Any], given)):
            self._add_problem("fields", 'fields must be a list of paths, like ["total", "items.id"].')
            return None
        listed = tuple(dict.fromkeys(cast(list[str], given)))
        if not output:
            message = 'fields selects what is returned, but this step returns nothing: add "output": true.'
            self._add_problem("fields", message)
        if not 0 < len(listed) <= _MAX_FIELDS:
            self._add_problem("fields", f"fields must name 1 to {_MAX_FIELDS} paths; leave it out for everything.")
        for path in listed:
            try:
                _ = path == "*" or parse_field_path(path)
            except InvalidPath as error:
                self._add_problem("fields", str(error))
        return None if "*" in listed else listed

    def _parse_time_limit(self, raw: Mapping[str, Any]) -> float | None:
        value = raw.get("time_limit")
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= self._limits.seconds:
            return float(value)
        self._add_problem("time_limit", f"time_limit is in seconds: more than 0 and at most {self._limits.seconds:g}.")
        return None

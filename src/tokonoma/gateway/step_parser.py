"""One line of a batch, read field by field: whatever can be told about it is told, even if something else is wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from tokonoma.core.errors import Refusal
from tokonoma.core.module import ToolInfo
from tokonoma.gateway.expand import expand, find_references
from tokonoma.gateway.jsonl import BatchLimits
from tokonoma.gateway.problems import BatchProblems
from tokonoma.gateway.reference import STEP_ID, InvalidPath, StepReference, parse_field_path, shorten

FindTool = Callable[[str, str], ToolInfo]
"""module, tool → the entry that this caller can see; a Refusal says what is near"""
CheckParams = Callable[[ToolInfo, Mapping[str, Any]], object]
"""Refuses bad parameters with `problems`, each with `field` and `message`, and the `signature`"""

FIELDS = ("id", "module", "tool", "params", "after", "output", "fields", "time_limit")
_MAX_FIELDS = 100
_MAX_REFERENCES = 1000


@dataclass(frozen=True, slots=True)
class ParsedStep:
    line: int
    id: str  # empty where it cannot be used
    tool: ToolInfo | None
    params: Mapping[str, Any]
    after: tuple[str, ...]  # as asked for
    references: tuple[StepReference, ...]
    output: bool
    fields: tuple[str, ...] | None
    time_limit: float | None


class StepParser:
    """Reads the lines of one batch; the faults that it finds go into `faults`."""

    def __init__(self, faults: BatchProblems, lookup: FindTool, check: CheckParams, limits: BatchLimits) -> None:
        self._problems, self._find, self._check, self._limits = faults, lookup, check, limits
        self._line, self._id = 0, ""

    def parse_step(self, line: int, given: Mapping[str, Any]) -> ParsedStep:
        self._line, self._id = line, ""
        raw = {key: value for key, value in given.items() if value is not None}  # null means absent
        self._id = self._parse_id(raw)
        for key in given:
            if key not in FIELDS:
                near = self._problems.find_near(key, FIELDS)
                self._add_problem(key[:60], f"Unknown field {shorten(key)!r}.", allowed=FIELDS, nearest=near)
        entry = self._find_tool(raw)
        params = self._parse_params(raw)
        found = list(islice(find_references(params or {}), _MAX_REFERENCES + 1))
        if entry is not None and params is not None:
            self._check_params(entry, params, bool(found))
        output = self._parse_flag(raw, "output")
        return ParsedStep(
            line=line,
            id=self._id,
            tool=entry,
            params=params or {},
            after=self._parse_after(raw),
            references=self._collect_references(found),
            output=output,
            fields=self._parse_fields(raw, output),
            time_limit=self._parse_time_limit(raw),
        )

    def _add_problem(self, field: str, message: str, **more: Any) -> None:
        self._problems.add(self._line, message, id=self._id, field=field, **more)

    def _parse_text(self, raw: Mapping[str, Any], key: str) -> str | None:
        value = raw.get(key)
        if isinstance(value, str) and value:
            return value
        self._add_problem(key, f"{key} is required." if key not in raw else f"{key} must be a text that is not empty.")
        return None

    def _parse_id(self, raw: Mapping[str, Any]) -> str:
        id = self._parse_text(raw, "id") or ""
        if not id or STEP_ID.fullmatch(id):
            return id
        self._add_problem("id", f"The id {shorten(id)!r} may hold only letters, digits, _ and -, at most 64 of them.")
        return ""

    def _find_tool(self, raw: Mapping[str, Any]) -> ToolInfo | None:
        module, tool = self._parse_text(raw, "module"), self._parse_text(raw, "tool")
        if module is None or tool is None:
            return None
        try:
            return self._find(module, tool)
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

    def _collect_references(
        self, found: Sequence[tuple[str, StepReference | InvalidPath]]
    ) -> tuple[StepReference, ...]:
        if len(found) > _MAX_REFERENCES:
            self._add_problem("params", f"The step holds more than {_MAX_REFERENCES} references.")
        named: dict[str, StepReference] = {}
        for place, each in found:
            if isinstance(each, InvalidPath):
                self._add_problem(place, str(each))
            else:
                named.setdefault(each.text, each)
        return tuple(named.values())

    def _check_params(self, entry: ToolInfo, params: Mapping[str, Any], referring: bool) -> None:
        """A parameter that holds a reference is judged when its value is known; its name can be judged now."""
        try:
            self._check(entry, params if referring else expand(params, {}))
        except Refusal as refusal:
            problems = cast(list[Mapping[str, Any]], refusal.details.get("problems", []))
            open_ = {key for key, value in params.items() if next(find_references({key: value}), None)}
            known: Mapping[str, Any] = entry.input.get("properties", {})
            told = {"signature": entry.signature}  # once a line
            for problem in problems or [{"field": "", "message": refusal.message}]:
                name = str(problem["field"]).partition(".")[0]
                if (name in open_ and name in known) or (not name and referring):
                    continue
                field = f"params.{problem['field']}" if name else "params"
                more = {key: value for key, value in problem.items() if key not in ("field", "message")}
                self._add_problem(field, f"{field}: {problem['message']}", **more, **told)
                told = {}

    def _parse_after(self, raw: Mapping[str, Any]) -> tuple[str, ...]:
        given = raw.get("after", [])
        listed = [given] if isinstance(given, str) else given
        if isinstance(listed, list) and all(isinstance(each, str) for each in cast(list[Any], listed)):
            return tuple(dict.fromkeys(cast(list[str], listed)))
        self._add_problem("after", "after must be the id of a step or a list of ids.")
        return ()

    def _parse_flag(self, raw: Mapping[str, Any], key: str) -> bool:
        value = raw.get(key, False)
        if not isinstance(value, bool):
            self._add_problem(key, f"{key} must be true or false.")
        return value is True

    def _parse_fields(self, raw: Mapping[str, Any], output: bool) -> tuple[str, ...] | None:
        if "fields" not in raw:
            return None
        given = raw["fields"]
        if not isinstance(given, list) or not all(isinstance(each, str) for each in cast(list[Any], given)):
            self._add_problem("fields", 'fields must be a list of paths, like ["total", "items.id"].')
            return None
        listed = tuple(dict.fromkeys(cast(list[str], given)))
        if not output:
            self._add_problem(
                "fields", 'fields shapes what comes back, and this step gives nothing back: add "output": true.'
            )
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
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 < value <= self._limits.seconds:
            return float(value)
        self._add_problem("time_limit", f"time_limit is in seconds: more than 0 and at most {self._limits.seconds:g}.")
        return None

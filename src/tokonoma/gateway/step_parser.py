"""One line of a batch, read field by field: whatever can be told about it is told, even if something else is wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from tokonoma.core.errors import Refusal
from tokonoma.core.module import Entry
from tokonoma.gateway.expand import expand, references
from tokonoma.gateway.jsonl import Limits
from tokonoma.gateway.problems import Faults
from tokonoma.gateway.reference import ID, NoPath, Reference, field_path, shortened

Lookup = Callable[[str, str], Entry]
"""module, tool → the entry that this caller can see; a Refusal says what is near"""
Check = Callable[[Entry, Mapping[str, Any]], object]
"""Refuses bad parameters with `problems`, each with `field` and `message`, and the `signature`"""

FIELDS = ("id", "module", "tool", "params", "after", "output", "fields", "time_limit")
_MOST_FIELDS = 100
_MOST_REFERENCES = 1000


@dataclass(frozen=True, slots=True)
class Draft:
    line: int
    id: str  # empty where it cannot be used
    entry: Entry | None
    params: Mapping[str, Any]
    after: tuple[str, ...]  # as asked for
    references: tuple[Reference, ...]
    output: bool
    fields: tuple[str, ...] | None
    time_limit: float | None


class Reader:
    """Reads the lines of one batch; the faults that it finds go into `faults`."""

    def __init__(self, faults: Faults, lookup: Lookup, check: Check, limits: Limits) -> None:
        self._faults, self._lookup, self._check, self._limits = faults, lookup, check, limits
        self._line, self._id = 0, ""

    def read(self, line: int, given: Mapping[str, Any]) -> Draft:
        self._line, self._id = line, ""
        raw = {key: value for key, value in given.items() if value is not None}  # null means absent
        self._id = self._identity(raw)
        for key in given:
            if key not in FIELDS:
                near = self._faults.near(key, FIELDS)
                self._fault(key[:60], f"Unknown field {shortened(key)!r}.", allowed=FIELDS, nearest=near)
        entry = self._entry(raw)
        params = self._params(raw)
        found = list(islice(references(params or {}), _MOST_REFERENCES + 1))
        if entry is not None and params is not None:
            self._checked(entry, params, bool(found))
        output = self._flag(raw, "output")
        return Draft(
            line=line,
            id=self._id,
            entry=entry,
            params=params or {},
            after=self._after(raw),
            references=self._references(found),
            output=output,
            fields=self._fields(raw, output),
            time_limit=self._seconds(raw),
        )

    def _fault(self, field: str, message: str, **more: Any) -> None:
        self._faults.add(self._line, message, id=self._id, field=field, **more)

    def _text(self, raw: Mapping[str, Any], key: str) -> str | None:
        value = raw.get(key)
        if isinstance(value, str) and value:
            return value
        self._fault(key, f"{key} is required." if key not in raw else f"{key} must be a text that is not empty.")
        return None

    def _identity(self, raw: Mapping[str, Any]) -> str:
        id = self._text(raw, "id") or ""
        if not id or ID.fullmatch(id):
            return id
        self._fault("id", f"The id {shortened(id)!r} may hold only letters, digits, _ and -, at most 64 of them.")
        return ""

    def _entry(self, raw: Mapping[str, Any]) -> Entry | None:
        module, tool = self._text(raw, "module"), self._text(raw, "tool")
        if module is None or tool is None:
            return None
        try:
            return self._lookup(module, tool)
        except Refusal as refusal:
            field = "module" if refusal.reason == "module" else "tool"
            self._fault(field, refusal.message, nearest=refusal.details.get("nearest"))
            return None

    def _params(self, raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
        params = raw.get("params", {})
        if isinstance(params, dict):
            return cast(dict[str, Any], params)
        self._fault("params", "params must be an object.")
        return None

    def _references(self, found: Sequence[tuple[str, Reference | NoPath]]) -> tuple[Reference, ...]:
        if len(found) > _MOST_REFERENCES:
            self._fault("params", f"The step holds more than {_MOST_REFERENCES} references.")
        named: dict[str, Reference] = {}
        for place, each in found:
            if isinstance(each, NoPath):
                self._fault(place, str(each))
            else:
                named.setdefault(each.text, each)
        return tuple(named.values())

    def _checked(self, entry: Entry, params: Mapping[str, Any], referring: bool) -> None:
        """A parameter that holds a reference is judged when its value is known; its name can be judged now."""
        try:
            self._check(entry, params if referring else expand(params, {}))
        except Refusal as refusal:
            problems = cast(list[Mapping[str, Any]], refusal.details.get("problems", []))
            open_ = {key for key, value in params.items() if next(references({key: value}), None)}
            known: Mapping[str, Any] = entry.input.get("properties", {})
            told = {"signature": entry.signature}  # once a line
            for problem in problems or [{"field": "", "message": refusal.message}]:
                name = str(problem["field"]).partition(".")[0]
                if (name in open_ and name in known) or (not name and referring):
                    continue
                field = f"params.{problem['field']}" if name else "params"
                more = {key: value for key, value in problem.items() if key not in ("field", "message")}
                self._fault(field, f"{field}: {problem['message']}", **more, **told)
                told = {}

    def _after(self, raw: Mapping[str, Any]) -> tuple[str, ...]:
        given = raw.get("after", [])
        listed = [given] if isinstance(given, str) else given
        if isinstance(listed, list) and all(isinstance(each, str) for each in cast(list[Any], listed)):
            return tuple(dict.fromkeys(cast(list[str], listed)))
        self._fault("after", "after must be the id of a step or a list of ids.")
        return ()

    def _flag(self, raw: Mapping[str, Any], key: str) -> bool:
        value = raw.get(key, False)
        if not isinstance(value, bool):
            self._fault(key, f"{key} must be true or false.")
        return value is True

    def _fields(self, raw: Mapping[str, Any], output: bool) -> tuple[str, ...] | None:
        if "fields" not in raw:
            return None
        given = raw["fields"]
        if not isinstance(given, list) or not all(isinstance(each, str) for each in cast(list[Any], given)):
            self._fault("fields", 'fields must be a list of paths, like ["total", "items.id"].')
            return None
        listed = tuple(dict.fromkeys(cast(list[str], given)))
        if not output:
            self._fault(
                "fields", 'fields shapes what comes back, and this step gives nothing back: add "output": true.'
            )
        if not 0 < len(listed) <= _MOST_FIELDS:
            self._fault("fields", f"fields must name 1 to {_MOST_FIELDS} paths; leave it out for everything.")
        for path in listed:
            try:
                _ = path == "*" or field_path(path)
            except NoPath as error:
                self._fault("fields", str(error))
        return None if "*" in listed else listed

    def _seconds(self, raw: Mapping[str, Any]) -> float | None:
        value = raw.get("time_limit")
        if value is None:
            return None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 < value <= self._limits.seconds:
            return float(value)
        self._fault("time_limit", f"time_limit is in seconds: more than 0 and at most {self._limits.seconds:g}.")
        return None

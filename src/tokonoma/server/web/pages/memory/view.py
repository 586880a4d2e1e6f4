"""What a list of memos is asked for, as its address says it: search, namespace, filters, order, page."""

import json
import math
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from tokonoma.core.errors import Invalid
from tokonoma.server.web.pages.request import PageRequest

PATH = "/admin/memory"
SORTS: dict[str, tuple[str, str]] = {
    "updated": ("updated", "desc"),
    "-updated": ("updated", "asc"),
    "created": ("created", "desc"),
    "-created": ("created", "asc"),
    "title": ("title", "asc"),
    "expires": ("expires", "asc"),
}
MODES = ("hybrid", "text", "vector")
OPERATORS = ("is", "contains", "prefix", "in", "gte", "lte", "exists", "missing")
_FIELDS = ("q", "namespace", "thread", "mode", "sort", "since", "until", "valid", "expect", "state")


@dataclass(frozen=True, slots=True)
class MetadataTest:
    """One line of the filter form."""

    key: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class MemoView:
    q: str = ""
    namespace: str = ""
    thread: str = ""
    mode: str = ""
    sort: str = ""
    since: str = ""
    until: str = ""
    valid: str = ""
    expect: str = ""
    state: str = ""
    tests: tuple[MetadataTest, ...] = ()
    cursor: str = ""

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.thread or self.since or self.until or self.valid or self.tests)

    @property
    def filter_count(self) -> int:
        """How many of the less usual fields are in use."""
        return len(self.tests) + sum(map(bool, (self.thread, self.since, self.until, self.valid, self.expect)))

    def link(self, **changed: Any) -> str:
        """The address of this list with something else; from its first page, if no cursor is given."""
        return _build_link(replace(self, **{"cursor": "", **changed}))

    def narrow(self, key: str, value: object) -> str:
        """The address of the same list with one more test, which the reader has pointed at."""
        test = MetadataTest(key, "is", value if isinstance(value, str) else json.dumps(value))
        return self.link(tests=self.tests if test in self.tests else (*self.tests, test))


def read_view(request: PageRequest) -> MemoView:
    given = {name: request.get_parameter(name).strip() for name in _FIELDS}
    lists = (request.list_parameter(name) for name in ("key", "op", "value"))
    tests = [MetadataTest(key.strip(), operator, value.strip()) for key, operator, value in zip(*lists, strict=False)]
    kept = tuple(each for each in tests if each.key and each.operator in OPERATORS)
    return MemoView(**given, tests=kept, cursor=request.get_parameter("cursor"))


def build_metadata_filter(tests: tuple[MetadataTest, ...]) -> dict[str, Any] | None:
    """As memory.list takes it. A form has texts only: `5` means the number and the text."""
    wanted: dict[str, dict[str, Any]] = {}
    for test in tests:
        name, value = _parse_test(test)
        asked = wanted.setdefault(test.key, {})
        if name in asked:
            raise Invalid("A key can have each condition once. Use one of for several values.")
        asked[name] = value
    return dict(wanted) or None


def end_day(day: str) -> str | None:
    """A day as the end of a span means it: to its last moment."""
    return f"{day}T23:59:59.999Z" if len(day) == len("2027-01-31") else day or None


def parse_memo_id(text: str) -> str:
    """A reader pastes an id, or the address of a memo's page."""
    path = text.strip().partition("?")[0]
    return path.rstrip("/").rpartition("/")[2]


def _parse_test(test: MetadataTest) -> tuple[str, Any]:
    if test.operator in ("exists", "missing"):
        return "exists", test.operator == "exists"
    if test.operator in ("contains", "prefix"):
        return test.operator, test.value
    if test.operator in ("gte", "lte"):
        number = _parse_number(test.value)
        return test.operator, test.value if number is None else number
    values = test.value.split(",") if test.operator == "in" else [test.value]
    return "in", [meant for each in values for meant in _list_meanings(each.strip())]


def _list_meanings(text: str) -> list[Any]:
    number = _parse_number(text)
    meant: list[Any] = [text] if number is None else [text, number]
    return [*meant, text == "true"] if text in ("true", "false") else meant


def _parse_number(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _build_link(view: MemoView) -> str:
    pairs = [(name, value) for name in (*_FIELDS, "cursor") if (value := getattr(view, name))]
    for test in view.tests:
        pairs += [("key", test.key), ("op", test.operator), ("value", test.value)]
    return f"{PATH}?{urlencode(pairs)}" if pairs else PATH

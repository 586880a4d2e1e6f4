"""What a query's tree means: conditions for the shared index, and words. Pure.

Words and conditions may be mixed by OR. So the tree becomes alternatives, each a conjunction: words to rank by, texts
that must or must not be there, conditions. Alternatives with the same words are asked for together.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from tokonoma.core.query import AllOf, AnyOf, Condition, NoneOf, Predicate
from tokonoma.modules.items.constants import PRIORITIES, STATUSES
from tokonoma.modules.items.language import QueryAll, QueryAny, QueryField, QueryNode, QueryNot, QueryWord, query_error

_MOST = 32  # alternatives that are looked for one by one
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_HAS = {"tag": "tag", "tags": "tag", "category": "category", "version": "version", "start": "start", "end": "end"}


@dataclass(frozen=True, slots=True)
class QueryAlternative:
    words: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    tests: tuple[Predicate, ...] = ()

    def combine(self, other: "QueryAlternative") -> "QueryAlternative":
        return QueryAlternative(
            self.words + other.words,
            self.must + other.must,
            self.without + other.without,
            self.tests + other.tests,
        )


def build_alternatives(query: str, node: QueryNode) -> list[QueryAlternative]:
    """At least one. Invalid points at a value that cannot be."""
    made = _expand_node(query, node, negated=False)
    grouped: dict[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], list[AllOf]] = {}
    for each in made:
        grouped.setdefault((each.words, each.must, each.without), []).append(AllOf(each.tests))
    if len(grouped) > _MOST:
        raise query_error(query, 0, f"it asks for more than {_MOST} alternatives; use fewer words with OR")
    return [QueryAlternative(*texts, _join_tests(tests)) for texts, tests in grouped.items()]


def _join_tests(tests: list[AllOf]) -> tuple[Predicate, ...]:
    """One of several conjunctions; one that asks for nothing lets everything through."""
    if AllOf(()) in tests:
        return ()
    return tests[0].parts if len(tests) == 1 else (AnyOf(tuple(tests)),)


def _expand_node(query: str, node: QueryNode, *, negated: bool) -> list[QueryAlternative]:
    if isinstance(node, QueryNot):
        return _expand_node(query, node.part, negated=not negated)
    if isinstance(node, QueryWord):
        if negated:
            return [QueryAlternative(without=(node.text,))]
        return [QueryAlternative((node.text,), (node.text,) if node.must else ())]
    if isinstance(node, QueryField):
        test = _build_test(query, node)
        return [QueryAlternative(tests=(NoneOf(test) if negated else test,))]
    if not _has_words(node):  # conditions alone need no alternatives: they stay one condition
        return (
            [QueryAlternative(tests=(_build_condition(query, node, negated),))] if node.parts else [QueryAlternative()]
        )
    parts = [_expand_node(query, part, negated=negated) for part in node.parts]
    if isinstance(node, QueryAll) != negated:
        return _combine_all(query, parts)
    return [each for part in parts for each in part]


def _combine_all(query: str, parts: list[list[QueryAlternative]]) -> list[QueryAlternative]:
    found = [QueryAlternative()]
    for part in parts:
        found = [left.combine(right) for left in found for right in part]
        if len(found) > 16 * _MOST:
            raise query_error(query, 0, "it asks for too many alternatives; use fewer words with OR")
    return found


def _has_words(node: QueryNode) -> bool:
    if isinstance(node, QueryNot):
        return _has_words(node.part)
    if isinstance(node, QueryAll | QueryAny):
        return any(map(_has_words, node.parts))
    return isinstance(node, QueryWord)


def _build_condition(query: str, node: QueryNode, negated: bool) -> Predicate:
    if isinstance(node, QueryNot):
        return _build_condition(query, node.part, not negated)
    if isinstance(node, QueryAll | QueryAny):
        parts = tuple(_build_condition(query, part, negated) for part in node.parts)
        return AllOf(parts) if isinstance(node, QueryAll) != negated else AnyOf(parts)
    assert isinstance(node, QueryField)
    test = _build_test(query, node)
    return NoneOf(test) if negated else test


def _build_test(query: str, field: QueryField) -> Predicate:
    if field.name in ("created", "updated", "start", "end"):
        return _build_time_test(query, field)
    if field.name == "has":
        key = _choose_word(query, field, tuple(_HAS), str.casefold)
        return Condition(_HAS[key], "exists", (True,))
    if field.name in ("status", "priority", "is"):
        words = {"status": STATUSES, "priority": PRIORITIES, "is": ("open", "closed")}[field.name]
        values = [_choose_word(query, field, words, str.casefold, part) for part in field.value.split(",")]
    else:
        values = [part.strip() for part in field.value.split(",") if part.strip()]
        values = [value.lower() for value in values] if field.name == "type" else values
    return Condition(field.name, "in", tuple(dict.fromkeys(values)))


def _choose_word(
    query: str, field: QueryField, words: tuple[str, ...], fold: Callable[[str], str], value: str | None = None
) -> str:
    """One of the words, however it is written: in-progress, "In Progress", IN_PROGRESS."""
    asked = re.sub(r"[-_\s]+", " ", fold(field.value if value is None else value)).strip()
    for word in words:
        if fold(word) == asked:
            return word
    raise query_error(query, field.place, f"{field.name} is one of {', '.join(words)}")


def _build_time_test(query: str, field: QueryField) -> Condition:
    """2026, 2026-01, 2026-01-31, a range a..b with either end open, and > >= < <=. Days are UTC's, and whole."""
    text = field.value
    for sign in (">=", "<=", ">", "<"):
        if text.startswith(sign):
            low, high = _parse_period(query, field, text[len(sign) :])
            ends = {">=": (low, None), "<=": (None, high), ">": (high + 1, None), "<": (None, low - 1)}[sign]
            return Condition(field.name, "between", ends)
    if ".." not in text:
        return Condition(field.name, "between", _parse_period(query, field, text))
    first, _, last = text.partition("..")
    low = _parse_period(query, field, first)[0] if first not in ("", "*") else None
    high = _parse_period(query, field, last)[1] if last not in ("", "*") else None
    if low is None and high is None:
        raise query_error(query, field.place, "a range needs one end at least")
    if low is not None and high is not None and high < low:
        raise query_error(query, field.place, "the range ends before it starts")
    return Condition(field.name, "between", (low, high))


def _parse_period(query: str, field: QueryField, text: str) -> tuple[float, float]:
    """The first and the last millisecond."""
    found = _PERIOD.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(part) if part else None for part in found.groups())
        first = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
        last_month = month or 12
        last_day = day or calendar.monthrange(year or 0, last_month)[1]
        last = datetime(year or 0, last_month, last_day, 23, 59, 59, tzinfo=UTC)
    except ValueError:
        raise query_error(query, field.place, f"{text[:30]!r} is no date; write 2026, 2026-01 or 2026-01-31") from None
    return first.timestamp() * 1000, last.timestamp() * 1000 + 999

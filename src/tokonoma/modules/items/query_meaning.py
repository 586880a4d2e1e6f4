"""What a query's tree means: conditions for the shared index, and words. Pure.

Words and conditions may be mixed by OR. So the tree becomes alternatives, each a conjunction: words to rank by, texts
that must or must not be there, conditions. Alternatives with the same words are asked for together.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from tokonoma.core.query import Both, Condition, Either, Neither, Test
from tokonoma.modules.items.constants import PRIORITIES, STATUSES
from tokonoma.modules.items.language import All, Any_, Field, Node, Not, Word, wrong

_MOST = 32  # alternatives that are looked for one by one
_PERIOD = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_HAS = {"tag": "tag", "tags": "tag", "category": "category", "version": "version", "start": "start", "end": "end"}


@dataclass(frozen=True, slots=True)
class Alternative:
    words: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    tests: tuple[Test, ...] = ()

    def joined(self, other: "Alternative") -> "Alternative":
        return Alternative(
            self.words + other.words,
            self.must + other.must,
            self.without + other.without,
            self.tests + other.tests,
        )


def alternatives(query: str, node: Node) -> list[Alternative]:
    """At least one. Invalid points at a value that cannot be."""
    made = _made(query, node, negated=False)
    grouped: dict[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], list[Both]] = {}
    for each in made:
        grouped.setdefault((each.words, each.must, each.without), []).append(Both(each.tests))
    if len(grouped) > _MOST:
        raise wrong(query, 0, f"it asks for more than {_MOST} alternatives; use fewer words with OR")
    return [Alternative(*texts, _joined(tests)) for texts, tests in grouped.items()]


def _joined(tests: list[Both]) -> tuple[Test, ...]:
    """One of several conjunctions; one that asks for nothing lets everything through."""
    if Both(()) in tests:
        return ()
    return tests[0].parts if len(tests) == 1 else (Either(tuple(tests)),)


def _made(query: str, node: Node, *, negated: bool) -> list[Alternative]:
    if isinstance(node, Not):
        return _made(query, node.part, negated=not negated)
    if isinstance(node, Word):
        if negated:
            return [Alternative(without=(node.text,))]
        return [Alternative((node.text,), (node.text,) if node.must else ())]
    if isinstance(node, Field):
        test = _test(query, node)
        return [Alternative(tests=(Neither(test) if negated else test,))]
    if not _has_words(node):  # conditions alone need no alternatives: they stay one condition
        return [Alternative(tests=(_condition(query, node, negated),))] if node.parts else [Alternative()]
    parts = [_made(query, part, negated=negated) for part in node.parts]
    if isinstance(node, All) != negated:
        return _crossed(query, parts)
    return [each for part in parts for each in part]


def _crossed(query: str, parts: list[list[Alternative]]) -> list[Alternative]:
    found = [Alternative()]
    for part in parts:
        found = [left.joined(right) for left in found for right in part]
        if len(found) > 16 * _MOST:
            raise wrong(query, 0, "it asks for too many alternatives; use fewer words with OR")
    return found


def _has_words(node: Node) -> bool:
    if isinstance(node, Not):
        return _has_words(node.part)
    if isinstance(node, All | Any_):
        return any(map(_has_words, node.parts))
    return isinstance(node, Word)


def _condition(query: str, node: Node, negated: bool) -> Test:
    if isinstance(node, Not):
        return _condition(query, node.part, not negated)
    if isinstance(node, All | Any_):
        parts = tuple(_condition(query, part, negated) for part in node.parts)
        return Both(parts) if isinstance(node, All) != negated else Either(parts)
    assert isinstance(node, Field)
    test = _test(query, node)
    return Neither(test) if negated else test


def _test(query: str, field: Field) -> Test:
    if field.name in ("created", "updated", "start", "end"):
        return _time(query, field)
    if field.name == "has":
        key = _chosen(query, field, tuple(_HAS), str.casefold)
        return Condition(_HAS[key], "exists", (True,))
    if field.name in ("status", "priority", "is"):
        words = {"status": STATUSES, "priority": PRIORITIES, "is": ("open", "closed")}[field.name]
        values = [_chosen(query, field, words, str.casefold, part) for part in field.value.split(",")]
    else:
        values = [part.strip() for part in field.value.split(",") if part.strip()]
        values = [value.lower() for value in values] if field.name == "type" else values
    return Condition(field.name, "in", tuple(dict.fromkeys(values)))


def _chosen(
    query: str, field: Field, words: tuple[str, ...], fold: Callable[[str], str], value: str | None = None
) -> str:
    """One of the words, however it is written: in-progress, "In Progress", IN_PROGRESS."""
    asked = re.sub(r"[-_\s]+", " ", fold(field.value if value is None else value)).strip()
    for word in words:
        if fold(word) == asked:
            return word
    raise wrong(query, field.place, f"{field.name} is one of {', '.join(words)}")


def _time(query: str, field: Field) -> Condition:
    """2026, 2026-01, 2026-01-31, a range a..b with either end open, and > >= < <=. Days are UTC's, and whole."""
    text = field.value
    for sign in (">=", "<=", ">", "<"):
        if text.startswith(sign):
            low, high = _period(query, field, text[len(sign) :])
            ends = {">=": (low, None), "<=": (None, high), ">": (high + 1, None), "<": (None, low - 1)}[sign]
            return Condition(field.name, "between", ends)
    if ".." not in text:
        return Condition(field.name, "between", _period(query, field, text))
    first, _, last = text.partition("..")
    low = _period(query, field, first)[0] if first not in ("", "*") else None
    high = _period(query, field, last)[1] if last not in ("", "*") else None
    if low is None and high is None:
        raise wrong(query, field.place, "a range needs one end at least")
    if low is not None and high is not None and high < low:
        raise wrong(query, field.place, "the range ends before it starts")
    return Condition(field.name, "between", (low, high))


def _period(query: str, field: Field, text: str) -> tuple[float, float]:
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
        raise wrong(query, field.place, f"{text[:30]!r} is no date; write 2026, 2026-01 or 2026-01-31") from None
    return first.timestamp() * 1000, last.timestamp() * 1000 + 999

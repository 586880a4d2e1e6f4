"""`metadata_filter`: what a caller writes, as conditions over the facts of the index; and the same for a memo that is
not in the index, such as one in the trash."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, cast

from pydantic import Field

from tokonoma.core.clock import normalize_date, parse_end, parse_time
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid
from tokonoma.core.query import Condition, Operator, Predicate, Query, Scalar, SearchFilter
from tokonoma.modules.memory.model import MODULE_NAME, Metadata, build_facts, to_scalar

_MAX_CONDITIONS = 32
_MAX_CHOICES = 1000
_OPERATORS: dict[str, Operator] = {
    "contains": "contains", "prefix": "prefix", "in": "in", "exists": "exists", "gte": "between", "lte": "between",
}  # fmt: skip
# What others call operators. As the name of a nested field such a word would silently find nothing.
_NOT_OPERATORS = frozenset({
    "gt", "lt", "ge", "le", "eq", "ne", "neq", "not", "nin", "not_in", "like", "ilike", "regex", "between",
    "startswith", "starts_with", "endswith", "ends_with",
})  # fmt: skip

# What a memo has beside its metadata, and what finds memos by it.
_FIELDS = {
    "thread": "the parameter thread", "namespace": "the parameter namespace", "title": "the query of memory.search",
    "content": "the query of memory.search", "text": "the query of memory.search", "date": "since and until",
    "created_at": "since and until of memory.search", "updated_at": "since and until of memory.list",
    "expires_at": "has_expiry of memory.list", "deleted_at": 'state "trash" of memory.list', "memo_id": "memory.get",
    "version": "memory.history",
}  # fmt: skip

MetadataFilter = Annotated[
    dict[str, Any] | None,
    Field(description='{"a.b": value} exact, or {"contains"|"prefix"|"in"|"gte"|"lte"|"exists": …}'),
]


def build_conditions(wanted: Mapping[str, Any]) -> tuple[Condition, ...]:
    """A `metadata_filter` as conditions: a plain value is exact, an object holds operators or nested keys."""
    found = tuple(_parse_conditions("", wanted))
    if len(found) > _MAX_CONDITIONS:
        raise Invalid(f"metadata_filter has more than {_MAX_CONDITIONS} conditions.", limit=_MAX_CONDITIONS)
    return found


def reject_fields(desk: Desk, conditions: Iterable[Predicate]) -> None:
    """For a filter that has found nothing: Invalid if it asks for a field of memos that is no metadata. Metadata may
    have the same name: it is a mistake for certain only if the caller can see no memo with such metadata."""
    for key in (each.key for each in conditions if isinstance(each, Condition) and each.key in _FIELDS):
        having = SearchFilter((MODULE_NAME,), conditions=(Condition(key, "exists", (True,)),))
        if not desk.find(Query(limit=1), having).items:
            raise _build_filter_error(
                key, f"is a field of memos, and no memo has metadata of that name. Use {_FIELDS[key]} instead"
            )


def _parse_conditions(prefix: str, wanted: Mapping[str, Any]) -> Iterator[Condition]:
    for key, value in wanted.items():
        path = f"{prefix}{key}"
        if not isinstance(value, dict):
            yield Condition(path, "is", (_parse_scalar(path, value),))
        elif not value:
            raise _build_filter_error(path, "is empty")
        elif _OPERATORS.keys() & value.keys() or any(map(_is_like_operator, cast("dict[str, Any]", value))):
            yield from _parse_operators(path, cast("dict[str, Any]", value))
        else:
            yield from _parse_conditions(f"{path}.", cast("dict[str, Any]", value))


def _is_like_operator(word: str) -> bool:
    return word.startswith("$") or word in _NOT_OPERATORS or bool(difflib.get_close_matches(word, _OPERATORS, 1, 0.8))


def _parse_operators(path: str, asked: dict[str, Any]) -> Iterator[Condition]:
    unknown = asked.keys() - _OPERATORS.keys()
    if unknown:
        word = min(unknown)
        raise _build_filter_error(
            path,
            f"has the unknown operator {word!r}. The operators are {', '.join(_OPERATORS)}; "
            f"a nested field of that name is written {f'{path}.{word}'!r}",
        )
    if asked.keys() & {"gte", "lte"}:
        ends = [None if asked.get(end) is None else _parse_scalar(path, asked[end]) for end in ("gte", "lte")]
        if len({isinstance(end, str) for end in ends if end is not None}) > 1:
            raise _build_filter_error(path, "has ends of different types")
        if any(isinstance(end, bool) for end in ends) or ends == [None, None]:
            raise _build_filter_error(path, "needs a text or a number for `gte` and `lte`")
        yield Condition(path, "between", tuple(ends))
    for word in asked.keys() - {"gte", "lte"}:
        yield Condition(path, _OPERATORS[word], _parse_values(path, word, asked[word]))


def _parse_values(path: str, word: str, value: Any) -> tuple[Scalar, ...]:
    if word == "exists":
        if not isinstance(value, bool):
            raise _build_filter_error(path, "needs true or false for `exists`")
        return (value,)
    if word == "in":
        if not isinstance(value, list) or not value or len(cast("list[Any]", value)) > _MAX_CHOICES:
            raise _build_filter_error(path, f"needs a list of 1 to {_MAX_CHOICES} values for `in`")
        return tuple(_parse_scalar(path, each) for each in cast("list[Any]", value))
    if word == "prefix" and not isinstance(value, str):
        raise _build_filter_error(path, "needs text for `prefix`")
    return (_parse_scalar(path, value),)


def _parse_scalar(path: str, value: Any) -> Scalar:
    scalar = to_scalar(value)
    if scalar is None:
        raise _build_filter_error(path, "must be compared with a text, a number, true or false")
    return scalar


def _build_filter_error(path: str, what: str) -> Invalid:
    return Invalid(f"metadata_filter: {path!r} {what}.", field=f"metadata_filter.{path}", operators=sorted(_OPERATORS))


def parse_span(since: str | None, until: str | None) -> tuple[int | None, int | None]:
    """Both ends in milliseconds, and included."""
    return _parse_moment("since", since), _parse_moment("until", until)


def parse_valid_at(text: str | None) -> int | None:
    """The moment at which something must hold: of a day, its end."""
    try:
        return None if text is None else parse_end(normalize_date(text))
    except ValueError:
        raise Invalid("valid_at must be a day like 2027-01-31 or a time.", field="valid_at") from None


def _parse_moment(field: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_time(text)
    except ValueError:
        raise Invalid(f"{field} must be a time like 2027-01-31T09:00:00Z.", field=field) from None


# The same without the index


def matches_all(metadata: Metadata, conditions: Sequence[Condition], date: str = "") -> bool:
    facts = build_facts(metadata, date)
    return all(_matches(facts, condition) for condition in conditions)


def _matches(facts: Iterable[tuple[str, Scalar]], condition: Condition) -> bool:
    key, wanted = condition.key, condition.values
    if condition.operator == "exists":
        return wanted[0] is any(name == key or name.startswith(f"{key}.") for name, _ in facts)
    values = [value for name, value in facts if name == key]
    if condition.operator == "between":
        return any(_is_between(value, *wanted) for value in values)
    return any(_fits(value, each, condition.operator) for value in values for each in wanted)


def _fits(value: Scalar, wanted: Scalar | None, operator: Operator) -> bool:
    if operator in ("prefix", "contains") and isinstance(wanted, str):
        if not isinstance(value, str):
            return False
        return value.startswith(wanted) if operator == "prefix" else wanted in value
    return _to_kind(value) == _to_kind(wanted) and value == wanted


def _is_between(value: Scalar, low: Scalar | None, high: Scalar | None) -> bool:
    kind = _to_kind(high if low is None else low)
    if _to_kind(value) is not kind:
        return False
    own = cast("Any", value)  # all three are texts, or all three are numbers
    return (low is None or own >= low) and (high is None or own <= high)


def _to_kind(value: Scalar | None) -> type:
    """Texts, numbers and booleans are never equal. Python compares integers and floats exactly."""
    return str if isinstance(value, str) else bool if isinstance(value, bool) else float

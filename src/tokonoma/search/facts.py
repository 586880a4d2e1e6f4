"""Facts: what records can be filtered by. `fact(document, key, text, number)`, and conditions over it as SQL.

Each value has two cells, so that no two different values look the same: a text has no number, a number has no text; a
truth is the text `true` or `false` with the number 1 or 0; a whole number that a float cannot hold keeps its digits.
"""
# ruff: noqa: S608 - SQL is put together from texts of ours and names of parameters; what callers send is a parameter

import hashlib
import math
from collections.abc import Sequence
from typing import Any

from tokonoma.core.desk import Document
from tokonoma.core.errors import Invalid
from tokonoma.core.query import Condition, Scalar

INDEXED_LENGTH = 128
"""Characters of a text that are indexed: PostgreSQL has no room for more than 2.7 KB in an index."""

_LONG_KEY = 200
_EXACT = 2**53
_MOST = 1.7e308
_ORDERED = "coalesce(f.text, '') not in ('true', 'false')"

CompiledCondition = tuple[str, str, str]
"""A word for people, a condition over `document d`, and a select that lists the ids."""


def build_fact_rows(document: Document) -> list[tuple[str, str | None, float | None]]:
    """In a fixed order, each once: two lists are equal if the facts are."""
    rows = {(to_indexed_key(key), *to_cells(value)) for key, value in document.facts}
    return sorted(rows, key=lambda row: (row[0], row[1] or "", row[2] or 0.0))


def to_cells(value: Scalar) -> tuple[str | None, float | None]:
    if isinstance(value, bool):
        return ("true", 1.0) if value else ("false", 0.0)
    if isinstance(value, str):
        return value, None
    if isinstance(value, int) and abs(value) > _EXACT:
        return str(value), float(max(min(value, int(_MOST)), -int(_MOST)))
    if not math.isfinite(value):
        raise Invalid("A number must be finite.", reason="number")
    return None, float(value) + 0.0  # no negative zero


def to_indexed_key(key: str) -> str:
    """The key itself, unless it is too long for an index."""
    if len(key) <= _LONG_KEY:
        return key
    return f"{key[:120]}#{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def compile_fact_condition(condition: Condition, name: str, params: dict[str, Any]) -> CompiledCondition:
    """Parameters are written into `params` under names that begin with `name`."""
    key = to_indexed_key(condition.key)
    params[f"{name}_key"] = key
    word = f"metadata {condition.key[:80]}"
    if condition.operator == "exists":
        return _build_exists(word, key, name, condition, params)
    tests = _build_tests(condition, name, params)
    if not tests:
        return word, "1 = 0", "select id from document where 1 = 0"
    test = " or ".join(f"({each})" for each in tests)
    inner = f"f.key = :{name}_key and ({test})"
    return (
        word,
        f"exists (select 1 from fact f where f.document = d.id and {inner})",
        f"select f.document as id from fact f where {inner}",
    )


def _build_tests(condition: Condition, name: str, params: dict[str, Any]) -> list[str]:
    values = condition.values
    match condition.operator:
        case "is" | "in":
            return [
                _build_equality(_require_value(value, condition), f"{name}_{number}", params)
                for number, value in enumerate(values)
            ]
        case "contains":
            return [
                _build_contains(_require_value(value, condition), f"{name}_{n}", params)
                for n, value in enumerate(values)
            ]
        case "prefix":
            return [
                _build_prefix(_require_text(value, condition), f"{name}_{n}", params) for n, value in enumerate(values)
            ]
        case "between":
            return [_build_between(condition, name, params)]
        case _:
            raise Invalid(f"There is no operator {condition.operator!r}.", reason="operator")


def _build_equality(value: Scalar, name: str, params: dict[str, Any]) -> str:
    text, number = to_cells(value)
    if number is None:
        assert text is not None
        params |= {f"{name}_head": text[:INDEXED_LENGTH], f"{name}_text": text}
        head = f"substr(f.text, 1, {INDEXED_LENGTH}) = :{name}_head"
        return f"{head} and f.text = :{name}_text and f.number is null"
    params[f"{name}_number"] = number
    if text is None:
        return f"f.number = :{name}_number and f.text is null"
    params[f"{name}_text"] = text
    return f"f.number = :{name}_number and f.text = :{name}_text"


def _build_contains(value: Scalar, name: str, params: dict[str, Any]) -> str:
    """A part of a text, letter by letter. A number or a truth is contained in a list that holds it."""
    if not isinstance(value, str):
        return _build_equality(value, name, params)
    if not value:
        return "f.number is null"
    params[f"{name}_text"] = value
    # The one way to look for a part of a text, letter by letter, that both databases have: `like` ignores case on one.
    return f"f.number is null and replace(f.text, :{name}_text, '') <> f.text"


def _build_prefix(value: str, name: str, params: dict[str, Any]) -> str:
    if not value:
        return "f.number is null"
    params |= {f"{name}_head": value[:INDEXED_LENGTH], f"{name}_text": value}
    test = f"f.number is null and substr(f.text, 1, {len(value)}) = :{name}_text"
    head = f"substr(f.text, 1, {INDEXED_LENGTH})"
    after = _find_successor(value[:INDEXED_LENGTH])
    if after is None:
        return f"{test} and {head} >= :{name}_head"
    params[f"{name}_after"] = after
    return f"{test} and {head} >= :{name}_head and {head} < :{name}_after"


def _find_successor(prefix: str) -> str | None:
    """The least text above all that begin with `prefix`, by code points."""
    for place in range(len(prefix) - 1, -1, -1):
        follower = ord(prefix[place]) + 1
        if 0xD800 <= follower <= 0xDFFF:
            follower = 0xE000
        if follower <= 0x10FFFF:
            return prefix[:place] + chr(follower)
    return None


def _build_between(condition: Condition, name: str, params: dict[str, Any]) -> str:
    """Both ends belong to it; texts are compared by code points, which suits dates as ISO 8601 writes them."""
    ends = [value for value in condition.values if value is not None]
    if len(condition.values) != 2 or not ends or any(isinstance(end, bool) for end in ends):
        raise _condition_error(condition, "two ends, of which one may be open")
    if len({isinstance(end, str) for end in ends}) != 1:
        raise _condition_error(condition, "two texts or two numbers")
    texts = isinstance(ends[0], str)
    tests = ["f.number is null" if texts else _ORDERED]
    for sign, end, value in ((">=", "low", condition.values[0]), ("<=", "high", condition.values[1])):
        if value is None:
            continue
        if isinstance(value, str):
            # The index knows the heads alone, and a head is never above its text.
            params |= {f"{name}_{end}": value, f"{name}_{end}_head": value[:INDEXED_LENGTH]}
            tests += [f"f.text {sign} :{name}_{end}", f"substr(f.text, 1, {INDEXED_LENGTH}) {sign} :{name}_{end}_head"]
        else:
            params[f"{name}_{end}"] = to_cells(value)[1]
            tests.append(f"f.number {sign} :{name}_{end}")
    return " and ".join(tests)


def _build_exists(word: str, key: str, name: str, condition: Condition, params: dict[str, Any]) -> CompiledCondition:
    """A key is there, too, if others are nested under it."""
    if condition.values not in ((True,), (False,)):
        raise _condition_error(condition, "true or false")
    params |= {f"{name}_low": f"{key}.", f"{name}_high": f"{key}/"}  # "/" follows "."
    nested = f"f.key >= :{name}_low and f.key < :{name}_high"
    test = f"exists (select 1 from fact f where f.document = d.id and (f.key = :{name}_key or ({nested})))"
    if not condition.values[0]:
        return word, f"not {test}", ""
    driver = f"select f.document as id from fact f where f.key = :{name}_key or ({nested})"
    return word, test, driver


def _require_value(value: Scalar | None, condition: Condition) -> Scalar:
    if value is None:
        raise _condition_error(condition, "a text, a number or a truth")
    return value


def _require_text(value: Scalar | None, condition: Condition) -> str:
    if not isinstance(value, str):
        raise _condition_error(condition, "a text")
    return value


def _condition_error(condition: Condition, wanted: str) -> Invalid:
    told: Sequence[object] = condition.values
    return Invalid(
        f"The condition `{condition.operator}` on {condition.key[:80]!r} takes {wanted}.",
        reason="condition",
        key=condition.key[:80],
        given=[repr(each)[:80] for each in told],
    )

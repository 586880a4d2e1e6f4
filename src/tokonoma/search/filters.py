"""Filters over the shared index: what a caller may see and what it asks for, as SQL and as values to compare.

Every limit and every condition becomes a `FilterPart`. Joined by `and` they are the filter; one by one they explain why
a record was not found; and a part that lists few records drives the search, instead of being checked on proposals.

A condition is about a fact: see facts.py.
"""
# ruff: noqa: S608 - SQL is built from our own texts and names of parameters; what callers send is a parameter

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import is_inside
from tokonoma.core.query import AllOf, Condition, NoneOf, Predicate, Scalar, SearchFilter, SearchScope
from tokonoma.search.facts import EXACT, INDEXED_LENGTH, to_cells, to_indexed_key
from tokonoma.search.text.tokenize import PRIVATE

_HEAD = f"substr(f.text, 1, {INDEXED_LENGTH})"
_NO_DOCUMENTS = "select id from document where 1 = 0"


@dataclass(frozen=True, slots=True)
class FilterPart:
    description: str  # what it filters by, for people
    sql: str  # a condition over `document d`
    driver: str = ""  # a select that lists at least all ids that pass; empty: there is no index for it


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """`sql` is a condition over `document d` with `:f_…` parameters; it is complete. The rest repeats its simple part.

    Expiry is in the SQL alone and does not make a filter narrow: few records have expired and are still there, and
    every proposal passes through the SQL before it is returned.
    """

    sql: str = "1 = 1"
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    modules: frozenset[str] | None = None  # None: any
    namespaces: tuple[str, ...] = ()  # trees, all of which a record must lie in
    classifications: frozenset[str] | None = None
    narrow: bool = False  # the SQL asks for more than the three above: facts, times, a thread
    parts: tuple[FilterPart, ...] = ()


def compile_filter(where: SearchFilter, scope: SearchScope, at: int | None = None) -> IndexFilter:
    """The limits of the caller and what it asked for; `at` is the time by which records expire."""
    params: dict[str, Any] = {"f_now": now() if at is None else at}
    trees = _list_trees(scope.root, where.namespace)
    restricted = set(scope.classifications) != set(CLASSIFICATIONS)
    parts = [_compile_namespace(tree, number, params) for number, tree in enumerate(trees)]
    if restricted:  # classes are our own fixed words, never a caller's text
        listed = ", ".join(f"'{each}'" for each in CLASSIFICATIONS if each in scope.classifications)
        parts.append(_build_column_part("class", f"label in ({listed or 'null'})"))
    if where.modules:
        names = {f"f_module{number}": module for number, module in enumerate(where.modules)}
        params |= names
        parts.append(_build_column_part("module", f"module in ({', '.join(f':{name}' for name in names)})"))
    compile_one = partial(compile_condition, params=params, private=scope.private)
    parts += [compile_one(each, f"f_{number}") for number, each in enumerate(where.conditions)]
    for name, sign, end in (("since", ">=", where.since), ("until", "<=", where.until)):
        if end is not None:
            params[f"f_{name}"] = end
            parts.append(_build_column_part(name, f"at {sign} :f_{name}"))
    if where.valid_at is not None:
        params["f_valid"] = where.valid_at
        since, until = ("coalesce(d.valid_from, :f_valid) <= :f_valid", "coalesce(d.valid_until, :f_valid) >= :f_valid")
        parts.append(FilterPart("valid_at", f"{since} and {until}"))
    if where.thread is not None:
        params["f_thread"] = where.thread
        # The index of threads leaves out records without one: said twice, so that it is used.
        listed = "select id from document where thread <> '' and thread = :f_thread"
        parts.append(FilterPart("thread", "d.thread = :f_thread", listed))
    parts.append(FilterPart("expiry", "(d.expires_at is null or d.expires_at > :f_now)"))
    return IndexFilter(
        sql=" and ".join(part.sql for part in parts),
        params=params,
        modules=frozenset(where.modules) if where.modules else None,
        namespaces=trees,
        classifications=frozenset(scope.classifications) if restricted else None,
        narrow=bool(where.conditions)
        or any(each is not None for each in (where.since, where.until, where.valid_at, where.thread)),
        parts=tuple(parts),
    )


def _list_trees(root: str, namespace: str | None) -> tuple[str, ...]:
    """The root is a limit: a namespace outside of it does not replace it, and nothing lies in both."""
    if namespace is None or namespace in (root, "/"):
        return () if root == "/" else (root,)
    if is_inside(namespace, root):
        return (namespace,)
    return (root, namespace)


def _compile_namespace(tree: str, number: int, params: dict[str, Any]) -> FilterPart:
    # A range and not `like`, which ignores case on SQLite. "0" follows "/".
    name = f"f_space{number}"
    params |= {name: tree, f"{name}_low": f"{tree}/", f"{name}_high": f"{tree}0"}
    return FilterPart(
        "namespace",
        f"(d.space = :{name} or (d.space >= :{name}_low and d.space < :{name}_high))",
        f"select id from document where space = :{name}"
        f" union all select id from document where space >= :{name}_low and space < :{name}_high",
    )


def _build_column_part(description: str, test: str) -> FilterPart:
    return FilterPart(description, f"d.{test}", f"select id from document where {test}")


# Conditions. Parameters are written into `params` under names that begin with `name`.


def compile_condition(predicate: Predicate, name: str, params: dict[str, Any], private: bool = False) -> FilterPart:
    """`private`: also over facts that are hidden from others."""
    if isinstance(predicate, Condition):
        return _compile_fact_condition(predicate, name, params, private)
    if isinstance(predicate, NoneOf):
        part = compile_condition(predicate.part, f"{name}n", params, private)
        return FilterPart(f"not {part.description}", f"not ({part.sql})")
    parts = [
        compile_condition(each, f"{name}_{number}p", params, private) for number, each in enumerate(predicate.parts)
    ]
    drivers = [part.driver for part in parts]
    if isinstance(predicate, AllOf):
        word, driver, empty = " and ", next(filter(None, drivers), ""), FilterPart("anything", "1 = 1")
    else:
        driver = " union all ".join(drivers) if all(drivers) else ""
        word, empty = " or ", FilterPart("nothing", "1 = 0", _NO_DOCUMENTS)
    if not parts:
        return empty
    sql = "(" + word.join(f"({part.sql})" for part in parts) + ")"
    return FilterPart(word.join(part.description for part in parts), sql, driver)


def _compile_fact_condition(condition: Condition, name: str, params: dict[str, Any], private: bool) -> FilterPart:
    key = to_indexed_key(condition.key)
    params[f"{name}_key"] = key
    description, test = f"metadata {condition.key[:80]}", f"f.key = :{name}_key"
    if private:
        params[f"{name}_private"] = PRIVATE + key
        test = f"f.key in (:{name}_key, :{name}_private)"
    if condition.operator == "exists":  # also if others are nested under it
        if condition.values not in ((True,), (False,)):
            raise _condition_error(condition, "true or false")
        ranges = [test]
        for mark, start in (("", key), ("_own", PRIVATE + key)) if private else (("", key),):
            params |= {f"{name}_low{mark}": f"{start}.", f"{name}_high{mark}": f"{start}/"}  # "/" follows "."
            ranges.append(f"(f.key >= :{name}_low{mark} and f.key < :{name}_high{mark})")
        test = f"({' or '.join(ranges)})"
    else:
        tests = _build_tests(condition, name, params)
        if not tests:
            return FilterPart(description, "1 = 0", _NO_DOCUMENTS)
        test += f" and ({' or '.join(f'({each})' for each in tests)})"
    exists = f"exists (select 1 from fact f where f.document = d.id and {test})"
    if condition.operator == "exists" and not condition.values[0]:
        return FilterPart(description, f"not {exists}")
    return FilterPart(description, exists, f"select f.document as id from fact f where {test}")


def _build_equality(value: Scalar, name: str, params: dict[str, Any]) -> str:
    text, number = to_cells(value)
    if number is None:
        assert text is not None
        params |= {f"{name}_head": text[:INDEXED_LENGTH], f"{name}_text": text}
        return f"{_HEAD} = :{name}_head and f.text = :{name}_text and f.number is null"
    params[f"{name}_number"] = number
    if text is None:
        return f"f.number = :{name}_number and f.text is null"
    params[f"{name}_text"] = text
    # A large number that was stored by an earlier version of this program has no digits.
    older = "" if isinstance(value, bool) else " or f.text is null"
    return f"f.number = :{name}_number and (f.text = :{name}_text{older})"


def _build_contains(value: Scalar, name: str, params: dict[str, Any]) -> str:
    """A part of a text, letter by letter. A number or a boolean is contained in a list that holds it."""
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
    test = f"f.number is null and substr(f.text, 1, {len(value)}) = :{name}_text and {_HEAD} >= :{name}_head"
    after = _find_successor(value[:INDEXED_LENGTH])
    if after is None:
        return test
    params[f"{name}_after"] = after
    return f"{test} and {_HEAD} < :{name}_after"


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
    """Both ends are included; texts are compared by code points, which suits dates in ISO 8601."""
    ends = [value for value in condition.values if value is not None]
    if len(condition.values) != 2 or not ends or any(isinstance(end, bool) for end in ends):
        raise _condition_error(condition, "two ends, one of which may be null")
    if len({isinstance(end, str) for end in ends}) != 1:
        raise _condition_error(condition, "two texts or two numbers")
    tests = ["f.number is null" if isinstance(ends[0], str) else "coalesce(f.text, '') not in ('true', 'false')"]
    for sign, end, value in ((">=", "low", condition.values[0]), ("<=", "high", condition.values[1])):
        if isinstance(value, str):
            # The index holds the heads alone, and a head is never above its text.
            params |= {f"{name}_{end}": value, f"{name}_{end}_head": value[:INDEXED_LENGTH]}
            tests += [f"f.text {sign} :{name}_{end}", f"{_HEAD} {sign} :{name}_{end}_head"]
        elif value is not None:
            tests.append(_compare_number(value, sign, f"{name}_{end}", params))
    return " and ".join(tests)


def _compare_number(value: float, sign: str, name: str, params: dict[str, Any]) -> str:
    """`sign` is >= or <=. Large integers that have the same float are compared by their digits."""
    params[name] = number = to_cells(value)[1]
    test = f"f.number {sign} :{name}"
    if abs(value) < EXACT:
        return test
    digits = str(int(value))
    params |= {f"{name}_length": len(digits), f"{name}_digits": digits}
    # Of two integers of one sign the longer one is farther from zero. A number without digits is what its float is.
    turned = {">=": "<=", "<=": ">="}[sign] if value < 0 else sign
    exact = f"(length(f.text), f.text) {turned} (:{name}_length, :{name}_digits)"
    assert number is not None
    is_inside = int(number) >= value if sign == ">=" else int(number) <= value
    plain = "f.text is null" if is_inside else "1 = 0"
    return f"{test} and (f.number <> :{name} or {exact} or {plain})"


_BUILDERS: Mapping[str, Callable[[Any, str, dict[str, Any]], str]] = {
    "is": _build_equality,
    "in": _build_equality,
    "contains": _build_contains,
    "prefix": _build_prefix,
}


def _build_tests(condition: Condition, name: str, params: dict[str, Any]) -> list[str]:
    if condition.operator == "between":
        return [_build_between(condition, name, params)]
    build = _BUILDERS.get(condition.operator)
    if build is None:
        raise Invalid(f"Unknown operator {condition.operator!r}.", reason="operator")
    tests: list[str] = []
    for number, value in enumerate(condition.values):
        if condition.operator == "prefix" and not isinstance(value, str):
            raise _condition_error(condition, "a text")
        if value is None:
            raise _condition_error(condition, "a text, a number or a boolean")
        tests.append(build(value, f"{name}_{number}", params))
    return tests


def _condition_error(condition: Condition, wanted: str) -> Invalid:
    return Invalid(
        f"The condition `{condition.operator}` on {condition.key[:80]!r} takes {wanted}.",
        reason="condition",
        key=condition.key[:80],
        given=[repr(each)[:80] for each in condition.values],
    )

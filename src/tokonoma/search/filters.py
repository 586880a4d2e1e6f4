"""A filter over the shared index, in the forms that its legs need: as SQL, part by part, and as values to compare.

Every wall and every condition becomes a `Part`. Joined by `and` they are the filter; one by one they tell why a record
was not found; and those that list few records drive the search, instead of being checked on what it proposes.
"""
# ruff: noqa: S608 - SQL is put together from texts of ours and names of parameters; what callers send is a parameter

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.namespaces import is_inside
from tokonoma.core.query import SearchFilter, SearchScope
from tokonoma.search.conditions import compile_condition


@dataclass(frozen=True, slots=True)
class FilterPart:
    description: str  # what it filters by, for people
    sql: str  # a condition over `document d`
    driver: str = ""  # a select that lists the ids of the records that it lets through; empty: there is no index for it


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """`sql` is a condition over `document d` with `:f_…` parameters; it says all. The rest repeats its simple part.

    Expiry is in the SQL alone and does not make a filter narrow: few records have run out and are still there, and
    whatever a leg proposes passes through the SQL before it is shown.
    """

    sql: str = "1 = 1"
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    modules: frozenset[str] | None = None  # None: any
    namespaces: tuple[str, ...] = ()  # trees, all of which a record must lie in
    classifications: frozenset[str] | None = None
    narrow: bool = False  # the SQL asks for more than the three above: facts, times
    parts: tuple[FilterPart, ...] = ()


def compile_filter(where: SearchFilter, reach: SearchScope, at: int | None = None) -> IndexFilter:
    """The walls around the caller and what it asked for; `at` is the time by which records run out."""
    params: dict[str, Any] = {"f_now": now() if at is None else at}
    trees = _list_trees(reach.root, where.namespace)
    parts = [_compile_namespace(tree, number, params) for number, tree in enumerate(trees)]
    if set(reach.classifications) != set(CLASSIFICATIONS):
        parts.append(_compile_classification(reach))
    if where.modules:
        parts.append(_compile_modules(where.modules, params))
    narrow = [compile_condition(each, f"f_{number}", params) for number, each in enumerate(where.conditions)]
    parts += [FilterPart(*each) for each in narrow]
    parts += _compile_times(where, params)
    parts.append(FilterPart("expiry", "(d.expires_at is null or d.expires_at > :f_now)"))
    return IndexFilter(
        sql=" and ".join(part.sql for part in parts),
        params=params,
        modules=frozenset(where.modules) if where.modules else None,
        namespaces=trees,
        classifications=frozenset(reach.classifications)
        if set(reach.classifications) != set(CLASSIFICATIONS)
        else None,
        narrow=bool(where.conditions) or where.since is not None or where.until is not None,
        parts=tuple(parts),
    )


def _list_trees(root: str, space: str | None) -> tuple[str, ...]:
    """The root is a wall: a space outside of it does not replace it, and nothing lies in both."""
    if space is None or space in (root, "/"):
        return () if root == "/" else (root,)
    if is_inside(space, root):
        return (space,)
    return (root, space)


def _compile_namespace(tree: str, number: int, params: dict[str, Any]) -> FilterPart:
    # A range and not `like`: that ignores case on SQLite, and a wall must not. "0" follows "/".
    name = f"f_space{number}"
    params |= {name: tree, f"{name}_low": f"{tree}/", f"{name}_high": f"{tree}0"}
    return FilterPart(
        "space",
        f"(d.space = :{name} or (d.space >= :{name}_low and d.space < :{name}_high))",
        f"select id from document where space = :{name}"
        f" union all select id from document where space >= :{name}_low and space < :{name}_high",
    )


def _compile_classification(reach: SearchScope) -> FilterPart:
    # Classes are our own fixed words, never a caller's text.
    listed = ", ".join(f"'{label}'" for label in CLASSIFICATIONS if label in reach.classifications)
    if not listed:
        return FilterPart("class", "1 = 0", "select id from document where 1 = 0")
    return FilterPart("class", f"d.label in ({listed})", f"select id from document where label in ({listed})")


def _compile_modules(modules: Sequence[str], params: dict[str, Any]) -> FilterPart:
    names = {f"f_module{number}": module for number, module in enumerate(modules)}
    params |= names
    listed = ", ".join(f":{name}" for name in names)
    return FilterPart("module", f"d.module in ({listed})", f"select id from document where module in ({listed})")


def _compile_times(where: SearchFilter, params: dict[str, Any]) -> list[FilterPart]:
    """Both ends belong to it."""
    parts: list[FilterPart] = []
    for name, sign, at in (("since", ">=", where.since), ("until", "<=", where.until)):
        if at is not None:
            params[f"f_{name}"] = at
            parts.append(
                FilterPart(name, f"d.at {sign} :f_{name}", f"select id from document where at {sign} :f_{name}")
            )
    return parts

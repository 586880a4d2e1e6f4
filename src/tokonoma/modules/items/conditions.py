"""Conditions on the fields of items: as SQL over `item`, and compared with an item as its reader gets it.

SQL finds the items. What is shown is compared once more: where a caller gets a field masked, the masked value counts.
"""

from collections.abc import Sequence
from typing import Any

from tokonoma.core.query import AllOf, AnyOf, Condition, NoneOf, Predicate
from tokonoma.modules.items.model import CLOSED_STATUSES, PRIORITIES, Item, fold_tag

_COLUMNS = {"created": "created_at", "updated": "updated_at", "start": "start_at", "end": "end_at"}
_TAGGED = "exists (select 1 from item_tag t where t.item_id = item.id%s)"


def compile_predicate(predicate: Predicate, name: str, params: dict[str, Any]) -> str:
    """A condition over `item`. Parameters are written into `params` under names that begin with `name`."""
    if isinstance(predicate, Condition):
        return _compile_condition(predicate, name, params)
    if isinstance(predicate, NoneOf):
        return f"not ({compile_predicate(predicate.part, f'{name}n', params)})"
    parts = [compile_predicate(each, f"{name}_{number}", params) for number, each in enumerate(predicate.parts)]
    if isinstance(predicate, AnyOf):
        return "(" + " or ".join(parts) + ")" if parts else "1 = 0"
    return "(" + " and ".join(parts) + ")" if parts else "1 = 1"


def matches_predicate(predicate: Predicate, item: Item) -> bool:
    if isinstance(predicate, Condition):
        return _matches_condition(predicate, item)
    if isinstance(predicate, NoneOf):
        return not matches_predicate(predicate.part, item)
    held = (matches_predicate(each, item) for each in predicate.parts)
    return all(held) if isinstance(predicate, AllOf) else any(held)


def _compile_condition(condition: Condition, name: str, params: dict[str, Any]) -> str:
    key, column = condition.key, _COLUMNS.get(condition.key, condition.key)
    if condition.operator == "exists":
        if key == "tag":
            return _TAGGED % ""
        return f"item.{column} is not null" if key in _COLUMNS else f"item.{column} <> ''"
    if condition.operator == "between":
        ends = zip(("low", "high"), (">=", "<="), condition.values, strict=True)
        given = {f"{name}_{end}": (sign, int(value)) for end, sign, value in ends if isinstance(value, float)}
        params |= {end: value for end, (_, value) in given.items()}
        # A null is no time: with `not` around it, it has to be false, and not unknown.
        return (
            " and ".join([f"(item.{column} is not null", *(f"item.{column} {given[end][0]} :{end}" for end in given)])
            + ")"
        )
    values: Sequence[Any] = condition.values
    if key == "priority":
        values = [PRIORITIES.index(each) for each in values]
    elif key == "is":
        key, column, values = "state", "state", [1 if each == "open" else 0 for each in values]
    names = {f"{name}_{number}": value for number, value in enumerate(values)}
    params |= names
    listed = f"in ({', '.join(f':{each}' for each in names)})"
    return _TAGGED % f" and t.folded {listed}" if key == "tag" else f"item.{column} {listed}"


def _matches_condition(condition: Condition, item: Item) -> bool:
    key, values = condition.key, condition.values
    if condition.operator == "between":
        at: int | None = getattr(item, _COLUMNS[key])
        low, high = (value if isinstance(value, float) else None for value in values)
        return at is not None and (low is None or at >= low) and (high is None or at <= high)
    if condition.operator == "exists":
        return getattr(item, _COLUMNS.get(key, "tags" if key == "tag" else key)) not in (None, "", ())
    if key == "tag":
        return any(fold_tag(tag) in values for tag in item.tags)
    if key == "is":
        return ("closed" if item.status in CLOSED_STATUSES else "open") in values
    return (PRIORITIES[item.priority] if key == "priority" else getattr(item, key)) in values

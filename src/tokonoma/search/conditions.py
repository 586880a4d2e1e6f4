"""Conditions joined by and, or and not, as SQL. Pure; what a single one means stands in facts.py."""

from typing import Any

from tokonoma.core.query import AllOf, Condition, NoneOf, Predicate
from tokonoma.search.facts import CompiledCondition, compile_fact_condition

_NOTHING = "select id from document where 1 = 0"


def compile_condition(test: Predicate, name: str, params: dict[str, Any]) -> CompiledCondition:
    """A word for people, a condition over `document d`, and a select that lists at least all ids that meet it, if one
    is known. Parameters are written into `params` under names that begin with `name`."""
    if isinstance(test, Condition):
        return compile_fact_condition(test, name, params)
    if isinstance(test, NoneOf):
        word, sql, _ = compile_condition(test.part, f"{name}n", params)
        return f"not {word}", f"not ({sql})", ""
    made = [compile_condition(part, f"{name}_{number}p", params) for number, part in enumerate(test.parts)]
    if isinstance(test, AllOf):
        return _join_all(made)
    return _join_any(made)


def _join_all(made: list[CompiledCondition]) -> CompiledCondition:
    if not made:
        return "anything", "1 = 1", ""
    driver = next((driver for _, _, driver in made if driver), "")
    return " and ".join(word for word, _, _ in made), _join_sql(" and ", made), driver


def _join_any(made: list[CompiledCondition]) -> CompiledCondition:
    if not made:
        return "nothing", "1 = 0", _NOTHING
    drivers = [driver for _, _, driver in made]
    driver = " union all ".join(drivers) if all(drivers) else ""
    return " or ".join(word for word, _, _ in made), _join_sql(" or ", made), driver


def _join_sql(word: str, made: list[CompiledCondition]) -> str:
    return "(" + word.join(f"({sql})" for _, sql, _ in made) + ")"

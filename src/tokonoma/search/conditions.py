"""Conditions joined by and, or and not, as SQL. Pure; what a single one means stands in facts.py."""

from typing import Any

from tokonoma.core.query import Both, Condition, Neither, Test
from tokonoma.search.facts import Made, fact_part

_NOTHING = "select id from document where 1 = 0"


def part_of(test: Test, name: str, params: dict[str, Any]) -> Made:
    """A word for people, a condition over `document d`, and a select that lists at least all ids that meet it, if one
    is known. Parameters are written into `params` under names that begin with `name`."""
    if isinstance(test, Condition):
        return fact_part(test, name, params)
    if isinstance(test, Neither):
        word, sql, _ = part_of(test.part, f"{name}n", params)
        return f"not {word}", f"not ({sql})", ""
    made = [part_of(part, f"{name}_{number}p", params) for number, part in enumerate(test.parts)]
    if isinstance(test, Both):
        return _both(made)
    return _either(made)


def _both(made: list[Made]) -> Made:
    if not made:
        return "anything", "1 = 1", ""
    driver = next((driver for _, _, driver in made if driver), "")
    return " and ".join(word for word, _, _ in made), _joined(" and ", made), driver


def _either(made: list[Made]) -> Made:
    if not made:
        return "nothing", "1 = 0", _NOTHING
    drivers = [driver for _, _, driver in made]
    driver = " union all ".join(drivers) if all(drivers) else ""
    return " or ".join(word for word, _, _ in made), _joined(" or ", made), driver


def _joined(word: str, made: list[Made]) -> str:
    return "(" + word.join(f"({sql})" for _, sql, _ in made) + ")"

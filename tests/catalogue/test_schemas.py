"""What a tool's parser says about wrong parameters: all problems, as long as they are not endless."""

import time
from typing import Any

import pytest
from typing_extensions import TypedDict

from tokonoma.catalogue.schemas import build_parser
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid
from tokonoma.core.module import Tool


class Part(TypedDict):
    name: str


def take(desk: Desk, text: str, parts: list[Part] | None = None) -> dict[str, Any]:
    """Takes."""
    return {}


def refuse(tool: Tool, **params: Any) -> Invalid:
    with pytest.raises(Invalid) as refused:
        build_parser(tool, "take(…)")(params)
    return refused.value


TAKE = Tool("take", take, "Take")
OWN_SCHEMA = Tool(
    "take", take, "Take", input_schema={"type": "object", "properties": {}, "additionalProperties": False}
)


def test_a_few_problems_are_all_listed():
    error = refuse(TAKE, text=1, a=1, b=2)
    assert [each["field"] for each in error.details["problems"]] == ["text", "a", "b"]
    assert "problems_total" not in error.details


@pytest.mark.parametrize("tool", [TAKE, OWN_SCHEMA])
def test_of_many_unknown_fields_the_first_are_listed_and_all_are_counted(tool):
    before = time.thread_time()
    error = refuse(tool, **{f"k{number}": 1 for number in range(200_000)})
    assert [each["field"] for each in error.details["problems"]] == [f"k{number}" for number in range(100)]
    assert error.details["problems_total"] == 200_000
    assert error.message.endswith("and 199995 more.")
    assert time.thread_time() - before < 2


def test_of_many_bad_members_the_first_are_listed_and_all_are_counted():
    error = refuse(TAKE, text="x", parts=[{"other": 1}] * 50_000)
    assert error.details["problems"][0]["field"] == "parts.0.name"
    assert len(error.details["problems"]) == 40  # of the first twenty members
    assert error.details["problems_total"] == 100_000


def test_problems_far_from_the_start_are_counted():
    error = refuse(TAKE, text="x", parts=[{"name": "a"}] * 100 + [{"name": 1}] * 5000)
    assert error.details["problems"] == []
    assert error.details["problems_total"] == 5000
    assert "5000 problems" in error.message


def test_a_long_name_is_cut_in_the_message():
    assert len(refuse(TAKE, text="x", **{"k" * 100_000: 1}).message) < 300

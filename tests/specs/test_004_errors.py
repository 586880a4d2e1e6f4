"""specs/004, 4 エラーハンドリング and 6.1 入力検証: codes, shapes, everything at once, nothing changed."""

import re

import pytest
from specs.items_client import Items

BAD = {
    "an empty title": ({"title": " "}, 1002, "title"),
    "a title of 201 characters": ({"title": "あ" * 201}, 1002, "title"),
    "an unknown priority": ({"priority": "URGENT"}, 1002, "priority"),
    "an unknown status": ({"status": "open"}, 1004, "status"),
    "100 KB and one byte": ({"content": "x" * 102_401}, 1002, "content"),
    "100 KB in Japanese": ({"content": "あ" * 34_134}, 1002, "content"),
    "a long description": ({"description": "x" * 102_401}, 1002, "description"),
    "a date that is none": ({"start_date": "tomorrow"}, 1002, "start_date"),
    "an end before the start": ({"start_date": "2026-03-01", "end_date": "2026-02-28"}, 1002, "end_date"),
    "an unknown relation": ({"related": ["docs-999"]}, 1004, "related[0]"),
    "a relation that is no address": ({"related": ["docs/1"]}, 1002, "related[0]"),
    "a record of a module that is not there": ({"related": ["tokonoma://nothing/1"]}, 1004, "related[0]"),
    "a memo that is not there": ({"related": ["tokonoma://memory/x"]}, 1004, "related[0]"),
    "an empty tag": ({"tags": ["a", ""]}, 1002, "tags[1]"),
    "a tag of 101 characters": ({"tags": ["x" * 101]}, 1002, "tags[0]"),
    "too many tags": ({"tags": [f"t{n}" for n in range(51)]}, 1002, "tags"),
    "a long category": ({"category": "x" * 101}, 1002, "category"),
    "a NUL": ({"title": "a\0b"}, 1002, "title"),
}


@pytest.mark.parametrize(("wrong", "code", "field"), BAD.values(), ids=BAD)
def test_bad_values_are_named_and_nothing_is_made(items, wrong, code, field):
    error = items.refused("create_item", **{"type": "issue", "title": "fine", **wrong})
    assert (error["code"], error["data"]["details"]["field"]) == (code, field)
    assert error["data"]["type"] == {1002: "ValidationError", 1004: "ConstraintViolationError"}[code]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", error["data"]["timestamp"])
    assert items.get_stats()["total"] == 0


@pytest.mark.parametrize(("wrong", "code", "field"), BAD.values(), ids=BAD)
def test_bad_values_change_nothing(items, wrong, code, field):
    made = items.make("fine")
    error = items.refused("update_item", type="issue", id=made["id"], **{"description": "new", **wrong})
    assert (error["code"], error["data"]["details"]["field"]) == (code, field)
    assert items.get(made) == made


SHAPES = {
    "a missing title": {"type": "issue"},
    "a number for a title": {"type": "issue", "title": 3},
    "an unknown field": {"type": "issue", "title": "x", "colour": "red"},
    "tags that are no list": {"type": "issue", "title": "x", "tags": "a"},
    "related numbers": {"type": "issue", "title": "x", "related": [3]},
}


@pytest.mark.parametrize("params", SHAPES.values(), ids=SHAPES)
def test_a_wrong_shape_has_the_code_of_json_rpc(talk, params):
    error = Items(talk).refused("create_item", **params)
    assert (error["code"], error["data"]["type"]) == (-32602, "InvalidParamsError")
    assert error["data"]["details"]["problems"]


def test_everything_that_is_wrong_is_told_at_once(talk):
    error = Items(talk).refused(
        "create_item", type="Bug Report", title="", status="Opne", priority="x", start_date="2026-02-01",
        end_date="2026-01-01", related=["docs-9", "nowhere"], tags=[""],
    )  # fmt: skip
    told = {each["field"]: each["code"] for each in error["data"]["details"]["errors"]}
    assert told == {
        "type": 1002, "title": 1002, "status": 1004, "priority": 1002, "tags[0]": 1002, "end_date": 1002,
        "related[0]": 1004, "related[1]": 1002,
    }  # fmt: skip
    assert "did you mean 'Open'" in error["message"]


def test_an_unknown_tool_and_an_unready_database_have_codes_too(app, items):
    error = items.refused("create_itm")
    assert (error["code"], error["data"]["type"]) == (-32601, "MethodNotFoundError")
    items.make()
    with app.database.writing() as statements:
        statements.run("drop table item_hint")
    error = items.refused("create_item", type="issue", title="x")
    assert error["code"] in (1003, -32603)
    assert "item_hint" not in str(error)


def test_the_same_error_comes_out_of_a_batch(app, items):
    told = items.talk.batch({"id": "a", "module": "items", "tool": "get_item_detail", "params": {"type": "a", "id": 1}})
    assert told["steps"][0]["error"]["code"] == 1001
    assert told["steps"][0]["error"]["data"]["type"] == "ItemNotFoundError"


def test_limits_are_named(items):
    for tool, params, limit in (
        ("get_items", {"limit": 101}, "100"),
        ("search_items", {"query": "x", "limit": 101}, "100"),
        ("search_suggest", {"query": "x", "limit": 21}, "20"),
        ("get_related_items", {"type": "a", "id": 1, "depth": 4}, "3"),
        ("get_related_items", {"type": "a", "id": 1, "max_results": 5001}, "5000"),
        ("bulk_update", {"updates": [{"type": "a", "id": 1, "data": {}}] * 101}, "100"),
    ):
        error = items.refused(tool, **params)
        assert error["code"] == -32602
        assert limit in error["message"]

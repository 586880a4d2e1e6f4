"""`fields`: the parts that were asked for, in the shape that they have. And the bound on the whole answer."""

from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.field_paths import project
from tokonoma.gateway.results import build_result, leave_out

VALUE = {
    "items": [{"id": 1, "text": "a", "by": {"name": "n", "mail": "m"}}, {"id": 2, "by": None}],
    "total": 2,
    "none": [],
    "odd.key": {"x": 1},
}


@pytest.mark.parametrize(
    ("fields", "kept", "missing"),
    [
        (["total"], {"total": 2}, []),
        (["items.id", "total"], {"items": [{"id": 1}, {"id": 2}], "total": 2}, []),
        (["total", "items[].id"], {"items": [{"id": 1}, {"id": 2}], "total": 2}, []),
        (["items.text"], {"items": [{"text": "a"}, {}]}, []),
        (["items.by.name"], {"items": [{"by": {"name": "n"}}, {"by": None}]}, []),
        (["items.id", "items"], {"items": VALUE["items"]}, []),
        (['["odd.key"].x'], {"odd.key": {"x": 1}}, []),
        (["none.id"], {"none": []}, []),
        (["itms.id", "total"], {"total": 2}, ["itms.id"]),
        (["items.name"], {"items": [{}, {}]}, ["items.name"]),
        (["total.x"], {}, ["total.x"]),
        (["items.by.x"], {"items": [{"by": {}}, {"by": None}]}, ["items.by.x"]),
    ],
)
def test_what_is_kept_and_what_is_missing(fields, kept, missing):
    found, lacking = project(VALUE, fields)
    assert found == kept
    assert list(found) == [key for key in VALUE if key in kept]
    assert lacking == missing


def test_lists_keep_their_length_and_lists_of_lists_are_walked_through():
    assert project({"a": [[{"b": 1, "c": 2}], "text", [None]]}, ["a.b"]) == ({"a": [[{"b": 1}], None, [None]]}, [])


@given(st.recursive(st.integers(), lambda each: st.dictionaries(st.sampled_from("abc"), each) | st.lists(each)))
def test_asking_for_every_key_changes_nothing(value):
    assert project({"a": value}, list("abc"))[0] == {"a": value}


def step(id: str, effect: str = "read") -> Any:
    schema = {"properties": {"limit": {}, "text": {}}}
    return SimpleNamespace(id=id, tool=SimpleNamespace(effect=effect, path="demo.tool", input=schema))


def test_large_errors_lose_their_details_until_the_answer_fits():
    plan: Any = SimpleNamespace(steps=[step(f"s{number}") for number in range(11)])
    reports: dict[str, Any] = {}
    for number in range(10):
        error = {"code": "X", "message": "wrong", "details": {"text": "x" * 1000 * number}}
        reports[f"s{number}"] = {"id": f"s{number}", "status": "error", "error": error}
    reports["s10"] = {"id": "s10", "status": "ok"}
    answer = build_result(plan, reports, {"s10": b'{"value":1}'}, 40_000)
    assert len(orjson.dumps(answer)) <= 40_000
    kept = [report["id"] for report in answer["steps"] if report.get("error", {}).get("details")]
    assert kept == ["s0", "s1", "s2", "s3", "s4", "s5"]  # the largest go first
    assert "details left out" in reports["s9"]["error"]["message"]
    assert answer["results"] == {"s10": {"value": 1}}


@pytest.mark.parametrize(
    ("effect", "said", "unsaid"),
    [("read", "call demo.tool alone", "effects"), ("write", "do not run it again", "alone")],
)
def test_a_result_that_is_left_out_is_named_with_how_to_get_it(effect, said, unsaid):
    report: Any = {"id": "a", "status": "ok"}
    leave_out(step("a", effect), report, 9, 5)
    assert report["result_bytes"] == 9
    assert said in report["message"]
    assert unsaid not in report["message"]
    assert "set limit" in report["message"]

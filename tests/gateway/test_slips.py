"""The schema of one tool, and plain slips in calls and in steps: understood, and named in the answer."""

import json
from collections.abc import Generator
from typing import Any

import pytest
from policy.houses import key
from talk import Http, Lines

from tokonoma.app import App


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Generator[App]:
    house = App({"home": str(tmp_path_factory.mktemp("slips")), "durable": False}, {})
    yield house
    house.close()


@pytest.fixture(scope="module")
def lines(app) -> Lines:
    return Lines(app)


def same(one: Any, other: Any, *names: str) -> None:
    texts = [json.dumps(each) for each in (one, other)]
    for name in names:
        texts = [each.replace(name, "X") for each in texts]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["memory.save", "memory_save", ["memory.save"], ["memory.save", "memory_save"]])
def test_the_schema_of_one_tool(lines, name):
    (module,) = lines.value("get_module_schema", module=name)["modules"]
    assert module["name"] == "memory"
    (signature,) = module["tools"]
    assert signature.startswith("save(")
    both = lines.value("get_module_schema", module=["system", "memory.save", "memory.get"])["modules"]
    assert [(each["name"], len(each["tools"]) > 2) for each in both] == [("system", True), ("memory", False)]
    error = lines.error("get_module_schema", module="memory.sve")
    assert "'save'" in error["message"]


SLIPS: list[tuple[dict[str, Any], str]] = [
    (
        {"module": "system", "tool_name": "recent", "params": '{"limit": 3}'},
        "params was a string; it must be an object",
    ),
    (
        {"module": "system", "tool_name": "recent", "params": {"limit": "3"}},
        "limit was a string; it must be an integer",
    ),
    ({"module": "system", "tool": "recent", "params": {"limit": 3}}, "tool was read as tool_name"),
    ({"tool_name": "system.recent", "params": {"limit": 3}}, "'system.recent' was read as"),
    ({"module": "system.recent", "params": {"limit": 3}}, "'system.recent' was read as"),
    ({"module": "memory", "tool_name": "relation_list", "params": {"limit": 3}}, "'relation_list' was read as"),
    ({"module": "memory", "tool_name": "search", "params": {"query": "x", "explain": "True"}}, "must be a boolean"),
    ({"module": "memory", "tool_name": "search", "params": {"half_life_days": "2.5"}}, "must be a number"),
    ({"module": "memory", "tool_name": "search", "params": {"metadata_filter": '{"a": 1}'}}, "must be an object"),
]


@pytest.mark.parametrize(("arguments", "correction"), SLIPS, ids=[str(number) for number in range(len(SLIPS))])
def test_a_plain_slip_is_understood_and_named(lines, arguments, correction):
    answer = lines.tool("call", **arguments)
    assert not answer["isError"], answer
    value, note = answer["content"]
    assert json.loads(value["text"]) == answer["structuredContent"]
    assert correction in note["text"]
    assert correction in answer["_meta"]["tokonoma/corrected"][0]


@pytest.mark.parametrize(
    "arguments",
    [
        {"module": "system", "tool_name": "recent", "params": {"limit": "many"}},
        {"module": "system", "tool_name": "recent", "params": {"limit": "3", "page": 1}},
        {"module": "system", "tool_name": "recent", "params": {"limit": "03"}},
        {"module": "system", "tool_name": "recent", "params": {"limit": "3.0"}},
        {"module": "system", "tool_name": "recent", "params": {"limit": True}},
        {"module": "system", "tool_name": "recent", "params": '{"limit": 3, "limit": 4}'},
        {"module": "system", "tool_name": "recent", "params": "[3]"},
        {"module": "system", "tool_name": "recent", "params": "limit=3"},
        {"module": "system", "tool_name": "recent", "params": '{"a":' * 100 + "1" + "}" * 100},
        {"module": "system", "tool": "recent", "tool_name": "status"},
        {"module": "system", "tool_name": "recent", "arguments": {"limit": 3}},
        {"tool_name": "recent"},
    ],
    ids=str,
)
def test_what_could_be_meant_in_two_ways_is_refused(lines, arguments):
    assert lines.error("call", **arguments)["code"] == "INVALID_ARGUMENT"


def test_a_text_that_may_be_a_text_stays_one(lines):
    memo = lines.call("memory", "save", content="12", metadata={"number": "34", "flag": "true"})
    assert (memo["metadata"], lines.call("memory", "get", memo_id=memo["memo_id"])["content"]) == (
        {"number": "34", "flag": "true"},
        "12",
    )
    for module, name in (("system", "status"), ("system", "system.status"), ("claims", "pce.memory.list")):
        answer = lines.tool("call", module=module, tool_name=name)
        assert len(answer["content"]) == 1
        assert "tokonoma/corrected" not in answer["_meta"]


def test_slips_in_steps_of_a_batch(lines):
    steps = [
        {"id": "a", "module": "system", "tool_name": "recent", "params": '{"limit": "2"}'},
        {"id": "b", "tool": "system.recent", "params": {"limit": "${a.items[0].duration_us}"}, "after": "a"},
        {
            "id": "c",
            "module": "memory",
            "tool": "relation_list",
            "params": {"limit": "3", "namespace": "${a.items[0].tool}"},
        },
    ]
    answer = lines.tool("batch", jsonl="\n".join(map(json.dumps, steps)), dry_run=True)
    assert not answer["isError"], answer
    notes = answer["content"][1]["text"]
    assert "a: tool_name was read as tool" in notes
    assert "a: params was a string" in notes
    assert "b: 'system.recent' was read as" in notes
    assert "c: 'relation_list' was read as" in notes
    ran = lines.tool("batch", jsonl=json.dumps({**steps[0], "output": True}))
    assert ran["structuredContent"]["results"]["a"]["items"] is not None
    assert "a: limit was a string" in ran["content"][1]["text"]
    both = {"id": "a", "module": "system", "tool": "recent", "tool_name": "status"}
    assert lines.error("batch", jsonl=json.dumps(both))["code"] == "INVALID_ARGUMENT"


def test_a_slip_tells_nothing_of_a_hidden_module(app):
    bot = Http(app, key(app, "bot", mask=["memory"]))
    for call in (
        {"tool_name": "{}.save"},
        {"module": "{}.save"},
        {"module": "{}", "tool": "save", "params": '{{"a": "1"}}'},
    ):
        one, other = (
            bot.error("call", **{name: text.format(module) for name, text in call.items()})
            for module in ("memory", "nobody")
        )
        same(one, other, "memory", "nobody")

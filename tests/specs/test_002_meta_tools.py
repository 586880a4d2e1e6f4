"""specs/002, メタツール設計: get_module_schema, call, batch, over the wire."""

import json

import jsonschema
import pytest


def test_the_tools_of_the_specification_come_first_in_a_short_list(talk):
    result = talk.ask("tools/list")["result"]
    names = [tool["name"] for tool in result["tools"]]
    assert names == ["get_module_schema", "call", "batch", "search", "fetch", "remember"]
    assert len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode()) <= 5632
    for tool in result["tools"]:
        assert tool["title"]
        assert tool["annotations"]
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])


def test_the_modules_stand_in_the_description_of_the_first_tool(talk):
    tools = talk.ask("tools/list")["result"]["tools"]
    assert "- system: " in tools[0]["description"]


def test_signatures_by_default_and_json_schema_on_request(talk):
    (module,) = talk.value("get_module_schema", module="system")["modules"]
    assert module["name"] == "system"
    assert "recent(limit?: int 1..200 = 20, cursor?: str) -> {items:" in str(module["tools"])
    (module,) = talk.value("get_module_schema", module="system", format="json")["modules"]
    recent = next(tool for tool in module["tools"] if tool["name"] == "recent")
    assert recent["inputSchema"]["properties"]["limit"]["maximum"] == 200
    jsonschema.Draft202012Validator.check_schema(recent["outputSchema"])


def test_several_modules_at_once_and_an_unknown_one_with_its_nearest(talk):
    assert len(talk.value("get_module_schema", module=["system"])["modules"]) == 1
    error = talk.error("get_module_schema", module="sytem")
    assert error["code"] == "NOT_FOUND"
    assert "system" in error["message"]


def test_call_runs_one_tool_and_its_value_fits_the_schema(talk):
    tools = talk.value("get_module_schema", module="system", format="json")["modules"][0]["tools"]
    schemas = {tool["name"]: tool["outputSchema"] for tool in tools}
    params = {
        "timeline": {"since": "2026-01-01"},
        "days": {"since": "2026-01-01"},
        "related": {"address": saved_memo(talk)},
    }
    for name, schema in schemas.items():
        jsonschema.validate(talk.call("system", name, **params.get(name, {})), schema)


def saved_memo(talk) -> str:
    return f"tokonoma://memory/{talk.call('memory', 'save', content='tea')['memo_id']}"


@pytest.mark.parametrize("name", ["status", "system.status", "system_status"])
def test_every_spelling_of_a_name(talk, name):
    assert talk.call("system", name)["version"]


@pytest.mark.parametrize("name", ["system_status", "system.status"])
def test_a_listed_name_can_be_called_without_the_gateway(talk, name):
    assert talk.value(name)["version"]


@pytest.mark.parametrize(
    ("module", "tool", "params", "code", "word"),
    [
        ("sistem", "status", {}, "NOT_FOUND", "'system'"),
        ("system", "stauts", {}, "NOT_FOUND", "'status'"),
        ("gateway", "batch", {"jsonl": ""}, "NOT_FOUND", "gateway"),
        ("system", "recent", {"limit": 0}, "INVALID_ARGUMENT", "limit"),
        ("system", "recent", {"limit": True}, "INVALID_ARGUMENT", "limit"),
        ("system", "recent", {"limit": 201}, "INVALID_ARGUMENT", "200"),
        ("system", "recent", {"cursor": "made up"}, "INVALID_ARGUMENT", "cursor"),
        ("system", "status", {"verbose": 1}, "INVALID_ARGUMENT", "unknown field"),
    ],
)
def test_what_is_wrong_is_said(talk, module, tool, params, code, word):
    error = talk.refused(module, tool, **params)
    assert error["code"] == code
    assert word in error["message"]


def test_bad_parameters_get_the_signature_and_all_problems_back(talk):
    error = talk.refused("system", "recent", limit="many", page=2)
    assert error["details"]["signature"].startswith("recent(limit?")
    assert {problem["field"] for problem in error["details"]["problems"]} == {"limit", "page"}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"module": "system"},
        {"module": 1, "tool_name": "status"},
        {"module": "system", "tool_name": "status", "params": []},
        {"module": "system", "tool_name": "status", "extra": 1},
    ],
)
def test_a_malformed_call_is_told_how_to_call(talk, arguments):
    error = talk.error("call", **arguments)
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["details"]["signature"].startswith("call(module: str")


def test_an_unknown_tool_is_told_the_nearest_name(talk):
    answer = talk.ask("tools/call", name="system_stauts", arguments={})
    assert answer["error"]["code"] == -32602
    assert "'system_status'" in answer["error"]["message"]


def test_a_batch_gives_back_only_what_was_asked_for(talk):
    told = talk.batch(
        {"id": "a", "module": "system", "tool": "status"},
        {"id": "b", "module": "system", "tool": "recent", "params": {"limit": 3}, "after": "a", "output": True},
    )
    assert [(step["id"], step["status"]) for step in told["steps"]] == [("a", "ok"), ("b", "ok")]
    assert set(told["results"]) == {"b"}


def test_a_reference_passes_a_value_and_keeps_its_type(talk):
    told = talk.batch(
        {"id": "a", "module": "system", "tool": "status"},
        {"id": "b", "module": "system", "tool": "recent", "params": {"limit": "${a.modules[0].tools}"}, "output": True},
    )
    assert [step["status"] for step in told["steps"]] == ["ok", "ok"]


def test_a_missing_path_is_an_error_of_its_step_that_names_the_keys(talk):
    told = talk.batch(
        {"id": "a", "module": "system", "tool": "status"},
        {"id": "b", "module": "system", "tool": "recent", "params": {"limit": "${a.nowhere}"}},
        {"id": "c", "module": "system", "tool": "status", "after": "b"},
        {"id": "d", "module": "system", "tool": "status"},
    )
    steps = {step["id"]: step for step in told["steps"]}
    assert [steps[name]["status"] for name in "abcd"] == ["ok", "error", "skipped", "ok"]
    assert "modules" in json.dumps(steps["b"])
    assert "b" in json.dumps(steps["c"])


def test_nothing_runs_if_any_line_is_wrong_and_all_errors_come_with_their_lines(talk):
    lines = [
        '{"id":"a","module":"system","tool":"status"}',
        "not json",
        '{"id":"a","module":"system","tool":"status"}',
        '{"id":"c","module":"system","tool":"nothing"}',
        '{"id":"d","module":"system","tool":"recent","params":{"limit":"many"}}',
        '{"id":"e","module":"system","tool":"recent","params":{"limit":"${zz.x}"}}',
    ]
    error = talk.error("batch", jsonl="\n".join(lines))
    assert error["code"] == "INVALID_ARGUMENT"
    assert {2, 3, 4, 5, 6} <= {problem["line"] for problem in error["details"]["errors"]}


def test_a_cycle_is_refused_by_name(talk):
    error = talk.error(
        "batch",
        jsonl='{"id":"a","module":"system","tool":"status","after":"b"}\n'
        '{"id":"b","module":"system","tool":"status","after":"a"}',
    )
    assert "cycle" in json.dumps(error).lower()


def test_a_dry_run_runs_nothing(talk):
    before = talk.call("system", "recent", limit=200)["items"]
    talk.batch({"id": "a", "module": "system", "tool": "where"}, dry_run=True)
    assert not [item for item in talk.call("system", "recent", limit=200)["items"] if item["tool"] == "where"]
    assert isinstance(before, list)


def test_the_same_key_and_text_answer_once_and_other_text_is_a_conflict(talk):
    line = {"id": "a", "module": "system", "tool": "status", "output": True}
    first = talk.batch(line, idempotency_key="k1")
    second = talk.batch(line, idempotency_key="k1")
    assert second["repeated"] is True
    assert second["results"] == first["results"]
    error = talk.error("batch", jsonl=json.dumps({**line, "id": "z"}), idempotency_key="k1")
    assert error["code"] == "CONFLICT"

"""specs/002: random reaches, asked in every way. All ways agree on what there is, and what a reach hides is answered
byte for byte like what does not exist."""

import json
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specs.tiny_service import use_tiny_services
from specs.twins import SPACES, Twins, build_reaches, is_allowed, list_leaks, normalize

from tokonoma.core.module import ToolInfo
from tokonoma.core.providers import SERVICE_NAMES
from tokonoma.core.reach import Reach

COUNTS = {"sqlite": 10_000 if SOAK else 200, "postgresql": 10_000 if SOAK else 30}
ODD = {"surely not a parameter": 1}  # a tool that exists says so, and does nothing
READS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("memory", "search", {"query": "roof"}),
    ("memory", "list", {}),
    ("items", "search_items", {"query": "roof"}),
    ("items", "get_item_detail", {"type": "issue", "id": 1}),
    ("vault", "ls", {}),
    ("system", "timeline", {}),
    ("system", "days", {}),
    ("system", "status", {}),
)
TEMPLATES = {
    "tokonoma://recent/{module}": "module",
    "tokonoma://namespaces/{+namespace}": "namespace",
    "tokonoma://memory/{memo_id}": "memo_id",
    "tokonoma://manual/{manual_id}/{+path}": "manual_id",
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
PROMPTS = ("remember", "recall", "review_week", "prepare_meeting", "claims_task", "vault_task")


@pytest.fixture
def twins(database_url, tmp_path, monkeypatch):
    use_tiny_services(monkeypatch, tmp_path)
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "embed_provider": "none"}
    made = Twins({**flags, "direct": "all"})
    yield made
    made.close()


def list_questions(twins: Twins) -> list[tuple[str, dict[str, Any]]]:
    """Those that are not about one tool."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("initialize", HELLO),
        ("prompts/list", {}),
        *(("prompts/get", {"name": name}) for name in PROMPTS),
        *(("completion/complete", {"ref": {"type": "ref/resource", "uri": uri},
                                   "argument": {"name": name, "value": ""}}) for uri, name in TEMPLATES.items()),
    ]  # fmt: skip
    tools = [("get_module_schema", {"module": "*"}), ("search", {"query": "roof"})]
    for name in (*twins.modules, "jira", "nowhere"):
        tools += [("get_module_schema", {"module": name}), ("search", {"query": "roof", "modules": [name]})]
        tools += [("call", {"module": name, "tool_name": "x"}), ("call", {"module": name, "tool_name": ""})]
        tools += [("get_module_schema", {"module": [name, "memory"], "format": "json"})]
        asked += [("resources/read", {"uri": f"tokonoma://recent/{name}"})]
    for address in (*twins.addresses.values(), "tokonoma://nowhere/1", "tokonoma://claims/x", "tokonoma://gateway/1"):
        asked.append(("resources/read", {"uri": address}))
        tools += [("fetch", {"id": address}), ("call", {"module": "system", "tool_name": "related",
                                                       "params": {"address": address}})]  # fmt: skip
    asked += [("resources/read", {"uri": f"tokonoma://namespaces{space}"}) for space in SPACES]
    tools += [("call", {"module": module, "tool_name": tool, "params": params}) for module, tool, params in READS]
    return asked + [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in tools]


def list_tool_questions(tool: ToolInfo) -> list[tuple[str, dict[str, Any]]]:
    step = {"id": "a", "module": tool.module, "tool": tool.name}
    other = {"id": "b", "module": "memory", "tool": "list"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("call", {"module": tool.module, "tool_name": tool.name, "params": ODD}),
        ("call", {"module": tool.module, "tool_name": f"{tool.name[:-1]}", "params": ODD}),
        ("call", {"module": tool.module, "tool_name": tool.listed, "params": ODD}),
        ("get_module_schema", {"module": tool.path}),
        ("batch", {"jsonl": json.dumps({**step, "params": ODD})}),
        ("batch", {"jsonl": "\n".join(map(json.dumps, (step, other))), "dry_run": True}),
        *((name, ODD) for name in (tool.listed, tool.path, *tool.aliases)),
    ]
    return [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]


def exists(answer: Any) -> bool:
    """Whether the answer to a call with an odd parameter says that there is such a tool."""
    told = answer["error"] if "error" in answer else json.loads(answer["result"]["content"][0]["text"])
    return "surely not a parameter" in json.dumps(told)


@pytest.mark.soak
def test_random_reaches_are_the_same_in_every_way_in(twins, database_url):
    questions = list_questions(twins)
    tools = [tool for info in twins.modules.values() for tool in info.entries]
    asked, count = 0, COUNTS[database_url.partition(":")[0]]

    @given(
        build_reaches(twins),
        st.lists(st.sampled_from(range(len(questions))), min_size=3, max_size=6, unique=True),
        st.lists(st.sampled_from(range(len(tools))), min_size=1, max_size=2, unique=True),
        st.randoms(),
    )
    @settings(max_examples=count, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    def check(reach: Reach, numbers: list[int], tool_numbers: list[int], order: Any) -> None:
        nonlocal asked
        masked, plain = twins.meet(reach)
        allowed = {tool.path for tool in tools if is_allowed(reach, tool)}
        # Who may only write in a module reads nothing of it, in no way.
        readable = {tool.module for tool in tools if tool.path in allowed and tool.effect == "read"}

        def compare(method: str, params: dict[str, Any]) -> Any:
            nonlocal asked
            asked += 1
            answers = [each.ask(method, **params) for each in (masked, plain)]
            first, second = (normalize(each) for each in answers)
            assert first == second, (method, params)
            assert list_leaks(first, readable, reach) == [], (method, params)
            return answers[0]

        # Every way that lists tools lists those that the rules leave.
        listed = compare("tools/list", {})["result"]["tools"]
        by_name = {tool.listed: tool.path for tool in tools}
        assert {by_name[each["name"]] for each in listed if each["name"] in by_name} == allowed
        names = compare("tools/call", {"name": "get_module_schema", "arguments": {"module": "*"}})
        schema = json.loads(names["result"]["content"][0]["text"])
        assert {f"{each['name']}.{tool}" for each in schema["modules"] for tool in each["tools"]} == allowed
        connected = {tool.module for tool in tools if tool.path in allowed}
        named = schema.get("not_connected", ":").partition(":")[0]
        assert {name for name in named.split(", ") if name} == {
            name for name in SERVICE_NAMES - connected
            if (reach.modules is None or name in reach.modules) and reach.mask.isdisjoint({"*", name})
        }  # fmt: skip
        templates = compare("resources/templates/list", {})["result"]["resourceTemplates"]
        addressed = {info.name for info in twins.modules.values() if info.address} & readable
        assert {each["name"] for each in templates} == addressed | ({"recent", "namespaces"} if addressed else set())
        compare("resources/list", {})
        for number in tool_numbers:
            tool = tools[number]
            first, *rest = list_tool_questions(tool)
            assert exists(compare(*first)) == (tool.path in allowed)
            for question in order.sample(rest, 3):
                compare(*question)
        for number in numbers:
            compare(*questions[number])

    check()
    assert asked >= count * 5

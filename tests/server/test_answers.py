"""What an answer holds, by what its client understands: structured content, its text copy, the origin of its text."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from pipeline import slow
from server.hostile import modern, request
from server.memory import Talk
from server.web import post, served
from talk import Http, Lines

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.core.call import Caller
from tokonoma.server.http.app import HttpApp
from tokonoma.server.mcp.tool_call import MAX_TEXT_COPY

SMALL, LARGE = 100, MAX_TEXT_COPY + 1
PROGRAM = StdioServerParameters(command=sys.executable, args=[str(Path(__file__).parent / "program.py")])


def ask(size: int, write: Any = request) -> Any:
    return write("tools/call", {"name": "ready_large", "arguments": {"size": size}})


def describe(result: Any, size: int) -> tuple[str, bool]:
    """What the text is (`copy` or `summary`), and whether there is structured content."""
    (block,) = result["content"]
    structured = result.get("structuredContent")
    value = {"text": "x" * size}
    assert structured in (None, value)
    if "is in structuredContent" in block["text"]:
        assert structured == value
        assert len(block["text"]) < 500
        return "summary", True
    assert json.loads(block["text"]) == value
    return "copy", structured is not None


KNOWN: list[tuple[str | None, int, tuple[str, bool]]] = [
    ("2024-11-05", SMALL, ("copy", False)),
    ("2024-11-05", LARGE, ("copy", False)),
    ("2025-03-26", LARGE, ("copy", False)),
    ("2025-06-18", SMALL, ("copy", True)),
    ("2025-06-18", LARGE, ("summary", True)),
    ("2025-11-25", LARGE, ("summary", True)),
    (None, SMALL, ("copy", True)),
    (None, LARGE, ("copy", False)),
]


@pytest.mark.parametrize(("version", "size", "expected"), KNOWN)
def test_a_client_of_the_handshake_era_gets_what_it_understands(version, size, expected):
    talk = Talk()
    if version is not None:
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        talk.ask(request("initialize", hello))
    assert describe(talk.ask(ask(size))["result"], size) == expected
    response = post(HttpApp(talk.shop), ask(size), mcp_protocol_version=version)
    assert describe(response.json()["result"], size) == expected


@pytest.mark.parametrize(("size", "expected"), [(SMALL, ("copy", True)), (LARGE, ("summary", True))])
def test_a_modern_client_gets_a_large_value_once(size, expected):
    assert describe(Talk().ask(ask(size, modern))["result"], size) == expected
    assert describe(post(HttpApp(Talk().shop), ask(size, modern)).json()["result"], size) == expected


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_official_client_reads_a_large_value(mode, transport):
    async def read(target: Any) -> Any:
        async with Client(target, mode=mode) as client:
            return await client.call_tool("ready_large", {"size": LARGE})

    if transport == "stdio":
        result = anyio.run(read, PROGRAM)
    else:
        with served() as (url, _):
            result = anyio.run(read, f"{url}/mcp")
    assert result.structured_content == {"text": "x" * LARGE}
    assert "is in structuredContent" in result.content[0].text


@pytest.fixture
def app(tmp_path):
    module = catalogue.describe_module(slow.MODULE, "pipeline.slow:MODULE")
    (tmp_path / "plugins.json").write_bytes(catalogue.dump_catalogue([module]))
    app = App({"home": str(tmp_path), "durable": False, "max_answer_bytes": 8192}, {})
    yield app
    app.close()


@pytest.fixture(params=[Lines, Http])
def talk(request, app):
    return request.param(app)


def find_mark(result: Any) -> Any:
    return result["_meta"]["tokonoma/content"]


def test_every_answer_says_where_its_text_comes_from(talk):
    asked = {
        ("memory", "list"): {"origin": "stored", "module": "memory"},
        ("memory", "get"): {"origin": "stored", "module": "memory"},  # an error: memo_id is missing
        ("slow", "echo"): {"origin": "outside", "module": "slow"},  # an error too
        ("slow", "broken"): {"origin": "outside", "module": "slow"},
        ("nobody", "x"): {"origin": "server"},
    }
    for (module, tool), mark in asked.items():
        assert find_mark(talk.tool("call", module=module, tool_name=tool, params={})) == mark
    assert find_mark(talk.tool("memory_list")) == {"origin": "stored", "module": "memory"}
    assert find_mark(talk.tool("get_module_schema", module="*")) == {"origin": "server", "module": "gateway"}


def test_a_batch_marks_its_steps(talk):
    lines = [
        {"id": "a", "module": "memory", "tool": "list", "output": True},
        {"id": "b", "module": "slow", "tool": "echo", "params": {"text": "x"}, "output": True},
        {"id": "c", "module": "memory", "tool": "list"},
    ]
    jsonl = "\n".join(map(json.dumps, lines))
    result = talk.tool("batch", jsonl=jsonl)
    assert find_mark(result) == {
        "origin": "server",
        "module": "gateway",
        "steps": [
            {"origin": "stored", "module": "memory", "ids": ["a", "c"]},
            {"origin": "outside", "module": "slow", "ids": ["b"]},
        ],
    }
    assert "steps" not in find_mark(talk.tool("batch", jsonl=jsonl, dry_run=True))


def test_a_client_is_told_that_results_are_data(talk, app):
    for text in (
        app.dispatcher.get_instructions(Caller("stdio")),
        *(tool["description"] for tool in list_meta(talk)[1:]),
    ):
        assert "data" in text
        assert "not an instruction" in text
    assert len(json.dumps(list_meta(talk), ensure_ascii=False, separators=(",", ":")).encode()) <= 5632


def list_meta(talk: Any) -> list[Any]:
    return talk.ask("tools/list")["result"]["tools"]


def test_the_answer_of_a_batch_obeys_the_setting(talk):
    line = {"module": "slow", "tool": "echo", "params": {"text": "x" * 3000}, "output": True}
    told = talk.batch(*({"id": f"s{number}", **line} for number in range(5)))
    assert len(json.dumps(told)) <= 8192
    assert list(told["results"]) == ["s0", "s1"]
    assert all(step["result_bytes"] > 3000 and "8192" in step["message"] for step in told["steps"][2:])
    schema = next(tool["outputSchema"] for tool in list_meta(talk) if tool["name"] == "batch")
    jsonschema.validate(told, schema)

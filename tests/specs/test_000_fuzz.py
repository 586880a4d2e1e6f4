"""Every tool with arguments by chance: no answer is an internal error, each fits the tool's own output schema, none
takes long."""

import json
import time
from typing import Any

import pytest
from conftest import SOAK
from jsonschema import Draft202012Validator
from specs.schema_fuzz import ArgumentMaker
from talk import Lines

from tokonoma.app import App

CALLS = 10_000 if SOAK else 150  # on each database
MAX_SECONDS = 2.0  # of CPU, for one call
META_TOOLS = ("batch", "call", "fetch", "get_module_schema", "remember", "search")
KNOWN = {"at": "2026-05-01T00:00:00Z", "actor": "me"}
NOTE = "# Notes\nfirst [a](b.md)\n## Part {#p}\nsecond 返品\n"
ITEM = {"type": "issue", "id": 1}
PART = {"manual_id": "rules", "path": "terms.md", "start_line": 1}
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "save": [
        {"content": "the 鍵 of the server"},
        {"memos": [{"content": "one", "metadata": {"a": 1}}, {"content": "two"}]},
    ],
    "upsert": [{"text": "the server is old", "provenance": KNOWN, "scope": "project"}],
    "policy.apply": [{"yaml": "version: 1.0.0\n", "dry_run": True}, {"yaml": "version: x\nrules: {a: [b]}\n"}],
    "create": [{"path": "notes/a.md", "content": NOTE}, {"path": "b.md", "content": NOTE * 9}],
    "write": [
        {"path": "b.md", "content": NOTE, "mode": "overwrite"},
        {"path": "b.md", "content": "x", "mode": "append"},
    ],
    "replace": [
        {"path": "b.md", "find": "first", "replace": "x"},
        {"path": "b.md", "heading": "Part", "replace": "y\n"},
    ],
    "audit": [{"artifact_path": "b.md", "source_path": "notes/a.md"}],
    "read": [
        {"path": "b.md", "full": True},
        {"path": "b.md", "range": {"start_line": 1, "end_line": 2}},
        {"ref": PART},
    ],
    "copy_section": [{"from_ref": {**PART, "target": "manual", "end_line": 2}, "to_path": "b.md", "mode": "append"}],
    "copy_file": [{"manual_id": "rules", "from_path": "terms.md", "to_path": "b.md", "mode": "overwrite"}],
    "create_item": [{"type": "issue", "title": "a title"}, {"type": "docs", "title": "x", "related": ["issue-1"]}],
    "update_item": [{**ITEM, "title": "new"}, {**ITEM, "tags": ["a", "鍵"]}],
    "bulk_update": [{"updates": [{**ITEM, "data": {"title": "y", "tags": ["a"]}}]}],
    "add_relation": [{**ITEM, "target": "docs-2", "kind": "blocks"}, {**ITEM, "target": "issue-2"}],
    "get_item_detail": [ITEM],
    "get_related_items": [{**ITEM, "depth": 3, "include_edges": True}],
    "find_path": [{"from_type": "issue", "from_id": 1, "to_type": "docs", "to_id": 2}],
}
"""Arguments that are right, by the name of the tool in its module."""


@pytest.fixture
def app(database_url, tmp_path):
    manual = tmp_path / "home" / "workspace" / "manuals" / "rules"
    manual.mkdir(parents=True)
    (manual / "terms.md").write_text(
        "# 第1条 返品\n返品は[料金](fees.md)を見る。\n## 例外\nただし除く。\n", encoding="utf-8"
    )
    (manual / "data.json").write_text('{"返品": {"days": 30}}', encoding="utf-8")
    flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "direct": "all"}
    house = App({**flags, "log_level": "error"}, {})
    yield house
    house.close()


class Fuzzer:
    def __init__(self, app: App, seed: int) -> None:
        self._talk, self._maker = Lines(app), ArgumentMaker(seed, SAMPLES)
        listed = self._talk.ask("tools/list")["result"]["tools"]
        self.tools = {tool["name"]: tool for tool in listed}
        self._checkers = {name: Draft202012Validator(tool["outputSchema"]) for name, tool in self.tools.items()}
        self._steps: list[tuple[str, str, Any]] = []
        for module in self._talk.value("get_module_schema", module="*")["modules"]:
            told = self._talk.value("get_module_schema", module=module["name"], format="json")["modules"][0]["tools"]
            self._steps += [(module["name"], tool["name"], tool["inputSchema"]) for tool in told]
        names = sorted({tool for _, tool, _ in self._steps}, key=len)
        # A listed name ends with the tool's own: the longest that fits.
        self._own_names = {name: own for own in names for name in self.tools if name.endswith(own.replace(".", "_"))}
        self.succeeded: set[str] = set()
        self.problems: list[tuple[str, str, str]] = []

    def send_samples(self) -> set[str]:
        """Every right argument once, in their order: later calls find records. Returns the tools they belong to."""
        sent: set[str] = set()
        for own, samples in SAMPLES.items():
            for name in sorted(name for name, known in self._own_names.items() if known == own):
                for arguments in samples:
                    self._send(name, arguments)
                sent.add(name)
        return sent

    def run(self, calls: int) -> None:
        names = sorted(self.tools)
        for number in range(calls):
            name = names[number % len(names)] if number < 2 * len(names) else self._maker.dice.choice(names)
            self._send(name, self._make_arguments(name))

    def _send(self, name: str, arguments: Any) -> None:
        began = time.process_time()
        params = {"name": name, "arguments": arguments}
        answer = self._talk.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        spent = time.process_time() - began
        problem = self._find_problem(name, answer)
        if spent > MAX_SECONDS:
            problem = f"took {spent:.1f} s"
        if problem:
            self.problems.append((name, json.dumps(arguments)[:1_000], problem))

    def _make_arguments(self, name: str) -> Any:
        made = self._maker.make(self.tools[name]["inputSchema"], self._own_names.get(name, ""))
        dice = self._maker.dice
        if isinstance(made, dict) and name == "batch" and dice.random() < 0.9:
            made["jsonl"] = self._maker.make_jsonl(self._steps)
        elif isinstance(made, dict) and name == "call" and dice.random() < 0.9:
            module, tool, schema = dice.choice(self._steps)
            made |= {"module": module, "tool_name": tool, "params": self._maker.make(schema, tool)}
        return made

    def _find_problem(self, name: str, answer: dict[str, Any]) -> str:
        if "error" in answer:  # of the protocol: no JSON (half of a surrogate pair), or no object
            return "" if answer["error"]["code"] in (-32700, -32600, -32602) else json.dumps(answer)
        result = answer["result"]
        text = result["content"][0]["text"]
        if "Internal error." in text:
            return text
        if result.get("isError"):
            told = json.loads(text)["error"]
            return "" if told["message"] and told["code"] else f"an error that says nothing: {text}"
        self.succeeded.add(name)
        value = result.get("structuredContent") or json.loads(text)  # a large one is sent once, as text
        self._maker.learn(value)
        wrong = next(self._checkers[name].iter_errors(value), None)
        return f"{wrong.json_path}: {wrong.message}"[:1_000] if wrong is not None else ""


@pytest.mark.soak
def test_no_arguments_lead_to_an_internal_error(app):
    fuzzer = Fuzzer(app, seed=14)
    assert len(fuzzer.tools) > 70
    assert set(META_TOOLS) < set(fuzzer.tools)
    sampled = fuzzer.send_samples()
    assert sampled - fuzzer.succeeded == set(), "what the samples of these tools say is not right"
    assert len(sampled) >= len(SAMPLES)
    fuzzer.succeeded.clear()
    fuzzer.run(CALLS)
    assert fuzzer.problems == []
    # About 30 by chance: ids and times differ from run to run, and what is made of them.
    assert len(fuzzer.succeeded) > (65 if SOAK else 10), "hardly a call got past its parameters"

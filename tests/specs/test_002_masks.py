"""specs/002: what a mask hides does not exist. Every way of asking is answered by two servers on one database: one with
all modules, for a key that must not see some of them, and one that does not have these at all."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import SOAK
from server.doors import PING, Door
from talk import Lines, told_by

from tokonoma.app import App
from tokonoma.auth.api_keys import build_reach
from tokonoma.core.call import Principal
from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.core.providers import SERVICE_NAMES

BUILT_IN = ("system", "memory", "claims", "vault", "bridge", "items", "manual")
SYSTEM = ("status", "where", "recent", "timeline", "days", "related")
REACHES: dict[str, dict[str, Any]] = {
    **{f"without {name}": {"mask": [name]} for name in BUILT_IN},
    "memory only": {"modules": ["memory"]},
    "links to others": {"modules": ["items", "bridge", "system"]},
    "reading only": {"mask": ["*:write", "*:destroy"]},
    "no reading": {"mask": ["*:read"]},
    "all effects of a module": {"mask": ["items:read", "items:write", "items:destroy"]},
    "each tool of a module": {"mask": [f"system.{name}" for name in SYSTEM]},
    "some tools": {"mask": ["items.get_items", "vault.read", "memory.relation.save", "claims.policy.get"]},
    "nothing": {"mask": ["*"]},
}
# What differs between any two calls.
_OWN = re.compile(r'"(request_id|trace_id|timestamp|at|started_at)":\s*"[^"]*"')
_COUNTS = re.compile(r'"(journal_entries|duration_us|bytes_in|bytes_out)":\s*\d+|\d+ MiB free')
# A tool that keeps a log only reads for a caller that may not write: what the caller knows of itself.
_HINTS = re.compile(r'"(readOnly|idempotent)Hint":\s*(true|false)')


def normalize(answer: Any) -> str:
    text = json.dumps(answer).replace('\\"', '"').replace("key:masked", "key:plain")
    return _HINTS.sub("-", _COUNTS.sub("-", _OWN.sub("-", text)))


class Pair:
    """The same question to the server with everything and to the one that lacks what `reach` hides."""

    def __init__(self, whole: Door, lacking: Door, reach: dict[str, Any]) -> None:
        self.whole, self.lacking = whole, lacking
        self.masked, self.plain = whole.create_key("masked", **reach), whole.create_key("plain")
        principal = Principal("key:masked", "key", build_reach(**reach))
        infos = {info.name: info for info in whole.app.registry._known.infos.values()}
        visible = {info.name: info for info in whole.app.registry.visible_modules(principal)}
        lacking.app.registry.replace_modules([infos["gateway"], *visible.values()])
        # Services that are not connected are named to those who could use them.
        lacking.app.registry._disabled = frozenset(
            name for name in SERVICE_NAMES if not principal.reach.sees_module(name)
        )
        self.hidden = list(_list_hidden(infos, visible))

    def ask(self, method: str, **params: Any) -> str:
        """The answer, which must be the same from both."""
        message = {**PING, "method": method, "params": params}
        answers = [
            normalize(told_by(door.post(message, headers=[("authorization", f"Bearer {key}")])))
            for door, key in ((self.whole, self.masked), (self.lacking, self.plain))
        ]
        assert answers[0] == answers[1]
        return answers[0]

    def call(self, tool: str, **arguments: Any) -> str:
        return self.ask("tools/call", name=tool, arguments=arguments)

    def batch(self, *lines: dict[str, Any], **more: Any) -> str:
        return self.call("batch", jsonl="\n".join(map(json.dumps, lines)), **more)


def _list_hidden(infos: dict[str, ModuleInfo], visible: dict[str, ModuleInfo]) -> Iterator[ToolInfo]:
    for info in infos.values():
        seen = visible[info.name].entries if info.name in visible else ()
        hidden = [tool for tool in info.entries if tool not in seen and info.name != "gateway"]
        yield from hidden if SOAK else {tool.effect: tool for tool in hidden}.values()


@pytest.fixture
def pair(tmp_path, request) -> Iterator[Pair]:
    flags = {"home": str(tmp_path), "durable": False, "embed_provider": "none", "direct": "all"}
    apps = [App({**flags, **getattr(request, "param", {})}, {}) for _ in range(2)]
    fill(Lines(App(flags, {})))
    yield Pair(Door(apps[0]), Door(apps[1]), request.node.callspec.params["reach"])
    for app in apps:
        app.close()


def fill(owner: Lines) -> None:
    """Records that others could lead to."""
    memo = owner.call("memory", "save", content="the roof leaks")
    owner.call("vault", "create", path="roof.md", content="# Roof\n\nleaks\n")
    owner.call(
        "items",
        "create_item",
        type="issue",
        title="roof",
        content="x",
        related=[f"tokonoma://memory/{memo['memo_id']}"],
    )


def read_memo_address(pair: Pair) -> str:
    return f"tokonoma://memory/{Lines(pair.whole.app).call('memory', 'list')['items'][0]['memo_id']}"


@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
def test_hidden_is_unknown_in_every_way_of_asking(pair, reach):
    assert pair.hidden
    pair.ask("tools/list")
    pair.call("get_module_schema", module="*")
    pair.call("get_module_schema", module="nowhere")
    for module in {tool.module for tool in pair.hidden}:
        pair.call("get_module_schema", module=module)
        pair.call("get_module_schema", module=[module, "memory"], format="json")
        pair.call("call", module=module, tool_name="x")
        pair.call("call", module=module, tool_name="")
    for tool in pair.hidden:
        for params in ({}, {"id": 1, "surely not a parameter": []}):
            assert "error" in pair.call("call", module=tool.module, tool_name=tool.name, params=params)
        for name in {tool.listed, f"{tool.module}_{tool.name}", tool.path, *tool.aliases}:
            assert "error" in pair.call(name)
            pair.call("call", module=tool.module, tool_name=name)
        step = {"id": "a", "module": tool.module, "tool": tool.name}
        assert "error" in pair.batch(step)
        pair.batch(step, {"id": "b", "module": "memory", "tool": "list"}, dry_run=True)
    pair.call("call", module="system", tool_name="status")
    for door in (pair.whole, pair.lacking):
        door.app.journal.flush()
    pair.call("call", module="system", tool_name="recent", params={"limit": 200})


ADDRESSES = ("tokonoma://memory/x", "tokonoma://vault/roof.md", "tokonoma://items/1", "tokonoma://claims/x",
             "tokonoma://manual/m/a.md", "tokonoma://nowhere/1", "tokonoma://gateway/1")  # fmt: skip


@pytest.mark.parametrize("reach", [REACHES["links to others"], REACHES["without vault"], REACHES["without memory"]])
def test_an_address_in_a_hidden_module_leads_nowhere(pair, reach):
    memo = read_memo_address(pair)
    hidden = [each for each in (*ADDRESSES, memo) if each.split("/")[2] in {tool.module for tool in pair.hidden}]
    assert hidden
    for address in (*hidden, "tokonoma://nowhere/1"):
        assert "Nothing found" in pair.call(
            "call", module="items", tool_name="create_item",
            params={"type": "issue", "title": "t", "content": "c", "related": [address]},
        )  # fmt: skip
        pair.call("call", module="items", tool_name="add_relation",
                  params={"type": "issue", "id": 1, "target": address})  # fmt: skip
    # The address itself is the item's own text; what it leads to has vanished.
    assert ("the roof leaks" in pair.call("items_get_item_detail", type="issue", id=1)) == (memo not in hidden)


@pytest.mark.parametrize(
    "reach", [{"modules": ["bridge", "vault"]}, REACHES["without memory"], REACHES["without items"]]
)
def test_the_bridge_does_not_copy_from_a_hidden_module(pair, reach):
    hidden = {tool.module for tool in pair.hidden}
    for address in (read_memo_address(pair), "tokonoma://items/1"):
        if address.split("/")[2] in hidden:
            told = pair.call("bridge_copy_section", from_ref={"address": address}, to_path="copy.md")
            assert "There is no record" in told
    assert "copy.md" not in json.dumps(Lines(pair.whole.app).call("vault", "ls"))


@pytest.mark.parametrize("pair", [{"modules_off": "items,vault"}], indirect=True)
@pytest.mark.parametrize(
    "reach", [REACHES["without items"], REACHES["memory only"], REACHES["all effects of a module"]]
)
def test_a_module_that_is_off_and_hidden_is_unknown(pair, reach):
    for name in ("items", "vault" if reach == REACHES["memory only"] else "items"):
        assert "NOT_FOUND" in pair.call("call", module=name, tool_name="x")
        pair.batch({"id": "a", "module": name, "tool": "x"})
        pair.call("get_module_schema", module=name)


def test_a_hidden_module_is_not_loaded(tmp_path):
    door = Door(App({"home": str(tmp_path), "durable": False, "embed_provider": "none"}, {}))
    key = door.create_key("guest", modules=["memory"])
    door.ask(key, "call", module="items", tool_name="x")
    door.ask(key, "call", module="claims", tool_name="get")
    assert not {"items", "claims"} & door.app.registry._modules.keys()
    door.app.close()


@pytest.mark.parametrize("grant", [{"root": "/team"}, {"modules": ["system", "memory"]}, {"mask": ["items"]}])
def test_status_counts_for_a_key_only_what_it_sees(database_url, tmp_path, grant):
    app = App({"home": str(tmp_path), "database_url": database_url, "durable": False, "embed_provider": "none"}, {})
    door, owner = Door(app), Lines(app)
    for space in ("/team", "/team/a", "/team2", "/"):
        owner.call("memory", "save", content=f"a memo in {space}", namespace=space)
    owner.call("items", "create_item", type="issue", title="roof", content="x")
    app.journal.flush()
    whole = owner.call("system", "status")["sizes"]
    assert (whole["records_memory"], whole["records_items"]) == (4, 1)
    assert whole["journal_entries"] >= 5
    assert whole.keys() >= {"database_bytes", "embedding_queue"}
    key = door.create_key("guest", **grant)
    door.ask(key, "call", module="memory", tool_name="list")
    app.journal.flush()
    told = door.ask(key, "call", module="system", tool_name="status")["result"]["structuredContent"]["sizes"]
    assert told == {"journal_entries": 1, "records_memory": 2 if "root" in grant else 4}
    app.close()


def test_recent_shows_the_owner_everything_and_a_key_its_own(tmp_path):
    app = App({"home": str(tmp_path), "durable": False, "embed_provider": "none"}, {})
    door, owner = Door(app), Lines(app)
    first, second = door.create_key("first"), door.create_key("second")
    for key in (first, second):
        door.ask(key, "surely_unknown")
    door.post(headers=[("authorization", "Bearer wrong")])
    app.journal.flush()
    told = door.ask(first, "call", module="system", tool_name="recent")["result"]["structuredContent"]["items"]
    assert [(each["principal"], each["module"], each["tool"]) for each in told] == [("key:first", "", "surely_unknown")]
    everything = owner.call("system", "recent")["items"]
    assert {each["principal"] for each in everything} >= {"key:first", "key:second", "nobody"}
    app.close()

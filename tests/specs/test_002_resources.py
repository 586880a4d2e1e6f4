"""MCP resources over the wire, on both databases: what a client's `@` offers, reads and completes."""

from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from policy.houses import enforce
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach

MASKED = """version: 1
boundary_classes: { pii: { allow: ['answer:task'], redact: [pii] } }
"""


@pytest.fixture
def home(sqlite_at, tmp_path) -> Generator[App]:
    """For what does not depend on the database."""
    house = App({"home": str(tmp_path / "home"), "database_url": sqlite_at, "durable": False}, {})
    yield house
    house.close()


def create_key(app, name, **reach) -> str:
    with app.database.writing() as statements:
        return keys.create_key(statements, name, build_reach(**reach), None)


def put_file(app, where: str, path: str, text: str) -> None:
    file = Path(app.server_info.locations()[where]) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def read(talk, uri: str) -> str:
    answer = talk.ask("resources/read", uri=uri)
    assert "result" in answer, answer
    (content,) = answer["result"]["contents"]
    assert content["uri"] == uri
    return content["text"]


def list_all(talk) -> list[dict[str, Any]]:
    """All pages."""
    entries, cursor = [], {}
    while True:
        page = talk.ask("resources/list", **cursor)["result"]
        assert "mark" not in page
        entries += page["resources"]
        if "nextCursor" not in page:
            return entries
        cursor = {"cursor": page["nextCursor"]}


def uris(talk) -> set[str]:
    return {entry["uri"] for entry in list_all(talk)}


TEXTS = {
    "memory": "# Cat\n\nThe cat\nsleeps\non the sofa",
    "items": "It is red.",
    "claims": "Tea is green.",
    "vault": "# Plan\none\ntwo\nthree\n",
    "manual": "# Rules\nBe kind.\n## More\nReally.\n",
}


def fill(talk, app) -> dict[str, str]:
    """One record of each module: its address, as the tools show it."""
    put_file(app, "vault", "notes/plan 計画.md", TEXTS["vault"])
    put_file(app, "manuals", "handbook/rules.md", TEXTS["manual"])
    memo = talk.call("memory", "save", title="Cat", content="The cat\nsleeps\non the sofa", namespace="/home/猫")
    item = talk.call("items", "create_item", type="docs", title="Sofa", content=TEXTS["items"])
    claim = talk.call("claims", "upsert", text=TEXTS["claims"], provenance={"note": "seen"})["data"]
    talk.call("vault", "search", query="Plan")
    talk.call("manual", "search", query="kind")
    return {
        "memory": f"tokonoma://memory/{memo['memo_id']}",
        "items": f"tokonoma://items/{item['id']}",
        "claims": f"tokonoma://claims/{claim['id']}",
        "vault": "tokonoma://vault/notes/plan 計画.md",
        "manual": "tokonoma://manual/handbook/rules.md",
    }


def test_every_module_is_listed_and_read(app):
    talk = Http(app)
    made = fill(talk, app)
    listed = {entry["uri"]: entry for entry in list_all(talk)}
    assert all(uri.isascii() and " " not in uri for uri in listed)
    names = {unquote(uri): entry["name"] for uri, entry in listed.items()}
    assert (names[made["memory"]], names[made["items"]], names[made["claims"]]) == ("Cat", "Sofa", "Tea is green.")
    assert names[made["vault"]] == "notes/plan 計画.md"
    assert names["tokonoma://manual/handbook"] == "handbook"
    assert names["tokonoma://namespaces/home/猫"] == "/home/猫"
    assert {f"tokonoma://recent/{name}" for name in ("memory", "items", "claims", "vault")} < set(names)
    assert listed[made["memory"]]["mimeType"] == "text/markdown"
    assert listed[made["memory"]]["annotations"]["lastModified"].endswith("Z")
    for module, address in made.items():
        for uri in (address, quote(address, safe="/:")):
            assert TEXTS[module] in read(talk, uri)
    for uri in listed:
        assert read(talk, uri)
    assert "rules.md" in read(talk, "tokonoma://manual/handbook")
    assert "[Cat](tokonoma://memory/" in read(talk, "tokonoma://namespaces/home")
    assert "[Cat](tokonoma://memory/" in read(talk, "tokonoma://namespaces")
    assert "Cat" not in read(talk, "tokonoma://recent/items")


def test_lines_of_any_record(home):
    talk, app = Http(home), home
    made = fill(talk, app)
    assert read(talk, f"{made['memory']}#L2-L3") == "sleeps\non the sofa"
    assert read(talk, f"{made['vault']}#L2-L3") == "one\ntwo\n"
    assert read(talk, f"{made['manual']}#L2-L2") == "Be kind.\n"
    assert read(talk, f"{made['manual']}#L3") == "## More\nReally.\n"
    for module in ("memory", "vault", "manual"):
        assert "error" in talk.ask("resources/read", uri=f"{made[module]}#L900-L901")


def test_a_template_for_every_module(home):
    talk = Lines(home)
    told = talk.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert {each["uriTemplate"] for each in told} == {
        "tokonoma://memory/{memo_id}",
        "tokonoma://items/{id}",
        "tokonoma://claims/{id}",
        "tokonoma://manual/{manual_id}/{+path}",
        "tokonoma://vault/{+path}",
        "tokonoma://recent/{module}",
        "tokonoma://namespaces/{+namespace}",
    }
    assert all(each["name"] and each["description"] and each["mimeType"] for each in told)


def test_a_long_record_is_cut_and_says_how_to_read_on(home):
    talk = Lines(home)
    lines = [f"line {number} {'x' * 80}" for number in range(1, 1501)]
    memo = talk.call("memory", "save", title="Long", content="\n".join(lines))
    uri, got = f"tokonoma://memory/{memo['memo_id']}", ""
    text = read(talk, uri).removeprefix("# Long\n\n")
    for _ in range(9):
        assert len(text) < 41_000
        part, mark, after = text.partition("\n[Cut after ")
        got += part
        if not mark:
            break
        text = read(talk, after.split(" at ")[1].rstrip("]"))
    assert got.splitlines() == lines
    one = talk.call("memory", "save", content="y" * 50_000)
    assert "Use the module's own tools" in read(talk, f"tokonoma://memory/{one['memo_id']}")[-200:]


def test_many_records_come_in_pages_by_sealed_cursors(app):
    talk = Lines(app)
    talk.batch(*({"id": f"s{n}", "module": "memory", "tool": "save", "params": {"content": f"memo {n}"}}
                 for n in range(100)))  # fmt: skip
    talk.batch(*({"id": f"s{n}", "module": "memory", "tool": "save", "params": {"content": f"more {n}"}}
                 for n in range(30)))  # fmt: skip
    first = talk.ask("resources/list")["result"]
    names = [entry["name"] for entry in list_all(talk) if entry["uri"].startswith("tokonoma://memory/")]
    assert sorted(names) == sorted([*(f"memo {n}" for n in range(100)), *(f"more {n}" for n in range(30))])
    assert "memo" not in first["nextCursor"]
    other = Http(app, create_key(app, "laptop"))
    for cursor in (first["nextCursor"], "7", first["nextCursor"] + "a"):
        assert other.ask("resources/list", cursor=cursor)["error"]["code"] == -32602
    assert talk.ask("resources/list", cursor="7")["error"]["code"] == -32602


def test_what_a_mask_hides_does_not_exist(home):
    owner, app = Lines(home), home
    made = fill(owner, app)
    grants = {"modules": ["items", "vault"]}, {"mask": ["memory", "claims", "manual"]}, {
        "mask": ["memory:read", "claims:read", "manual:read"]
    }  # fmt: skip
    for number, grant in enumerate(grants):
        talk = Http(app, create_key(app, f"guest{number}", **grant))
        templates = str(talk.ask("resources/templates/list"))
        listed = str([unquote(uri) for uri in uris(talk)]) + str(list_all(talk))
        for module in ("memory", "claims", "manual"):
            assert f"tokonoma://{module}/" not in templates
            assert f"tokonoma://{module}/" not in listed
            assert f"recent/{module}" not in listed
            assert_missing(talk, made[module])
            assert_missing(talk, f"tokonoma://recent/{module}")
        assert_missing(talk, "tokonoma://manual/handbook")
        assert_missing(talk, "tokonoma://namespaces/home")
        assert "Cat" not in read(talk, "tokonoma://recent")
        assert "It is red." in read(talk, made["items"])
        answer = talk.ask(
            "completion/complete",
            ref={"type": "ref/resource", "uri": "tokonoma://manual/{manual_id}/{+path}"},
            argument={"name": "manual_id", "value": ""},
        )
        assert answer["error"]["code"] == -32602


def assert_missing(talk, uri: str) -> None:
    """The same bytes as for something that has never been there."""
    assert talk.ask("resources/read", uri=uri)["error"] == {
        "code": -32602, "message": "Resource not found", "data": {"uri": uri},
    }  # fmt: skip


def test_a_root_is_a_wall(app):
    owner = Lines(app)
    inside = owner.call("memory", "save", title="Inside", content="a", namespace="/team/one")
    outside = owner.call("memory", "save", title="Outside", content="b", namespace="/home")
    talk = Http(app, create_key(app, "guest", root="/team", default="/team"))
    listed = str(list_all(talk))
    assert "Inside" in listed and "Outside" not in listed and "/home" not in listed and "/team" not in listed
    assert read(talk, f"tokonoma://memory/{inside['memo_id']}") == "# Inside\n\na"
    assert "Inside" in read(talk, "tokonoma://namespaces/one")
    for uri in (f"tokonoma://memory/{outside['memo_id']}", "tokonoma://namespaces/home", "tokonoma://namespaces/../home",
                "tokonoma://namespaces/team/one"):  # fmt: skip
        assert_missing(talk, uri)


def test_a_policy_hides_records_and_masks_texts(home):
    owner, app = Lines(home), home
    mail = "taro.yamada@example.jp"
    shown = owner.call("memory", "save", title=f"Mail {mail}", content=f"Write to {mail} today", namespace="/home")
    hidden = owner.call("memory", "save", title="Token", content="x", namespace="/home")
    owner.call("memory", "save", title="Folder", content="x", namespace=f"/home/{mail}")
    put_file(app, "vault", f"{mail}.md", "hello\n")
    owner.call("vault", "search", query="hello")
    talk = Http(app, create_key(app, "guest"))
    enforce(app, MASKED)
    told = str([unquote(str(entry)) for entry in list_all(talk)]) + read(talk, "tokonoma://recent")
    told += read(talk, f"tokonoma://memory/{shown['memo_id']}") + read(talk, "tokonoma://namespaces/home")
    assert "[masked:email]" in told and mail not in told
    enforce(app, "version: 2\nboundary_classes: { internal: { allow: ['owner:eyes'] } }\ncallers: { owner: ['*'] }\n")
    assert_missing(talk, f"tokonoma://memory/{hidden['memo_id']}")
    assert "Token" not in str(list_all(talk))


def test_every_reading_is_in_the_journal(home):
    talk, app = Lines(home), home
    memo = talk.call("memory", "save", content="a")
    uris(talk)
    read(talk, f"tokonoma://memory/{memo['memo_id']}")
    talk.ask("resources/read", uri="tokonoma://memory/none")
    app.journal.flush()
    entries = [(each["tool"], each["outcome"]) for each in talk.call("system", "recent")["items"]]
    assert {("resources_list", "ok"), ("resources_read", "ok"), ("resources_read", "refused")} < set(entries)
    origin = talk.ask("resources/read", uri=f"tokonoma://memory/{memo['memo_id']}")["result"]["_meta"]
    assert origin["tokonoma/content"]["origin"] == "stored"
    assert origin["tokonoma/content"]["authors"] == ["owner"]


def test_no_tool_call_reaches_them(home):
    talk = Lines(home)
    for name in ("resources_read", "gateway_resources_read", "gateway.resources_check", "resources/read"):
        assert talk.ask("tools/call", name=name, arguments={"uri": "tokonoma://recent"})["error"]["code"] == -32602
    assert talk.refused("gateway", "resources_read", uri="tokonoma://recent")["code"] == "NOT_FOUND"


COMPLETED = {
    ("tokonoma://recent/{module}", "module", "me"): ["memory"],
    ("tokonoma://namespaces/{+namespace}", "namespace", "ho"): ["home/猫"],
    ("tokonoma://manual/{manual_id}/{+path}", "manual_id", "h"): ["handbook"],
    ("tokonoma://vault/{+path}", "path", "notes/"): ["notes/plan 計画.md"],
    ("tokonoma://vault/{+path}", "path", "x"): [],
    ("tokonoma://memory/{memo_id}", "memo_id", ""): [],
}


def test_arguments_are_completed(app):
    talk = Lines(app)
    fill(talk, app)

    def complete(template, name, value, **context):
        answer = talk.ask("completion/complete", ref={"type": "ref/resource", "uri": template},
                          argument={"name": name, "value": value}, context={"arguments": context})  # fmt: skip
        return answer["result"]["completion"]["values"] if "result" in answer else answer["error"]["code"]

    for asked, values in COMPLETED.items():
        assert complete(*asked) == values
    template = "tokonoma://manual/{manual_id}/{+path}"
    assert complete(template, "path", "", manual_id="handbook") == ["rules.md"]
    assert complete(template, "path", "", manual_id="other") == []
    assert complete("tokonoma://nothing/{x}", "x", "") == -32602

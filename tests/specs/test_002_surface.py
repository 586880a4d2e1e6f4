"""The default surface: `search` and `fetch` over all modules, what they have in common with `system.timeline` and
`system.related`, the setting `surface`, and compact hits, over the wire."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from policy.houses import enforce, key
from talk import Http, Lines

from tokonoma.app import App

PUMP = "heat pump filter"


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def folder(app: App, place: str) -> Path:
    path = Path(app.server_info.locations()[place])
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_file(app: App, place: str, name: str, text: str) -> None:
    path = folder(app, place) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def lines(app) -> Lines:
    return Lines(app)


@pytest.fixture
def home(app, lines) -> dict[str, str]:
    """A record of every module about one topic, by module, and others beside them."""
    memo = lines.call("memory", "save", content="The heat pump filter is changed every May by Mr Sato.")["memo_id"]
    lines.call("memory", "save", content="The bicycle stands in the cellar.")
    claim = lines.call(
        "claims", "upsert", text="The heat pump filter is of class F7.",
        provenance={"at": "2026-01-01T00:00:00Z", "url": f"tokonoma://memory/{memo}"},
    )["data"]["id"]  # fmt: skip
    item = lines.call(
        "items", "create_item", type="issues", title="Order a filter for the heat pump", content="before winter",
        related=[f"tokonoma://memory/{memo}"],
    )["id"]  # fmt: skip
    write_file(
        app, "manuals", "house/pump.md", "# House\n\nIntro.\n\n## Heat pump filter\n\nOpen the lid.\n\n## Roof\n\nx\n"
    )
    write_file(app, "vault", "notes/pump.md", "# Heat pump filter\n\nSee [[roof]].\n")
    write_file(app, "vault", "notes/roof.md", "# Roof\n\nThe roof is new, see [[pump]].\n")
    return {
        "memory": f"tokonoma://memory/{memo}",
        "claims": f"tokonoma://claims/{claim}",
        "items": f"tokonoma://items/{item}",
        "manual": "tokonoma://manual/house/pump.md#L5",
        "vault": "tokonoma://vault/notes/pump.md#L1-L3",
    }


def found(talk: Any, query: str = PUMP, **more: Any) -> list[str]:
    return [each["id"] for each in talk.value("search", query=query, **more)["results"]]


# What is listed


def test_the_default_surface_fits_and_gateway_lists_the_three_alone(app, lines, database_url, tmp_path):
    tools = lines.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools[:5]] == ["get_module_schema", "call", "batch", "search", "fetch"]
    assert sum(size(tool) + 1 for tool in tools if tool["name"] in ("search", "fetch")) <= 950
    assert size({"tools": tools}) <= 5632
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools if tool["name"] in ("search", "fetch"))
    other = App({"home": str(tmp_path / "other"), "surface": "gateway", "durable": False}, {})
    try:
        gateway = Lines(other)
        result = gateway.ask("tools/list")["result"]
        assert [tool["name"] for tool in result["tools"]] == ["get_module_schema", "call", "batch"]
        assert size(result) <= 4096
        assert gateway.ask("tools/call", name="search", arguments={"query": "x"})["error"]["code"] == -32602
    finally:
        other.close()


# search


def test_one_search_finds_every_module_best_first(app, lines, home):
    results = lines.value("search", query=PUMP)["results"]
    assert {each["module"] for each in results[:5]} == set(home)
    assert set(home.values()) <= {each["id"] for each in results}
    scores = [each["score"] for each in results]
    assert scores == sorted(scores, reverse=True)
    assert all(scores[0] >= score > 0.1 for score in scores[:5])
    for each in results:
        assert each["title"]
        assert each["url"] == each["id"]
        assert len(each["date"]) == 10
        assert {"id", "title", "text", "url", "module", "date", "score"} == set(each)
    assert "F7" in next(each["text"] for each in results if each["module"] == "claims")
    assert found(lines, "which class has the filter", k=1) == [home["claims"]]


def test_a_client_that_only_knows_search_and_fetch(app, home):
    """It reads the one text block, as ChatGPT's connectors do, and follows the ids."""
    for talk in (Lines(app), Http(app)):
        answer = talk.tool("search", query=PUMP)
        (block,) = answer["content"]
        results = json.loads(block["text"])["results"]
        assert set(home.values()) <= {each["id"] for each in results}
        for each in results:
            (block,) = talk.tool("fetch", id=each["id"])["content"]
            record = json.loads(block["text"])
            assert set(record) == {"id", "title", "text", "url", "metadata"}
            assert record["id"] == each["id"]
            assert record["title"]
            assert record["text"]
        assert answer["_meta"]["tokonoma/content"]["origin"] == "stored"


def test_filters_narrow_a_search(app, lines, home, frozen_clock):
    assert {each.split("/")[2] for each in found(lines, modules=["claims", "vault"])} == {"claims", "vault"}
    frozen_clock.advance(86_400_000)
    new = lines.call("memory", "save", content="The heat pump filter was changed.", namespace="/later")["memo_id"]
    assert found(lines, namespace="/later") == [f"tokonoma://memory/{new}"]
    day = lines.value("search", query=PUMP, namespace="/later")["results"][0]["date"]
    assert f"tokonoma://memory/{new}" in found(lines, since=day)
    assert home["memory"] not in found(lines, since=day)
    assert f"tokonoma://memory/{new}" in found(lines, until=day)
    assert len(found(lines, k=2)) == 2
    for wrong in ({"since": "May"}, {"k": 0}, {"k": 51}, {"query": " "}):
        assert lines.error("search", **{"query": PUMP, **wrong})["code"] == "INVALID_ARGUMENT"


def test_a_new_and_a_changed_file_are_found_at_once(app, lines, home):
    for place, name in (("vault", "new.md"), ("manuals", "house/new.md")):
        assert not [each for each in found(lines, "zebra crossing") if name in each]
        write_file(app, place, name, "# Zebra\n\nA zebra crossing.\n")
        assert [each for each in found(lines, "zebra crossing") if name in each]
        (folder(app, place) / name).unlink()
        assert not [each for each in found(lines, "zebra crossing") if name in each]


def test_copies_of_a_text_take_one_place(app, lines):
    text = "The key of the shed hangs behind the door."
    memo = lines.call("memory", "save", content=text)["memo_id"]
    claim = lines.call("claims", "upsert", text=text, provenance={"at": "2026-01-01T00:00:00Z"})["data"]["id"]
    write_file(app, "vault", "shed.md", text + "\n")
    (first, *others) = lines.value("search", query="key of the shed", k=1)["results"]
    assert not others
    copies = {f"tokonoma://memory/{memo}", f"tokonoma://claims/{claim}", "tokonoma://vault/shed.md#L1"}
    assert {first["id"], *first["also"]} == copies


def test_a_corrected_memo_comes_first_and_the_older_one_says_so(lines, frozen_clock):
    old = lines.call("memory", "save", content="The dentist's practice is at Oak Street 12.")["memo_id"]
    frozen_clock.advance(86_400_000)
    new = lines.call("memory", "save", content="The dentist's practice has moved to Elm Street 3.")["memo_id"]
    first, second = lines.value("search", query="Where is the dentist's practice?")["results"]
    assert (first["id"], second["id"]) == (f"tokonoma://memory/{new}", f"tokonoma://memory/{old}")
    assert second["superseded_by"] == first["id"]
    assert "superseded_by" not in first


# fetch


def test_fetch_shows_links_and_neighbours(app, lines, home):
    lines.call("memory", "save", content="First turn.", thread="t")
    second = lines.call("memory", "save", content="Second turn.", thread="t")["memo_id"]
    lines.call("memory", "save", content="Third turn.", thread="t")
    metadata = lines.value("fetch", id=f"tokonoma://memory/{second}")["metadata"]
    assert (metadata["before"]["title"], metadata["after"]["title"]) == ("First turn.", "Third turn.")
    links = lines.value("fetch", id=home["memory"])["metadata"]["links"]
    assert {(each["kind"], each["id"], each.get("incoming")) for each in links} == {
        ("source", home["claims"], True),
        ("references", home["items"], True),
    }
    section = lines.value("fetch", id=home["manual"])
    assert section["text"].startswith("## Heat pump filter")
    assert section["metadata"]["before"]["id"] == "tokonoma://manual/house/pump.md#L1"
    assert section["metadata"]["after"]["id"] == "tokonoma://manual/house/pump.md#L9"
    file = lines.value("fetch", id=home["vault"])
    assert [each["id"] for each in file["metadata"]["links"]] == ["tokonoma://vault/notes/roof.md"]


def test_fetch_says_what_a_module_knows_beside_the_text(app, lines, home):
    item = lines.value("fetch", id=home["items"])["metadata"]
    assert (item["type"], item["status"], item["priority"]) == ("issues", "Open", "MEDIUM")
    claim = lines.value("fetch", id=home["claims"])["metadata"]
    assert (claim["kind"], claim["scope"]) == ("fact", "session")
    bare = lines.call("items", "create_item", type="tasks", title="Call the plumber", end_date="2027-01-31")["id"]
    task = lines.value("fetch", id=f"tokonoma://items/{bare}")
    assert (task["text"], task["metadata"]["end_date"][:10]) == ("Call the plumber", "2027-01-31")


def test_details_of_a_record_are_masked_like_its_text(app, lines):
    memo = lines.call("memory", "save", content="A turn.", thread="chat with taro@example.com", date="2026-03-01")
    address = f"tokonoma://memory/{memo['memo_id']}"
    assert lines.value("fetch", id=address)["metadata"]["thread"] == "chat with taro@example.com"
    masks = "pii: { allow: ['*'], redact: [pii] }, internal: { allow: ['*'], redact: [pii] }"
    enforce(app, f"version: 9.0\ncallers: {{ owner: ['*'] }}\nboundary_classes: {{ {masks} }}\n")
    shown = lines.value("fetch", id=address)["metadata"]
    assert (shown["thread"], shown["date"]) == ("chat with [masked:email]", "2026-03-01")
    (page,) = lines.ask("resources/read", uri=address)["result"]["contents"]
    assert "taro@example.com" not in page["text"]


def test_fetch_reads_a_range_and_a_long_text_in_parts(app, lines):
    write_file(app, "vault", "long.md", "".join(f"line {number}\n" for number in range(1, 31)))
    assert lines.value("fetch", id="tokonoma://vault/long.md#L10-L12")["text"] == "line 10\nline 11\nline 12\n"
    text = "".join(f"{number:06d} " for number in range(8000))
    memo = f"tokonoma://memory/{lines.call('memory', 'save', content=text)['memo_id']}"
    read, offset = "", 0
    while offset is not None:
        record = lines.value("fetch", id=memo, offset=offset)
        assert len(record["text"]) <= 20_000
        read, offset = read + record["text"], record["metadata"].get("next_offset")
    assert read == text
    assert lines.error("fetch", id=memo, offset=-1)["code"] == "INVALID_ARGUMENT"
    assert lines.error("fetch", id="memo 1")["code"] == "INVALID_ARGUMENT"
    assert lines.error("fetch", id="tokonoma://memory/none")["code"] == "NOT_FOUND"


# What a caller may not see


def same(one: Any, other: Any, *names: str) -> None:
    texts = [json.dumps(each) for each in (one, other)]
    for name in names:
        texts = [each.replace(name, "X") for each in texts]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("reach", [{"modules": ["memory", "system"]}, {"mask": ["claims", "items", "manual", "vault"]}])
def test_a_hidden_module_looks_as_if_it_did_not_exist(app, home, reach):
    bot = Http(app, key(app, "bot", **reach))
    assert found(bot) == [home["memory"]] + [each for each in found(bot)[1:] if "memory" in each]
    assert "links" not in bot.value("fetch", id=home["memory"])["metadata"]
    same(
        bot.error("fetch", id=home["claims"]),
        bot.error("fetch", id="tokonoma://nobody/1"),
        home["claims"],
        "tokonoma://nobody/1",
    )
    same(
        bot.error("search", query=PUMP, modules=["claims"]),
        bot.error("search", query=PUMP, modules=["nobody"]),
        "claims",
        "nobody",
    )
    same(
        bot.refused("system", "related", address=home["items"]),
        bot.refused("system", "related", address="tokonoma://nobody/1"),
        home["items"],
        "tokonoma://nobody/1",
    )
    listed = bot.call("system", "timeline", since="2000-01-01")["items"]
    assert {each["address"].split("/")[2] for each in listed} == {"memory"}


def test_search_and_fetch_stand_for_the_tools_of_a_module(app, home):
    """Whoever may not search memos does not find them here, and whoever may not read them does not read them here."""
    blind = Http(app, key(app, "blind", mask=["memory.search"]))
    assert home["memory"] not in found(blind)
    assert blind.value("fetch", id=home["memory"])["text"]
    writer = Http(app, key(app, "writer", mask=["memory:read", "claims.get"]))
    assert home["memory"] not in found(writer)
    assert writer.error("fetch", id=home["memory"])["code"] == "NOT_FOUND"
    assert writer.error("fetch", id=home["claims"])["code"] == "NOT_FOUND"
    timeline = writer.call("system", "timeline", since="2000-01-01")["items"]
    assert not {home["memory"], home["claims"]} & {each["address"] for each in timeline}
    assert home["memory"] not in [
        each["address"] for each in writer.call("system", "related", address=home["items"])["items"]
    ]


def test_a_root_is_a_wall(app, lines, home):
    inside = lines.call("memory", "save", content="The heat pump filter lies here.", namespace="/team")["memo_id"]
    bot = Http(app, key(app, "bot", root="/team"))
    assert found(bot) == [f"tokonoma://memory/{inside}"]
    assert bot.value("fetch", id=f"tokonoma://memory/{inside}")["metadata"]["namespace"] == "/"
    for address in home.values():
        assert bot.error("fetch", id=address)["code"] == "NOT_FOUND"
    assert len(bot.call("system", "timeline", since="2000-01-01")["items"]) == 1


def test_what_is_hidden_from_a_caller_is_masked(app, lines):
    mail = "taro.yamada@example.jp"
    memo = lines.call("memory", "save", content=f"Write to {mail} about the fence.")["memo_id"]
    write_file(app, "vault", f"{mail}.md", "# Fence\n\nThe fence is green.\n")
    assert mail in json.dumps(lines.tool("search", query="fence"))
    enforce(app, "version: 1\nboundary_classes:\n  pii: { allow: ['answer:task'], redact: [pii] }\n")
    bot = Http(app, key(app, "bot"))
    told = json.dumps(
        [
            bot.tool("search", query="fence"),
            bot.tool("fetch", id=f"tokonoma://memory/{memo}"),
            bot.tool("fetch", id=f"tokonoma://vault/{mail}.md"),
            bot.tool("call", module="system", tool_name="timeline", params={"since": "2000-01-01"}),
            bot.tool("call", module="system", tool_name="related", params={"address": f"tokonoma://memory/{memo}"}),
        ]
    )
    assert mail not in told
    assert "fence" in told


def test_a_claim_is_only_found_in_the_scopes_that_the_policy_allows(app, lines):
    for scope in ("session", "project"):
        lines.call(
            "claims", "upsert", text=f"The fence is {scope} green.", scope=scope, boundary_class="pii",
            provenance={"at": "2026-01-01T00:00:00Z"},
        )  # fmt: skip
    assert len(found(lines, "green fence")) == 2
    enforce(
        app,
        "version: 2\nboundary_classes:\n  pii: { allow: ['answer:task'] }\n"
        "invariants: [{ class: pii, scope: project, deny: [read] }]\n",
    )
    bot = Http(app, key(app, "bot"))
    (hit,) = bot.value("search", query="green fence")["results"]
    assert "session" in hit["text"]


# system.timeline and system.related


def test_the_timeline_lists_changes_of_all_modules_newest_first(app, lines, home, frozen_clock):
    start = lines.call("system", "timeline", since="2000-01-01")["items"]
    assert {each["address"].partition("#")[0] for each in start} >= {each.partition("#")[0] for each in home.values()}
    frozen_clock.advance(3_600_000)
    memo = home["memory"].rpartition("/")[2]
    lines.call("memory", "save", memo_id=memo, content="The filter was changed.", namespace="/")
    first, *_ = items = lines.call("system", "timeline", since="2000-01-01")["items"]
    assert first["address"] == home["memory"]
    assert first["created_at"] < first["at"]
    assert [each["at"] for each in items] == sorted((each["at"] for each in items), reverse=True)
    assert len({each["address"] for each in items}) == len(items)
    assert [each["address"] for each in lines.call("system", "timeline", since=first["at"])["items"]] == [
        home["memory"]
    ]
    only = lines.call("system", "timeline", since="2000-01-01", modules=["items"])["items"]
    assert [each["address"] for each in only] == [home["items"]]
    pages, cursor = [], None
    while True:
        page = lines.call("system", "timeline", since="2000-01-01", limit=2, cursor=cursor)
        pages += page["items"]
        cursor = page.get("next_cursor")
        if not page["has_more"]:
            break
    assert pages == items


def test_a_policy_or_a_reindex_changes_nothing_in_the_timeline(app, lines, home, frozen_clock, terminal):
    before = lines.call("system", "timeline", since="2000-01-01")["items"]
    frozen_clock.advance(3_600_000)
    enforce(
        app, "version: 3\nlabels:\n  - { module: memory, class: pii }\nboundary_classes:\n  pii: { allow: ['*'] }\n"
    )
    terminal("reindex")
    assert lines.call("system", "timeline", since="2000-01-01")["items"] == before


def test_related_names_every_kind_of_connection(app, lines, home):
    one = lines.call("memory", "save", content="The lid is blue.")["memo_id"]
    lines.call(
        "memory", "relation.save", sourceMemoId=home["memory"].rpartition("/")[2], targetMemoId=one, tag="explains",
        namespace="/",
    )  # fmt: skip
    items = lines.call("system", "related", address=home["memory"])["items"]
    kinds = {(each["kind"], each["address"], each.get("incoming", False)) for each in items if each["kind"] != "near"}
    assert kinds == {
        ("explains", f"tokonoma://memory/{one}", False),
        ("source", home["claims"], True),
        ("references", home["items"], True),
    }
    near = [each["address"] for each in items if each["kind"] == "near"]
    assert home["vault"] in near
    assert home["memory"] not in near
    assert not {each[1] for each in kinds} & set(near)
    links = {
        (each["kind"], each["address"]) for each in lines.call("system", "related", address=home["vault"])["items"]
    }
    assert {("link", "tokonoma://vault/notes/roof.md"), ("backlink", "tokonoma://vault/notes/roof.md#L1")} <= links


# A hit is mostly content


def test_hits_of_memory_search_are_mostly_content(lines):
    texts = [
        f"Note {number}: the gardener comes on the first Tuesday of every second month and wants to be paid in cash; "
        f"the hedge behind shed {number} is left as it is."
        for number in range(10)
    ]
    for text in texts:
        lines.call("memory", "save", content=text)
    compact = lines.call("memory", "search", query="when does the gardener come")
    assert len(compact["items"]) == 10
    snippets = sum(len(each["content"]) for each in compact["items"])
    assert len(json.dumps(compact, ensure_ascii=False, separators=(",", ":"))) <= 1.6 * snippets
    full = lines.call("memory", "search", query="when does the gardener come", detail="full")
    assert {"memo_id", "content", "score", "metadata", "created_at", "updated_at", "namespace", "version"} <= set(
        full["items"][0]
    )
    assert {each["memo_id"] for each in full["items"]} == {each["memo_id"] for each in compact["items"]}


def test_a_record_without_a_title_is_named_by_its_first_words(lines):
    lines.call("memory", "save", content="The gardener comes on the first Tuesday of every second month.")
    lines.call("memory", "save", content="The gardener is paid in cash.")
    lines.call(
        "memory", "save", content="He comes by bicycle.", title="The gardener, and how he finds his way to the house"
    )
    titles = {each["text"]: each["title"] for each in lines.value("search", query="gardener")["results"]}
    assert titles == {
        "The gardener comes on the first Tuesday of every second month.": "The gardener comes on the fir…",
        "The gardener is paid in cash.": "The gardener is paid in cash.",
        "He comes by bicycle.": "The gardener, and how he finds his way to the house",
    }


def test_a_compact_hit_says_what_is_not_as_asked(lines, frozen_clock):
    lines.call(
        "memory", "save", content="The ladder is at Ken's.", namespace="/a/b", title="Ladder", metadata={"who": "Ken"}
    )
    (hit,) = lines.call("memory", "search", query="ladder", namespace="/a/b")["items"]
    assert set(hit) == {"memo_id", "content", "score", "title", "metadata"}
    frozen_clock.advance(86_400_000)
    (hit,) = lines.call("memory", "search", query="ladder", namespace="/a")["items"]
    assert (hit["namespace"], len(hit["date"])) == ("/a/b", 10)

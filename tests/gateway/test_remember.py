"""`remember` over the wire: where a text goes, that it goes there once, and what is said of older records."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from policy.houses import MASKING, enforce, key
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.gateway import text_lock

pytestmark = pytest.mark.migrated

DENTIST = "The dentist appointment is on 12 March at 15:00."
MOVED = "The dentist appointment is on 19 March at 15:00."
SECRET = "The deploy key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def app(database_url, tmp_path):
    house = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    yield house
    house.close()


@pytest.fixture
def talk(app):
    return Lines(app)


@pytest.fixture
def house(tmp_path):
    """One kind of database is enough where only texts and callers differ."""
    made = App({"home": str(tmp_path / "home"), "durable": False, "rate_limit": "1000/second"}, {})
    yield made
    made.close()


@pytest.fixture
def owner(house):
    return Lines(house)


def count_memos(talk) -> int:
    return len(talk.call("memory", "list", limit=200)["items"])


def read_journal(app) -> list[tuple[str, str, str, str | None]]:
    """Request, what was called, how it ended, and the parent; the oldest first."""
    app.journal.flush()
    with app.database.reading() as rows:
        found = rows.rows(
            "select request_id, module, tool, outcome, parent from journal where kind = 'call' order by at, seq"
        )
    return [(request, f"{module}.{tool}", outcome, parent) for request, module, tool, outcome, parent in found]


def test_each_kind_goes_where_it_belongs(owner):
    memo = owner.value("remember", text=DENTIST, namespace="health")
    assert (memo["module"], memo["tool"], memo["kind"], memo["already"]) == ("memory", "save", "memo", False)
    stored = owner.call("memory", "get", memo_id=memo["address"].rpartition("/")[2])
    assert (stored["content"], stored["namespace"]) == (DENTIST, "/health")
    memo_time = stored["created_at"]
    for kind in ("fact", "preference"):
        claim = owner.value("remember", text=f"This is a {kind}: tea at four.", kind=kind)
        assert (claim["module"], claim["tool"]) == ("claims", "upsert")
        told = owner.call("claims", "get", claim_id=claim["address"].rpartition("/")[2])["data"]
        assert (told["kind"], told["scope"], told["provenance"]["actor"]) == (kind, "project", "owner")
        assert memo_time < told["provenance"]["at"] <= told["created_at"]
        assert "over stdio" in told["provenance"]["note"]
    for kind, type in (("task", "issue"), ("decision", "decision")):
        item = owner.value("remember", text=f"One {kind}\nwith a second line", kind=kind)
        number = int(item["address"].rpartition("/")[2])
        detail = owner.call("items", "get_item_detail", type=type, id=number)
        assert (detail["title"], detail["content"]) == (f"One {kind}", f"One {kind}\nwith a second line")


def test_the_same_text_is_one_record(talk):
    for kind in ("memo", "fact", "task"):
        first = talk.value("remember", text="Ｕｓｅ four spaces in Python.", kind=kind)
        again = talk.value("remember", text="use four  spaces\nin python", kind=kind)
        assert (first["already"], again["already"]) == (False, True)
        assert again["address"] == first["address"]
    assert count_memos(talk) == 1
    other = talk.value("remember", text="Use four spaces in Python.", namespace="elsewhere")
    assert other["already"] is False
    assert {each["relation"] for each in other["similar"]} == {"same"}
    below, above = (talk.value("remember", text=DENTIST, namespace=each) for each in ("a/b", "a"))
    assert (below["already"], above["already"]) == (False, False)


def test_a_long_text_is_found_among_others_that_begin_and_end_alike(owner):
    texts = [f"{'the same start ' * 80}{number} {'the same end ' * 80}" for number in (1, 2, 3)]
    first = [owner.value("remember", text=text)["address"] for text in texts]
    assert [owner.value("remember", text=text)["address"] for text in texts] == first
    assert count_memos(owner) == 3


def test_what_is_gone_or_done_does_not_count(owner):
    memo = owner.value("remember", text=DENTIST)["address"]
    owner.call("memory", "delete", memo_id=memo.rpartition("/")[2])
    assert owner.value("remember", text=DENTIST)["already"] is False
    task = owner.value("remember", text="Water the plants", kind="task")["address"]
    owner.call("items", "update_item", type="issue", id=int(task.rpartition("/")[2]), status="Completed")
    again = owner.value("remember", text="Water the plants", kind="task")
    assert (again["already"], again["similar"]) == (False, [])


def test_older_records_come_with_the_call_that_settles_them(owner):
    memo = owner.value("remember", text=DENTIST)["address"]
    claim = owner.value("remember", text="歯医者の予約は3月12日の15時。", kind="fact")
    assert [(each["address"], each["relation"]) for each in claim["similar"]] == [(memo, "duplicate")]
    task = owner.value("remember", text="Pay the dentist 80 euros", kind="task")["address"]
    for text, kind, old in (
        (MOVED, "memo", memo),
        ("歯医者の予約は3月19日の15時。", "fact", claim["address"]),
        ("Pay the dentist 95 euros", "task", task),
    ):
        told = owner.value("remember", text=text, kind=kind)
        (found,) = [each for each in told["similar"] if each["address"] == old]
        assert (found["relation"], found["date"][:2], found["similarity"] > 0.7) == ("contradicted", "20", True)
        assert found["text"]
        owner.value("call", **found["call"])
        again = owner.value("remember", text=f"{text} ", kind=kind)
        assert again["already"] is True
        assert old not in {each["address"] for each in again["similar"]}


def test_the_answer_says_that_it_holds_stored_text_and_who_wrote_it(owner):
    owner.value("remember", text=DENTIST)
    mark = owner.tool("remember", text=MOVED)["_meta"]["tokonoma/content"]
    assert mark == {"origin": "stored", "module": "gateway", "authors": ["owner"]}
    mark = owner.tool("remember", text="The cat of the dentist sleeps.")["_meta"]["tokonoma/content"]
    assert mark == {"origin": "server", "module": "gateway"}


def test_links_become_relations_references_and_sources(talk):
    memo = talk.value("remember", text="Notes on the roof", namespace="/house/roof")["address"]
    claim = talk.value("remember", text="The roof is from 1998.", kind="fact")["address"]
    item = talk.value("remember", text="Repair the roof", kind="task", links=[memo, claim])
    assert item["links"] == [memo, claim]
    detail = talk.call("items", "get_item_detail", type="issue", id=int(item["address"].rpartition("/")[2]))
    assert {memo, claim} <= set(detail["related"])
    new = talk.value("remember", text="The roofer came", namespace="/house/visits", links=[memo, claim])["address"]
    (relation,) = talk.call("memory", "relation.list", namespace="/house")["edges"]
    assert [relation["sourceMemoId"], relation["targetMemoId"]] == [each.rpartition("/")[2] for each in (new, memo)]
    stored = talk.call("memory", "get", memo_id=new.rpartition("/")[2])
    assert stored["metadata"] == {"links": [claim]}
    sourced = talk.value("remember", text="The roof costs 9000 euros.", kind="fact", links=[memo])["address"]
    evidence = talk.call("claims", "get", claim_id=sourced.rpartition("/")[2])["data"]["evidences"]
    assert [(each["source_type"], each["source_id"]) for each in evidence] == [("url", memo)]


def test_a_text_that_is_there_already_gets_the_new_links(talk):
    memo, other = (talk.value("remember", text=text)["address"] for text in ("The roof is red", "Its tiles are old"))
    claim = talk.value("remember", text="The roof is from 1998.", kind="fact")["address"]
    for _ in range(2):
        assert talk.value("remember", text="The roof is red", links=[other, claim, memo])["already"] is True
    assert len(talk.call("memory", "relation.list")["edges"]) == 1
    assert talk.call("memory", "get", memo_id=memo.rpartition("/")[2])["metadata"] == {"links": [claim]}
    task = talk.value("remember", text="Paint it", kind="task")["address"]
    assert talk.value("remember", text="Paint it", kind="task", links=[memo])["already"] is True
    detail = talk.call("items", "get_item_detail", type="issue", id=int(task.rpartition("/")[2]))
    assert memo in detail["related"]


@pytest.mark.parametrize("link", ["tokonoma://memory/none", "tokonoma://nowhere/1", "not an address"])
def test_a_link_that_leads_nowhere_is_refused_before_anything_is_stored(owner, link):
    assert owner.error("remember", text=DENTIST, links=[link])["code"] in ("NOT_FOUND", "INVALID_ARGUMENT")
    assert count_memos(owner) == 0


def test_what_cannot_be_stored_is_refused(owner):
    assert owner.error("remember", text=" \n")["code"] == "INVALID_ARGUMENT"
    assert owner.error("remember", text="x", kind="thought")["code"] == "INVALID_ARGUMENT"
    assert "namespace" in owner.error("remember", text="x", kind="fact", namespace="/elsewhere")["message"]
    for kind in ("memo", "fact", "task"):
        error = owner.error("remember", text=SECRET, kind=kind)
        assert "does not allow to be stored" in error["message"]
        assert "ghp_" not in json.dumps(error)
    assert count_memos(owner) == 0


def test_parent_and_inner_calls_are_in_the_journal(app, talk):
    talk.value("remember", text=DENTIST)
    talk.error("remember", text=SECRET)
    talk.error("remember", text=DENTIST, links=["tokonoma://memory/none"])
    told = read_journal(app)
    saved, stored, refused, refusal, lonely = told
    assert (saved[1:3], stored[1:3]) == (("memory.save", "committed"), ("gateway.remember", "ok"))
    assert (refused[1:3], refusal[1:3]) == (("memory.save", "refused"), ("gateway.remember", "refused"))
    assert lonely[1:3] == ("gateway.remember", "refused")
    assert [each[3] for each in told] == [stored[0], None, refusal[0], None, None]


def test_a_caller_stores_only_where_it_may_write(house, owner):
    owner.value("remember", text=DENTIST)
    owner.value("remember", text="Pay the dentist", kind="task")
    some = Http(house, key(house, "some", mask=["memory:write", "claims"]))
    error = some.error("remember", text="x")
    assert (error["code"], error["details"]["kinds"]) == ("PERMISSION_DENIED", ["task", "decision"])
    assert error["message"] == "This credential cannot store a memo. It can store: task, decision."
    assert "claim" not in json.dumps(some.error("remember", text="x", kind="fact"))
    none = Http(house, key(house, "none", mask=["*:write"]))
    assert none.error("remember", text="x")["message"] == "This credential cannot store a memo. It may only read."
    for caller in (some, none):
        names = [tool["name"] for tool in caller.ask("tools/list")["result"]["tools"]]
        assert ("remember" in names) is (caller is some)
    items = Http(house, key(house, "items", modules=["items"]))
    assert items.value("remember", text="Pay the dentist now", kind="task")["similar"][0]["address"] == (
        "tokonoma://items/1"
    )
    assert {each["address"][:18] for each in items.value("remember", text=DENTIST, kind="task")["similar"]} <= {
        "tokonoma://items/1", "tokonoma://items/2"
    }  # fmt: skip


def test_only_tools_that_the_caller_sees_are_proposed(house):
    Lines(house).value("remember", text=DENTIST)
    careful = Http(house, key(house, "careful", mask=["*:destroy"]))
    (found,) = careful.value("remember", text=MOVED)["similar"]
    assert found["call"]["tool_name"] == "save"
    old, new = found["address"].rpartition("/")[2], careful.value("call", **found["call"])
    assert new["supersedes"] == [old]
    assert careful.call("memory", "get", memo_id=old)["superseded_by"] == new["memo_id"]
    # A memo replaces memos of its own namespace; of others it can be related.
    (far,) = careful.value("remember", text=f"{MOVED} Really.", namespace="/far")["similar"]
    assert far["call"]["tool_name"] == "relation.save"
    bound = Http(house, key(house, "bound", mask=["*:destroy", "memory.relation.save"]))
    told = bound.value("remember", text=f"{MOVED} Truly.", namespace="/farther")["similar"]
    assert told and all("call" not in each for each in told)


def test_a_root_is_a_wall(house, owner):
    owner.value("remember", text=DENTIST, namespace="/private")
    inside = Http(house, key(house, "inside", root="/work"))
    told = inside.value("remember", text=DENTIST)
    assert (told["already"], told["similar"], told["namespace"]) == (False, [], "/")
    hidden = owner.value("remember", text="Behind the wall", namespace="/private")["address"]
    assert inside.error("remember", text="x", links=[hidden])["code"] == "NOT_FOUND"


def test_nothing_hidden_can_be_guessed(house, owner):
    enforce(house, MASKING)
    caller = Http(house, key(house, "guesser"))
    for kind in ("memo", "task"):
        owner.value("remember", text=f"A {kind}: call the plumber, 090-1234-5678.", kind=kind)
    numbers = ("090-1234-5678", "080-8642-9753")
    answers = [caller.value("remember", text=f"A memo: call the plumber, {number}.") for number in numbers]
    assert [each["already"] for each in answers] == [False, False]
    for told in answers:
        first = next(each for each in told["similar"] if each["address"] == answers[0]["similar"][0]["address"])
        assert "090" not in json.dumps(told["similar"])
        assert (first["relation"], first["similarity"]) == (
            answers[0]["similar"][0]["relation"], answers[0]["similar"][0]["similarity"]
        )  # fmt: skip


def test_what_the_policy_detects_is_not_searched_for(house, owner, monkeypatch):
    """The query may leave for the model of a provider."""
    asked: list[str] = []
    find = house.search.find
    monkeypatch.setattr(
        house.search, "find", lambda call, query, *more: asked.append(query.text) or find(call, query, *more)
    )
    owner.error("remember", text=SECRET)
    owner.value("remember", text="Call the plumber, 090-1234-5678.")
    assert len(asked) == 4
    assert not [text for text in asked if "ghp_" in text or "090-" in text]


def test_many_at_once_in_one_process_are_one_record(house):
    """More than there are workers: none of them may hold the worker that the first one needs."""
    talk = Lines(house)
    with ThreadPoolExecutor(24) as pool:
        told = list(pool.map(lambda _: Http(house).value("remember", text=DENTIST), range(24)))
    assert len({each["address"] for each in told}) == 1
    assert [each["already"] for each in told].count(False) == 1
    assert count_memos(talk) == 1
    with house.database.reading() as rows:
        assert rows.rows("select name from remember_lock") == []


def test_the_lock_of_a_killed_process_ends_by_itself(house, frozen_clock):
    talk = Lines(house)
    assert talk.value("remember", text=DENTIST)["already"] is False
    one, other = (text_lock.TextLock(house.database.writing, "memory", "x") for _ in range(2))
    assert one.take()
    assert not other.take()
    frozen_clock.advance(text_lock.LEASE + 1)
    assert other.take()
    one.release()  # it is no longer its own
    assert not one.take()


def run_stdio(home, url: str, texts: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tokonoma", "stdio", "--home", str(home), "--database-url", url, "--no-durable"]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert child.stdin is not None
    for number, text in enumerate(texts):
        params = {"name": "remember", "arguments": {"text": text}}
        child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n")
    child.stdin.flush()
    return child


def test_two_processes_at_once_make_one_record(app, talk, database_url, tmp_path):
    assert count_memos(talk) == 0  # the tables are there
    texts = [f"{word} is kept in the cellar" for word in ("Wine", "Coal", "Wood", "Salt", "Rope", "Oil")]
    children = [run_stdio(tmp_path / "home", database_url, texts) for _ in range(2)]
    found: dict[int, list[dict[str, Any]]] = {}
    for child in children:
        assert child.stdout is not None
        for _ in texts:
            answer = json.loads(child.stdout.readline())
            found.setdefault(answer["id"], []).append(answer["result"]["structuredContent"])
    for child in children:
        child.communicate()
        assert child.returncode == 0
    for pair in found.values():
        assert len({each["address"] for each in pair}) == 1
        assert sorted(each["already"] for each in pair) == [False, True]
    assert count_memos(talk) == len(texts)


def test_one_call_from_a_fresh_start_with_the_official_client(tmp_path):
    """No schema is read and no module is named: the list of tools and the instructions are enough."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "tokonoma", "stdio", "--home", str(tmp_path), "--no-durable"]
    )

    async def session() -> None:
        async with Client(server, mode="legacy") as client:
            assert "remember(text, kind)" in (client.instructions or "")
            assert "remember" in [tool.name for tool in (await client.list_tools()).tools]
            prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert {"remember", "recall", "review_week", "prepare_meeting"} <= prompts
            told = await client.call_tool("remember", {"text": DENTIST})
            assert told.is_error is False
            assert told.structured_content is not None
            assert told.structured_content["address"].startswith("tokonoma://memory/")

    anyio.run(session)

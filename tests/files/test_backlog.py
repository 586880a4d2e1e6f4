"""More new files than a call indexes: it answers from those that are indexed and says how far it is. The rest is
indexed in the background."""

import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import SOAK
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth.api_keys import build_reach, create_key
from tokonoma.cli.call import call_tool
from tokonoma.files import backlog, indexed_file
from tokonoma.modules.manual import index_files, sync

pytestmark = pytest.mark.migrated

FILES = 3_000 if SOAK else 150
MANUAL = "manuals/notes"
VAULT = "vault/notes"


@pytest.fixture
def app(database_url, tmp_path):
    house = App(
        {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "embed_provider": "none"}, {}
    )
    yield house
    house.close()


@pytest.fixture
def lite(tmp_path):
    house = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    yield house
    house.close()


@pytest.fixture
def one_page(monkeypatch):
    """A call indexes one page."""
    monkeypatch.setattr(backlog, "CALL_SECONDS", 0.0)
    # Files that changed within the last two seconds are read again by every call.
    monkeypatch.setattr(indexed_file, "TIMESTAMP_GRANULARITY", 0)
    monkeypatch.setattr(sync, "_MIN_AGE_NS", 0)


@pytest.fixture
def held(monkeypatch, one_page):
    """And pages of the background wait until they are let go."""
    let_go = threading.Event()
    run_step = backlog._IndexingRun.run_step

    def wait(run):
        assert let_go.wait(60)
        return run_step(run)

    monkeypatch.setattr(backlog._IndexingRun, "run_step", wait)
    yield let_go
    let_go.set()


def fill(home: Path, where: str, files: int = FILES) -> Path:
    folder = home / "workspace" / where
    folder.mkdir(parents=True)
    for number in range(files):
        (folder / f"{number:04}.md").write_text(f"# Note {number}\n\nGreen tea.\n", encoding="utf-8")
    return folder


def ask_until_complete(talk: Lines, module: str, tool: str, **params: object) -> dict[str, Any]:
    while True:
        answer = talk.call(module, tool, **params)
        if "indexing" not in answer.get("summary", answer):
            return answer


def find_steps(talk: Lines) -> dict[str, Any]:
    return talk.call("manual", "find", query="green tea", budget={"max_candidates": 1000})


def test_the_first_search_of_many_manuals_answers_from_what_is_indexed_and_blocks_nobody(app, tmp_path, held):
    fill(tmp_path / "home", MANUAL)
    talk = Lines(app)
    found = find_steps(talk)
    summary, done = found["summary"], found["summary"]["indexing"]["done"]
    assert summary["indexing"] == {"done": done, "total": FILES}
    assert 0 < done <= 100  # one page
    assert summary["candidates"] == done
    assert summary["unscanned_sections_count"] == FILES - done
    assert (summary["cutoff_reason"], summary["integration_status"]) == ("indexing", "needs_followup")
    assert talk.call("memory", "save", content="saved meanwhile")["memo_id"]
    assert talk.call("manual", "ls")["indexing"]["total"] == FILES
    assert talk.call("manual", "read", ref={"manual_id": "notes", "path": f"{FILES - 1:04}.md"})["text"]
    held.set()
    complete = ask_until_complete(talk, "manual", "find", query="green tea", budget={"max_candidates": 1000})
    assert complete["summary"]["candidates"] == min(FILES, 1000)
    resumed = talk.call("manual", "find", query="green tea", only_unscanned_from_trace_id=found["trace_id"])
    assert resumed["summary"]["scanned_files"] + resumed["summary"]["unscanned_sections_count"] >= FILES - done - 1


def test_the_first_search_of_a_large_vault_answers_from_what_is_indexed(app, tmp_path, held):
    folder = fill(tmp_path / "home", VAULT)
    talk = Lines(app)
    found = talk.call("vault", "find", query="green tea")
    done = found["summary"]["indexing"]["done"]
    assert 0 < done <= 100  # one page
    assert found["summary"]["candidates"] == min(done, 200)
    assert found["summary"]["integration_status"] == "needs_followup"
    assert "vault_completed" not in [each.get("intent") for each in found["next_actions"]]
    listed = talk.call("vault", "ls")
    assert (listed["total"], listed["indexing"]) == (done, {"done": done, "total": FILES})
    # A file that is new meanwhile need not wait for the others, and a file that is asked for neither.
    (folder / "new.md").write_text("Black coffee.\n", encoding="utf-8")
    assert [each["path"] for each in talk.call("vault", "search", query="black coffee")["items"]] == ["notes/new.md"]
    assert "Green" in talk.call("vault", "read", path=f"notes/{FILES - 1:04}.md", full=True)["text"]
    held.set()
    assert ask_until_complete(talk, "vault", "ls")["total"] == FILES + 1
    left = talk.call("vault", "hits", trace_id=found["trace_id"], kind="unscanned")
    assert (left["total"], left["items"][0]["reason"]) == (found["summary"]["unscanned_sections_count"], "indexing")


@pytest.mark.parametrize(("where", "module"), [(VAULT, "vault"), (MANUAL, "manual")])
def test_a_file_that_is_not_indexed_yet_is_listed_for_the_owner_and_counted_for_others(
    lite, tmp_path, held, where, module
):
    """It is not classified yet: only the owner may learn its name."""
    folder = fill(tmp_path / "home", where)
    with lite.database.writing() as statements:
        bot = Http(lite, create_key(statements, "bot", build_reach()))
    lists: list[dict[str, Any]] = []
    for talk in (Lines(lite), bot):
        found = talk.call(module, "find", query="green tea", **({} if module == "vault" else {"manual_id": "notes"}))
        count = found["summary"]["unscanned_sections_count"]
        assert (found["summary"]["cutoff_reason"], count > 0) == ("indexing", True)
        lists.append(talk.call(module, "hits", trace_id=found["trace_id"], kind="unscanned", limit=200) | found)
    mine, theirs = lists
    assert mine["total"] == mine["summary"]["unscanned_sections_count"]
    assert {each["reason"] for each in mine["items"]} == {"indexing"}
    assert "unindexed" not in mine
    assert theirs["items"] == []
    assert theirs["unindexed"] == theirs["summary"]["unscanned_sections_count"]
    gone = mine["items"][0]["ref"]["path"].removeprefix("notes/")
    (folder / gone).unlink()
    again = Lines(lite).call(module, "hits", trace_id=mine["trace_id"], kind="unscanned", limit=200)
    assert again["total"] == mine["total"] - 1
    held.set()
    ask_until_complete(Lines(lite), module, "ls")
    for talk, before in ((Lines(lite), mine), (bot, theirs)):
        listed = talk.call(module, "hits", trace_id=before["trace_id"], kind="unscanned", limit=200)
        assert listed["total"] == before["summary"]["unscanned_sections_count"] - 1
        assert {each["reason"] for each in listed["items"]} == {"indexing"}
        assert "unindexed" not in listed


def test_a_section_that_was_not_searched_and_has_moved_is_listed_with_its_file(lite, tmp_path, one_page):
    folder = fill(tmp_path / "home", MANUAL, 3)
    talk = Lines(lite)
    found = talk.call("manual", "find", query="green tea", budget={"max_candidates": 1})
    assert found["summary"]["unscanned_sections_count"] == 2
    listed = talk.call("manual", "hits", trace_id=found["trace_id"], kind="unscanned")["items"]
    path = listed[0]["ref"]["path"]
    (folder / path).write_text("\n\n# Moved\n\nGreen tea.\n", encoding="utf-8")
    again = talk.call("manual", "hits", trace_id=found["trace_id"], kind="unscanned")
    assert again["total"] == 2
    assert {each["ref"]["path"]: each["reason"] for each in again["items"]} == {
        path: "changed", listed[1]["ref"]["path"]: "candidate_cap",
    }  # fmt: skip


def test_few_new_files_are_indexed_before_the_answer(lite, tmp_path):
    fill(tmp_path / "home", VAULT, 100)
    answer = Lines(lite).call("vault", "ls")
    assert answer["total"] == 100
    assert "indexing" not in answer


def test_a_caller_with_a_budget_of_time_waits_for_the_rest(lite, tmp_path, monkeypatch):
    fill(tmp_path / "home", VAULT, 150)
    fill(tmp_path / "home", MANUAL, 150)
    monkeypatch.setattr(backlog, "CALL_SECONDS", 0.0)
    for module in ("vault", "manual"):
        assert "indexing" in Lines(lite).call(module, "ls")
        summary = Lines(lite).call(module, "find", query="green tea", budget={"time_ms": 60_000})["summary"]
        assert "indexing" not in summary
        assert summary["scanned_files"] == 150


def test_who_sits_at_the_terminal_waits(lite, tmp_path, monkeypatch):
    fill(tmp_path / "home", VAULT, 250)
    monkeypatch.setattr(backlog, "CALL_SECONDS", 0.0)
    assert call_tool(lite, "vault", "ls")["total"] == 250


def test_processes_that_live_for_one_call_get_to_the_end(tmp_path, monkeypatch, one_page):
    """Each of them indexes a page, and nothing in the background."""
    fill(tmp_path / "home", VAULT, 250)
    monkeypatch.setattr(backlog._IndexingRun, "run_step", lambda run: run.finish())
    done: list[int] = []
    while not done or done[-1] < 250:
        house = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
        done.append(Lines(house).call("vault", "ls")["total"])
        house.close()
        assert len(done) < 10
    assert done == sorted(set(done))


@pytest.mark.parametrize(("where", "module"), [(VAULT, "vault"), (MANUAL, "manual")])
def test_a_long_file_holds_up_no_writer(lite, tmp_path, monkeypatch, where, module):
    """Between two groups of its passages a memo is saved, and nobody sees the file until it is whole."""
    folder = fill(tmp_path / "home", where, 1)
    text = "".join(f"# Part {part}\n\n{'word ' * 200}\n\n" for part in range(400))
    (folder / "long.md").write_text(f"{text}\n# End\n\ncall 090-1234-5678\n", encoding="utf-8")
    talk, seen = Lines(lite), []
    room = {"vault": indexed_file, "manual": index_files}[module]
    name = {"vault": "insert_passages", "manual": "_read_hash"}[module]
    act = getattr(room, name)

    def save_meanwhile(tx, *arguments):
        if seen:  # outside of the test's own transaction: the memo is saved by another thread
            threads.append(
                threading.Thread(target=lambda: saved.append(Lines(lite).call("memory", "save", content="m")))
            )
            threads[-1].start()
        seen.append(tx)
        return act(tx, *arguments)

    threads: list[threading.Thread] = []
    saved: list[dict[str, Any]] = []
    monkeypatch.setattr(room, name, save_meanwhile)
    assert len(text) > 300_000
    assert talk.call(module, "ls")["total"] == 2
    for thread in threads:
        thread.join(60)
    assert len(seen) > 5
    assert len({id(tx) for tx in seen}) > 1
    assert len(saved) == len(threads)


def test_a_process_that_comes_later_takes_a_long_file_over(lite, tmp_path, monkeypatch):
    folder = fill(tmp_path / "home", VAULT, 0)
    lines = [f"line {number} of the long file\n" for number in range(20_000)]
    (folder / "long.txt").write_text("".join(lines), encoding="utf-8")
    talk, act, changed = Lines(lite), indexed_file.insert_passages, []

    def change_meanwhile(tx, path, documents, check):
        if not changed:
            changed.append(tx.run("update vault_file set version = 'indexing other' where path = :path", path=path))
        return act(tx, path, documents, check)

    monkeypatch.setattr(indexed_file, "insert_passages", change_meanwhile)
    assert talk.call("vault", "ls")["items"] == []  # stopped: what it stores is not the whole file
    assert changed == [1]
    assert talk.call("vault", "ls")["items"][0]["lines"] == len(lines)

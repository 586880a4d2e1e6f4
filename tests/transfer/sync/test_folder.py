"""Sync through a folder: what arrives, what is kept, and what happens to files that are cut off, copied or old."""

import json
import shutil
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from transfer.apps import open_app
from transfer.sync.homes import dump, list_items, list_memos, sync_all

from tokonoma.app import App
from tokonoma.cli import sync as sync_command
from tokonoma.cli.call import call_owner_tool, call_tool
from tokonoma.cli.sync import list_conflicts, run_sync
from tokonoma.core.errors import Conflict
from tokonoma.transfer.sync.kinds import MEMO
from tokonoma.transfer.sync.merge import digest_body
from tokonoma.transfer.sync.run import hold_sync_lock

Homes = tuple[App, App, Path]


@pytest.fixture
def homes(tmp_path: Path) -> Generator[Homes]:
    (tmp_path / "shared").mkdir()
    with open_app(tmp_path / "home0") as one, open_app(tmp_path / "home1") as other:
        yield one, other, tmp_path / "shared"


def save(app: App, **fields: Any) -> str:
    return call_tool(app, "memory", "save", **fields)["memo_id"]


def get(app: App, memo_id: str) -> dict[str, Any]:
    return next(each for each in list_memos(app) if each["memo_id"] == memo_id)


def share(homes: Homes, **fields: Any) -> str:
    one, other, folder = homes
    memo_id = save(one, **fields)
    sync_all([one, other], folder)
    return memo_id


def test_edits_of_both_sides_are_merged(homes: Homes) -> None:
    one, other, folder = homes
    memo_id = share(homes, content="one\ntwo\nthree", metadata={"a": 1})
    save(one, memo_id=memo_id, content="ONE\ntwo\nthree")
    save(other, memo_id=memo_id, content="one\ntwo\nTHREE", metadata={"b": 2}, title="Named")
    sync_all([one, other], folder)
    for app in (one, other):
        memo = get(app, memo_id)
        assert (memo["content"], memo["title"]) == ("ONE\ntwo\nTHREE", "Named")
        assert memo["metadata"] == {"a": 1, "b": 2}
        assert list_conflicts(app) == []


def test_both_texts_are_kept_where_they_conflict(homes: Homes) -> None:
    one, other, folder = homes
    memo_id = share(homes, content="first")
    save(one, memo_id=memo_id, content="mine")
    save(other, memo_id=memo_id, content="yours")
    sync_all([one, other], folder)
    assert dump(one) == dump(other)
    for app in (one, other):
        assert get(app, memo_id)["content"] == "yours"
        (conflict,) = list_conflicts(app)
        assert get(app, conflict.copy)["content"] == "mine"
        related = call_tool(app, "memory", "relation.list", sourceMemoId=conflict.copy)["edges"]
        assert [(each["targetMemoId"], each["tag"]) for each in related] == [(memo_id, "conflicts_with")]
    call_tool(one, "memory", "delete", memo_id=list_conflicts(one)[0].copy)
    sync_all([one, other], folder)
    assert list_conflicts(one) == list_conflicts(other) == []


def test_a_deletion_travels_and_an_edit_survives_it(homes: Homes) -> None:
    one, other, folder = homes
    dropped, edited = share(homes, content="x"), share(homes, content="y")
    call_tool(one, "memory", "delete", memo_id=dropped)
    call_tool(one, "memory", "delete", memo_id=edited)
    save(other, memo_id=edited, content="y is edited")
    sync_all([one, other], folder)
    for app in (one, other):
        assert get(app, dropped)["deleted_at"] is not None
        assert (get(app, edited)["deleted_at"], get(app, edited)["content"]) == (None, "y is edited")
    assert [each.clashes for app in (one, other) for each in list_conflicts(app)] == [("deleted",)]
    call_tool(one, "memory", "restore", memo_id=dropped)
    sync_all([one, other], folder)
    assert get(other, dropped)["deleted_at"] is None


def test_what_was_purged_stays_away_and_its_text_is_not_kept(homes: Homes) -> None:
    one, other, folder = homes
    memo_id = share(homes, content="to be purged")
    related = share(homes, content="stays")
    ends = {"sourceMemoId": related, "targetMemoId": memo_id, "tag": "x"}
    call_tool(one, "memory", "relation.save", **ends)
    sync_all([one, other], folder)
    call_tool(one, "memory", "delete", memo_id=memo_id)
    call_owner_tool(one, "memory", "purge", {"days": 0})
    sync_all([one, other], folder)
    assert memo_id not in {each["memo_id"] for each in list_memos(one)}
    assert get(other, memo_id)["deleted_at"] is not None
    with one.database.reading() as rows:
        assert rows.rows("select 1 from sync_base where name = :name", name=memo_id) == []


def test_a_file_that_has_not_arrived_is_read_next_time(homes: Homes) -> None:
    one, other, folder = homes
    save(one, content="x")
    run_sync(one, folder)
    (file,) = (folder / "tokonoma-sync").glob("*.jsonl")
    whole = file.read_bytes()
    for cut in (whole[:40], whole[:-30], whole.replace(b'"x"', b'"y"'), b""):
        file.write_bytes(cut)
        report = run_sync(other, folder)
        assert [each.place for each in report.unread] == [file.name]
        assert list_memos(other) == []
    file.write_bytes(whole)
    assert run_sync(other, folder).unread == []
    assert len(list_memos(other)) == 1


def test_an_old_copy_of_a_file_changes_nothing(homes: Homes) -> None:
    """A file sync program keeps the older one of two files beside the newer one."""
    one, other, folder = homes
    memo_id = share(homes, content="old")
    (file,) = [path for path in (folder / "tokonoma-sync").glob("*.jsonl") if b'"old"' in path.read_bytes()][:1]
    shutil.copy(file, file.with_name("x (conflicted copy).jsonl"))
    save(one, memo_id=memo_id, content="new")
    sync_all([one, other], folder)
    assert [get(app, memo_id)["content"] for app in (one, other)] == ["new", "new"]
    assert list_conflicts(one) == list_conflicts(other) == []


def test_a_copied_home_is_a_home_of_its_own(homes: Homes, tmp_path: Path) -> None:
    """Both have the same id at first, and count their edits alike."""
    one, other, folder = homes
    memo_id = share(homes, content="one\ntwo\nthree")
    one.close()
    shutil.copytree(one.home, tmp_path / "copy")
    with open_app(one.home) as first, open_app(tmp_path / "copy") as second:
        save(first, memo_id=memo_id, content="ONE\ntwo\nthree")
        save(second, memo_id=memo_id, content="one\ntwo\nTHREE")
        sync_all([first, second, other], folder)
        assert {get(app, memo_id)["content"] for app in (first, second, other)} == {"ONE\ntwo\nTHREE"}


def test_a_rehearsal_changes_nothing(homes: Homes) -> None:
    one, other, folder = homes
    memo_id = share(homes, content="first")
    save(one, memo_id=memo_id, content="mine")
    save(other, memo_id=memo_id, content="yours")
    run_sync(one, folder)
    before, files = dump(other), sorted((folder / "tokonoma-sync").iterdir())
    texts = [path.read_bytes() for path in files]
    report = run_sync(other, folder, dry_run=True)
    assert len(report.tally.conflicts) == 1
    assert (dump(other), [path.read_bytes() for path in files]) == (before, texts)
    assert list_conflicts(other) == []


def test_a_secret_leaves_only_if_asked_and_enters_only_if_asked(homes: Homes) -> None:
    one, other, folder = homes
    kept, secret, memo_id = save(one, content="plain"), "AKIAQ3EGRT5ZL2PWX7VN", "00000000-0000-4000-8000-000000000001"
    memo: dict[str, Any] = {"memo_id": memo_id, "namespace": "/", "title": "", "content": secret, "metadata": {}}
    memo |= {"thread": "", "version": 1, "boundary": "internal"}
    memo |= dict.fromkeys(("created_at", "updated_at", "expires_at", "deleted_at"))
    call_owner_tool(one, "memory", "import", {"memos": [memo], "relations": [], "seal": True})
    item: dict[str, Any] = {"uid": "11111111-0000-4000-8000-000000000001", "type": "docs", "title": "T"}
    call_owner_tool(one, "items", "import", {"items": [{**item, "content": secret}], "seal": True})
    run_sync(one, folder)
    (file,) = (folder / "tokonoma-sync").glob("*.jsonl")
    assert secret.encode() not in file.read_bytes()
    run_sync(one, folder, seal=True)
    assert secret.encode() in file.read_bytes()
    report = run_sync(other, folder)
    assert sorted(name for _, name in report.tally.skipped) == sorted([memo_id, item["uid"]])
    assert [each["memo_id"] for each in list_memos(other)] == [kept]
    assert list_items(other) == []
    with other.database.reading() as rows:
        assert rows.rows("select name from sync_base where kind = 'item' or name = :name", name=memo_id) == []
    assert run_sync(other, folder, seal=True).tally.skipped == {}
    assert get(other, memo_id)["boundary"] == "secret"
    assert call_owner_tool(other, "items", "export", {"classes": True})["items"][0]["boundary"] == "secret"


def test_only_one_namespace(homes: Homes) -> None:
    one, other, folder = homes
    save(one, content="in", namespace="/team/a")
    save(one, content="out", namespace="/private")
    run_sync(one, folder, "/team")
    (file,) = (folder / "tokonoma-sync").glob("*.jsonl")
    assert b'"out"' not in file.read_bytes()
    run_sync(one, folder)
    run_sync(other, folder, "/team")
    assert [each["content"] for each in list_memos(other)] == ["in"]


def test_items_keep_their_links_though_their_numbers_differ(homes: Homes) -> None:
    one, other, folder = homes
    call_tool(other, "items", "create_item", type="task", title="Here first")
    for title in ("A", "B"):
        call_tool(one, "items", "create_item", type="task", title=title)
    call_tool(one, "items", "add_relation", type="task", id=1, target="task-2", kind="blocks")
    sync_all([one, other], folder)
    assert dump(one) == dump(other)
    found = {each["title"]: each for each in list_items(other)}
    assert [link["kind"] for link in found["A"]["links"]] == ["blocks"]
    call_tool(one, "items", "update_item", type="task", id=1, title="mine")
    call_tool(other, "items", "update_item", type="task", id=found["A"]["id"], title="yours")
    sync_all([one, other], folder)
    assert dump(one) == dump(other)
    assert sorted(each["title"] for each in list_items(one)) == ["B", "Here first", "mine", "yours"]
    assert len(list_conflicts(one)) == len(list_conflicts(other)) == 1


def test_an_edit_during_the_sync_is_not_overwritten(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, folder = homes
    memo_id = share(homes, content="one\ntwo\nthree")
    save(one, memo_id=memo_id, content="ONE\ntwo\nthree")
    run_sync(one, folder)
    plain, edits = sync_command.call_owner_tool, iter([True])

    def edit_meanwhile(app: App, module: str, tool: str, params: Any) -> Any:
        if tool == "sync" and next(edits, False):
            save(other, memo_id=memo_id, content="one\ntwo\nTHREE")
        return plain(app, module, tool, params)

    monkeypatch.setattr(sync_command, "call_owner_tool", edit_meanwhile)
    run_sync(other, folder)
    assert get(other, memo_id)["content"] == "ONE\ntwo\nTHREE"


def test_two_syncs_of_one_home_do_not_run_together(homes: Homes) -> None:
    one, _, folder = homes
    run_sync(one, folder)
    with hold_sync_lock(one.home), pytest.raises(Conflict, match="Another sync"):
        run_sync(one, folder)


def test_a_second_sync_has_nothing_to_do(homes: Homes) -> None:
    one, other, folder = homes
    share(homes, content="x")
    for app in (one, other):
        report = run_sync(app, folder)
        assert (dict(report.tally.counts), report.published) == ({}, False)
    for path in (folder / "tokonoma-sync").glob("*.jsonl"):
        assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_dates_and_what_replaces_what_go_along(homes: Homes) -> None:
    one, other, folder = homes
    old = share(homes, content="The code is 4711")
    new = share(homes, content="The code is 9052")
    save(one, memo_id=new, date="2024-03-05", supersedes=old)
    save(other, memo_id=new, valid_until="2030-12-31")
    sync_all([one, other], folder)
    for home in (one, other):
        memo = get(home, new)
        assert (memo["date"], memo["valid_until"], memo["supersedes"]) == ("2024-03-05", "2030-12-31", [old])
        assert call_tool(home, "memory", "get", memo_id=old)["superseded_by"] == new
    assert list_conflicts(one) == []
    save(other, memo_id=new, supersedes=[], date="never")
    sync_all([one, other], folder)
    assert "superseded_by" not in call_tool(one, "memory", "get", memo_id=old)
    assert "date" not in call_tool(one, "memory", "get", memo_id=new)


def test_a_memo_without_the_newer_fields_has_the_digest_of_before() -> None:
    body = {"memo_id": "x", "content": "text", "metadata": {}, "title": "", "thread": "", "namespace": "/"}
    before = replace(MEMO.rules, plain=("namespace", "title", "thread", "expires_at"), lists={}, later=frozenset())
    for fields in ({}, {"date": None, "supersedes": []}, {"date": "", "valid_from": ""}):
        assert digest_body(MEMO.rules, {**body, **fields}) == digest_body(before, body)
    assert digest_body(MEMO.rules, {**body, "date": "2024-03-05"}) != digest_body(before, body)

"""`tokonoma sync URL`: two homes, one of them behind a real server on this machine."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run
from server.doors import Door
from transfer.apps import open_app
from transfer.sync.homes import dump, list_items, list_memos

from tokonoma.app import App
from tokonoma.cli import sync as sync_command
from tokonoma.cli.call import call_tool
from tokonoma.cli.sync import list_conflicts, run_sync
from tokonoma.cli.sync_server import SyncServer
from tokonoma.core.errors import Invalid
from tokonoma.transfer.sync.bookkeeping import Bookkeeping

Remote = tuple[App, Door, str]


class DoorServer:
    """The server, reached without a socket."""

    def __init__(self, door: Door, key: str) -> None:
        self._door, self._key = door, key

    def call(self, tool: str, params: Any) -> Any:
        told = self._door.ask(self._key, "call", module="system", tool_name=tool, params=params)
        assert not told["result"].get("isError"), told
        return json.loads(told["result"]["content"][0]["text"])


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Remote]:
    with open_app(tmp_path / "there") as app:
        door = Door(app)
        key = door.create_key("sync", extras=["system.sync_read", "system.sync_write"])
        monkeypatch.setattr(sync_command, "_connect", lambda *_: DoorServer(door, key))
        yield app, door, key


@pytest.fixture
def here(tmp_path: Path) -> Generator[App]:
    with open_app(tmp_path / "here") as app:
        yield app


def save(app: App, **fields: Any) -> str:
    return call_tool(app, "memory", "save", **fields)["memo_id"]


def test_edits_of_both_sides_are_merged_and_conflicts_kept(remote: Remote, here: App) -> None:
    there, _, _ = remote
    memo_id, other = save(here, content="one\ntwo\nthree"), save(there, content="theirs")
    call_tool(here, "items", "create_item", type="task", title="A")
    call_tool(there, "items", "create_item", type="task", title="B")
    run_sync(here, "http://there")
    assert dump(here) == dump(there)
    assert len(list_memos(here)) == len(list_items(here)) == 2
    save(here, memo_id=memo_id, content="ONE\ntwo\nthree")
    save(there, memo_id=memo_id, content="one\ntwo\nTHREE")
    save(here, memo_id=other, content="mine")
    save(there, memo_id=other, content="yours")
    report = run_sync(here, "http://there")
    assert (report.unread, report.tally.skipped) == ([], {})
    assert dump(here) == dump(there)
    assert [each["content"] for each in list_memos(there) if each["memo_id"] == memo_id] == ["ONE\ntwo\nTHREE"]
    assert len(list_conflicts(here)) == len(list_conflicts(there)) == 1
    assert dict(run_sync(here, "http://there").tally.counts) == {}


def test_a_rehearsal_changes_neither_side(remote: Remote, here: App) -> None:
    there, _, _ = remote
    save(here, content="mine")
    save(there, content="theirs")
    before = dump(here), dump(there)
    report = run_sync(here, "http://there", dry_run=True)
    assert report.tally.counts["memo", "taken"] == 1
    assert (dump(here), dump(there)) == before


def test_only_a_key_that_was_made_for_it_may_sync(remote: Remote) -> None:
    there, door, key = remote
    save(there, content="hidden")
    granted: dict[str, Any] = {"extras": ["system.sync_read", "system.sync_write"]}
    limited = [
        door.create_key("plain"),
        door.create_key("walled", root="/work", **granted),
        door.create_key("some", modules=["system", "memory"], **granted),
        door.create_key("masked", mask=["items"], **granted),
    ]
    for each in limited:
        for tool, params in (("sync_read", {}), ("sync_write", {"records": ""})):
            told = door.ask(each, "call", module="system", tool_name=tool, params=params)
            assert told["result"]["isError"], told
    assert "records" in json.dumps(door.ask(key, "call", module="system", tool_name="sync_read", params={}))


def test_records_that_are_none_are_refused(remote: Remote) -> None:
    there, door, key = remote
    for packed in ("x", "eJw=", "eJxLBAAAYgBi"):
        told = door.ask(key, "call", module="system", tool_name="sync_write", params={"records": packed})
        assert told["result"]["isError"], told
    assert list_memos(there) == []


def test_a_copied_home_takes_an_id_of_its_own(remote: Remote, here: App) -> None:
    there, _, _ = remote
    books = Bookkeeping(there.database.reading, there.database.writing)
    with here.database.writing() as statements:
        statements.run("insert into sync_mark (name, at) values (:name, 1)", name=f"home:{books.home}")
    run_sync(here, "http://there")
    assert Bookkeeping(here.database.reading, here.database.writing).home != books.home


@pytest.mark.parametrize(
    "url", ["http://192.0.2.1:8722", "http://example.org", "ftp://127.0.0.1", "http://me:x@127.0.0.1", "http://"]
)
def test_the_key_goes_to_no_other_machine_unencrypted(url: str) -> None:
    with pytest.raises(Invalid):
        SyncServer(url, "key")


def test_over_a_socket(run: Run, tmp_path: Path) -> None:
    there, here = str(tmp_path / "there"), str(tmp_path / "here")
    key = run("keys", "create", "laptop", "--sync", TOKONOMA_HOME=there).stdout.strip()
    weak = run("keys", "create", "weak", TOKONOMA_HOME=there).stdout.strip()
    refused = run("keys", "create", "x", "--sync", "--root", "/work", TOKONOMA_HOME=there)
    assert "sees everything" in refused.output
    assert run("call", "memory", "save", '{"content": "from there"}', TOKONOMA_HOME=there).exit_code == 0
    environ = {**os.environ, "TOKONOMA_HOME": there, "TOKONOMA_DURABLE": "false"}
    command = [sys.executable, "-m", "tokonoma", "serve", "--port", "0", "--log-level", "info"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environ, text=True) as server:
        assert server.stderr is not None
        found = next(found for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        try:
            done = run("sync", found[0], TOKONOMA_HOME=here, TOKONOMA_SYNC_KEY=key)
            assert done.exit_code == 0, done.output
            assert "1 taken" in done.output
            for wrong in (weak, "tkn_wrong"):
                done = run("sync", found[0], TOKONOMA_HOME=here, TOKONOMA_SYNC_KEY=wrong)
                assert done.exit_code == 1
                assert "key" in done.output
            assert "TOKONOMA_SYNC_KEY" in run("sync", found[0], TOKONOMA_HOME=here, TOKONOMA_SYNC_KEY="").output
        finally:
            server.terminate()
            server.stderr.read()
    assert "from there" in run("call", "memory", "list", TOKONOMA_HOME=here).output
    assert "does not answer" in run("sync", found[0], TOKONOMA_HOME=here, TOKONOMA_SYNC_KEY=key).output

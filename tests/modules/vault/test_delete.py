"""Deleted files: kept as a version, restored, and refused where the rules say so."""

import os
import stat
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.files import atomic, write
from tokonoma.modules.vault import MODULE

pytestmark = pytest.mark.migrated


@pytest.fixture
def app(database_url, tmp_path):
    house = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    yield house
    house.close()


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "home" / "workspace" / "vault"
    folder.mkdir(parents=True)
    return folder


def test_a_deleted_file_is_gone_from_the_disk_and_the_index_and_can_be_restored(app, root):
    talk = Lines(app)
    made = talk.call("vault", "create", path="notes/tea.md", content="# Tea\n\nGreen tea.\n")
    deleted = talk.call("vault", "delete", path="notes/tea.md", expected_version=made["version"])
    assert deleted == {
        "path": "notes/tea.md",
        "action": "delete",
        "previous_version": made["version"],
        "removed_bytes": made["bytes"],
    }
    assert not (root / "notes" / "tea.md").exists()
    assert talk.call("vault", "ls")["total"] == 0
    assert talk.call("vault", "find", query="green tea")["summary"]["candidates"] == 0
    with app.database.reading() as rows:
        assert rows.rows("select address from document where module = 'vault'") == []
    assert talk.refused("vault", "read", path="notes/tea.md", full=True)["code"] == "not_found"
    past = talk.call("vault", "history", path="notes/tea.md")["items"]
    assert [(each["action"], each.get("previous_version")) for each in past] == [
        ("delete", made["version"]),
        ("create", None),
    ]
    assert "version" not in past[0]
    talk.call("vault", "restore", path="notes/tea.md", version=made["version"])
    assert (root / "notes" / "tea.md").read_text() == "# Tea\n\nGreen tea.\n"
    assert talk.call("vault", "find", query="green tea")["summary"]["candidates"] == 1


def test_what_must_not_be_deleted_stays(app, root):
    talk = Lines(app)
    talk.call("vault", "create", path="artifacts/daily/2026-11-16.md", content="a\n")
    made = talk.call("vault", "create", path="a.md", content="a\n")
    assert talk.refused("vault", "delete", path="artifacts/daily/2026-11-16.md")["code"] == "forbidden"
    assert talk.refused("vault", "delete", path=".system/lock")["code"] == "forbidden"
    assert talk.refused("vault", "delete", path="a.md", expected_version="0" * 64)["code"] == "conflict"
    assert talk.refused("vault", "delete", path="b.md")["code"] == "not_found"
    (root / "sub").mkdir()
    assert talk.refused("vault", "delete", path="sub")["code"] == "out_of_scope"
    assert sorted(each["path"] for each in talk.call("vault", "ls")["items"]) == [
        "a.md",
        "artifacts/daily/2026-11-16.md",
    ]
    assert [each["version"] for each in talk.call("vault", "history", path="a.md")["items"]] == [made["version"]]


def test_the_tool_says_that_it_destroys():
    tools = {tool.name: tool.effect for tool in MODULE.tools}
    assert (tools["delete"], tools["write"]) == ("destroy", "write")


@pytest.mark.parametrize("is_left", [True, False])
def test_a_deletion_that_was_killed_is_decided_by_the_disk(app, root, monkeypatch, is_left):
    talk = Lines(app)
    talk.call("vault", "create", path="a.md", content="a\n")

    def die(folder, parts, before):
        if not is_left:
            atomic.remove_file(folder, parts, before)
        raise KeyboardInterrupt  # the confirmation is lost too

    monkeypatch.setattr(write, "remove_file", die)
    monkeypatch.setattr(write, "CLOSE_CHANGE", "update vault_change set state = state where id = :id and :state <> ''")
    assert talk.tool("call", module="vault", tool_name="delete", params={"path": "a.md"})["isError"]
    monkeypatch.undo()
    assert talk.call("vault", "ls")["total"] == int(is_left)
    actions = [each["action"] for each in talk.call("vault", "history", path="a.md")["items"]]
    assert actions == (["create"] if is_left else ["delete", "create"])


def deny(monkeypatch, path: Path) -> None:
    """As another user: this one may be root, whom no mode keeps out."""
    inode, act = path.stat().st_ino, os.open

    def open_or_deny(name, flags, mode=0o777, *, dir_fd=None):
        try:
            found = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        except FileNotFoundError:
            found = os.fstat(dir_fd) if dir_fd is not None else None
        if found is not None and found.st_ino == inode:
            raise PermissionError(13, "Permission denied", str(name))
        return act(name, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", open_or_deny)


def test_an_unreadable_file_or_folder_is_named_with_its_reason(app, root, monkeypatch):
    (root / "closed").mkdir()
    (root / "closed" / "a.md").write_text("a\n")
    (root / "b.md").write_text("b\n")
    talk = Lines(app)
    for unreadable, path in ((root / "closed", "closed/a.md"), (root / "b.md", "b.md")):
        with monkeypatch.context() as patch:
            deny(patch, unreadable)
            error = talk.refused("vault", "read", path=path, full=True)
        assert error["code"] == "forbidden"
        assert "no permission" in error["message"]
        assert error["details"]["path"] == path.partition("/")[0]


@pytest.mark.parametrize("tool", ["create", "write", "replace", "move", "delete"])
def test_a_change_in_a_read_only_folder_is_forbidden_and_changes_nothing(app, root, monkeypatch, tool):
    (root / "locked").mkdir()
    (root / "locked" / "a.md").write_text("a\n")
    params = {
        "create": {"path": "locked/new.md", "content": "x"},
        "write": {"path": "locked/a.md", "content": "x", "mode": "overwrite"},
        "replace": {"path": "locked/a.md", "find": "a", "replace": "x"},
        "move": {"from_path": "locked/a.md", "to_path": "locked/b.md"},
        "delete": {"path": "locked/a.md"},
    }
    folder = (root / "locked").stat().st_ino

    def refuse(act, *places):
        def run(*names, **named):
            if any(os.fstat(named[place]).st_ino == folder for place in places if place in named):
                raise PermissionError(13, "Permission denied")
            return act(*names, **named)

        return run

    monkeypatch.setattr(os, "rename", refuse(os.rename, "dst_dir_fd"))
    monkeypatch.setattr(os, "unlink", refuse(os.unlink, "dir_fd"))
    rename = atomic.rename_exclusive

    def rename_or_refuse(source, name, target, real):
        if os.fstat(target).st_ino == folder:
            raise PermissionError(13, "Permission denied")
        rename(source, name, target, real)

    monkeypatch.setattr(atomic, "rename_exclusive", rename_or_refuse)
    talk = Lines(app)
    error = talk.refused("vault", tool, **params[tool])
    assert error["code"] == "forbidden"
    assert error["details"]["path"].startswith("locked/")
    monkeypatch.undo()
    assert [(each.name, each.read_text()) for each in (root / "locked").iterdir()] == [("a.md", "a\n")]
    assert stat.S_ISDIR((root / "locked").stat().st_mode)
    assert talk.call("vault", "ls")["total"] == 1

"""bridge: a copy is made without showing the text, and a copy that cannot be made changes nothing."""

import shutil
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.files import atomic


@pytest.fixture
def talk(tmp_path):
    app = App({"home": str(tmp_path), "durable": False, "embed_provider": "none"}, {})
    yield Lines(app)
    app.close()


def test_a_memo_is_copied_unseen(talk):
    memo = talk.call("memory", "save", content="the spare key is in the drawer")["memo_id"]
    result = talk.tool(
        "call", module="bridge", tool_name="copy_section",
        params={"from_ref": {"address": f"tokonoma://memory/{memo}"}, "to_path": "artifacts/key.md"},
    )  # fmt: skip
    assert not result.get("isError"), result
    assert "spare key" not in result["content"][0]["text"]
    assert "spare key" in str(talk.call("vault", "read", path="artifacts/key.md", full=True))


def test_a_copy_of_nothing_makes_no_file(talk):
    ref = {"address": "tokonoma://memory/0190a000-0000-7000-8000-000000000000"}
    assert talk.refused("bridge", "copy_section", from_ref=ref, to_path="artifacts/none.md")["code"] == "not_found"
    assert talk.call("vault", "ls")["total"] == 0


@pytest.mark.parametrize("mode", ["create", "overwrite"])
def test_a_folder_that_becomes_a_link_during_the_copy_is_a_conflict(tmp_path, monkeypatch, mode):
    """The folder is removed and replaced by a link after it was opened, just before the file is put into place."""
    outside = tmp_path / "outside"
    outside.mkdir()
    app = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    talk, vault = Lines(app), Path(app.server_info.locations()["vault"])
    talk.call("vault", "create", path="source.md", content="# A\ntext\n")
    talk.call("vault", "create", path="d/old.md", content="old\n")
    rename = atomic._rename

    def swap(*arguments, **more):
        shutil.rmtree(vault / "d")
        (vault / "d").symlink_to(outside)
        return rename(*arguments, **more)

    monkeypatch.setattr(atomic, "_rename", swap)
    ref = {"target": "vault", "path": "source.md"}
    to_path = "d/new.md" if mode == "create" else "d/old.md"
    error = talk.refused("bridge", "copy_section", from_ref=ref, to_path=to_path, mode=mode)
    assert error["code"] == "conflict"
    assert "changed by another program at the same time" in error["message"]
    assert list(outside.iterdir()) == []
    monkeypatch.undo()
    assert talk.refused("bridge", "copy_section", from_ref=ref, to_path=to_path)["code"] == "out_of_scope"
    app.close()

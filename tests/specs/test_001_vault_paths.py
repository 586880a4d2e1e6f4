"""specs/001 over the wire: whatever path a caller gives to whichever tool, nothing outside the vault is touched."""

import ctypes
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from files.hostile import RESERVED, WRONG, traps
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth.api_keys import build_reach, create_key

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
full = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]
REF = {"address": "tokonoma://vault/real.md"}


def calls(path: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every place of every tool that takes the path of a file."""
    yield "vault", "read", {"path": path, "full": True}
    yield "vault", "scan", {"path": path}
    yield "vault", "coverage", {"path": path}
    yield "vault", "audit", {"artifact_path": path, "source_path": "real.md"}
    yield "vault", "audit", {"artifact_path": "real.md", "source_path": path}
    yield "vault", "create", {"path": path, "content": "x"}
    yield "vault", "write", {"path": path, "content": "x", "mode": "overwrite"}
    yield "vault", "write", {"path": path, "content": "x", "mode": "append"}
    yield "vault", "replace", {"path": path, "find": "a", "replace": "b"}
    yield "vault", "history", {"path": path}
    yield "vault", "restore", {"path": path, "version": "0" * 64}
    yield "vault", "move", {"from_path": path, "to_path": "moved.md"}
    yield "vault", "move", {"from_path": "real.md", "to_path": path}
    yield "bridge", "copy_section", {"from_ref": REF, "to_path": path}
    yield "bridge", "copy_section", {"from_ref": {"target": "vault", "path": path}, "to_path": "copied.md"}


@pytest.fixture
def house(tmp_path):
    app = App({"home": str(tmp_path / "home"), "durable": False, "log_level": "error"}, {})
    yield app
    app.close()


@pytest.fixture
def root(house) -> Path:
    folder = Path(house.server_info.locations()["vault"])
    folder.mkdir(parents=True)
    (folder / "real.md").write_text("# real\n")
    (folder / "notes").mkdir()
    (folder / "notes" / "a.md").write_text("# a\n")
    return folder


def inventory(folder: Path) -> dict[str, bytes | str]:
    """Everything below a folder, but the house's own."""
    return {
        str(each.relative_to(folder)): str(each.readlink()) if each.is_symlink() else each.read_bytes()
        for each in folder.rglob("*")
        if each.is_symlink() or (each.is_file() and ".system" not in each.parts)
    }


def test_every_hostile_path_is_refused_by_every_tool(house, root):
    talk, before = Lines(house), inventory(root)
    talk.call("vault", "ls")
    for path in WRONG:
        if any(0xD800 <= ord(letter) < 0xE000 for letter in path):
            continue  # half a pair is no JSON; the wire refuses it
        for module, tool, params in calls(path):
            refused = talk.refused(module, tool, **params)
            assert refused["code"] == "invalid_path", (path, tool, refused)
    for path in RESERVED:
        for module, tool, params in calls(path):
            assert talk.refused(module, tool, **params)["code"] == "forbidden", (path, tool)
    for path in ["..", "/etc", "C:\\", "a/../..", "\0", "\u200b"]:
        assert talk.refused("vault", "ls", relative_dir=path)["code"] == "invalid_path"
        assert talk.refused("vault", "search", query="x", relative_dir=path)["code"] == "invalid_path"
        assert talk.refused("vault", "find", query="x", scope={"relative_dir": path})["code"] == "invalid_path"
    assert talk.refused("vault", "ls", relative_dir=".system")["code"] == "forbidden"
    assert inventory(root) == before


def test_links_pipes_and_devices_lead_nowhere(house, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    paths = traps(root, outside)
    before = (inventory(outside), inventory(root))
    talk = Lines(house)
    for path in paths:
        for module, tool, params in calls(path):
            refused = talk.refused(module, tool, **params)
            assert refused["code"] in ("out_of_scope", "not_found"), (path, tool, refused)
            assert "CANARY" not in str(refused)
    assert [each["path"] for each in talk.call("vault", "ls")["items"]] == ["notes/a.md", "real.md", "real/plain.md"]
    assert talk.call("vault", "search", query="CANARY")["items"] == []
    assert talk.call("vault", "find", query="CANARY")["summary"]["candidates"] == 0
    assert talk.refused("vault", "ls", relative_dir="folder")["code"] == "out_of_scope"
    assert (inventory(outside), inventory(root)) == before


@pytest.mark.parametrize("races", [150, pytest.param(10_000, marks=full)], ids=["quick", "full"])
def test_a_folder_swapped_for_a_link_never_leads_outside(house, root, tmp_path, races):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("CANARY")
    (root / "link").symlink_to(outside)
    swap = lambda: ctypes.CDLL(None).renameat2(-100, bytes(root / "notes"), -100, bytes(root / "link"), 2)  # noqa: E731
    done = threading.Event()

    def swapping() -> None:
        while not done.is_set():
            swap()

    thread = threading.Thread(target=swapping)
    thread.start()
    talk, ends = Lines(house), set[str]()
    try:
        for number in range(races):
            asked = [
                ("read", {"path": "notes/a.md", "full": True}),
                ("write", {"path": "notes/a.md", "content": f"inside {number}", "mode": "overwrite"}),
                ("search", {"query": "CANARY"}),
                ("create", {"path": f"notes/n{number % 40}.md", "content": "inside"}),
            ][number % 4]
            told = talk.tool("call", module="vault", tool_name=asked[0], params=asked[1])
            ends.add("refused" if told.get("isError") else "done")
            if asked[0] in ("read", "search") and not told.get("isError"):
                assert "CANARY" not in told["content"][0]["text"].replace('"query":"CANARY"', "")
    finally:
        done.set()
        thread.join()
    assert inventory(outside) == {"a.md": b"CANARY"}
    assert ends == {"refused", "done"}  # the swaps did get between


def test_a_key_walled_into_a_namespace_sees_its_folder_alone(house, root):
    talk = Lines(house)
    talk.call("vault", "create", path="team/t.md", content="ours")
    with house.write_as_owner("keys.create") as tx:
        token = create_key(tx, "team", build_reach(root="/team", default="/team"))
    http = Http(house, token)
    assert [each["path"] for each in http.call("vault", "ls")["items"]] == ["team/t.md"]
    assert http.call("vault", "read", path="team/t.md", full=True)["text"] == "ours"
    assert http.refused("vault", "read", path="notes/a.md", full=True)["code"] == "out_of_scope"
    assert http.refused("vault", "create", path="x.md", content="x")["code"] == "out_of_scope"
    assert [each["path"] for each in http.call("vault", "search", query="r", mode="plain")["items"]] == ["team/t.md"]


def test_a_file_that_holds_a_secret_is_shown_without_it(house, root):
    """A person put it there. A file that vanished because of one example key would be missed by every search."""
    secret = "sk-ant-api03-" + "abcdEFGH1234" * 8
    (root / "keys.md").write_text(f"# Keys\n{secret}\n")
    talk = Lines(house)
    assert "keys.md" in [each["path"] for each in talk.call("vault", "ls")["items"]]
    assert talk.call("vault", "search", query="sk-ant")["items"] == []
    assert talk.call("vault", "search", query=secret[20:40])["items"] == []
    assert talk.call("vault", "find", query="Keys")["summary"]["candidates"] == 1
    assert talk.call("vault", "read", path="keys.md", full=True)["text"] == "# Keys\n[masked:anthropic_key]\n"
    talk.call("vault", "write", path="keys.md", content="x", mode="append")
    assert (root / "keys.md").read_text() == f"# Keys\n{secret}\nx"
    address = {"address": "tokonoma://vault/keys.md"}
    talk.call("bridge", "copy_section", from_ref=address, to_path="copy.md")
    assert secret not in (root / "copy.md").read_text()

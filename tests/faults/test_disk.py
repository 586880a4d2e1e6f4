"""A full disk and a read-only one: what was stored can be read and deleted, and every refusal says why."""

import json
import resource
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from faults.disks import fill, read_only_view, small_disk
from policy.houses import enforce
from talk import Lines

from tokonoma.app import App
from tokonoma.cli.program import program
from tokonoma.core.errors import Unavailable
from tokonoma.store import sqlite
from tokonoma.store.sqlite.reserve import RESERVE_SIZE

READS = (
    ("memory", "search", {"query": "hello"}),
    ("memory", "list", {}),
    ("items", "get_items", {}),
    ("claims", "search", {"query": "hello"}),
    ("vault", "ls", {}),
    ("vault", "read", {"path": "a.md", "full": True}),
    ("vault", "scan", {"path": "a.md"}),
    ("vault", "search", {"query": "one"}),
    ("vault", "find", {"query": "one"}),
    ("vault", "coverage", {"path": "a.md", "cited_ranges": []}),
    ("vault", "history", {"path": "a.md"}),
    ("manual", "list", {}),
    ("manual", "find", {"query": "guide"}),
    ("manual", "read", {"ref": {"manual_id": "g", "path": "a.md"}}),
    ("system", "status", {}),
)

SECRET = "sk-ant-api03-Zk3vQ9xWb7Lm2Np8Rt5Yc1Df6Gh4Jk0Sa"


def open_app(home: Path, **settings) -> App:
    return App({"home": str(home), "log_level": "error", "embed_provider": "none", **settings}, {})


def store_something(home: Path) -> str:
    """One of everything; the id of the memo."""
    app = open_app(home)
    talk = Lines(app)
    memo = talk.call("memory", "save", content="hello world")["memo_id"]
    talk.call("vault", "create", path="a.md", content="one\ntwo\n")
    put_manual(home, "# Guide\n\nHow to guide.\n")
    for module, tool, params in READS:
        talk.call(module, tool, **params)
    app.close()
    return memo


def put_manual(home: Path, text: str) -> None:
    file = home / "workspace" / "manuals" / "g" / "a.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def check_reads(talk: Lines) -> None:
    for module, tool, params in READS:
        value = talk.call(module, tool, **params)
        if tool not in ("get_items", "status", "coverage") and module != "claims":
            assert value.get("items", value.get("text", value.get("summary"))), (module, tool)


def run(home: Path, *words: str):
    environ = {"TOKONOMA_HOME": str(home), "TOKONOMA_EMBED_PROVIDER": "none", "TOKONOMA_LOG_LEVEL": "error"}
    return CliRunner().invoke(program, words, env=environ, prog_name="tokonoma")


def test_on_a_full_disk_reads_and_deletions_work_and_the_reserve_is_for_them(tmp_path):
    with small_disk(tmp_path / "disk", "56m") as disk:
        home = disk / "home"
        memo = store_something(home)
        reserve = home / "tokonoma.db-reserve"
        assert reserve.stat().st_size == RESERVE_SIZE
        app = open_app(home)
        talk = Lines(app)
        talk.call("system", "status")
        filler = fill(disk)
        for _ in range(2):
            refused = talk.refused("memory", "save", content="x" * 20_000)
            assert (refused["code"], refused["details"]["reason"]) == ("UNAVAILABLE", "disk_full")
        refused = talk.refused("vault", "create", path="b.md", content="x" * 20_000)
        assert (refused["code"], refused["details"]["reason"]) == ("UNAVAILABLE", "disk_full")
        check_reads(talk)
        assert reserve.stat().st_size == RESERVE_SIZE
        talk.call("memory", "delete", memo_id=memo)
        assert reserve.stat().st_size == 0
        # What was given up is for deletions alone.
        assert talk.refused("memory", "save", content="small")["details"]["reason"] == "disk_full"
        check_reads_but_the_memo(talk)
        app.close()
        assert run(home, "purge", "--trash-days", "0", "--yes").exit_code == 0
        filler.unlink()
        app = open_app(home)
        Lines(app).call("memory", "save", content="again")
        assert reserve.stat().st_size == RESERVE_SIZE
        assert app.database.find_problems() == []
        app.close()


def check_reads_but_the_memo(talk: Lines) -> None:
    for module, tool, params in READS:
        talk.call(module, tool, **params)


def test_a_process_that_starts_on_a_full_disk_gives_up_the_reserve_or_only_reads(tmp_path):
    with small_disk(tmp_path / "disk", "56m") as disk:
        home = disk / "home"
        memo = store_something(home)
        fill(disk)
        app = open_app(home)
        check_reads(Lines(app))
        Lines(app).call("memory", "delete", memo_id=memo)
        app.close()
        (home / "tokonoma.db-reserve").unlink()
        fill(disk)
        app = open_app(home)
        check_reads_but_the_memo(Lines(app))
        assert Lines(app).refused("memory", "save", content="x")["details"]["reason"] == "disk_full"
        app.close()


def test_a_database_that_cannot_grow_is_read_as_before(tmp_path):
    """The same without a small disk: SQLite itself says that it is full."""
    home = tmp_path / "home"
    store_something(home)
    app = open_app(home)
    talk = Lines(app)
    talk.call("system", "status")
    writer = app.database.writer.connection  # type: ignore[attr-defined]
    writer.pragma("max_page_count", writer.pragma("page_count"))
    for _ in range(2):
        refused = talk.refused("memory", "save", content="x" * 200_000)
        assert (refused["code"], refused["details"]["reason"]) == ("UNAVAILABLE", "disk_full")
    put_manual(home, "# Guide\n\nHow to guide, and much more.\n" * 200)
    (home / "workspace" / "vault" / "a.md").write_text("one\ntwo\nthree\n" * 1000)
    for module, tool, params in READS:
        if module != "manual":  # a changed manual is not shown before it is classified
            talk.call(module, tool, **params)
    assert talk.call("vault", "read", path="a.md", range={"start_line": 3, "end_line": 3})["text"] == "three\n"
    assert talk.call("manual", "find", query="guide")["summary"]["candidates"] == 0
    app.close()


def test_a_file_that_could_not_be_indexed_is_classified_all_the_same(tmp_path, monkeypatch):
    """What a caller may not see of a new text, it does not see because the disk is read-only either."""
    home, texts = tmp_path / "home", {"secret.md": f"key: {SECRET}\n", "mail.md": "write to ada@example.com\n"}
    store_something(home)
    for name, text in texts.items():
        (home / "workspace" / "vault" / name).write_text(text)
    put_manual(home, f"# Guide\n\nkey: {SECRET}\n")

    def ask() -> list[str]:
        app = open_app(home)
        talk = Lines(app)
        calls = [("vault", "read", {"path": name, "full": True}) for name in texts]
        calls += [("vault", "ls", {}), ("vault", "search", {"query": "key"}), ("manual", "toc", {"manual_id": "g"})]
        answers = [talk.tool("call", module=each[0], tool_name=each[1], params=each[2]) for each in calls]
        app.close()
        return [answer["content"][0]["text"] for answer in answers]

    app = open_app(home)
    enforce(app, "version: 1\nboundary_classes: { pii: { allow: ['nobody:else'] } }")
    app.close()
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "find_frozen_reason", lambda path: "read_only")
        frozen = ask()
    assert not [each for each in frozen if SECRET in each or "ada@" in each or "write to" in each]
    for told, usual in list(zip(frozen, ask(), strict=True))[: len(texts)]:
        assert json.loads(told).get("text") == json.loads(usual).get("text")


def test_a_file_that_does_not_fit_is_refused_with_its_reason(tmp_path):
    app = open_app(tmp_path / "home")
    talk = Lines(app)
    talk.call("vault", "create", path="a.md", content="one\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * 2**20, hard))
    try:
        refused = talk.refused("vault", "create", path="b.md", content="x" * (9 * 2**20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (refused["code"], refused["details"]["reason"]) == ("UNAVAILABLE", "disk_full")
    assert [each["path"] for each in talk.call("vault", "ls")["items"]] == ["a.md"]
    talk.call("vault", "create", path="b.md", content="x")
    app.close()


def check_read_only(home: Path, elsewhere: Path) -> None:
    app = open_app(home)
    talk = Lines(app)
    check_reads(talk)
    for module, tool, params in (
        ("memory", "save", {"content": "x"}),
        ("vault", "create", {"path": "b.md", "content": "x"}),
        ("items", "create_item", {"type": "issue", "title": "x"}),
    ):
        error = talk.refused(module, tool, **params)
        assert "read-only" in error["message"], (module, error)
    with suppress(Unavailable):
        app.journal.flush()
    health = talk.call("system", "status")["health"]
    assert health["journal"]["ok"] is False
    assert "lost" in health["journal"]["says"]
    app.close()
    assert run(home, "export", str(elsewhere / "all.jsonl")).exit_code == 0
    assert run(home, "backup", str(elsewhere / "all.backup")).exit_code == 0
    assert run(home, "backup", "verify", str(elsewhere / "all.backup")).exit_code == 0
    doctor = run(home, "doctor", "--json")
    assert doctor.exit_code == 0, doctor.output
    for words in (("journal", "verify"), ("journal", "tail"), ("keys", "list"), ("where",), ("vault", "ls")):
        assert run(home, *words).exit_code == 0, words


def test_a_read_only_home_serves_every_read_export_backup_and_doctor(tmp_path):
    store_something(tmp_path / "home")
    with read_only_view(tmp_path / "home", tmp_path / "view") as home:
        check_read_only(home, tmp_path)
        assert "cannot be created" in run(home, "backup").stderr


def test_a_database_that_nobody_may_write_serves_every_read(tmp_path, monkeypatch):
    """The same without mounting: the file is opened as on a read-only disk."""
    store_something(tmp_path / "home")
    before = (tmp_path / "home" / "tokonoma.db").read_bytes()
    monkeypatch.setattr(sqlite, "find_frozen_reason", lambda path: "read_only")
    app = open_app(tmp_path / "home")
    check_reads(Lines(app))
    assert Lines(app).refused("memory", "save", content="x")["details"]["reason"] == "read_only"
    app.close()
    assert (tmp_path / "home" / "tokonoma.db").read_bytes() == before


def test_a_log_that_cannot_be_read_on_a_read_only_disk_is_named(tmp_path):
    """A copy of a database without the index of its log: its last changes would be missing."""
    source = tmp_path / "home"
    app = open_app(source)
    Lines(app).call("memory", "save", content="in the log")
    copy = tmp_path / "copy"
    copy.mkdir()
    for end in ("", "-wal"):
        (copy / f"tokonoma.db{end}").write_bytes((source / f"tokonoma.db{end}").read_bytes())
    app.close()
    with read_only_view(copy, tmp_path / "view") as home:
        result = run(home, "export", "-")
    assert result.exit_code == 1
    assert "tokonoma.db-wal" in result.stderr


def test_a_live_home_seen_through_a_read_only_disk_is_read_with_its_log(tmp_path):
    app = open_app(tmp_path / "home")
    Lines(app).call("memory", "save", content="just now")
    with read_only_view(tmp_path / "home", tmp_path / "view") as home:
        result = run(home, "export", "-")
    app.close()
    assert result.exit_code == 0, result.output
    memos = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["content"] for each in memos if each["type"] == "memo"] == ["just now"]


@pytest.mark.parametrize("name", ["notes.bin", "a.md"])
def test_any_file_can_be_moved(tmp_path, name):
    app = open_app(tmp_path / "home", durable=False)
    talk = Lines(app)
    talk.call("vault", "ls")
    (tmp_path / "home" / "workspace" / "vault" / name).write_bytes(b"\xff\x00 text \n" if "bin" in name else b"text\n")
    moved = talk.call("vault", "move", from_path=name, to_path=f"new/{name}")
    assert (moved["path"], moved["lines"]) == (f"new/{name}", 0 if "bin" in name else 1)
    listed = talk.call("vault", "ls")["items"]
    assert [each["path"] for each in listed] == [f"new/{name}"]
    assert listed[0].get("text", True) is ("bin" not in name)
    app.close()

"""`backup` and `restore`: there and back, and never by accident."""

import shutil
import sqlite3

import pytest


@pytest.fixture
def calls(value):
    """How many calls the journal holds, oldest known first; looking adds one."""
    return lambda: len(value("call", "system", "recent", '{"limit": 200}')["items"])


def test_there_and_back(run, value, calls, tmp_path, home):
    value("call", "system", "status")
    file = tmp_path / "kept.backup"
    made = run("backup", str(file))
    assert made.exit_code == 0, made.output
    assert made.stdout == f"{file}\n"
    assert "valid backup" in made.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert (calls(), calls()) == (1, 2)
    restored = run("restore", str(file), "--yes")
    assert restored.exit_code == 0, restored.output
    (safety,) = (home / "backups").glob("tokonoma-before-restore-*.backup")
    assert str(safety) in restored.stderr
    assert calls() == 1
    assert run("journal", "verify").exit_code == 0
    assert run("doctor").exit_code == 0


def test_a_backup_lies_in_the_home_unless_told_otherwise(run, value, tmp_path, home):
    value("call", "system", "status")
    made = run("backup")
    (file,) = (home / "backups").iterdir()
    assert made.stdout == f"{file}\n"
    told = value("backup", str(tmp_path), "--json")
    assert told["kind"] == "sqlite"
    assert told["tables"]["journal"] > 0
    assert (tmp_path / told["path"].rsplit("/", 1)[1]).exists()


def test_verify_says_what_a_backup_holds(run, value, tmp_path):
    value("call", "system", "status")
    run("backup", str(tmp_path / "kept.backup"))
    told = value("backup", "verify", str(tmp_path / "kept.backup"), "--json")
    assert set(told["migrations"]) >= {"journal", "auth", "search"}
    content = bytearray((tmp_path / "kept.backup").read_bytes())
    content[8192:12288] = bytes(4096)
    (tmp_path / "torn.backup").write_bytes(content)
    for name, says in (("torn.backup", "damaged"), ("none.backup", "no backup at")):
        result = run("backup", "verify", str(tmp_path / name))
        assert result.exit_code == 1
        assert says in result.stderr


def test_an_existing_file_is_not_overwritten(run, value, tmp_path):
    value("call", "system", "status")
    (tmp_path / "mine").write_text("mine")
    result = run("backup", str(tmp_path / "mine"))
    assert result.exit_code == 1
    assert (tmp_path / "mine").read_text() == "mine"


def test_where_nothing_is_stored_nothing_is_made(run, home):
    result = run("backup")
    assert result.exit_code == 1
    assert "nothing to back up" in result.stderr
    assert not home.exists()


def test_a_restore_without_a_yes_changes_nothing(run, value, calls, tmp_path):
    value("call", "system", "status")
    run("backup", str(tmp_path / "kept.backup"))
    calls()
    result = run("restore", str(tmp_path / "kept.backup"))
    assert result.exit_code == 1
    assert "--yes" in result.stderr
    assert calls() == 2


def test_a_restore_into_an_empty_home(run, value, tmp_path, home):
    value("call", "system", "status")
    run("backup", str(tmp_path / "kept.backup"))
    fresh = str(tmp_path / "fresh")
    result = run("--home", fresh, "restore", str(tmp_path / "kept.backup"), "--yes")
    assert result.exit_code == 0, result.output
    assert "before" not in result.stderr.splitlines()[-1]
    assert list((tmp_path / "fresh" / "backups").iterdir()) == []
    assert len(value("--home", fresh, "call", "system", "recent")["items"]) == 1


def test_tables_of_a_module_that_is_not_here_need_a_word(run, value, tmp_path, site, monkeypatch):
    monkeypatch.syspath_prepend(str(site))
    run("plugins", "enable", "guestbook")
    value("call", "guestbook", "sign", '{"name": "Ada", "words": "Here."}')
    run("backup", str(tmp_path / "kept.backup"))
    run("plugins", "disable", "guestbook")
    refused = run("restore", str(tmp_path / "kept.backup"), "--yes")
    assert refused.exit_code == 1
    assert "guestbook" in refused.stderr
    assert run("restore", str(tmp_path / "kept.backup"), "--yes", "--with-unknown").exit_code == 0
    run("plugins", "enable", "guestbook")
    assert len(value("call", "guestbook", "entries")["items"]) == 1


@pytest.fixture
def workspace(home, value):
    """A file of the vault with an earlier version, and a manual."""
    value("call", "vault", "create", '{"path": "notes/a.md", "content": "one\\n"}')
    value("call", "vault", "write", '{"path": "notes/a.md", "content": "two\\n", "mode": "overwrite"}')
    folder = home / "workspace"
    (folder / "manuals" / "guide").mkdir(parents=True)
    (folder / "manuals" / "guide" / "a.md").write_text("# Guide\n")
    return folder


def test_a_lost_workspace_comes_back_with_its_history(run, value, workspace, tmp_path):
    made = run("backup", str(tmp_path / "kept.backup"))
    assert "3 files of the vault and the manuals" in made.stderr
    shutil.rmtree(workspace)
    restored = run("restore", str(tmp_path / "kept.backup"), "--yes")
    assert restored.exit_code == 0, restored.output
    assert "Restored 3 files" in restored.stderr
    shown = value("call", "vault", "read", '{"path": "notes/a.md", "full": true}')
    assert shown["text"] == "two\n"
    past = value("call", "vault", "history", '{"path": "notes/a.md"}')["items"]
    version = next(each["previous_version"] for each in past if "previous_version" in each)
    value("call", "vault", "restore", f'{{"path": "notes/a.md", "version": "{version}"}}')
    assert (workspace / "vault" / "notes" / "a.md").read_text() == "one\n"
    assert value("call", "manual", "list")["total"] == 1


def test_folders_apart_from_the_workspace_are_saved_and_restored(run, value, tmp_path):
    apart = {"TOKONOMA_VAULT_ROOT": str(tmp_path / "v"), "TOKONOMA_MANUALS_ROOT": str(tmp_path / "m")}
    value("call", "vault", "create", '{"path": "a.md", "content": "one"}', **apart)
    (tmp_path / "m" / "guide").mkdir(parents=True)
    (tmp_path / "m" / "guide" / "a.md").write_text("# Guide\n")
    told = value("backup", str(tmp_path / "kept.backup"), "--json", **apart)
    assert (told["files"]["included"], told["files"]["count"]) == (True, 2)
    shutil.rmtree(tmp_path / "v")
    shutil.rmtree(tmp_path / "m")
    assert run("restore", str(tmp_path / "kept.backup"), "--yes", **apart).exit_code == 0
    assert (tmp_path / "v" / "a.md").read_text() == "one"
    assert (tmp_path / "m" / "guide" / "a.md").read_text() == "# Guide\n"


def test_files_can_be_left_out_and_the_report_says_so(run, workspace, tmp_path):
    made = run("backup", str(tmp_path / "kept.backup"), "--without-files")
    assert "contains no files" in made.stderr
    assert "left out" in run("backup", "verify", str(tmp_path / "kept.backup")).stderr
    restored = run("restore", str(tmp_path / "kept.backup"), "--yes")
    assert "No files were restored" in restored.stderr
    file = workspace / "vault" / "notes" / "a.md"
    run("backup", str(tmp_path / "whole.backup"))
    file.write_text("mine\n")
    assert run("restore", str(tmp_path / "whole.backup"), "--yes", "--without-files").exit_code == 0
    assert file.read_text() == "mine\n"


def test_the_data_before_a_restore_holds_the_files_that_it_replaced(run, workspace, tmp_path, home):
    run("backup", str(tmp_path / "kept.backup"))
    file = workspace / "vault" / "notes" / "a.md"
    file.write_text("mine\n")
    assert run("restore", str(tmp_path / "kept.backup"), "--yes").exit_code == 0
    assert file.read_text() == "two\n"
    (safety,) = (home / "backups").glob("tokonoma-before-restore-*.backup")
    assert run("restore", str(safety), "--yes").exit_code == 0
    assert file.read_text() == "mine\n"


def test_a_foreign_trigger_or_view_stops_a_restore(run, value, calls, tmp_path):
    value("call", "system", "status")
    run("backup", str(tmp_path / "kept.backup"))
    shell = sqlite3.connect(tmp_path / "kept.backup")
    shell.execute("vacuum into ?", [str(tmp_path / "plain.db")])
    shell.close()
    assert calls() == 1
    for number, code in enumerate(FOREIGN):
        shutil.copy(tmp_path / "plain.db", bad := tmp_path / f"{number}.db")
        shell = sqlite3.connect(bad, isolation_level=None)
        shell.execute(code)
        shell.close()
        refused = run("restore", str(bad), "--yes")
        assert refused.exit_code == 1, code
        assert "changed by another program" in refused.stderr
    assert calls() == 2
    assert run("restore", str(tmp_path / "plain.db"), "--yes").exit_code == 0


FOREIGN = (
    "create trigger evil after insert on journal begin delete from api_key; end",
    "create view evil as select * from api_key",
    "create virtual table evil using fts5(a)",
    "create table evil (a)",
    "alter table api_key add column evil text default (hex(randomblob(9)))",
    "drop index journal_at",
    "create index evil on journal (hex(tool))",
)

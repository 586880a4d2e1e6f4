"""`backup` and `restore`: there and back, and never by accident."""

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

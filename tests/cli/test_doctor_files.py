"""`doctor` and files: what was lost or changed on the disk is found, and what people did is not called damage."""

import json
import os
import shutil

import pytest

from tokonoma.store.database import format_sqlite_url, open_database


@pytest.fixture
def vault(home, value):
    value("call", "vault", "create", '{"path": "a.md", "content": "one\\n"}')
    value("call", "vault", "write", '{"path": "a.md", "content": "two\\n", "mode": "overwrite"}')
    (home / "workspace" / "manuals" / "guide").mkdir(parents=True)
    (home / "workspace" / "manuals" / "guide" / "a.md").write_text("# Guide\n")
    value("call", "manual", "list")
    return home / "workspace" / "vault"


@pytest.fixture
def findings(run):
    """state and text of the findings of some names"""

    def told(*names):
        result = run("doctor", "--json")
        found = json.loads(result.stdout)["findings"]
        return [(each["state"], each["says"]) for each in found if each["name"] in names], result.exit_code

    return told


def rot(file, content: bytes) -> None:
    """Other bytes with the same stamp, as a failing disk returns them. Only the time of change cannot be set back."""
    status = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_whole_files_are_fine(findings, vault):
    found, code = findings("files", "versions")
    assert [state for state, _ in found] == ["ok", "ok"]
    assert "2 files" in found[1][1]
    assert code == 0


def test_an_edit_by_another_program_is_no_damage(findings, vault):
    (vault / "a.md").write_text("mine, and longer\n")
    assert [state for state, _ in findings("files")[0]] == ["ok"]


def test_a_file_that_changed_without_being_written_is_damage(findings, vault, home):
    rot(vault / "a.md", b"tWo\n")
    # What the disk cannot be made to say again, the database is told.
    database = open_database(format_sqlite_url(home / "tokonoma.db"))
    with database.writing() as statements:
        statements.run("update vault_file set ctime = :at", at=(vault / "a.md").stat().st_ctime_ns)
    database.close()
    ((state, says),), code = findings("files")
    assert (state, code) == ("fail", 1)
    assert "vault/a.md" in says


def test_lost_files_and_versions_are_named(findings, vault):
    shutil.rmtree(vault / ".system" / "versions")
    (vault / "a.md").unlink()
    found, code = findings("files", "versions")
    assert [state for state, _ in found] == ["warn", "warn"]
    assert code == 0


def test_a_damaged_version_is_found(findings, vault):
    (version,) = (vault / ".system" / "versions").rglob("*/*")
    version.write_text("other")
    found, code = findings("versions")
    assert (found[0][0], code) == ("fail", 1)


def test_versions_that_share_a_stem_are_checked_each(findings, vault, value):
    for text in ("three", "four", "five"):
        value("call", "vault", "write", json.dumps({"path": "a.md", "content": f"{text}\n", "mode": "append"}))
    found, code = findings("versions")
    assert (found, code) == ([("ok", "4 earlier versions of files, unchanged")], 0)
    (stem,) = (vault / ".system" / "versions").rglob("*.stem")
    assert stem.read_text() == "two\nthree\nfour\n"
    stem.write_text("two\nthree\nfOur\n")
    ((state, says),), code = findings("versions")
    assert (state, code) == ("fail", 1)
    assert says.startswith("1 earlier version of files changed"), "the shorter ones are whole"
    stem.unlink()
    ((state, says),), code = findings("versions")
    assert (state, code) == ("warn", 0)
    assert says.startswith("3 earlier versions"), says


def test_an_interrupted_restore_is_found(findings, vault):
    (vault / ".system" / "restore").mkdir()
    found, code = findings("files")
    assert (found[0][0], code) == ("fail", 1)
    assert "interrupted" in found[0][1]


def test_a_backup_without_the_files_is_not_enough(run, findings, vault):
    assert findings("backups")[0][0][1].startswith("none in")
    run("backup", "--without-files")
    assert findings("backups")[0][0][0] == "warn"
    run("backup")
    assert findings("backups")[0][0][0] == "ok"

"""The same commands on PostgreSQL: one setting, nothing else."""

import pytest


@pytest.fixture(autouse=True)
def on_postgres(environ, postgres_at):
    environ["TOKONOMA_DATABASE_URL"] = postgres_at


def test_calls_keys_and_the_journal(run, value, home):
    assert value("call", "system", "status")["health"]["database"]["says"] == "postgresql"
    assert run("keys", "create", "one").exit_code == 0
    assert [key["name"] for key in value("keys", "list", "--json")] == ["one"]
    assert "system.status" in run("journal", "tail").stdout
    assert value("journal", "verify", "--json")["problems"] == []
    assert not (home / "tokonoma.db").exists()


def test_the_doctor(run, value):
    assert "does not exist yet" in run("doctor", "--port", "0").stdout
    value("call", "system", "status")
    told = {each["name"]: each for each in value("doctor", "--json", "--port", "0")["findings"]}
    assert "postgresql" in told["database"]["says"]
    assert {told[name]["state"] for name in ("integrity", "tables", "journal", "keys")} == {"ok"}
    assert "locks" not in told


def test_there_and_back(run, value, tmp_path):
    value("call", "system", "status")
    file = tmp_path / "kept.backup"
    assert run("backup", str(file)).exit_code == 0
    assert value("backup", "verify", str(file), "--json")["kind"] == "postgresql"
    value("call", "system", "where")
    restored = run("restore", str(file), "--yes")
    assert restored.exit_code == 0, restored.output
    (entry,) = value("call", "system", "recent")["items"]
    assert entry["tool"] == "status"


def test_a_backup_of_the_other_database_is_refused(run, value, tmp_path):
    value("call", "system", "status", TOKONOMA_DATABASE_URL=None)
    assert run("backup", str(tmp_path / "kept.backup"), TOKONOMA_DATABASE_URL=None).exit_code == 0
    result = run("restore", str(tmp_path / "kept.backup"), "--yes")
    assert result.exit_code == 1
    assert "is a backup of sqlite" in result.stderr

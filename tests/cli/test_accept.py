"""`accept`: the way on when data is damaged and there is no backup; and what a restore leaves behind."""

import json
import sqlite3

import pytest

from tokonoma.store.database import format_sqlite_url, open_database


@pytest.fixture
def saved(value):
    """A home with two memos."""
    return [value("call", "memory", "save", json.dumps({"content": f"tea at {hour}"})) for hour in ("four", "five")]


@pytest.fixture
def findings(run):
    def look():
        told = json.loads(run("doctor", "--json", "--port", "0").stdout)["findings"]
        return {each["name"]: each for each in told}

    return look


def lose_newest(home):
    """As a damaged log does: the last process's entries and memo are gone, and nothing inside looks wrong."""
    database = open_database(format_sqlite_url(home / "tokonoma.db"), durable=False)
    with database.writing() as tx:
        tx.run("delete from journal where strand = (select max(strand) from journal)")
        tx.run("delete from memo where content = 'tea at five'")
    database.close()


def test_whole_data_needs_no_accepting(run, saved, findings):
    result = run("accept", "--yes")
    assert result.stdout == "There is nothing to accept: the data is whole.\n"
    assert findings()["heads"]["state"] == "ok"


def test_there_must_be_a_database(run):
    result = run("accept")
    assert result.exit_code == 1
    assert "nothing to accept" in result.stderr


def test_calls_that_are_missing_are_told_and_accepted(run, value, saved, findings, home):
    lose_newest(home)
    told = findings()["heads"]
    assert told["state"] == "fail"
    assert "memory.save at " in told["says"]
    assert "tokonoma restore" in told["do"]
    assert "tokonoma accept" in told["do"]
    assert run("journal", "verify").exit_code == 0
    health = value("call", "system", "status")["health"]["database"]
    assert health["ok"] is False
    assert "calls that it had recorded are missing" in health["says"]
    assert "memory.save" not in health["says"]
    asked = run("accept")
    assert asked.exit_code != 0
    assert findings()["heads"]["state"] == "fail"
    done = run("accept", "--yes")
    assert (done.exit_code, done.stdout) == (0, "accepted\n")
    assert "memory.save at " in done.stderr
    assert findings()["heads"]["state"] == "ok"
    assert value("call", "system", "status")["health"]["database"]["ok"] is True
    assert run("journal", "verify").exit_code == 0
    assert "accept" in run("journal", "tail").stdout


def test_pages_that_do_not_match_are_taken_over_after_a_copy(run, value, saved, findings, home):
    other = sqlite3.connect(home / "tokonoma.db")
    other.execute("update memo set content = 'by another program' where content = 'tea at four'")
    other.commit()
    other.close()
    assert findings()["integrity"]["state"] == "fail"
    failed = run("call", "memory", "list", "{}")
    assert failed.exit_code == 1
    assert "is damaged" in failed.stderr
    before = (home / "tokonoma.db").read_bytes()
    server = open_database(format_sqlite_url(home / "tokonoma.db"), durable=False)
    refused = run("accept", "--yes")
    assert refused.exit_code == 1
    assert "Other processes have" in refused.stderr
    server.close()
    assert run("accept", "--yes").stdout == "accepted\n"
    (copy,) = (home / "backups").glob("*-before-accept.db")
    assert copy.read_bytes() == before
    assert findings()["integrity"]["state"] == "ok"
    contents = [item["content"] for item in value("call", "memory", "list", "{}")["items"]]
    assert contents == ["tea at five", "by another program"]


def test_a_restored_older_backup_is_not_behind(run, value, saved, findings, home, tmp_path):
    assert run("backup", str(tmp_path / "x.backup")).exit_code == 0
    value("call", "memory", "save", json.dumps({"content": "later"}))
    assert run("restore", str(tmp_path / "x.backup"), "--yes").exit_code == 0
    assert "heads" not in findings()  # nothing is noted of the data that is there now
    value("call", "memory", "list", "{}")
    assert findings()["heads"]["state"] == "ok"

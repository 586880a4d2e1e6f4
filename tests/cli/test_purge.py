"""`tokonoma purge` asks before it forgets, and says what it did."""

import json


def saved(value, **params) -> str:
    return value("call", "memory", "save", json.dumps({"content": "tea", **params}))["memo_id"]


def test_it_counts_asks_and_forgets(run, value):
    stays, goes = saved(value), saved(value)
    value("call", "memory", "delete", json.dumps({"memo_id": goes}))
    assert "0 deleted and 0 expired" in run("purge").stdout, "365 days are not over"
    assert "1 deleted and 0 expired" in run("purge", "--trash-days", "0", "--dry-run").stdout
    refused = run("purge", "--trash-days", "0")
    assert refused.exit_code == 1
    assert "--yes" in refused.stderr
    done = run("purge", "--trash-days", "0", "--yes")
    assert done.exit_code == 0, done.output
    assert "forgotten: 1 deleted and 0 expired" in done.stdout
    assert run("call", "memory", "restore", json.dumps({"memo_id": goes})).exit_code == 1
    assert value("call", "memory", "get", json.dumps({"memo_id": stays}))["content"] == "tea"


def test_without_a_database_there_is_nothing_to_do(run, home):
    result = run("purge", "--yes")
    assert result.exit_code == 0
    assert "nothing" in result.stderr
    assert not (home / "tokonoma.db").exists()

"""`tokonoma memory history`, `move`, `merge` and `restore --version`: commands over the tools that keep versions."""

import json

import pytest
from cli.terminal import show_at_terminal


@pytest.fixture
def memo(value) -> str:
    """At version 3, the second of which has another text."""
    memo_id = value("memory", "save", "one\nsame", "--title", "茶の湯", "--namespace", "/notes", "--json")["memo_id"]
    for change in ({"content": "two\nsame"}, {"title": "tea"}):
        value("call", "memory", "save", json.dumps({"memo_id": memo_id, **change}))
    return memo_id


def test_versions_are_listed_newest_first(run, value, memo):
    told = run("memory", "history", memo)
    assert told.exit_code == 0, told.output
    heading, *rows = told.stdout.splitlines()
    assert heading.split("  ")[0] == "VERSION"
    assert [row.split()[0] for row in rows] == ["3", "2", "1"]
    assert all("owner" in row and "/notes" in row for row in rows)
    assert rows[0].endswith("tea")
    assert rows[2].endswith("茶の湯")
    cut = run("memory", "history", memo, "--limit", "1")
    assert len(cut.stdout.splitlines()) == 2
    assert cut.stderr == "There are more than 1 versions; --limit shows up to 100.\n"
    assert [each["version"] for each in value("memory", "history", memo, "--json")["items"]] == [3, 2, 1]
    assert run("memory", "history", memo, "--version", "1").stdout == "one\nsame\n"
    missing = run("memory", "history", memo, "--version", "9")
    assert (missing.exit_code, "version 9" in missing.stderr) == (1, True)


def test_differences_are_printed_and_coloured_at_a_terminal(run, memo, environ):
    told = run("memory", "history", memo, "--diff").stdout
    assert "\n  -one\n  +two\n" in told
    assert told.index("version 3") < told.index("version 2") < told.index("version 1")
    shown = show_at_terminal([["memory", "history", memo, "--diff"]], environ, TERM="xterm-256color")
    assert "\x1b[31m\x1b[1m-one\x1b[0m" in shown
    assert "\x1b[32m\x1b[1m+two\x1b[0m" in shown


def test_an_earlier_version_becomes_the_present_one(run, value, memo):
    told = run("memory", "restore", memo, "--version", "1")
    assert told.stderr == f"{memo} is at version 4, with the text of version 1.\n"
    assert value("memory", "show", memo, "--json")["content"] == "one\nsame"


def test_the_history_of_a_deleted_memo_is_found(run, memo):
    run("memory", "delete", memo)
    assert "茶の湯" in run("memory", "history", memo).stdout


def test_memos_are_moved_all_or_none_and_relations_are_told(run, value, memo):
    other = value("memory", "save", "other", "--namespace", "/notes", "--json")["memo_id"]
    edge = {"namespace": "/notes", "sourceMemoId": memo, "targetMemoId": other, "tag": "next"}
    value("call", "memory", "relation.save", json.dumps(edge))
    assert run("memory", "move", memo, "zz", "/archive").exit_code == 1
    assert value("memory", "show", memo, "--json")["namespace"] == "/notes"
    told = run("memory", "move", memo, "/archive")
    assert told.exit_code == 0, told.output
    assert told.stdout == f"{memo} is in /archive, at version 4.\n"
    assert f"{memo} next {other} is now in /." in told.stderr
    assert value("memory", "show", memo, "--json")["relations"][0]["targetMemoId"] == other
    both = value("memory", "move", memo, other, "/archive/old", "--json")
    assert [each["namespace"] for each in both["items"]] == ["/archive/old"] * 2


def test_memos_are_merged_and_the_others_go_to_the_trash(run, value, memo):
    others = [value("memory", "save", text, "--namespace", "/notes", "--json")["memo_id"] for text in ("x", "y")]
    told = run("memory", "merge", memo, *others, "--content", "-", stdin="all of it\n")
    assert told.exit_code == 0, told.output
    assert told.stdout == f"{memo} is at version 4; 2 memos merged into it.\n"
    assert value("memory", "show", memo, "--json")["content"] == "all of it"
    assert {each["memo_id"] for each in value("memory", "list", "--trash", "--json")["items"]} == set(others)
    assert run("memory", "restore", others[0]).exit_code == 0
    assert value("memory", "show", others[0], "--json")["content"] == "x"
    itself = run("memory", "merge", memo, memo)
    assert (itself.exit_code, "itself" in itself.stderr) == (1, True)


def test_an_emptied_expiry_is_removed_in_the_editor(run, value, tmp_path):
    memo = value("memory", "save", "x", "--expires-at", "2099-01-31", "--json")["memo_id"]
    told = run("memory", "edit", memo, EDITOR="sed -i s/^expires_at.*/expires_at:/", VISUAL=None, PATH="/usr/bin:/bin")
    assert told.exit_code == 0, told.output
    assert "expires_at" not in value("memory", "show", memo, "--json")

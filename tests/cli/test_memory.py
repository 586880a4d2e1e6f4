"""`tokonoma memory`: list, show, search, tree, save, delete and restore."""

import json

import pytest
from cli.terminal import show_at_terminal

MISSING = "01a1e50b-0000-7000-8000-000000000000"


@pytest.fixture
def shelf(run, value):
    """Three memos: /notes/tea — causes → /notes, and /work."""
    saved = [
        value("memory", "save", "The Kettle boils. 床の間の掛け軸を春に替える。", "--title", "茶の湯", "--namespace",
              "/notes/tea", "--metadata", "source=mail", "--metadata", "n=3", "--json"),
        value("memory", "save", "second memo,\nthe kettle is hot", "--namespace", "/notes", "--thread", "days",
              "--json"),
        value("memory", "save", "third", "--namespace", "/work/a", "--json"),
    ]  # fmt: skip
    ids = [each["memo_id"] for each in saved]
    edge = {"namespace": "/notes", "sourceMemoId": ids[0], "targetMemoId": ids[1], "tag": "causes", "weight": 0.5}
    value("call", "memory", "relation.save", json.dumps(edge))
    return ids


def shorten_id(memo_id, others):
    """The shortest start that no other id has."""
    starts = (memo_id[:end] for end in range(1, 37))
    return next(start for start in starts if not any(other.startswith(start) for other in others))


def test_a_memo_is_saved_from_arguments_or_standard_input(run, value, shelf):
    memo = value("memory", "show", shelf[0], "--json")
    assert (memo["metadata"], memo["title"], memo["namespace"]) == ({"source": "mail", "n": 3}, "茶の湯", "/notes/tea")
    piped = run("memory", "save", stdin="from a pipe\n")
    assert run("memory", "show", piped.stdout.strip(), "--text").stdout == "from a pipe\n"
    assert value("memory", "show", piped.stdout.strip(), "--json")["content"] == "from a pipe"
    wrong = run("memory", "save", "x", "--metadata", "mail")
    assert (wrong.exit_code, "'mail' is not KEY=VALUE, such as source=mail." in wrong.stderr) == (2, True)


def test_memos_are_listed_filtered_and_paged(run, value, shelf):
    told = run("memory", "list")
    lines = told.stdout.splitlines()
    assert lines[0].split("  ")[0] == "ID"
    assert [line.split()[0] for line in lines[1:]] == shelf[::-1]
    assert lines[2].endswith("/notes      second memo, the kettle is hot")
    assert lines[3].endswith("/notes/tea  茶の湯")
    assert told.stderr == ""
    listed = value("memory", "list", "/notes", "--json")["items"]
    assert [each["memo_id"] for each in listed] == [shelf[1], shelf[0]]
    assert [each["memo_id"] for each in value("memory", "list", "--thread", "days", "--json")["items"]] == [shelf[1]]
    cut = run("memory", "list", "--limit", "2")
    assert len(cut.stdout.splitlines()) == 3
    assert cut.stderr == "There are more than 2 memos; --limit or --all shows more.\n"
    assert run("memory", "list", "/nowhere").stderr == "There are no memos here.\n"


def test_all_memos_are_listed_over_the_pages(run, value):
    memos = [{"content": f"memo {number}"} for number in range(205)]
    value("call", "memory", "save", json.dumps({"memos": memos}))
    assert len(run("memory", "list", "--all").stdout.splitlines()) == 206
    told = value("memory", "list", "--limit", "203", "--json")
    assert (len(told["items"]), told["has_more"]) == (203, True)
    told = value("memory", "list", "--limit", "205", "--json")
    assert (len(told["items"]), told["has_more"]) == (205, False)


def test_a_memo_is_shown_by_id_address_and_unique_start(run, value, shelf):
    shown = run("memory", "show", shelf[0])
    assert shown.stdout.startswith(f"{shelf[0]}  茶の湯\n  namespace:   /notes/tea\n")
    assert "\n  source:      mail\n  n:           3\n" in shown.stdout
    assert f"\n  causes:      → {shelf[1]}  second memo, the kettle is hot  (0.50)\n\nThe Kettle" in shown.stdout
    assert f"\n  causes:      ← {shelf[0]}  茶の湯  (0.50)\n" in run("memory", "show", shelf[1]).stdout
    assert run("memory", "show", f"tokonoma://memory/{shelf[0]}").stdout == shown.stdout
    start = next(
        shelf[0][:end] for end in range(1, 37) if not any(each.startswith(shelf[0][:end]) for each in shelf[1:])
    )
    assert run("memory", "show", start).stdout == shown.stdout
    several = run("memory", "show", shelf[0][:2])
    assert several.exit_code == 1
    assert f"The ids of several memos begin with {shelf[0][:2]!r}. Write more of one:\n" in several.stderr
    assert all(each in several.stderr for each in shelf)


def test_a_long_memo_is_shown_whole(run, value):
    text = "0123456789" * 25_000
    memo = value("memory", "save", "-", "--json", stdin=text)["memo_id"]
    assert run("memory", "show", memo, "--text").stdout == f"{text}\n"


def test_mistakes_name_what_is_wrong_and_what_to_do(run, shelf):
    for words, told in (
        (("show", MISSING), f"There is no memo '{MISSING}'. `tokonoma memory list` shows the ids."),
        (("show", "zz"), "There is no memo whose id begins with 'zz'. `tokonoma memory list` shows the ids."),
        (("show", "%"), "There is no memo whose id begins with '%'."),
        (("show", " "), "The id of the memo is empty."),
        (("show", "\udcff"), "An argument of the command is not UTF-8 text."),  # as Python reads the byte ff
        (("search", "\udcff"), "An argument of the command is not UTF-8 text."),
        (("edit", "zz"), "There is no memo whose id begins with 'zz'."),
        (("restore", shelf[0]), f"Memo {shelf[0]} is not in the trash."),
        (("restore", "zz"), "`tokonoma memory list --trash` shows the ids."),
        (("tree", "/nowhere"), "There is no memo in /nowhere. `tokonoma memory tree` shows"),
        (("save", " "), "content is empty"),
        (("list", "../up"), "above"),
    ):
        result = run("memory", *words)
        assert result.exit_code == 1, words
        assert told in result.stderr, words
        assert "Traceback" not in result.output


def test_deleted_memos_are_listed_and_restored_by_the_start_of_their_id(run, value, shelf):
    deleted = run("memory", "delete", shelf[1], shelf[2])
    assert deleted.exit_code == 0
    assert f"{shelf[2]} is in the trash; `tokonoma memory restore {shelf[2]}` brings it back." in deleted.stderr
    gone = run("memory", "show", shelf[2])
    assert f"Memo {shelf[2]} is in the trash. `tokonoma memory restore {shelf[2]}` brings it back." in gone.stderr
    trash = run("memory", "list", "--trash").stdout.splitlines()
    assert "DELETED (UTC)" in trash[0]
    assert {line.split()[0] for line in trash[1:]} == {shelf[1], shelf[2]}
    assert run("memory", "restore", shorten_id(shelf[2], shelf[:2])).stderr == f"{shelf[2]} is at version 3.\n"
    assert value("memory", "show", shelf[2], "--json")["content"] == "third"
    # One that does not exist: nothing is deleted.
    assert run("memory", "delete", shelf[0], "zz").exit_code == 1
    assert value("memory", "show", shelf[0], "--json")["version"] == 1


def test_namespaces_are_drawn_as_a_tree(run, value, shelf):
    value("memory", "save", "x", "--namespace", "/notes-old", "--json")
    assert run("memory", "tree").stdout.splitlines() == [
        "/  0, 4 with those below",
        "├─ notes  1, 2 with those below",
        "│  └─ tea  1",
        "├─ notes-old  1",
        "└─ work  0, 1 with those below",
        "   └─ a  1",
    ]
    assert run("memory", "tree", "notes").stdout.splitlines() == ["/notes  1, 2 with those below", "└─ tea  1"]
    assert "tea" not in run("memory", "tree", "--depth", "1").stdout
    assert value("memory", "tree", "/notes", "--json")["items"] == [
        {"namespace": "/notes", "memos": 1},
        {"namespace": "/notes/tea", "memos": 1},
    ]


def test_hits_have_their_score_place_and_passage(run, value, shelf):
    told = run("memory", "search", "kettle", "--mode", "text")
    lines = told.stdout.splitlines()
    assert {tuple(line.split()[1:3]) for line in lines[::2]} == {(shelf[0], "/notes/tea"), (shelf[1], "/notes")}
    assert all(0 < float(line.split()[0]) <= 1 for line in lines[::2])
    assert "      second memo, the kettle is hot" in lines
    assert told.stderr == "2 memos, searched by words only.\n"
    explained = run("memory", "search", "kettle", "--mode", "text", "--explain", "--namespace", "/notes/tea").stdout
    assert "        text: " in explained
    assert len(explained.splitlines()) > 3
    assert value("memory", "search", "kettle", "--json")["items"][0]["memo_id"] in shelf[:2]
    assert run("memory", "search", "kettle", "--namespace", "/work", "--mode", "text").stdout == ""


def test_a_terminal_gets_colours_and_short_ids_and_a_pipe_does_not(run, shelf, environ):
    commands = [["memory", "search", "KETTLE 掛け軸", "--mode", "text"], ["memory", "list"]]
    shown = show_at_terminal(commands, environ, TERM="xterm-256color", COLUMNS="80")
    assert "the \x1b[33m\x1b[1mkettle\x1b[0m is hot" in shown
    assert "床の間の\x1b[33m\x1b[1m掛け軸\x1b[0mを春に" in shown
    assert f"{shelf[2][:18]}  " in shown
    assert shelf[2] not in shown
    assert "\x1b[3" not in show_at_terminal(commands[:1], environ, NO_COLOR="1", TERM="xterm-256color")
    assert "\x1b" not in run("memory", "search", "kettle", "--mode", "text").stdout

"""`journal tail` and `journal verify`."""

import json
import signal
import subprocess

from tokonoma.store.database import open_database, sqlite_url


def tampered(home, sql: str) -> None:
    database = open_database(sqlite_url(home / "tokonoma.db"), durable=False)
    with database.writing() as statements:
        statements.run(sql)
    database.close()


def test_the_newest_comes_last(run, value):
    for name in ("status", "where", "recent"):
        value("call", "system", name)
    lines = run("journal", "tail", "-n", "2", "--json").stdout.splitlines()
    assert [json.loads(line)["tool"] for line in lines] == ["where", "recent"]
    told = run("journal", "tail").stdout.splitlines()
    assert len(told) == 3
    assert "system.status" in told[0]
    assert "owner (cli)" in told[0]


def test_more_than_one_page(run, value):
    step = {"module": "system", "tool": "where"}
    for _ in range(3):
        value("batch", "-", stdin="\n".join(json.dumps({"id": f"s{n}", **step}) for n in range(100)))
    assert len(run("journal", "tail", "-n", "250").stdout.splitlines()) == 250
    assert len(run("journal", "tail", "-n", "1000").stdout.splitlines()) == 303


def test_following_shows_calls_of_other_processes_until_it_is_interrupted(run, value, spawned):
    value("call", "system", "status")
    # Where the tests run in the background, SIGINT is ignored from the start, and children inherit that.
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(**spawned("journal", "tail", "--follow", "--json"), preexec_fn=heard) as following:
        assert following.stdout is not None
        assert json.loads(following.stdout.readline())["tool"] == "status"
        value("call", "system", "where")
        assert json.loads(following.stdout.readline())["tool"] == "where"
        run("call", "system", "nothing")
        assert json.loads(following.stdout.readline())["outcome"] == "refused"
        following.send_signal(signal.SIGINT)
        rest, errors = following.communicate()
    assert (following.returncode, rest, errors) == (0, "", "")


def test_an_unbroken_chain(run, value):
    value("call", "system", "status")
    value("call", "system", "where")
    told = value("journal", "verify", "--json")
    assert told["problems"] == []
    assert told["strands"] == 2
    assert "The journal holds" in run("journal", "verify").stdout


def test_a_changed_entry_is_found(run, value, home):
    value("call", "system", "status")
    tampered(home, "update journal set tool = 'where' where kind = 'call'")
    result = run("journal", "verify")
    assert result.exit_code == 1
    assert "was changed" in result.stdout


def test_a_removed_entry_is_found(run, value, home):
    value("call", "system", "status")
    value("call", "system", "where")
    tampered(home, "delete from journal where kind = 'call' and tool = 'status'")
    result = run("journal", "verify", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"]

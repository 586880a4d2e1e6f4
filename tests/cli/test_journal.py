"""`journal tail`, `journal verify` and `journal prune`."""

import json
import signal
import subprocess

from tokonoma.store.database import format_sqlite_url, open_database


def tampered(home, sql: str) -> None:
    database = open_database(format_sqlite_url(home / "tokonoma.db"), durable=False)
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
    assert told["chains"] == 2
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


def test_prune_forgets_what_is_older_and_the_rest_verifies(run, value):
    value("call", "system", "status")
    assert "journal entries from before" in run("journal", "prune", "--keep-days", "0", "--dry-run").stdout
    before = value("journal", "verify", "--json")["entries"]
    assert before > 0
    told = run("journal", "prune", "--keep-days", "0", "--yes").stdout
    assert told.startswith("forgotten: ")
    assert "admin.journal.prune" in run("journal", "tail").stdout
    after = value("journal", "verify", "--json")
    assert after["problems"] == []
    assert run("journal", "prune", "--before", "2000-01-01", "--yes").stdout.startswith("0 journal entries")


def test_prune_asks_first_and_wants_one_line(run):
    run("call", "system", "status")
    refused = run("journal", "prune", "--keep-days", "0")
    assert refused.exit_code == 1
    assert "--yes" in refused.stderr
    for wrong in ([], ["--before", "2020-01-01", "--keep-days", "1"], ["--before", "soon"], ["--before", "2999-01-01"]):
        assert run("journal", "prune", *wrong).exit_code == 2


def test_prune_leaves_a_journal_alone_that_was_changed(run, value, home):
    value("call", "system", "status")
    tampered(home, "update journal set tool = 'where' where kind = 'call'")
    entries = json.loads(run("journal", "verify", "--json").stdout)["entries"]
    refused = run("journal", "prune", "--keep-days", "0", "--yes")
    assert refused.exit_code == 1
    assert "damaged or changed" in refused.stderr
    assert json.loads(run("journal", "verify", "--json").stdout)["entries"] == entries

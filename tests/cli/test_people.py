"""`people` and `open`: who may sign in, and a link for it."""

import threading
from contextlib import contextmanager

import pytest

from tokonoma.app import App
from tokonoma.auth.passwords import verify_password
from tokonoma.auth.people import find_person, read_password
from tokonoma.auth.sessions import Visitor, create_session, find_session, find_ticket
from tokonoma.cli.serve import build_endpoint
from tokonoma.server.http.run import HttpServer, listen

WORDS = "correct horse battery"


@pytest.fixture
def read(home):
    """Ask the store what a command has left there."""

    def ask(function, *arguments):
        app = App({"home": str(home), "durable": False}, {})
        try:
            with app.database.reading() as rows:
                return function(rows, *arguments)
        finally:
            app.close()

    return ask


@contextmanager
def serve(home, **flags):
    """A running server on this home; its port."""
    app = App({"home": str(home), "durable": False, "embed_provider": "none", **flags}, {})
    listener, started = listen("127.0.0.1", 0), threading.Event()
    server = HttpServer(build_endpoint(app), tls=None, on_started=started.set, grace=0.0, limits=None)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    started.wait()
    try:
        yield str(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        app.close()


def test_a_person_is_added_with_a_reach_like_a_key(run, value, read):
    words = ("--root", "/team", "--default", "/team/ada", "--modules", "memory,vault", "--mask", "*:destroy")
    added = value("people", "add", "ada", *words, "--json")
    assert added.items() >= {"name": "ada", "root": "/team", "mask": ["*:destroy"], "password": False}.items()
    reach = read(find_person, "ada").reach
    assert (reach.root, reach.default, reach.modules) == ("/team", "/team/ada", {"memory", "vault"})
    assert "tokonoma people password bob" in run("people", "add", "bob").stderr
    assert [each["name"] for each in value("people", "list", "--json")] == ["owner", "ada", "bob"]
    assert "/team" in run("people", "list").stdout
    assert "people.add" in run("journal", "tail").stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["add", "ada", "--modules", "memry"], 1, "Did you mean 'memory'?"),
        (["add", "owner"], 1, "already a person"),
        (["add", "a/b"], 2, "at most 64 letters"),
        (["add", "ada", "--password"], 1, "at least 12 characters"),
        (["password", "bob"], 1, "no person called 'bob'"),
        (["revoke", "ada"], 1, "--yes"),
        (["revoke", "owner", "--yes"], 1, "cannot be revoked"),
        (["revoke", "bob", "--yes"], 1, "no person called 'bob'"),
    ],
)
def test_mistakes_are_explained(run, words, code, says):
    run("people", "password", "owner", stdin=WORDS)
    result = run("people", *words, stdin=WORDS if words[0] == "password" else "short")
    assert (result.exit_code, says in result.stderr) == (code, True), result.output


def test_a_password_comes_from_standard_input_and_ends_all_sessions(run, read, home):
    assert run("people", "password", "owner", stdin=WORDS + "\n").exit_code == 0
    assert verify_password(read(read_password, "owner")[1], WORDS)
    app = App({"home": str(home), "durable": False}, {})
    with app.database.writing() as statements:
        token = create_session(statements, "owner", 1, Visitor("203.0.113.9", "Firefox/1"))
    app.close()
    assert "203.0.113.9" in run("people", "list", "--json").stdout
    result = run("people", "password", "owner", stdin="another long password")
    assert "Ended 1 session." in result.stderr
    assert read(find_session, token) is None
    assert run("people", "password", "owner", "--remove").exit_code == 0
    assert read(read_password, "owner") == ("owner", None)
    assert run("people", "password", "owner", WORDS).exit_code == 2, "never an argument"
    assert "several lines" in run("people", "password", "owner", stdin="one long line\nand another").stderr
    assert WORDS not in run("journal", "tail").stdout


def test_a_person_can_be_added_with_a_password_and_is_revoked_with_everything(run, value, read):
    assert run("people", "add", "ada", "--password", stdin=WORDS).exit_code == 0
    assert verify_password(read(read_password, "ada")[1], WORDS)
    assert "with 0 sessions and 0 clients" in run("people", "revoke", "ada", "--yes").stderr
    assert read(read_password, "ada") == ("", None)
    assert [each["state"] for each in value("people", "list", "--json") if each["name"] == "ada"] == ["revoked"]


def test_open_prints_a_link_to_a_running_server(run, read, home):
    run("people", "add", "ada")
    with serve(home) as port:
        link = run("open", "--port", port).stdout.strip()
        other = run("open", "journal", "--person", "ada", "--port", port).stdout.strip()
        assert run("open", "//evil.example", "--port", port).exit_code == 1
        assert run("open", "--person", "bob", "--port", port).exit_code == 1
    start = f"http://127.0.0.1:{port}/sign-in?link="
    assert link.startswith(start)
    assert read(find_ticket, link.removeprefix(start)).person.is_owner
    ticket = read(find_ticket, other.removeprefix(start))
    assert (ticket.person.name, ticket.leads_to) == ("ada", "/admin/journal")


def test_open_names_the_address_that_browsers_use(run, home):
    with serve(home, public_url="https://tokonoma.example.com") as port:
        result = run("open", "--port", port, TOKONOMA_PUBLIC_URL="https://tokonoma.example.com")
    assert result.stdout.startswith("https://tokonoma.example.com/sign-in?link=")


def test_open_says_when_no_server_answers_or_another_one(run, home, tmp_path, read):
    with serve(tmp_path / "other") as port:
        result = run("open", "--port", port)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "uses another data folder or database" in result.stderr
    assert read(lambda rows: rows.rows("select * from web_ticket")) == []
    result = run("open", "--port", port)
    assert (result.exit_code, f"No server answers at http://127.0.0.1:{port}." in result.stderr) == (1, True)

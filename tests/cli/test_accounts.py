"""`accounts`: listed, preferred, disconnected."""

import pytest

from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.keyring.accounts import NewAccount, add_account, set_state


@pytest.fixture
def connect(home):
    def add(provider="github", name="work", namespace="/", problem="", **more):
        app = App({"home": str(home), "durable": False, "log_level": "error"}, {})
        with app.write_as_owner("accounts.connect") as statements:
            new = NewAccount(provider, name, namespace, **more)
            account = add_account(statements, open_keyring(app), new, {"access_token": f"canary-{name}"})
            if problem:
                set_state(statements, account, problem)
        app.close()

    return add


def list_stored(home, sql):
    app = App({"home": str(home), "durable": False, "log_level": "error"}, {})
    with app.database.reading() as rows:
        found = rows.rows(sql)
    app.close()
    return found


def test_a_list_shows_everything_but_the_secrets(run, value, connect):
    assert "No account is connected" in run("accounts", "list").stderr
    connect(who="ada", scopes=("repo",), expires_at=1_800_000_000_000)
    connect("atlassian", "site", "/team", kind="oauth", problem="It was revoked.")
    shown = run("accounts", "list")
    for word in (
        "work",
        "ada",
        "ready",
        "atlassian (jira, confluence)",
        "/team",
        "broken: It was revoked.",
        "2027-01-15",
    ):
        assert word in shown.stdout
    assert "canary" not in shown.output
    first, second = value("accounts", "list", "--json")
    assert (first["name"], first["modules"], first["state"]) == ("site", ["jira", "confluence"], "broken")
    assert (second["who"], second["scopes"], second["default_for"]) == ("ada", ["repo"], [])
    assert [each["name"] for each in value("accounts", "list", "jira", "--json")] == ["site"]
    assert value("accounts", "list", "notion", "--json") == []


def test_what_a_service_says_cannot_steer_the_terminal(run, connect):
    connect(who="ada\x1b[2J\rroot", problem="bad\n\x9b31m\u202etxt")
    shown = run("accounts", "list").stdout
    assert not set("\x1b\r\x9b\u202e") & set(shown)
    assert len(shown.splitlines()) == 2


def test_a_default_is_set_shown_and_removed(run, value, connect, home):
    connect("atlassian", "a")
    connect("atlassian", "a", "/team")
    connect("atlassian", "b")
    result = run("accounts", "default", "jira", "a", "--namespace", "/team/ada")
    assert result.exit_code == 0, result.output
    assert "Calls of jira in /team/ada and below use 'a'" in result.stderr
    assert run("accounts", "default", "jira", "b").exit_code == 0
    uses = {(each["name"], each["namespace"]): each["default_for"] for each in value("accounts", "list", "--json")}
    assert uses == {
        ("a", "/"): [],
        ("a", "/team"): [{"module": "jira", "namespace": "/team/ada"}],  # the nearest of this name
        ("b", "/"): [{"module": "jira", "namespace": "/"}],
    }
    assert "jira in /team/ada" in run("accounts", "list").stdout
    assert "no default in / now" in run("accounts", "default", "jira", "--clear").stderr
    assert "had no default" in run("accounts", "default", "jira", "--clear").stderr
    tools = [tool for (tool,) in list_stored(home, "select tool from journal")]
    assert "accounts.default" in tools


def test_a_disconnected_account_is_gone_with_its_secrets(run, value, connect, home):
    connect()
    connect(name="home")
    assert "Use --yes" in run("accounts", "disconnect", "github", "work").stderr
    assert len(value("accounts", "list", "--json")) == 2
    result = run("accounts", "disconnect", "github", "work", "--yes")
    assert result.exit_code == 0, result.output
    assert "revoke them at the service" in result.stderr
    assert [each["name"] for each in value("accounts", "list", "--json")] == ["home"]
    assert list_stored(home, "select count(*) from account_secret") == [(1,)]
    assert "accounts.disconnect" in [tool for (tool,) in list_stored(home, "select tool from journal")]
    run("accounts", "disconnect", "github", "--yes")  # the only one
    assert value("accounts", "list", "--json") == []


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["list", "gihub"], 1, "Did you mean 'github'?"),
        (["default", "github", "wrk"], 1, "There are: work."),
        (["default", "atlassian", "work"], 1, "Name the module: jira, confluence."),
        (["default", "jira", "work"], 1, "There is none here"),
        (["default", "github"], 2, "either the NAME"),
        (["default", "github", "work", "--clear"], 2, "either the NAME"),
        (["default", "github", "deep"], 1, "There are: work."),
        (["default", "github", "work", "--namespace", "/.."], 1, "leads above the root"),
        (["disconnect", "github", "--yes"], 1, "several github accounts: work (/), deep (/team), work (/team)"),
        (["disconnect", "github", "work", "--yes"], 1, "several github accounts"),
        (["disconnect", "github", "none", "--yes"], 1, "no github account called 'none'"),
        (["disconnect", "notion", "--yes"], 1, "no notion account. There is none here."),
    ],
)
def test_what_cannot_be_right_is_refused_and_nothing_changes(run, value, connect, words, code, says):
    connect()
    connect(name="deep", namespace="/team")
    connect(name="work", namespace="/team")
    before = value("accounts", "list", "--json")
    result = run("accounts", *words)
    assert result.exit_code == code, result.output
    assert says in result.stderr
    assert value("accounts", "list", "--json") == before

"""`keys`: made once, kept as a hash, revoked by name."""

import pytest

from tokonoma.app import App
from tokonoma.cli.keys import parse_expiry
from tokonoma.core import clock
from tokonoma.core.call import Caller
from tokonoma.core.errors import Unauthenticated


@pytest.fixture
def app(home):
    opened: list[App] = []

    def open_app() -> App:
        opened.append(App({"home": str(home), "durable": False}, {}))
        return opened[-1]

    yield open_app
    for each in opened:
        each.close()


def caller(key: str | None) -> Caller:
    return Caller("http", token=key, remote="127.0.0.1")


def test_a_key_is_printed_alone_and_carries_what_it_was_given(run, app):
    result = run(
        *("keys", "create", "team", "--root", "/team", "--default", "/team/today"),
        *("--modules", "system", "--mask", "system.system_where,system.recent", "--expires", "90d"),
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.count("\n") == 1
    assert "From now on" in result.stderr
    who = app().identify(caller(result.stdout.strip()))
    assert (who.name, who.root, who.default) == ("key:team", "/team", "/team/today")
    assert who.reach.modules == {"system"}
    assert who.reach.mask == {"system.where", "system.recent"}


def test_the_first_key_closes_the_open_door(run, app):
    assert app().identify(caller(None)).name == "owner"
    run("keys", "create", "one")
    with pytest.raises(Unauthenticated):
        app().identify(caller(None))
    assert "From now on" not in run("keys", "create", "two").stderr


def test_a_revoked_key_is_refused_and_its_name_is_free_again(run, value, app):
    key = value("keys", "create", "laptop", "--json")["key"]
    assert app().identify(caller(key)).kind == "key"
    assert run("keys", "revoke", "laptop").exit_code == 0
    with pytest.raises(Unauthenticated):
        app().identify(caller(key))
    assert run("keys", "create", "laptop").exit_code == 0
    states = [(each["name"].split()[0], each["state"]) for each in value("keys", "list", "--json")]
    assert sorted(states) == [("laptop", "active"), ("laptop", "revoked")]


def test_a_list_shows_everything_but_the_keys(run):
    assert "no keys" in run("keys", "list").stderr
    key = run("keys", "create", "phone", "--root", "/me", "--mask", "system.where").stdout.strip()
    told = run("keys", "list").stdout
    for word in ("phone", "active", "/me", "system.where", "never"):
        assert word in told
    assert key.split("_", 2)[2] not in told


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["create", "x", "--modules", "sytem"], 1, "Did you mean 'system'?"),
        (["create", "x", "--modules", ","], 1, "names no module"),
        (["create", "x", "--mask", "system.stats"], 1, "'status'"),
        (["create", "x", "--mask", "sistem"], 1, "Did you mean 'system'?"),
        (["create", "x", "--root", "/a", "--default", "/b"], 1, "is not inside the root"),
        (["create", "x", "--root", "/../a"], 1, "leads above the root"),
        (["create", "x", "--expires", "soon"], 2, "90d"),
        (["create", "x", "--expires", "2001-01-01"], 2, "has already passed"),
        (["create", "bad\nname"], 2, "at most 64"),
        (["revoke", "nobody"], 1, "no key called 'nobody'"),
    ],
)
def test_what_cannot_be_right_is_refused_and_nothing_is_stored(run, value, words, code, says):
    result = run("keys", *words)
    assert result.exit_code == code, result.output
    assert says in result.stderr
    assert value("keys", "list", "--json") == []


def test_a_name_is_taken_once(run):
    assert run("keys", "create", "one").exit_code == 0
    result = run("keys", "create", "one")
    assert result.exit_code == 1
    assert "already a key called 'one'" in result.stderr


def test_before_the_last_key_goes_it_is_said_what_follows(run):
    for name in ("one", "two"):
        run("keys", "create", name)
    assert "last key" not in run("keys", "revoke", "two").stderr
    said = run("keys", "revoke", "one").stderr
    assert said.index("'one' is the last key. Without it, every HTTP caller is refused.") < said.index("Revoked 'one'")
    assert "tokonoma keys open" in said


def test_at_a_terminal_the_last_key_is_revoked_only_after_a_question(run, value, monkeypatch):
    run("keys", "create", "one")
    monkeypatch.setattr("tokonoma.cli.keys.stands_at_terminal", lambda: True)
    assert run("keys", "revoke", "one", stdin="n\n").exit_code == 1
    assert [each["state"] for each in value("keys", "list", "--json")] == ["active"]
    assert run("keys", "revoke", "one", stdin="y\n").exit_code == 0
    assert [each["state"] for each in value("keys", "list", "--json")] == ["revoked"]


def test_keys_open_returns_to_the_state_before_the_first_key(run, app):
    run("keys", "create", "one")
    assert "Use --yes" in run("keys", "open").stderr
    in_use = run("keys", "open", "--yes")
    assert in_use.exit_code == 1
    assert "Keys are in use: one." in in_use.stderr
    run("keys", "revoke", "one")
    with pytest.raises(Unauthenticated):
        app().identify(caller(None))
    assert "No key is required from now on" in run("keys", "open", "--yes").stderr
    assert app().identify(caller(None)).name == "owner"
    with pytest.raises(Unauthenticated):
        app().identify(Caller("http", remote="192.0.2.7"))
    assert "No key was required" in run("keys", "open", "--yes").stderr
    assert "require_key is on" in run("--require-key", "keys", "open", "--yes").stderr
    assert "From now on" in run("keys", "create", "two").stderr
    with pytest.raises(Unauthenticated):
        app().identify(caller(None))


@pytest.mark.parametrize(("text", "length"), [("30m", 1_800_000), ("12h", 43_200_000), ("90d", 7_776_000_000)])
def test_lengths_of_time(text, length):
    before = clock.now()
    assert before + length <= parse_expiry(text) <= clock.now() + length


def test_a_date_is_its_midnight_and_a_time_is_itself():
    assert parse_expiry("2999-01-31") == clock.parse_time("2999-01-31T00:00:00Z")
    assert parse_expiry("2999-01-31T12:00:00+09:00") == clock.parse_time("2999-01-31T03:00:00Z")

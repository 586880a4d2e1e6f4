"""`clients`: what people let in with OAuth, narrowed and revoked by the owner."""

from contextlib import contextmanager
from typing import Any

import pytest

from tokonoma.app import App
from tokonoma.auth.api_keys import build_reach
from tokonoma.auth.oauth.grants import create_grant
from tokonoma.auth.oauth.model import TokenClaims
from tokonoma.auth.people import add_person, ensure_owner, find_person
from tokonoma.core.call import Caller

RESOURCE = "http://127.0.0.1:8722/mcp"
BOB: dict[str, Any] = {
    "root": "/team",
    "modules": ["memory", "items", "github"],
    "mask": ["*:destroy"],
    "extras": ["github.*"],
}


@pytest.fixture
def writing(home, run):
    """A transaction of a server on this home."""
    assert run("keys", "list").exit_code == 0  # it creates the home

    @contextmanager
    def write():
        app = App({"home": str(home), "durable": False}, {})
        try:
            with app.database.writing() as statements:
                yield statements
        finally:
            app.close()

    return write


@pytest.fixture
def let_in(writing):
    def let(person, name, **reach: Any):
        with writing() as statements:
            ensure_owner(statements)
            holder = find_person(statements, person)
            claims = TokenClaims("", holder.id, "client-1", RESOURCE, "mcp")
            create_grant(statements, "client-1", name, claims, build_reach(**reach), "192.0.2.7")

    return let


@pytest.fixture
def bob(writing):
    with writing() as statements:
        add_person(statements, "bob", build_reach(**BOB))


def test_a_list_says_who_let_a_client_in_and_where_it_was_used(run, value, bob, let_in, writing):
    assert "No client was let in" in run("clients", "list").stderr
    let_in("owner", "Claude Code")
    let_in("bob", "Cursor", mask=["memory.save"])
    with writing() as statements:
        sql = "update oauth_grant set reused = 2, reused_at = 1, reused_remote = '198.51.100.9' where name = 'cursor'"
        statements.run(sql)
    first, second = value("clients", "list", "--json")
    assert (first["name"], first["person"], first["remote"]) == ("cursor", "bob", "192.0.2.7")
    assert (first["reused"], first["reused_remote"], second["reused"]) == (2, "198.51.100.9", 0)
    assert first["mask"] == ["memory.save"]
    assert first["effective"]["mask"] == ["*:destroy", "memory.save"]
    assert (second["effective"]["root"], second["person"]) == ("/", "owner")
    lines = run("clients", "list").stdout.splitlines()
    assert " ".join(lines[0].split()) == "NAME CLIENT PERSON STATE ROOT MODULES MASK USED FROM REUSED"
    assert "192.0.2.7  2 from 198.51.100.9" in lines[1]
    assert "/team" in lines[1]
    assert lines[2].endswith("192.0.2.7  -")


def test_a_client_is_narrowed_within_what_its_person_may_use(run, value, bob, let_in):
    let_in("bob", "Cursor")
    assert run("profiles", "set", "reader", "--root", "/team/x", "--mask", "*:write").exit_code == 0
    result = run("clients", "narrow", "client:cursor", "--profile", "reader", "--modules", "memory")
    assert result.exit_code == 0, result.output
    assert "*:destroy,*:write" in result.stdout
    [told] = value("clients", "list", "--json")
    assert (told["root"], told["modules"], told["mask"]) == ("/team/x", ["memory"], ["*:write"])
    assert told["effective"]["mask"] == ["*:destroy", "*:write"]
    assert run("clients", "narrow", "cursor", "--extras", "github.update_pr", "--modules", "all").exit_code == 0
    assert value("clients", "list", "--json")[0]["effective"]["modules"] == ["github", "items", "memory"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--root", "/"], "may not use the namespace /."),
        (["--root", "/teams"], "may not use the namespace /teams."),
        (["--modules", "memory,vault,claims"], "may not use the modules claims, vault."),
        (["--extras", "jira.*"], "may not use the extra tools jira.*."),
        (["--mask", "sistem"], "Did you mean 'system'?"),
    ],
)
def test_a_client_is_never_given_more_than_its_person_may_use(run, value, bob, let_in, words, says):
    let_in("bob", "Cursor", root="/team")
    before = value("clients", "list", "--json")
    result = run("clients", "narrow", "cursor", *words)
    assert (result.exit_code, says in result.stderr) == (1, True), result.output
    assert value("clients", "list", "--json") == before
    let_in("owner", "Claude")
    if "--mask" not in words:
        assert run("clients", "narrow", "claude", *words).exit_code == 0


def test_a_revoked_client_stays_in_the_list(run, value, bob, let_in):
    let_in("bob", "Cursor")
    assert "'cursor' (cursor), which 'bob' had let in" in run("clients", "revoke", "cursor").stderr
    assert [each["state"] for each in value("clients", "list", "--json")] == ["revoked"]
    for words in (["revoke", "cursor"], ["narrow", "cursor", "--root", "/team"], ["revoke", "nobody"]):
        assert run("clients", *words).exit_code == 1


def test_masks_of_clients_and_people(run, value, bob, let_in):
    let_in("bob", "bob", root="/team/x", modules=["memory", "system"])
    client, person = value("masks", "show", "client:bob", "--json"), value("masks", "show", "person:bob", "--json")
    assert (client["credential"], client["kind"], client["root"]) == ("client:bob", "client", "/team/x")
    assert client["accounts_from"] == "/team"
    assert [module["name"] for module in client["seen"]] == ["memory"]
    assert (person["credential"], person["kind"]) == ("person:bob", "web")
    assert [module["name"] for module in person["seen"]] == ["memory", "items"]
    assert "Several are called 'bob': client:bob, person:bob" in run("masks", "show", "bob").stderr
    assert value("masks", "show", "owner", "--json") == value("masks", "show", "person:owner", "--json")
    assert "hidden by mask *:destroy" in run("masks", "try", "client:bob", "memory.delete").stdout
    assert run("clients", "revoke", "bob").exit_code == 0
    assert "is revoked" in run("masks", "show", "client:bob").stderr
    assert value("masks", "show", "person:bob", "--json") == person


def test_a_local_client_takes_on_the_rights_of_a_client_or_a_person(run, bob, let_in, home):
    let_in("bob", "Cursor", root="/team/x")
    app = App({"home": str(home), "durable": False}, {})
    names = ("client:cursor", "cursor", "person:bob", "owner")
    holders = {name: app.identify(Caller("stdio", key=name)) for name in names}
    app.close()
    assert {name: (holder.name, holder.root) for name, holder in holders.items()} == {
        "client:cursor": ("client:cursor", "/team/x"),
        "cursor": ("client:cursor", "/team/x"),
        "person:bob": ("person:bob", "/team"),
        "owner": ("owner", "/"),
    }


def test_a_person_can_get_a_profile(run, value):
    run("profiles", "set", "reader", "--root", "/team", "--mask", "*:write")
    assert run("people", "add", "ada", "--profile", "reader").exit_code == 0
    [told] = [each for each in value("people", "list", "--json") if each["name"] == "ada"]
    assert (told["root"], told["mask"]) == ("/team", ["*:write"])

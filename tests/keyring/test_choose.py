"""Which account a call uses."""

import pytest

from tokonoma.core.errors import Invalid, Missing, Unready, find_error_code
from tokonoma.core.providers import SERVICE_CODES
from tokonoma.core.reach import Reach
from tokonoma.keyring.accounts import NewAccount, add_account, get_account, set_default, set_state
from tokonoma.keyring.choose import choose_account, list_usable, require_ready

OWNER = Reach()
ADA = Reach("/team/ada", "/team/ada/today")
BOB = Reach("/team/bob", "/team/bob")


@pytest.fixture
def world(sqlite_store, keyring):
    """`world.add("work", "/team")` and `world.choose(ADA)`."""

    class World:
        def add(self, name, namespace="/", provider="github", **more):
            with sqlite_store.writing() as statements:
                new = NewAccount(provider, name, namespace, **more)
                return add_account(statements, keyring, new, {"access_token": "x"})

        def prefer(self, account, namespace="/", module="github"):
            with sqlite_store.writing() as statements:
                set_default(statements, module, namespace, account)

        def choose(self, reach, named=None, module="github", **more):
            with sqlite_store.reading() as rows:
                return choose_account(rows, module, reach, named, **more)

        def refuse(self, kind, *words, **more):
            with pytest.raises(kind) as told:
                self.choose(*words, **more)
            return told.value

    return World()


def test_without_an_account_the_command_is_named(world):
    error = world.refuse(Unready, OWNER)
    assert "tokonoma connect github" in error.message
    assert find_error_code(error, SERVICE_CODES) == "TOKEN_NOT_CONFIGURED"
    assert find_error_code(world.refuse(Unready, OWNER, "work"), SERVICE_CODES) == "TOKEN_NOT_CONFIGURED"


def test_the_only_one_is_used(world):
    assert world.add("work") == world.choose(OWNER)


def test_two_are_refused_with_their_names_until_one_is_named_or_the_default(world):
    work = world.add("work")
    home = world.add("home")
    error = world.refuse(Invalid, OWNER)
    assert (error.reason, error.details["accounts"]) == ("ambiguous", ["home", "work"])
    assert "tokonoma accounts default github NAME" in error.message
    assert world.choose(OWNER, "work") == work
    world.prefer(home)
    assert world.choose(OWNER) == world.choose(ADA) == home
    error = world.refuse(Missing, OWNER, "wrok")
    assert error.details["accounts"] == ["home", "work"]


def test_an_account_serves_its_namespace_and_those_below(world):
    adas, teams = world.add("ada", "/team/ada"), world.add("team", "/team")
    world.refuse(Unready, OWNER)  # the owner borrows nobody's
    world.refuse(Missing, Reach("/team/adalbert", "/team/adalbert"), "ada")
    assert world.choose(BOB) == teams
    assert world.choose(ADA, "ada") == adas
    assert world.refuse(Missing, BOB, "ada").details["accounts"] == ["team"]
    assert world.refuse(Invalid, ADA).details["accounts"] == ["team", "ada"]
    # Who starts below, but may go everywhere in /team, is not Ada.
    assert world.choose(Reach("/team", "/team/ada")) == teams


def test_of_one_name_the_nearest_is_meant(world):
    world.add("work", "/")
    near = world.add("work", "/team")
    assert world.choose(ADA) == world.choose(ADA, "work") == near
    assert world.choose(OWNER).namespace == "/"


def test_the_nearest_default_decides(world):
    first, second, third = world.add("a"), world.add("b"), world.add("c")
    world.prefer(first, "/")
    world.prefer(second, "/team/ada")
    world.prefer(third, "/team/ada/tomorrow")
    assert world.choose(ADA) == second
    assert world.choose(BOB) == world.choose(OWNER) == first
    assert world.choose(Reach("/team/adalbert", "/team/adalbert")) == first
    assert world.choose(Reach("/", "/team/ada/tomorrow/x")) == third


def test_a_masked_account_does_not_exist(world):
    work, home = world.add("work"), world.add("home")
    world.prefer(work)
    hidden = {"sees": lambda name: name != "work"}
    assert world.choose(OWNER, **hidden) == home
    assert world.refuse(Missing, OWNER, "work", **hidden).details["accounts"] == ["home"]
    error = world.refuse(Unready, OWNER, "work", sees=lambda name: False)
    assert error.reason == "token_not_configured"


def test_one_account_serves_several_modules(world):
    account = world.add("site", provider="atlassian")
    assert world.choose(OWNER, module="jira") == world.choose(OWNER, module="confluence") == account
    other = world.add("other", provider="atlassian")
    world.prefer(other, module="jira")
    assert world.choose(OWNER, module="jira") == other
    assert world.refuse(Invalid, OWNER, module="confluence").reason == "ambiguous"
    assert "Did you mean 'jira'" in world.refuse(Missing, OWNER, module="jra").message


def test_an_app_is_no_account_to_call_with(world, sqlite_store):
    world.add("app", kind="app")
    world.refuse(Unready, OWNER)
    with sqlite_store.reading() as rows:
        assert list_usable(rows, "github", OWNER) == []


def test_a_broken_account_says_what_is_wrong(world, sqlite_store):
    account = world.add("work")
    require_ready(account)
    with sqlite_store.writing() as statements:
        set_state(statements, account, "The token was revoked.")
        broken = get_account(statements, account.id)
    with pytest.raises(Unready, match=r"revoked\. .*tokonoma connect github --account work") as told:
        require_ready(broken)
    assert find_error_code(told.value, SERVICE_CODES) == "TOKEN_INVALID"

"""Accounts and their secrets, on both databases."""

from typing import Any

import pytest

from tokonoma.core.errors import Conflict, Invalid, Missing, Unavailable
from tokonoma.keyring.accounts import (
    NewAccount,
    add_account,
    clear_default,
    disconnect_account,
    get_account,
    list_accounts,
    list_defaults,
    read_secrets,
    replace_account,
    set_default,
    set_state,
)
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.source import GivenKey, HomeKey
from tokonoma.keyring.status import check_keyring

pytestmark = pytest.mark.migrated

TOKEN = {"access_token": "ghp_canary", "refresh_token": "ghr_canary"}


def add(store, keyring, name: Any = "work", provider: Any = "github", secrets: Any = TOKEN, **more: Any):
    with store.writing() as statements:
        return add_account(statements, keyring, NewAccount(provider, name, **more), secrets)


def read(store, keyring, account):
    with store.reading() as rows:
        return read_secrets(rows, keyring, account)


def corrupt(store, sql, **values):
    with store.writing() as statements:
        assert statements.run(sql, **values) > 0


def test_an_account_is_read_back_as_it_was_added(store, keyring, home):
    facts: dict[str, Any] = {
        "who": "ada",
        "details": {"site": "x"},
        "scopes": ("repo",),
        "expires_at": 5,
        "kind": "oauth",
    }
    account = add(store, keyring, namespace="/team/", **facts)
    with store.reading() as rows:
        assert list_accounts(rows) == list_accounts(rows, "github") == [account] == [get_account(rows, account.id)]
        assert list_accounts(rows, "notion") == []
    assert (account.namespace, account.generation, account.state, account.details) == (
        "/team",
        1,
        "ready",
        {"site": "x"},
    )
    assert read(store, keyring, account) == TOKEN
    assert read(store, Keyring(HomeKey(home)), account) == TOKEN  # as another process does
    assert "canary" not in repr(read(store, keyring, account)) + str(read(store, keyring, account))


def test_nothing_readable_of_a_secret_is_stored(store, keyring):
    add(store, keyring)
    with store.reading() as rows:
        (stored,) = rows.rows(
            "select sealed, wrapped from account_secret join keyring_key on true where field = 'access_token'"
        )
        assert all(b"canary" not in bytes(value) for value in stored)


def test_a_name_is_taken_once_per_provider_and_namespace(store, keyring):
    add(store, keyring)
    with pytest.raises(Conflict, match="already a github account called 'work' in /"):
        add(store, keyring)
    add(store, keyring, namespace="/team")
    add(store, keyring, provider="notion")


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a\nb", "a@b", "../x"])
def test_a_name_that_no_mask_could_write_is_refused(sqlite_store, keyring, name):
    with pytest.raises(Invalid, match="at most 64"):
        add(sqlite_store, keyring, name=name)


@pytest.mark.parametrize("secrets", [{"access_token": ""}, {"Bad Name": "x"}, {"a\0b": "x"}])
def test_an_empty_secret_is_never_stored(sqlite_store, keyring, secrets):
    with pytest.raises(Invalid, match="no value"):
        add(sqlite_store, keyring, secrets=secrets)
    with sqlite_store.reading() as rows:
        assert list_accounts(rows) == []


def test_connecting_again_replaces_every_secret(store, keyring):
    old = add(store, keyring)
    with store.writing() as statements:
        set_state(statements, old, "revoked")
        new = replace_account(statements, keyring, NewAccount("github", "work", who="ada"), {"access_token": "new"})
    assert (new.id, new.generation, new.state, new.problem, new.who) == (old.id, 2, "ready", "", "ada")
    assert read(store, keyring, new) == {"access_token": "new"}
    with store.writing() as statements, pytest.raises(Missing, match="no github account called 'other'"):
        replace_account(statements, keyring, NewAccount("github", "other"), {"access_token": "x"})


def test_a_problem_of_earlier_secrets_says_nothing_of_these(store, keyring):
    old = add(store, keyring)
    with store.writing() as statements:
        replace_account(statements, keyring, NewAccount("github", "work"), TOKEN)
        assert set_state(statements, old, "the service refused it") is False
        new = get_account(statements, old.id)
        assert new.state == "ready"
        assert set_state(statements, new, "x" * 900) is True
        broken = get_account(statements, old.id)
        assert (broken.state, len(broken.problem)) == ("broken", 500)
        assert set_state(statements, broken, "") is True
        assert get_account(statements, old.id).state == "ready"


def test_a_disconnected_account_leaves_nothing(store, keyring):
    work, home = add(store, keyring), add(store, keyring, name="home")
    with store.writing() as statements:
        set_default(statements, "github", "/", work)
        disconnect_account(statements, work)
        assert statements.rows("select distinct account from account_secret") == [(home.id,)]
        assert statements.rows("select * from account_default") == []
        with pytest.raises(Missing):
            get_account(statements, work.id)
    assert read(store, keyring, home) == TOKEN


def test_without_accounts_a_lost_master_key_is_no_obstacle(store, keyring, home):
    account = add(store, keyring)
    (home / "keyring.key").unlink()
    lost = Keyring(HomeKey(home))
    with pytest.raises(Unavailable, match="is missing") as told:
        read(store, lost, account)
    assert told.value.reason == "sealed"
    with pytest.raises(Unavailable, match="is missing"):
        add(store, lost, name="second")
    assert not (home / "keyring.key").exists()  # no second key beside data of the first
    with store.writing() as statements:
        disconnect_account(statements, account)
    assert read(store, lost, add(store, lost, name="second")) == TOKEN


def test_a_wrong_master_key_is_told_at_once(store, keyring):
    account = add(store, keyring)
    wrong = Keyring(GivenKey("the setting x", "ab" * 32))
    for use in (lambda: read(store, wrong, account), lambda: add(store, wrong, name="other")):
        with pytest.raises(Unavailable, match="another master key") as told:
            use()
        assert told.value.reason == "sealed"
        assert "the setting x" in told.value.message
        assert "ab" * 8 not in told.value.message
    with store.reading() as rows:
        assert [each.name for each in list_accounts(rows)] == ["work"]
        assert check_keyring(rows, wrong).state == "sealed"
    assert read(store, keyring, account) == TOKEN


def test_exchanged_rows_are_told(store, keyring):
    work, home = add(store, keyring), add(store, keyring, name="home", secrets={"access_token": "other"})
    corrupt(
        store,
        """update account_secret set sealed = (select sealed from account_secret where account = :other
        and field = 'access_token') where account = :id and field = 'access_token'""",
        id=work.id,
        other=home.id,
    )
    with pytest.raises(Unavailable, match="'access_token' of the github account 'work' was sealed for another") as told:
        read(store, keyring, work)
    assert told.value.reason == "swapped"
    with store.reading() as rows:
        assert check_keyring(rows, keyring).unreadable == {"github/work access_token": "swapped"}


def test_a_damaged_value_and_a_damaged_data_key_are_told(store, keyring, home):
    account = add(store, keyring)
    corrupt(store, "update account_secret set sealed = :value where field = 'access_token'", value=b"")
    with pytest.raises(Unavailable, match="is cut off"):
        read(store, keyring, account)
    with store.reading() as rows:
        ((wrapped,),) = rows.rows("select wrapped from keyring_key")
    flipped = bytes(wrapped)[:-1] + bytes([bytes(wrapped)[-1] ^ 1])
    corrupt(store, "update keyring_key set wrapped = :value", value=flipped)
    with pytest.raises(Unavailable, match="'data_key' of the keyring is damaged"):
        read(store, Keyring(HomeKey(home)), account)


def test_secrets_that_are_gone_are_never_an_empty_answer(store, keyring):
    account = add(store, keyring)
    corrupt(store, "delete from account_secret")
    with pytest.raises(Unavailable, match="secrets of the github account 'work' are gone"):
        read(store, keyring, account)
    with store.reading() as rows:
        assert check_keyring(rows, keyring).unreadable == {"github/work": "missing"}
    with store.writing() as statements:
        disconnect_account(statements, account)
    with pytest.raises(Missing, match="no longer connected"):
        read(store, keyring, account)
    with pytest.raises(Invalid, match="no secret"):
        add(store, keyring, secrets={})


def test_a_default_is_for_a_module_that_the_account_serves(store, keyring):
    work = add(store, keyring, provider="atlassian", namespace="/team")
    app = add(store, keyring, provider="atlassian", namespace="/team", name="app", kind="app")
    with store.writing() as statements:
        set_default(statements, "jira", "/team/ada", work)
        set_default(statements, "confluence", "/team", work)
        defaults = [(each.namespace, each.module) for each in list_defaults(statements, [work])]
        assert defaults == [("/team", "confluence"), ("/team/ada", "jira")]
        for module, space, account in (("github", "/team", work), ("jira", "/", work), ("jira", "/team", app)):
            with pytest.raises(Invalid, match=r"does not serve|serves /team and below, not /\."):
                set_default(statements, module, space, account)
        assert clear_default(statements, "jira", "/team/ada") is True
        assert clear_default(statements, "jira", "/team/ada") is False

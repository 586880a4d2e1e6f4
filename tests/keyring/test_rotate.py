"""New keys while others work, and processes that are killed meanwhile."""

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import SOAK

from tokonoma.core.errors import Missing, Unavailable
from tokonoma.keyring import rotate as rotating
from tokonoma.keyring.accounts import NewAccount, add_account, list_accounts, read_secrets, replace_account
from tokonoma.keyring.data_keys import Keyring, read_snapshot
from tokonoma.keyring.rotate import is_rotating, move_secrets, read_master, rekey, start_rotation
from tokonoma.keyring.source import GivenKey, HomeKey, build_master, generate_master
from tokonoma.keyring.status import check_keyring
from tokonoma.keyring.tables import TABLES
from tokonoma.store.migrate import migrate

pytestmark = pytest.mark.migrated

HERE = Path(__file__).parent
ROWS, BATCH = (10_000, 200) if SOAK else (30, 20)


@pytest.fixture
def accounts(store, keyring):
    with store.writing() as statements:
        return [
            add_account(statements, keyring, NewAccount("github", f"n{number}"), {"access_token": f"a{number}"})
            for number in range(7)
        ]


def read_all(store, keyring):
    return read_snapshot(
        store.reading,
        lambda rows: {each.name: read_secrets(rows, keyring, each)["access_token"] for each in list_accounts(rows)},
    )


def test_a_snapshot_from_before_a_new_master_key_is_read_again(store, keyring, accounts, home):
    late, tries = Keyring(HomeKey(home)), []

    def read(rows):
        found = list_accounts(rows)  # the snapshot begins here
        if not tries:
            other = threading.Thread(target=rekey, args=(store.writing, keyring, generate_master()))
            other.start()
            other.join()
        tries.append(1)
        return [read_secrets(rows, late, each)["access_token"] for each in found]

    assert read_snapshot(store.reading, read) == list(EXPECTED.values())
    assert len(tries) == 2


def list_keys(store):
    with store.reading() as rows:
        return {key for (key,) in rows.rows("select id from keyring_key")}


def start(store, keyring):
    with store.writing() as statements:
        return start_rotation(statements, keyring)


EXPECTED = {f"n{number}": f"a{number}" for number in range(7)}


def test_a_rotation_moves_every_row_and_drops_the_old_key(store, keyring, accounts, home, monkeypatch):
    monkeypatch.setattr(rotating, "BATCH", 3)
    old = list_keys(store)
    new = start(store, keyring)
    with store.writing() as statements:  # in use from now on
        replace_account(statements, keyring, NewAccount("github", "n0"), {"access_token": "a0"})
        assert is_rotating(statements)
        used = statements.rows("select key_id from account_secret where account = :id", id=accounts[0].id)
    assert used == [(new,)]
    assert read_all(store, Keyring(HomeKey(home))) == EXPECTED
    assert [step.moved for step in move_secrets(store.writing, keyring)] == [3, 3, 0]
    assert list_keys(store) == {new}
    assert old.isdisjoint({new})
    assert read_all(store, Keyring(HomeKey(home))) == EXPECTED
    with store.reading() as rows:
        assert not is_rotating(rows)


def test_a_row_that_does_not_open_stays_with_its_key(store, keyring, accounts, monkeypatch):
    monkeypatch.setattr(rotating, "BATCH", 3)
    with store.writing() as statements:
        values = {"value": b"\1" * 60, "id": accounts[2].id}
        statements.run("update account_secret set sealed = :value where account = :id", **values)
    (old,), new = list_keys(store), start(store, keyring)
    steps = list(move_secrets(store.writing, keyring))
    assert (sum(step.moved for step in steps), sum(step.unreadable for step in steps)) == (6, 1)
    assert list_keys(store) == {old, new}
    with store.reading() as rows:
        status = check_keyring(rows, keyring)
    assert (status.unreadable, status.retired_keys) == ({"github/n2 access_token": "truncated"}, 1)


def test_without_the_master_key_nothing_is_begun(store, keyring, accounts):
    wrong = Keyring(GivenKey("x", "ab" * 32))
    old = list_keys(store)
    for use in (lambda: start(store, wrong), lambda: list(move_secrets(store.writing, wrong))):
        with pytest.raises(Unavailable, match="another master key"):
            use()
    with pytest.raises(Unavailable, match="another master key"):
        rekey(store.writing, wrong, generate_master())
    assert list_keys(store) == old
    assert read_all(store, keyring) == EXPECTED


def test_an_empty_keyring_has_nothing_to_change(store, keyring, home):
    for use in (lambda: start(store, keyring), lambda: rekey(store.writing, keyring, generate_master())):
        with pytest.raises(Missing, match="is empty"):
            use()
    with store.reading() as rows, pytest.raises(Missing, match="is empty"):
        read_master(rows, keyring)
    assert not (home / "keyring.key").exists()


def test_others_read_and_write_meanwhile(store, keyring, accounts, home, monkeypatch):
    """Two rotations at once, a new master key, writers and readers: at the end every secret is the last one written."""
    monkeypatch.setattr(rotating, "BATCH", 2)
    written, stop, failures = dict(EXPECTED), threading.Event(), list[BaseException]()

    def write(names):
        own, chance = Keyring(HomeKey(home)), random.Random(names[0])
        while not stop.is_set():
            name, text = chance.choice(names), f"{chance.random()}"
            with store.writing() as statements:
                replace_account(statements, own, NewAccount("github", name), {"access_token": text})
            written[name] = text

    def read():
        own = Keyring(HomeKey(home))
        while not stop.is_set():
            assert len(read_all(store, own)) == 7

    def rotate():
        own = Keyring(HomeKey(home))
        for _ in range(20 if SOAK else 3):
            start(store, own)
            for _ in move_secrets(store.writing, own):
                pass

    def guarded(work, *given):
        try:
            work(*given)
        except BaseException as error:
            failures.append(error)

    works = [(write, ["n0", "n1", "n2"]), (write, ["n3", "n4"]), (read,)]
    beside = [threading.Thread(target=guarded, args=each) for each in works]
    rotations = [threading.Thread(target=guarded, args=(rotate,)) for _ in range(2)]
    for each in (*beside, *rotations):
        each.start()
    own = Keyring(HomeKey(home))
    for _ in range(3):
        rekey(store.writing, own, generate_master())
    for each in rotations:
        each.join()
    stop.set()
    for each in beside:
        each.join()
    assert failures == []
    assert read_all(store, Keyring(HomeKey(home))) == written
    for _ in move_secrets(store.writing, keyring):
        pass
    assert len(list_keys(store)) == 1


@pytest.fixture
def postgres_store(postgres_database):
    """Where writers work at the same time. On SQLite there is one."""
    migrate(postgres_database, "keyring", TABLES, lambda reason: None)
    return postgres_database


def start_and_wait(statements, work, *given) -> threading.Thread:
    """Start this beside an open transaction, for which it has to wait."""
    thread = threading.Thread(target=work, args=given)
    thread.start()
    while thread.is_alive() and statements.rows("select count(*) from pg_locks where not granted") == [(0,)]:
        pass
    assert thread.is_alive()
    return thread


def add(store, keyring, name):
    with store.writing() as statements:
        add_account(statements, keyring, NewAccount("github", name), {"access_token": name})


def test_a_key_is_not_retired_while_something_is_being_sealed_with_it(postgres_store, keyring):
    add(postgres_store, keyring, "n0")
    with postgres_store.writing() as statements:
        add_account(statements, keyring, NewAccount("github", "n1"), {"access_token": "n1"})
        rotation = start_and_wait(statements, start, postgres_store, keyring)
    rotation.join()
    assert [step.moved for step in move_secrets(postgres_store.writing, keyring)] == [2]
    assert len(list_keys(postgres_store)) == 1
    assert read_all(postgres_store, keyring) == {"n0": "n0", "n1": "n1"}


def test_two_that_begin_at_once_make_one_data_key(postgres_store, keyring, home):
    with postgres_store.writing() as statements:
        add_account(statements, keyring, NewAccount("github", "n0"), {"access_token": "n0"})
        second = start_and_wait(statements, add, postgres_store, Keyring(HomeKey(home)), "n1")
    second.join()
    assert len(list_keys(postgres_store)) == 1
    assert read_all(postgres_store, keyring) == {"n0": "n0", "n1": "n1"}


def test_a_rotation_that_is_killed_in_every_batch_loses_nothing(database_url, home):
    count = ROWS if SOAK or database_url.startswith("sqlite") else 10
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    words = [sys.executable, str(HERE / "rotating.py"), database_url, str(home), str(count), str(BATCH)]
    done = subprocess.run(words, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 2 * (count // BATCH + 1)  # in every batch, before its commit and after it


def test_a_new_master_key_opens_what_the_old_one_did(store, keyring, accounts, home):
    old = HomeKey(home).read()[0]
    new = generate_master()
    keys = list_keys(store)
    assert rekey(store.writing, keyring, new) == 1
    assert HomeKey(home).read() == [new]
    assert list_keys(store) == keys  # the secrets were not touched
    assert read_all(store, Keyring(HomeKey(home))) == EXPECTED
    assert read_all(store, keyring) == EXPECTED
    with pytest.raises(Unavailable, match="another master key"):
        read_all(store, Keyring(GivenKey("x", old.key.hex())))


class Killed(BaseException):
    pass


@pytest.mark.parametrize("step", ["stage", "after stage", "commit", "promote"])
def test_a_crash_at_any_step_of_a_rekey_leaves_a_key_that_opens(store, keyring, accounts, home, step, monkeypatch):
    def die(*_):
        raise Killed

    real_stage = HomeKey.stage
    if step in ("stage", "promote"):
        monkeypatch.setattr(HomeKey, step, die)
    elif step == "after stage":
        monkeypatch.setattr(HomeKey, "stage", lambda self, key: (real_stage(self, key), die()))
    else:
        monkeypatch.setattr(rotating, "_wrap_all", die)
    with pytest.raises(Killed):
        rekey(store.writing, keyring, generate_master())
    monkeypatch.undo()
    assert read_all(store, Keyring(HomeKey(home))) == EXPECTED
    # Another crash of the next attempt, then one that succeeds.
    monkeypatch.setattr(HomeKey, "promote", die)
    with pytest.raises(Killed):
        rekey(store.writing, Keyring(HomeKey(home)), generate_master())
    monkeypatch.undo()
    assert read_all(store, Keyring(HomeKey(home))) == EXPECTED
    last = generate_master()
    rekey(store.writing, Keyring(HomeKey(home)), last)
    assert HomeKey(home).read() == [last]
    assert read_all(store, Keyring(HomeKey(home))) == EXPECTED


def test_a_given_master_key_is_changed_by_its_owner(store):
    before, after = Keyring(GivenKey("x", "ab" * 32)), Keyring(GivenKey("x", "cd" * 32))
    with store.writing() as statements:
        add_account(statements, before, NewAccount("github", "n0"), {"access_token": "a0"})
    assert rekey(store.writing, before, build_master(b"\xcd" * 32)) == 1
    assert read_all(store, after) == {"n0": "a0"}
    with pytest.raises(Unavailable, match="another master key"):
        read_all(store, Keyring(GivenKey("x", "ab" * 32)))

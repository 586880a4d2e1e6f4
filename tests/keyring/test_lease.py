"""One refresh per generation: threads, processes, killed ones, on both databases."""

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings
from hypothesis import strategies as st

from tokonoma.core.clock import now
from tokonoma.keyring.accounts import NewAccount, add_account, get_account, read_secrets, replace_account, set_state
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.lease import release_lease, store_refreshed, take_lease
from tokonoma.keyring.source import GivenKey
from tokonoma.keyring.tables import TABLES
from tokonoma.store.database import format_sqlite_url, open_database
from tokonoma.store.migrate import migrate

pytestmark = pytest.mark.migrated

HERE = Path(__file__).parent
ROUNDS = 100 if SOAK else 8
KEYRING = Keyring(GivenKey("x", "ab" * 32))
FIRST = {"access_token": "a1", "refresh_token": "r1"}


@pytest.fixture
def account(store, keyring):
    with store.writing() as statements:
        return add_account(statements, keyring, NewAccount("github", "work", kind="oauth"), FIRST)


def take(store, account, **more) -> Any:
    with store.writing() as statements:
        return take_lease(statements, account, **more)


def save(store, keyring, lease, number) -> Any:
    with store.writing() as statements:
        return store_refreshed(statements, keyring, lease, {"access_token": f"a{number}"}, number)


def test_a_refresh_stores_what_it_got_and_counts(store, keyring, account):
    lease = take(store, account)
    assert take(store, account) is None
    new = save(store, keyring, lease, 2)
    assert (new.generation, new.expires_at, new.state) == (2, 2, "ready")
    assert new.refreshed_at is not None
    with store.reading() as rows:
        assert read_secrets(rows, keyring, new) == {"access_token": "a2", "refresh_token": "r1"}
    assert take(store, account) is None  # the secrets that it saw are no longer there
    assert take(store, new) is not None


def test_a_released_lease_is_free_and_anothers_is_not_released(store, account):
    first = take(store, account)
    with store.writing() as statements:
        release_lease(statements, replace(first, holder="other"))
    assert take(store, account) is None
    with store.writing() as statements:
        release_lease(statements, first)
    assert take(store, account) is not None


def test_an_expired_lease_is_taken_over_and_the_first_to_store_wins(store, keyring, account):
    start = now()
    slow = take(store, account, at=start)
    assert take(store, account, at=start + 30_000) is None
    fast = take(store, account, at=start + 30_001)
    assert save(store, keyring, slow, 2).generation == 2  # it is the newest that the provider gave
    assert save(store, keyring, fast, 3) is None
    with store.reading() as rows:
        assert read_secrets(rows, keyring, account)["access_token"] == "a2"


def test_a_clock_that_is_ahead_does_not_hold_a_lease_for_longer(store, account):
    start = now()
    assert take(store, account, at=start + 9_000_000) is not None
    assert take(store, account, at=start) is None  # but it is held for a lease's time
    assert take(store, account, at=start + 30_001) is not None


def test_connecting_again_and_disconnecting_end_a_refresh_under_way(store, keyring, account):
    lease = take(store, account)
    with store.writing() as statements:
        new = replace_account(statements, keyring, NewAccount("github", "work"), {"access_token": "pasted"})
    assert save(store, keyring, lease, 2) is None
    with store.writing() as statements:
        assert set_state(statements, account, "invalid_grant") is False
    with store.reading() as rows:
        assert read_secrets(rows, keyring, new) == {"access_token": "pasted"}
        assert get_account(rows, account.id).state == "ready"


def test_threads_refresh_every_generation_once(store, keyring, account):
    asked = Counter()

    def refresh(_: int) -> None:
        while True:
            with store.reading() as rows:
                seen = get_account(rows, account.id)
            if seen.generation > ROUNDS:
                return
            lease = take(store, seen)
            if lease is not None:
                asked[lease.generation] += 1
                save(store, keyring, lease, lease.generation + 1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(refresh, range(4)))
    assert asked == dict.fromkeys(range(1, ROUNDS + 1), 1)


def test_killed_processes_leave_every_generation_to_one_winner(store, database_url, tmp_path):
    with store.writing() as statements:
        account = add_account(statements, KEYRING, NewAccount("github", "work"), FIRST)
    log, environ = tmp_path / "log", {**os.environ, "PYTHONPATH": str(HERE.parent)}
    words = [sys.executable, str(HERE / "refreshing.py"), database_url, account.id, str(log), str(ROUNDS)]
    done = subprocess.run(words, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in log.read_text().splitlines()]
    stored = Counter(int(generation) for generation, what in lines if what == "stored")
    assert stored == dict.fromkeys(range(1, ROUNDS + 1), 1)
    assert any(what == "killed" for _, what in lines)
    with store.reading() as rows:
        assert read_secrets(rows, KEYRING, account) == {**FIRST, "access_token": f"a{ROUNDS + 1}"}


STEPS = st.lists(st.tuples(st.sampled_from(["take", "store", "release", "wait"]), st.integers(0, 3)), max_size=30)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    database = open_database(format_sqlite_url(tmp_path_factory.mktemp("lease") / "x.db"), durable=False)
    migrate(database, "keyring", TABLES, lambda reason: None)
    yield database
    database.close()


@settings(max_examples=2_000 if SOAK else 40)
@given(steps=STEPS)
def test_any_order_of_steps_has_one_holder_and_one_winner(shared_store, steps):
    """Against a model in a few lines: who holds the lease, until when, and which generation is stored."""
    with shared_store.writing() as statements:
        statements.run("delete from account_secret")
        statements.run("delete from account")
        account = add_account(statements, KEYRING, NewAccount("github", "work"), FIRST)
        at, generation, holder, until = 1_000, 1, None, 0
        leases = {}
        for step, who in steps:
            if step == "wait":
                at += 11_000 * who
            elif step == "take":
                seen = get_account(statements, account.id)
                lease = take_lease(statements, seen, at=at)
                assert (lease is not None) == (holder is None or until < at)
                if lease is not None:
                    leases[who], holder, until = lease, lease.holder, at + 30_000
            elif who in leases and step == "release":
                release_lease(statements, leases[who])
                holder = None if holder == leases[who].holder else holder
            elif who in leases:
                won = store_refreshed(statements, KEYRING, leases[who], {"access_token": f"a{who}"}, None)
                assert (won is not None) == (leases[who].generation == generation)
                if won is not None:
                    generation, holder = generation + 1, None
                    assert read_secrets(statements, KEYRING, won)["access_token"] == f"a{who}"
        assert get_account(statements, account.id).generation == generation

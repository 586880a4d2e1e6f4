"""Pruning on both databases: the oldest go, the rest still verifies, and tampering with either still shows."""

import json

import pytest
from conftest import FrozenClock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.journal import prune
from tokonoma.journal.chain import TABLES
from tokonoma.journal.verify import verify
from tokonoma.journal.writer import JournalWriter
from tokonoma.store.migrate import migrate


@pytest.fixture
def clock(frozen_clock):
    frozen_clock.at = 1_000
    return frozen_clock


@pytest.fixture
def store(database):
    migrate(database, "journal", TABLES, lambda reason: None)
    return database


def keeper(store):
    return JournalWriter(store.writing, lambda: "open-1")


def call(number=0):
    made = Call("memory", "save", {}, Caller("stdio"), request_id=f"r{number}", trace_id="t", bytes_in=number)
    made.identified = OWNER
    return made


def write(keep, *numbers):
    for number in numbers:
        with keep.write(call(number)):
            pass


def pruned(store, before, keep=None):
    """As the command does it, by a process of its own unless one is given."""
    own, removed = keep or keeper(store), 0
    for done in own.prune(call(99), before):
        removed += done.entries
        assert problems(store) == ()  # after every single transaction
    if keep is None:
        own.close()
    return removed


def problems(store):
    with store.reading() as rows:
        return verify(rows).problems


def calls(store):
    with store.reading() as rows:
        return {row[0] for row in rows.rows("select bytes_in from journal where kind = 'call'")}


def tampered(store, sql):
    with store.writing() as statements:
        statements.run(sql)


def test_the_oldest_go_and_the_rest_verifies(store, clock):
    first = keeper(store)
    write(first, 1, 2)
    clock.at = 2_000
    write(first, 3)
    first.close()
    assert pruned(store, 2_000) == 3  # the strand's first entry too
    assert calls(store) == {3, 99}
    assert problems(store) == ()


def test_nothing_that_is_old_enough_writes_nothing(store, clock):
    write(keeper(store), 1)
    with store.reading() as rows:
        before = rows.rows("select * from journal")
    assert pruned(store, 1_000, keeper(store)) == 0
    with store.reading() as rows:
        assert rows.rows("select * from journal") == before


def test_a_checkpoint_says_what_went_and_where_it_ended(store, clock):
    first = keeper(store)
    write(first, 1, 2)
    clock.at = 2_000
    write(first, 3)
    with store.reading() as rows:
        (strand, head) = rows.row("select strand, hash from journal where bytes_in = 2")
    pruned(store, 2_000)
    with store.reading() as rows:
        (said,) = rows.row("select anchors from journal where kind = 'prune'")
        (who,) = rows.row("select principal from journal where bytes_in = 99")
    assert json.loads(said) == {"before": 2_000, "entries": 3, "heads": [[strand, 2, bytes(head).hex()]]}
    assert who == "owner"


def test_a_writer_that_has_long_been_silent_goes_on(store, clock):
    running = keeper(store)
    write(running, 1, 2)
    clock.at = 2_000
    assert pruned(store, 2_000) == 2  # it may still run: its last entry stays
    assert pruned(store, 2_000) == 0
    clock.at = 3_000
    pruned(store, 3_000)
    write(running, 3)
    running.close()
    assert calls(store) == {2, 3, 99}
    assert problems(store) == ()


def test_what_others_were_anchored_to_may_go(store, clock):
    first = keeper(store)
    write(first, 1)
    first.close()
    clock.at = 2_000
    second = keeper(store)
    write(second, 2)  # anchored to the end of the first
    assert pruned(store, 2_000) == 3
    assert calls(store) == {2, 99}
    assert problems(store) == ()


def test_pruning_again_and_again_keeps_one_head_of_each_chain(store, clock):
    running = keeper(store)
    for time in range(2_000, 30_000, 1_000):
        write(running, time)
        once = keeper(store)
        write(once, time + 1)
        once.close()
        clock.at = time
        pruned(store, time - 3_000)
        assert problems(store) == ()
    running.close()
    assert problems(store) == ()
    with store.reading() as rows:
        heads, line = prune.read_checkpoints(rows)
        (entries,) = rows.row("select count(*) from journal")
    assert line == 26_000
    assert entries < 60
    assert len(heads) < 30  # chains that no entry refers to are forgotten


def test_an_interrupted_pruning_leaves_a_journal_that_verifies(store, clock, monkeypatch):
    monkeypatch.setattr(prune, "_GROUP_SIZE", 4)
    monkeypatch.setattr(prune, "_NEWEST", 6)
    monkeypatch.setattr("tokonoma.journal.chain._NEWEST", 2)
    for number in range(6):
        once = keeper(store)
        write(once, number, number + 10)
        once.close()
    clock.at = 2_000
    steps = 0
    for _ in keeper(store).prune(call(99), 2_000):
        steps += 1
        assert problems(store) == ()
        late = keeper(store)  # others come and go meanwhile
        write(late, 50)
        late.close()
        assert problems(store) == ()
    assert steps > 5
    assert calls(store) == {50, 99}


TAMPERING = {
    "an entry that stays is changed": "update journal set tool = 'other' where bytes_in = 3",
    "an entry that stays is taken out": "delete from journal where bytes_in = 3",
    "more is taken off the front": "delete from journal where bytes_in in (3, 4)",
    "the checkpoint is changed": "update journal set anchors = replace(anchors, '2000', '2001') where kind = 'prune'",
    "the checkpoint is taken out": "delete from journal where kind = 'prune'",
    "what went comes back": "insert into journal select strand, 0, at, kind, request_id, trace_id, parent, principal, "
    "transport, remote, module, tool, outcome, code, duration_us, policy, bytes_in, bytes_out, anchors, hash "
    "from journal where bytes_in = 3",
}


@pytest.mark.parametrize("sql", TAMPERING.values(), ids=TAMPERING)
def test_tampering_still_shows(store, clock, sql):
    first = keeper(store)
    write(first, 1, 2)
    clock.at = 2_000
    write(first, 3, 4, 5)
    assert pruned(store, 2_000) == 3
    tampered(store, sql)
    assert problems(store) != ()


def test_an_anchor_to_the_last_entry_that_went_is_compared_with_the_checkpoint(store, clock):
    first = keeper(store)
    write(first, 1, 2)
    clock.at = 2_000
    write(keeper(store), 9)  # anchored to the second entry of the first chain
    write(first, 3)
    pruned(store, 2_000)
    with store.reading() as rows:
        (strand, _) = rows.row("select strand, hash from journal where bytes_in = 3")
        (said,) = rows.row("select anchors from journal where kind = 'prune'")
    other = json.dumps({**json.loads(said), "heads": [[strand, 2, "00" * 32]]})
    with store.writing() as statements:
        statements.run("update journal set anchors = :other where kind = 'prune'", other=other)
    assert any("anchored to" in problem for problem in problems(store))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["write", "open", "close", "prune"]), st.integers(0, 4)), max_size=25))
def test_whatever_happens_in_between_it_verifies(sqlite_database, monkeypatch, steps):
    clock = FrozenClock(monkeypatch)
    clock.at = 1_000
    migrate(sqlite_database, "journal", TABLES, lambda reason: None)
    tampered(sqlite_database, "delete from journal")
    open_now = [keeper(sqlite_database)]
    for what, number in steps:
        clock.at += 1_000
        if what == "write":
            write(open_now[number % len(open_now)], number)
        elif what == "open":
            open_now.append(keeper(sqlite_database))
            write(open_now[-1], number)
        elif what == "close" and len(open_now) > 1:
            open_now.pop(number % len(open_now)).close()
        elif what == "prune":
            pruned(sqlite_database, clock.at - number * 1_000)
    assert problems(sqlite_database) == ()

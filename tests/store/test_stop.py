"""Stopping what a database is doing, from another thread."""

import threading

import pytest

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Unavailable

# Neither ends by itself within the life of a test.
ENDLESS = "with recursive c(n) as (select cast(1 as {big}) union all select n + 1 from c) select count(*) from c"


@pytest.mark.parametrize("block", ["reading", "writing"])
@pytest.mark.parametrize("reason", ["timeout", "cancelled"])
def test_a_running_statement_is_stopped(database, block, reason):
    stop = CancelToken()
    threading.Timer(0.05, stop.cancel, [reason]).start()
    with pytest.raises(Unavailable) as refused, getattr(database, block)(stop) as tx:
        tx.rows(ENDLESS)
    assert refused.value.reason == reason
    with database.writing(CancelToken()) as tx:  # the connection, or its successor, works on
        assert tx.rows("select 1") == [(1,)]


def test_a_stopped_write_changes_nothing(database):
    with database.writing() as tx:
        tx.run("create table word (text {text})")
    stop = CancelToken()
    with pytest.raises(Unavailable), database.writing(stop) as tx:
        tx.run("insert into word values ('a')")
        threading.Timer(0.05, stop.cancel, ["timeout"]).start()
        tx.run("insert into word select 'b' from (" + ENDLESS + ") as endless")
    with database.reading() as tx:
        assert tx.rows("select * from word") == []


def test_a_stop_between_statements_is_noticed_before_the_commit(database):
    with database.writing() as tx:
        tx.run("create table word (text {text})")
    stop = CancelToken()
    with pytest.raises(Unavailable) as refused, database.writing(stop) as tx:
        tx.run("insert into word values ('a')")
        stop.cancel("timeout")
    assert refused.value.reason == "timeout"
    with database.reading() as tx:
        assert tx.rows("select * from word") == []


def test_stops_that_come_at_any_moment_leave_the_next_block_alone(database):
    """The instant before a statement starts is the dangerous one: an interrupt then goes unheard."""
    for round in range(30):
        stop = CancelToken()
        threading.Timer(round / 30_000, stop.cancel, ["cancelled"]).start()
        with pytest.raises(Unavailable), database.reading(stop) as tx:
            tx.rows(ENDLESS)
        with database.reading() as tx:
            assert tx.rows("select 1") == [(1,)]


def test_who_waits_for_a_turn_can_be_stopped(database):
    if database.kind == "postgresql":
        with database.writing() as tx:
            tx.run("create table word (text {text})")
    waiting, stop = threading.Event(), CancelToken()
    outcome: list[str] = []

    def write() -> None:
        waiting.set()
        try:
            with database.writing(stop) as tx:
                if database.kind == "postgresql":
                    tx.run("lock table word")
        except Unavailable as refused:
            outcome.append(refused.reason)

    with database.writing() as tx:
        if database.kind == "postgresql":
            tx.run("lock table word")
        thread = threading.Thread(target=write)
        thread.start()
        waiting.wait()
        threading.Timer(0.05, stop.cancel, ["cancelled"]).start()
        thread.join()
    assert outcome == ["cancelled"]
    with database.writing() as tx:
        assert tx.rows("select 1") == [(1,)]

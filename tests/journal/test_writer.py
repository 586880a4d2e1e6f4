"""The journal on both databases: chains, anchors, groups, pages, and what tampering looks like."""

import json
import threading
from contextlib import suppress

import pytest

from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.core.errors import Conflict, Unavailable
from tokonoma.journal.chain import COLUMNS, TABLES, Chain, JournalEntry, digest
from tokonoma.journal.verify import list_recent, verify
from tokonoma.journal.writer import JournalWriter
from tokonoma.store.migrate import migrate


@pytest.fixture
def store(database):
    migrate(database, "journal", TABLES, lambda reason: None)
    return database


def keeper(store):
    return JournalWriter(store.writing, lambda: "open-1")


def call(number=0, tool="save"):
    made = Call("memory", tool, {}, Caller("stdio"), request_id=f"r{number}", trace_id="t", bytes_in=number)
    made.identified = OWNER
    return made


def verdict(store):
    with store.reading() as rows:
        return verify(rows)


def kept(store):
    with store.reading() as rows:
        return rows.rows("select kind, tool, outcome, code, duration_us, bytes_in from journal order by strand, seq")


def test_a_write_stores_its_own_entry_and_a_read_waits_for_its_group(store):
    keep = keeper(store)
    with keep.write(call(1)) as statements:
        assert statements.rows("select kind from journal") == []
    keep.record(call(2, "search"), "ok", "", 1234)
    keep.close()
    assert kept(store) == [
        ("open", "", "", "", None, 0),
        ("call", "save", "committed", "", None, 1),
        ("call", "search", "ok", "", 1234, 2),
        ("close", "", "", "", None, 0),
    ]
    assert verdict(store).problems == ()


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 1000])
def test_a_name_that_no_database_takes_keeps_no_entry_from_the_journal(store, name):
    keep = keeper(store)
    keep.record(call(1, name), "refused", "missing.tool", 1)
    keep.record(call(2, "search"), "ok", "", 1)
    keep.flush()
    keep.close()
    assert [row[5] for row in kept(store) if row[0] == "call"] == [1, 2]


def test_who_flush_at_the_same_time_write_each_entry_once(store):
    keep = keeper(store)
    for number in range(500):
        keep.record(call(number, "search"), "ok", "", 1)
    together = [threading.Thread(target=keep.flush) for _ in range(4)]
    for each in together:
        each.start()
    for each in together:
        each.join()
    keep.close()
    assert sorted(row[5] for row in kept(store) if row[0] == "call") == list(range(500))


def test_a_write_that_fails_leaves_no_entry_and_no_gap(store):
    keep = keeper(store)
    with keep.write(call(1)):
        pass
    with pytest.raises(Conflict), keep.write(call(2)):
        raise Conflict("stale")
    with keep.write(call(3)):
        pass
    keep.close()
    assert [row[5] for row in kept(store) if row[0] == "call"] == [1, 3]
    assert verdict(store).problems == ()


def test_many_writers_at_once_keep_their_chains(store):
    keep = keeper(store)

    def write(start):
        for number in range(start, start + 20):
            with keep.write(call(number)):
                pass
            keep.record(call(number + 1000, "get"), "ok", "", 1)

    threads = [threading.Thread(target=write, args=(n * 100,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keep.close()
    said = verdict(store)
    assert said.problems == ()
    assert sum(row[0] == "call" for row in kept(store)) == 160


def test_a_group_that_cannot_be_written_now_is_written_later(store):
    refuse = threading.Event()
    refuse.set()

    def writing(stop):
        if refuse.is_set():
            raise Conflict("not now")
        return store.writing(stop)

    keep = JournalWriter(writing, lambda: "open-1")
    keep.record(call(1, "get"), "ok", "", 1)
    with pytest.raises(Conflict):
        keep.flush()
    refuse.clear()
    keep.close()
    assert [row[1] for row in kept(store) if row[0] == "call"] == ["get"]


TAMPERING = {
    "an entry changed": ("update journal set tool = 'other' where request_id = 'r2'", "was changed"),
    "an entry taken out": ("delete from journal where request_id = 'r2'", "missing"),
    "a duration polished": ("update journal set duration_us = 5 where request_id = 'r2'", "was changed"),
    "the end cut off": ("delete from journal where request_id = 'r3' or kind = 'close'", "anchored"),
}


@pytest.mark.parametrize(("sql", "word"), TAMPERING.values(), ids=TAMPERING)
def test_tampering_shows(store, sql, word):
    first = keeper(store)
    for number in (1, 2, 3):
        with first.write(call(number)):
            pass
    first.close()
    second = keeper(store)  # anchors itself to the first
    with second.write(call(9)):
        pass
    assert verdict(store).problems == ()
    with store.writing() as statements:
        statements.run(sql.replace("kind = 'close'", "(kind = 'close' and bytes_in = 0)"))
    assert any(word in problem for problem in verdict(store).problems)


def test_an_entry_that_was_forged_with_its_hash_shows_in_the_next_one(store):
    keep = keeper(store)
    for number in (1, 2, 3):
        with keep.write(call(number)):
            pass
    columns = ", ".join(COLUMNS)
    with store.writing() as statements:
        (before,) = statements.rows("select hash from journal where seq = 1")
        ((chain, *values),) = statements.rows(f"select strand, {columns} from journal where seq = 2")
        values[COLUMNS.index("tool")] = "other"
        forged = digest(bytes(before[0]), chain, 2, values)
        statements.run("update journal set tool = 'other', hash = :hash where seq = 2", hash=forged)
    assert verdict(store).problems == (f"chain {chain}: entry 3 was changed",)


def test_the_last_entry_that_was_forged_with_its_hash_shows_in_who_is_anchored_to_it(store):
    first = keeper(store)
    with first.write(call(1)):
        pass
    with keeper(store).write(call(2)):  # anchors itself to the first, which is still open
        pass
    columns = ", ".join(COLUMNS)
    with store.writing() as statements:
        ((chain, before),) = statements.rows("select strand, hash from journal where seq = 0 order by strand limit 1")
        (values,) = statements.rows(f"select {columns} from journal where strand = :c and seq = 1", c=chain)
        forged = list(values)
        forged[COLUMNS.index("tool")] = "other"
        statements.run(
            "update journal set tool = 'other', hash = :hash where strand = :c and seq = 1",
            hash=digest(bytes(before), chain, 1, forged),
            c=chain,
        )
    (problem,) = verdict(store).problems
    assert "is missing or was changed" in problem


def test_a_transaction_that_fails_at_its_end_leaves_no_gap(store):
    chain = Chain()
    for fails in (True, False, True, False):
        with suppress(Conflict), store.writing() as statements:
            chain.add(statements, JournalEntry(1, "call"))
            if fails:
                raise Conflict("at the end")
        chain.roll_back() if fails else chain.commit()
    said = verdict(store)
    assert (said.entries, said.problems) == (3, ())


def test_a_chain_whose_commit_may_have_arrived_is_not_used_again(store):
    keep = keeper(store)
    with keep.write(call(1)):
        pass
    with pytest.raises(Unavailable), keep.write(call(2)):
        raise Unavailable("The connection broke.", reason="database")
    with keep.write(call(3)):
        pass
    said = verdict(store)
    assert (said.chains, said.problems) == (2, ())


def test_a_killed_process_leaves_an_open_strand_which_is_valid(store):
    with keeper(store).write(call(1)):
        pass
    said = verdict(store)
    assert (said.chains, said.entries, said.problems) == (1, 2, ())


def test_pages_hold_every_call_once_newest_first(store):
    keep = keeper(store)
    for number in range(25):
        keep.record(call(number, f"t{number}"), "ok", "", number)
    keep.close()
    seen, page = [], None
    while True:
        with store.reading() as rows:
            items, page = list_recent(rows, "owner", 10, page)
        seen += [item["request_id"] for item in items]
        if page is None:
            break
    assert seen == [f"r{number}" for number in reversed(range(25))]
    with store.reading() as rows:
        assert list_recent(rows, "key:somebody", 10, None) == ([], None)


def test_entries_that_are_lost_are_counted_and_logged(monkeypatch, capsys):
    """While the database does not answer, the oldest entries give way; the log says so each time that twice as many
    are lost."""
    monkeypatch.setattr("tokonoma.journal.writer._MAX_QUEUE", 10)
    keep = JournalWriter(lambda token: 1 / 0, lambda: "open-1")  # type: ignore[arg-type,return-value]
    keep._thread = threading.current_thread()  # nobody writes
    for number in range(15):
        keep.record(call(number, "search"), "ok", "", 1)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [each["entries"] for each in told if each["event"] == "journal.dropped"] == [1, 2, 4]
    assert keep.describe_problem().startswith("5 entries are lost, 10 wait")


def test_at_the_end_the_journal_waits_for_other_writers_only_so_long(store, capsys):
    """Who holds the database does not hold the process that ends."""
    keep, held, ended = keeper(store), threading.Event(), threading.Event()

    def hold():
        with store.writing() as statements:
            statements.rows("select kind from journal")
            held.set()
            ended.wait()

    keep.record(call(1, "search"), "ok", "", 1)
    keep.flush()
    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    keep.record(call(2, "search"), "ok", "", 1)
    try:
        if store.kind == "sqlite":
            keep.close(wait=0.05)
            assert '"reason": "timeout"' in capsys.readouterr().err
    finally:
        ended.set()
        holder.join()
    keep.close()
    assert verdict(store).problems == ()

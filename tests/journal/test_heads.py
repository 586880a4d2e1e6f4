"""What is noted of the journal outside the database: after the commit, in bounds, and readable after a kill."""

import stat
from contextlib import contextmanager

import pytest

from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.core.errors import Conflict
from tokonoma.journal import heads
from tokonoma.journal.chain import TABLES
from tokonoma.journal.heads import HeadsFile, read_heads, remove_heads
from tokonoma.journal.writer import JournalWriter
from tokonoma.store.database import store_error
from tokonoma.store.migrate import migrate


@pytest.fixture
def store(database):
    migrate(database, "journal", TABLES, lambda reason: None)
    return database


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.heads"


def keeper(store, path):
    return JournalWriter(store.writing, lambda: "open-1", HeadsFile(path, store.reading))


def call(number=0, tool="save"):
    made = Call("memory", tool, {}, Caller("stdio"), request_id=f"r{number}", trace_id="t")
    made.identified = OWNER
    return made


def write(keep, *numbers):
    for number in numbers:
        with keep.write(call(number)):
            pass


def noted(path):
    return [entry.request_id or entry.tool for entry in read_heads(path).entries]


def stored(store):
    with store.reading() as rows:
        return {
            (chain, seq, bytes(each).hex()) for chain, seq, each in rows.rows("select strand, seq, hash from journal")
        }


def test_writes_and_ends_of_chains_are_noted_after_their_commit(store, path):
    keep = keeper(store, path)
    with keep.write(call(1)):
        assert read_heads(path).entries == []
    assert noted(path) == ["r1"]  # at once, because nothing was written just before
    with pytest.raises(Conflict), keep.write(call(2)):
        raise Conflict("not this one")
    keep.record(call(3, "search"), "ok", "", 1)
    keep.record(call(4, "search"), "ok", "", 1)
    keep.close()
    assert noted(path) == ["r1", "r4", "close"]
    assert {(each.chain, each.seq, each.hash) for each in read_heads(path).entries} <= stored(store)
    first = read_heads(path).entries[0]
    assert (first.tool, first.outcome, first.at > 0) == ("memory.save", "committed", True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_was_rolled_back_is_never_noted(store, path):
    fails = [True]

    @contextmanager
    def writing(token):
        with store.writing(token) as statements:
            yield statements
            if fails:
                raise Conflict("at the commit")

    keep = JournalWriter(writing, lambda: "open-1", HeadsFile(path, store.reading))
    with pytest.raises(Conflict), keep.write(call(1)):
        pass
    fails.clear()
    write(keep, 2)
    keep.close()
    assert noted(path) == ["r2", "close"]
    assert keeper(store, path).get_gap() is None


def test_many_commits_are_written_together(store, path, monkeypatch):
    written = []
    monkeypatch.setattr(heads, "_PAUSE", 1e6)  # the timer does not come: only the first is written at once
    monkeypatch.setattr(HeadsFile, "_make_room", lambda self: written.append(1))
    keep = keeper(store, path)
    write(keep, *range(30))
    assert len(written) == 1
    assert noted(path) == ["r0"]
    keep.close()
    assert len(written) == 2
    assert noted(path) == [*(f"r{number}" for number in range(30)), "close"]


def test_a_note_that_waits_is_written_by_itself(store, path, monkeypatch):
    monkeypatch.setattr(heads, "_PAUSE", 0.01)
    keep = keeper(store, path)
    write(keep, 1, 2, 3)
    timer = keep._heads._timer
    if timer is not None:
        timer.join()
    assert noted(path) == ["r1", "r2", "r3"]
    keep.close()


def test_the_file_stays_small(store, path, monkeypatch):
    monkeypatch.setattr(heads, "_MAX_SIZE", 2_000)
    monkeypatch.setattr(heads, "_PAUSE", 0.0)
    keep = keeper(store, path)
    write(keep, *range(60))
    keep.close()
    old = path.with_name(path.name + ".old")
    assert max(path.stat().st_size, old.stat().st_size) < 2_500
    assert noted(path)[-3:] == ["r58", "r59", "close"]
    remove_heads(path)
    assert list(path.parent.glob(path.name + "*")) == []


def test_a_line_that_was_cut_off_does_not_spoil_others(store, path):
    keep = keeper(store, path)
    write(keep, 1)
    keep.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])  # killed while it wrote the last line
    assert (noted(path), read_heads(path).damaged) == (["r1"], 0)
    keep = keeper(store, path)
    write(keep, 2)
    keep.close()
    assert noted(path) == ["r1", "r2", "close"]


@pytest.mark.parametrize("byte", [3, 20, 60, 120])
def test_a_changed_line_is_not_believed(store, path, byte):
    keep = keeper(store, path)
    write(keep, 1)
    keep.close()
    content = bytearray(path.read_bytes())
    content[byte] ^= 1
    path.write_bytes(content)
    assert noted(path) == ["close"]
    assert read_heads(path).damaged == 1
    assert keeper(store, path).get_gap() is None


def test_a_file_that_cannot_be_written_fails_no_call(store, tmp_path):
    keep = keeper(store, tmp_path / "missing" / "journal.heads")
    write(keep, 1, 2)
    keep.close()
    assert len(stored(store)) == 4


def test_a_journal_that_cannot_be_read_stops_no_server(store, path):
    keep = keeper(store, path)
    write(keep, 1)
    keep.close()

    def refuse():
        raise store_error("corrupt", "here")

    assert HeadsFile(path, refuse).get_gap() is None

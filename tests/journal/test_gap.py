"""A database that is behind its own journal: what is missing is named, and only what is missing."""

import json

import pytest
from journal.test_heads import call, keeper, write

from tokonoma.core.clock import format_time, now
from tokonoma.journal import heads, prune
from tokonoma.journal.chain import TABLES
from tokonoma.journal.heads import read_heads
from tokonoma.journal.verify import verify
from tokonoma.store.migrate import migrate


@pytest.fixture
def store(database):
    migrate(database, "journal", TABLES, lambda reason: None)
    return database


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.heads"


def lose(store, *ids):
    """As a log does that ends earlier than it did: the newest entries are not there."""
    with store.writing() as statements:
        for each in ids:
            statements.run("delete from journal where request_id = :id", id=each)
        statements.run("delete from journal where kind = 'close'")


def problems(store):
    with store.reading() as rows:
        return verify(rows).problems


def test_whole_databases_and_empty_ones_have_no_gap(store, path):
    assert keeper(store, path).get_gap() is None
    keep, other = keeper(store, path), keeper(store, path)
    write(keep, 1)
    write(other, 2)
    assert keeper(store, path).get_gap() is None
    keep.close()
    other.close()
    assert keeper(store, path).get_gap() is None


def test_what_is_missing_is_named(store, path, capsys):
    keep = keeper(store, path)
    write(keep, 1, 2, 3)
    keep.record(call(4, "search"), "ok", "", 1)
    keep.close()
    lose(store, "r2", "r3", "r4")
    assert problems(store) == ()  # inside the database nothing looks wrong
    gap = keeper(store, path).get_gap()
    assert gap is not None
    assert gap.count == 4
    assert [(each.request_id, each.tool) for each in gap.entries] == [
        ("r2", "memory.save"), ("r3", "memory.save"), ("r4", "memory.search"), ("", "close"),
    ]  # fmt: skip
    said = gap.describe()
    assert "4 calls that it had recorded are missing" in said
    assert f"memory.save at {format_time(gap.entries[0].at)} (r2)" in said
    assert "(r3)" in said
    assert "r1" not in said
    log = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (log["level"], log["event"], log["says"]) == ("warning", "journal.behind", said)


def test_entries_that_were_not_noted_one_by_one_are_counted(store, path):
    keep = keeper(store, path)
    write(keep, 1)
    for number in range(2, 30):
        keep.record(call(number, "search"), "ok", "", 1)
    keep.close()
    lose(store, *(f"r{number}" for number in range(2, 30)))
    gap = keeper(store, path).get_gap()
    assert gap is not None
    assert gap.count == 29
    assert "No write was among them" in gap.describe()


def test_an_entry_that_was_replaced_is_missing(store, path):
    keep = keeper(store, path)
    write(keep, 1)
    keep._heads.flush()
    with store.writing() as statements:
        statements.run("update journal set hash = :hash where request_id = 'r1'", hash=b"x" * 32)
    gap = keeper(store, path).get_gap()
    assert gap is not None
    assert [each.request_id for each in gap.entries] == ["r1"]


@pytest.mark.parametrize("newest", [5_200, 0])
def test_pruned_entries_are_not_missing(store, path, monkeypatch, newest):
    monkeypatch.setattr(prune, "_NEWEST", newest)  # 0: nobody needs to know where chains that are gone were cut
    for number in range(4):
        keep = keeper(store, path)
        write(keep, number)
        keep.close()
    keep = keeper(store, path)
    removed = sum(step.entries for step in keep.prune(call(99), now() + 1))
    assert removed > 8
    keep.close()
    assert keeper(store, path).get_gap() is None


def test_a_gap_stays_until_it_is_accepted(store, path, monkeypatch):
    keep = keeper(store, path)
    write(keep, 1, 2)
    keep.close()
    lose(store, "r2")
    monkeypatch.setattr(heads, "_MAX_SIZE", 1_000)
    monkeypatch.setattr(heads, "_PAUSE", 0.0)
    keep = keeper(store, path)
    write(keep, *range(100, 160))  # the file begins anew many times
    gap = keeper(store, path).get_gap()
    assert gap is not None
    assert [each.request_id for each in gap.entries if each.request_id] == ["r2"]
    keep.accept_gap(call(3, "accept"), gap)
    assert keep.get_gap() is None
    write(keep, *range(200, 260))
    keep.close()
    assert keeper(store, path).get_gap() is None
    assert problems(store) == ()
    with store.reading() as rows:
        ((text,),) = rows.rows("select anchors from journal where kind = 'gap'")
    assert json.loads(text)["count"] == gap.count
    assert "r2" in {request_id for _, request_id, _ in json.loads(text)["lost"]}
    assert read_heads(path).damaged == 0

"""Writes of every process are seen by their entries, once; readings are not."""

import threading

import pytest
from journal.test_writer import call, keeper

from tokonoma.journal.chain import TABLES
from tokonoma.journal.changes import WriteWatch
from tokonoma.store.migrate import migrate


@pytest.fixture
def store(database):
    migrate(database, "journal", TABLES, lambda reason: None)
    return database


def test_each_write_is_seen_once_and_readings_never(store):
    watch, keep, other = WriteWatch(store.reading), keeper(store), keeper(store)
    assert not watch.has_changed()
    for writer in (keep, other, keep):
        with writer.write(call()):
            pass
        assert watch.has_changed()
        assert not watch.has_changed()
        writer.record(call(2, "search"), "ok", "", 1)
        writer.flush()
        assert not watch.has_changed()
    keep.close()
    other.close()
    assert not watch.has_changed()


def test_a_write_that_commits_late_is_seen(postgres_database):
    """Another one has begun after it and is seen before it."""
    migrate(postgres_database, "journal", TABLES, lambda reason: None)
    watch, keep, other = WriteWatch(postgres_database.reading), keeper(postgres_database), keeper(postgres_database)
    seen: list[bool] = []

    def write_meanwhile() -> None:
        with other.write(call(2)):
            pass
        seen.extend([watch.has_changed(), watch.has_changed()])

    with keep.write(call(1)):
        thread = threading.Thread(target=write_meanwhile)
        thread.start()
        thread.join()
    assert seen == [True, False]
    assert watch.has_changed()

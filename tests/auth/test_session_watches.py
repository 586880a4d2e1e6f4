"""What sessions watch is known to every process of one database, each session for its principal alone."""

import pytest

from tokonoma.app.store import TABLES
from tokonoma.auth import session_watches
from tokonoma.auth.session_watches import SessionWatches
from tokonoma.store.database import Database
from tokonoma.store.migrate import migrate

MINE, THEIRS = ("s1", "key", "phone"), ("s1", "key", "laptop")


@pytest.fixture
def watches(database: Database) -> SessionWatches:
    migrate(database, "auth", TABLES["auth"], lambda _reason: None)
    return SessionWatches(database.reading, database.writing)


def test_another_process_reads_what_was_saved(watches: SessionWatches, database: Database) -> None:
    watches.save(MINE, {"tokonoma://memory/a": "1", "tokonoma://memory/b": "2"})
    watches.save(MINE, {"tokonoma://memory/a": "3"})
    other = SessionWatches(database.reading, database.writing)
    assert other.load([MINE, THEIRS]) == {MINE: {"tokonoma://memory/a": "3", "tokonoma://memory/b": "2"}, THEIRS: {}}
    other.remove(MINE, "tokonoma://memory/a")
    assert watches.load([MINE]) == {MINE: {"tokonoma://memory/b": "2"}}
    other.remove(THEIRS)  # the same session id, another principal
    assert watches.load([MINE]) == {MINE: {"tokonoma://memory/b": "2"}}
    other.remove(MINE)
    assert watches.load([MINE]) == {MINE: {}}


def test_a_session_without_a_stream_is_forgotten_and_one_with_a_stream_is_not(
    watches: SessionWatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = session_watches.now()
    watches.save(MINE, {"tokonoma://memory/a": "1"})
    watches.save(THEIRS, {"tokonoma://memory/a": "1"})
    for hours in (12, 24, 36):
        monkeypatch.setattr(session_watches, "now", lambda at=start + hours * 3_600_000: at)
        assert watches.load([MINE]) == {MINE: {"tokonoma://memory/a": "1"}}
    assert watches.load([THEIRS]) == {THEIRS: {}}

"""The numbers of memos that are kept for memory.namespaces."""

from tokonoma.modules.memory.read import _NAMESPACES
from tokonoma.modules.memory.tables import TABLES
from tokonoma.pipeline.row_filter import NoRowFilter
from tokonoma.store.migrate import migrate

_COUNTED = [step.name for step in TABLES].index("005_counts")


def test_what_was_stored_before_is_counted(database):
    insert = """insert into memo (id, space, label, title, content, metadata, thread, created_at, updated_at, revision,
    expires_at, deleted_at) values (:id, :space, 'internal', '', 'x', '{}', '', 1, 1, 1, :expires, :deleted)"""
    migrate(database, "memory", TABLES[:_COUNTED], lambda _reason: None)
    with database.writing() as tx:
        for number, (space, expires, deleted) in enumerate(
            [("/a", None, None), ("/a", None, None), ("/a", 5, None), ("/b", None, 3), ("/c", None, None)]
        ):
            tx.run(insert, id=str(number), space=space, expires=expires, deleted=deleted)
    migrate(database, "memory", TABLES, lambda _reason: None)
    with database.reading() as rows:
        assert rows.rows("select space, label, memos from memo_count order by space") == [
            ("/a", "internal", 2), ("/c", "internal", 1),
        ]  # fmt: skip


def test_memos_are_not_counted_one_by_one_on_sqlite(sqlite_database):
    migrate(sqlite_database, "memory", TABLES, lambda _reason: None)
    sql, _ = NoRowFilter().expand(_NAMESPACES)
    with sqlite_database.reading() as rows:
        plan = [row[-1] for row in rows.rows(f"explain query plan {sql}", last="", most=10, now=1)]
    assert not any(step.startswith("SCAN m") for step in plan), plan
    assert any("memo_expiring" in step for step in plan), plan

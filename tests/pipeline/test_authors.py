"""Authors are read by the addresses of the records, however large the store is."""

from tokonoma.core.call import OWNER
from tokonoma.pipeline.authors import READ_AUTHORS
from tokonoma.pipeline.row_filter import expand_visible
from tokonoma.search.tables import TABLES
from tokonoma.store.migrate import migrate


def test_no_class_is_read_as_a_whole(sqlite_database):
    migrate(sqlite_database, "search", TABLES, lambda _reason: None)
    sql, extra = expand_visible(READ_AUTHORS, OWNER, ("public", "internal"))
    with sqlite_database.reading() as rows:
        plan = [row[-1] for row in rows.rows(f"explain query plan {sql}", texts="[]", **extra)]
    assert plan[-1] == "SEARCH d USING INDEX sqlite_autoindex_document_1 (address=?)", plan

"""An index on a database of its own, and short words for putting things there and finding them."""

from collections.abc import Sequence
from typing import Any

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Document
from tokonoma.core.query import Condition, Hits, Query, SearchFilter, SearchScope
from tokonoma.search.index import SearchIndex
from tokonoma.search.tables import TABLES
from tokonoma.store.database import Database
from tokonoma.store.migrate import migrate

EVERYWHERE = SearchScope("/", CLASSIFICATIONS)
ANYTHING = SearchFilter()
NOW = 1_700_000_000_000


def address(name: str) -> str:
    return name if "://" in name else f"tokonoma://memory/{name}"


def names(hits: Hits) -> list[str]:
    return [hit.address.removeprefix("tokonoma://memory/") for hit in hits.items]


class IndexFixture:
    def __init__(self, database: Database, **options: Any) -> None:
        migrate(database, "search", TABLES, lambda _reason: None)
        self.database = database
        self.index = SearchIndex(database.kind, **options)
        self._clock = NOW

    def put(
        self,
        name: str,
        text: str,
        label: Classification = "internal",
        namespace: str = "/",
        at: int | None = None,
        **more: Any,
    ) -> None:
        """Later ones are newer, unless `at` says otherwise."""
        self._clock += 1
        document = Document(
            address(name), namespace, text, classification=label, at=self._clock if at is None else at, **more
        )
        with self.database.writing() as tx:
            self.index.put(tx, document, label)

    def fill(self, texts: dict[str, str], **more: Any) -> None:
        for name, text in texts.items():
            self.put(name, text, **more)

    def drop(self, name: str) -> None:
        with self.database.writing() as tx:
            self.index.drop(tx, address(name))

    def hits(
        self, text: str = "", where: SearchFilter = ANYTHING, reach: SearchScope = EVERYWHERE, **asked: Any
    ) -> Hits:
        with self.database.reading() as rows:
            return self.index.find(rows, Query(text, **asked), where, reach)

    def find(self, text: str = "", *conditions: Condition, reach: SearchScope = EVERYWHERE, **asked: Any) -> list[str]:
        """Names, best first. `namespace`, `modules`, `since` and `until` go into the filter."""
        said = {name: asked.pop(name) for name in ("namespace", "modules", "since", "until") if name in asked}
        return names(self.hits(text, SearchFilter(conditions=conditions, **said), reach, **asked))

    def rows(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        with self.database.reading() as rows:
            return rows.rows(sql, **params)

    def state(self) -> Sequence[Any]:
        """Everything that the index holds, to see whether something changed."""
        tables = ("select address, digest, space, label, title, at, length, form from document order by address",)
        return [self.rows(sql) for sql in tables] + [self.rows("select count(*) from fact")]

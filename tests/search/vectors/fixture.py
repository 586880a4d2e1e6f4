"""Documents with vectors, put in place without an embedder, and the exact answer to compare with."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokonoma.core.embedding import EmbeddedDocument
from tokonoma.core.query import Metric
from tokonoma.embed import queue
from tokonoma.search import tables
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector
from tokonoma.store.database import Database
from tokonoma.store.migrate import migrate

Floats = NDArray[np.float32]
EVERYTHING = IndexFilter()
_DOCUMENT = """insert into document (address, module, space, label, title, digest, changed_at, at)
values (:address, :module, :space, :label, '', '', 0, :at) returning id"""


def like_texts(count: int, dimension: int, seed: int = 0, topics: int = 40, apart: float = 0.5) -> Floats:
    """As models place texts: in clumps of clumps, most of the spread in few directions, and all leaning one way."""
    random = np.random.default_rng(seed)
    spread = (np.arange(1, dimension + 1) ** -0.4).astype(np.float32)
    common = np.random.default_rng(99)
    subjects = common.standard_normal((topics, dimension)) * spread
    corners = common.standard_normal((topics * 25, dimension)) * spread * 0.8
    at = random.integers(0, topics * 25, count)
    rows = subjects[at % topics] + corners[at] + random.standard_normal((count, dimension)) * spread * apart
    rows += common.standard_normal(dimension) * 0.3
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class VectorFixture:
    def __init__(self, database: Database, dimension: int = 32) -> None:
        for name, steps in (("search", tables.TABLES), ("vectors", tables.VECTOR_TABLES), ("embed", queue.TABLES)):
            migrate(database, name, steps, lambda _reason: None)
        self.database, self.dimension = database, dimension
        self.vectors = VectorSearch(database, queue, lambda _ids: {}, None)
        with database.reading() as rows:
            known = self.vectors.list_models(rows)
        if not known:
            with database.writing() as statements:
                self.vectors.adopt(statements, "test", "{}", like_texts(1, dimension)[0])
            with database.reading() as rows:
                known = self.vectors.list_models(rows)
        self.model = known[0].id

    def add(self, vectors: Floats, namespace: str = "/", module: str = "notes", label: str = "internal") -> list[int]:
        return self.add_all([each[None] for each in vectors], namespace, module, label)

    def add_all(
        self, pieces: Sequence[Floats], namespace: str = "/", module: str = "notes", label: str = "internal"
    ) -> list[int]:
        """One document for each; its pieces are the rows."""
        made: list[int] = []
        with self.database.writing() as statements:
            row = statements.row("select coalesce(max(id), 0) from document")
            for number, vectors in enumerate(pieces, row[0] + 1):
                place = {"module": module, "space": namespace, "label": label}
                document = statements.row(_DOCUMENT, address=f"tokonoma://{module}/{number}", at=number, **place)[0]
                embedded = EmbeddedDocument(document, vectors, [""] * len(vectors))
                self.vectors.store_vectors(statements, self.model, [embedded])
                made.append(document)
        return made

    def run(self, sql: str, **params: Any) -> None:
        with self.database.writing() as statements:
            statements.run(sql, **params)

    def rows(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        with self.database.reading() as rows:
            return rows.rows(sql, **params)

    def near(
        self, asked: Floats | int, limit: int = 10, filter: IndexFilter = EVERYTHING, metric: Metric = "cosine"
    ) -> list[tuple[int, float]]:
        question = asked if isinstance(asked, int) else QueryVector(self.model, asked)
        with self.database.reading() as rows:
            found = self.vectors.find_nearest(rows, question, filter, metric, limit)
        return [(document, like.similarity) for document, like in found]

    def ids(self, asked: Floats | int, limit: int = 10, filter: IndexFilter = EVERYTHING) -> list[int]:
        return [document for document, _ in self.near(asked, limit, filter)]

    def settle(self) -> None:
        self.vectors.maintain(self.model)


def exact(ids: Sequence[int], vectors: Floats, asked: Floats, limit: int) -> list[int]:
    order = np.argsort(-(vectors @ asked), kind="stable")[:limit]
    return [ids[place] for place in order]


def recall(found: Sequence[int], wanted: Sequence[int]) -> float:
    return len(set(found) & set(wanted)) / len(wanted)

"""Search by vectors: which model answers, which documents are nearest, and what still waits for its vector.

Two models are never mixed. A query is embedded with the current model as soon as nearly all documents have its vectors;
until then with the one before it, if that can still be used; else with the current model and the vectors it has.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from tokonoma.core.desk import Rows, Statements
from tokonoma.core.embedding import EmbeddedDocument, StoredModel
from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.core.query import Metric
from tokonoma.search.candidates import CandidatePool
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vectors import store
from tokonoma.search.vectors.hnsw import HnswKeeper
from tokonoma.search.vectors.scale import measure_model, parse_scale
from tokonoma.search.vectors.store import QueryVector, VectorMatch
from tokonoma.store.database import Database

if TYPE_CHECKING:
    from tokonoma.search.vectors.backends import SqliteVectorBackend
    from tokonoma.search.vectors.postgres import PostgresVectorBackend
    from tokonoma.search.vectors.store import Floats

_NEARLY_ALL = 20  # one in so many documents may still wait for a model that is used
_LONG, _REMEMBER = 1_000, 2.0  # a queue of that length is counted once in so many seconds
_BUILD_MEMORY = 512  # megabytes
_DELETED = 500  # vectors of a model that is no longer in use, deleted at once
_STORE = """insert into embedding (document_id, model, piece, data, language, subwords)
values (:document_id, :model, :piece, :data, :language, :subwords)"""
_DELETE_MODEL = "delete from embedding where model = :model and document_id in ({numbers})"
_DELETE_SOME = """delete from embedding where id in
(select id from embedding where model = :model order by id limit :limit {for_update_free})"""

ReadTexts = Callable[[Sequence[int]], Mapping[int, tuple[str, str]]]
"""What to embed of each document: its title and its text."""

EmbedWithModel = Callable[[StoredModel, str], "Floats | None"]
"""The vector of a query by a model; None if that model is not available now."""

MatchWithModel = Callable[[StoredModel, str, Sequence[bytes]], Sequence[float] | None]
"""How well lists of parts of words hold those of a query, by a model; None if that model does not know them."""


class EmbeddingQueue(Protocol):
    """Implemented by the package that embeds."""

    def enqueue(self, statements: Statements, document_ids: Sequence[int], *, later: bool = False) -> None: ...
    def count_waiting(self, rows: Rows) -> int: ...
    def get_problem(self, rows: Rows, document_id: int) -> str | None: ...


class VectorSearch:
    """One per process. `embed` is None where no model is configured: stored vectors can still be compared."""

    def __init__(
        self,
        database: Database,
        queue: EmbeddingQueue,
        read_texts: ReadTexts,
        embed: EmbedWithModel | None,
        match_subwords: MatchWithModel | None = None,
        keeper: HnswKeeper | None = None,
    ) -> None:
        self.read_texts = read_texts
        self._database, self._queue, self._embed, self._match_subwords = database, queue, embed, match_subwords
        self._backend: SqliteVectorBackend | PostgresVectorBackend | None = None
        self._keeper = keeper or HnswKeeper(_BUILD_MEMORY)
        self._waiting, self._counted_at = 0, float("-inf")

    # Searching

    def embed_query(self, text: str) -> QueryVector | None:
        """The vector of a query; None if it is not available now."""
        if self._embed is None or not text.strip():
            return None
        with self._database.reading() as rows:
            models = self._list_preferred(rows)
        return self._embed_with(models, text)

    def embed_record(self, rows: Rows, text: str) -> tuple[StoredModel, QueryVector] | None:
        """The same of a record, inside a transaction: for a model in this process. Without its parts of words."""
        models = self._list_preferred(rows)
        found = self._embed_with(models, text)
        if found is None:
            return None
        return next(each for each in models if each.id == found.model), replace(found, match_subwords=None)

    def _embed_with(self, models: Sequence[StoredModel], text: str) -> QueryVector | None:
        if self._embed is None:
            return None
        for model in models:
            vector = self._embed(model, text)
            if vector is not None:
                match = None if self._match_subwords is None else partial(self._match_subwords, model, text)
                return QueryVector(model.id, vector, parse_scale(model.scale), match)
        return None

    def find_nearest(
        self, rows: Rows, query: QueryVector | int, filter: IndexFilter, metric: Metric, limit: int
    ) -> list[tuple[int, VectorMatch]]:
        """The nearest documents, best first, all inside the filter. `query` is a vector, or the id of a document whose
        own vector is meant."""
        resolved = self._resolve_query(rows, query)
        found = {} if resolved is None else self._search_backend(rows, *resolved, filter, limit)
        best = sorted(found.items(), key=lambda each: (-each[1].similarity, each[0]))[:limit]
        # Only the nearest pieces were compared: whether the title is among them depends on how many others there are.
        return [(document, apply_metric(match._replace(title=None), metric)) for document, match in best]

    def propose(self, rows: Rows, query: QueryVector, filter: IndexFilter, limit: int) -> Sequence[int]:
        """So many documents that may well be the nearest, found in the cheapest way. The caller checks whether they lie
        inside the filter, and how near they are."""
        resolved = self._resolve_query(rows, query)
        if resolved is None:
            return []
        if filter.narrow:  # it asks for what codes do not know
            return list(self._search_backend(rows, *resolved, filter, limit))
        return self._get_backend().propose(rows, *resolved, filter, limit)

    def find_like(
        self, rows: Rows, model: StoredModel, query: QueryVector, filter: IndexFilter, most: int
    ) -> dict[int, VectorMatch]:
        """Documents that are near, found in the cheapest way: some of the nearest may be missing.
        The caller checks whether they lie inside the filter."""
        backend = self._get_backend()
        proposed = backend.propose(rows, model, query, filter, most, quick=True)
        return backend.compare(rows, model, query, proposed)

    def compare(
        self, rows: Rows, query: QueryVector | int, documents: Sequence[int], metric: Metric
    ) -> dict[int, VectorMatch]:
        """Of these documents, those that have vectors. The caller has checked that they lie inside the filter."""
        resolved = self._resolve_query(rows, query)
        found = {} if resolved is None else self._get_backend().compare(rows, *resolved, documents)
        return {document: apply_metric(match, metric) for document, match in found.items()}

    def find_near(
        self, rows: Rows, filter: IndexFilter, addresses: Sequence[str], least: float, most: int
    ) -> dict[str, dict[str, float]]:
        """See near.py. Nothing where no vectors exist."""
        from tokonoma.search.vectors.near import find_near  # imported late, because it loads numpy

        models = self._list_preferred(rows)
        if not models:
            return {}
        return find_near(rows, self._database.kind, models[0].id, filter, addresses, least, most)

    def compare_each_other(self, rows: Rows, model: int, documents: Sequence[int]) -> dict[int, dict[int, float]]:
        """The cosines between these documents, by the beginnings of their texts; without those that have no vector."""
        pieces = self._get_backend().read_pieces(rows, model, documents)
        first = {document: data for document, piece, _, data, _ in pieces if piece == 0}
        if not first:
            return {}
        vectors = store.decode_vectors(self._database.kind, list(first.values()))
        cosines = (vectors @ vectors.T).tolist()
        return {document: dict(zip(first, row, strict=True)) for document, row in zip(first, cosines, strict=True)}

    def count_waiting(self, rows: Rows, filter: IndexFilter | None = None) -> int:
        """Documents whose vector is still to be made; with a filter, those that pass it."""
        if self._embed is None:
            return 0
        if filter is not None:
            return store.count_waiting(rows, filter)
        if time.monotonic() - self._counted_at > _REMEMBER or self._waiting < _LONG:
            self._waiting, self._counted_at = self._queue.count_waiting(rows), time.monotonic()
        return self._waiting

    def get_state(self, rows: Rows, document_id: int) -> Literal["embedded", "waiting", "none"]:
        """`none`: it will not get a vector."""
        if rows.row("select 1 from embedding where document_id = :id limit 1", id=document_id) is not None:
            return "embedded"
        is_waiting = self._embed is not None and self._queue.get_problem(rows, document_id) is not None
        return "waiting" if is_waiting else "none"

    # Writing, and what the embedding worker needs

    list_models = staticmethod(store.list_models)
    adopt = staticmethod(store.adopt)
    lock_active = staticmethod(store.lock_active)
    count_by_model = staticmethod(store.count_by_model)
    list_missing = staticmethod(store.list_missing)
    lock_for_change = staticmethod(store.lock_for_change)
    lock_against_delete = staticmethod(store.lock_against_delete)
    save_backfill = staticmethod(store.save_backfill)

    def mark_changed(self, statements: Statements, document_ids: Sequence[int], *, later: bool = False) -> None:
        """The documents are new, or their texts are: until they are embedded, they have no vectors. `later`: after what
        is saved."""
        self._queue.enqueue(statements, document_ids, later=later)  # first: rows of the queue also lock their vectors
        statements.run("delete from embedding where document_id in ({numbers})", numbers=json.dumps(list(document_ids)))

    def store_vectors(self, statements: Statements, model: int, documents: Sequence[EmbeddedDocument]) -> None:
        """Replace the documents' vectors of this model."""
        numbers = json.dumps([each.id for each in documents])
        statements.run(_DELETE_MODEL, model=model, numbers=numbers)
        rows = [row for each in documents for row in store.build_rows(self._database.kind, model, each)]
        statements.run_many(_STORE, rows)

    def maintain(self, model: int) -> None:
        """Housekeeping after vectors were stored; quick if there is nothing to do."""
        with self._database.reading() as rows:
            models = [each for each in store.list_models(rows) if each.id == model]
        for each in models:
            self._get_backend().maintain(self._database, each)
            measure_model(self._database, each)

    def finish_index(self) -> None:
        """Build the index of the vectors in use now, if the database has one and it is missing."""
        with self._database.reading() as rows:
            models = self._list_preferred(rows)
        if models:
            self._get_backend().finish_index(self._database, models[0])

    def retire(self, model: int) -> bool:
        """Delete some of the vectors of other models, once every document has a vector of this one."""
        with self._database.reading() as rows:
            models = store.list_models(rows)
            is_complete = any(each.id == model and each.current and each.backfilled_to is None for each in models)
            others = [each for each in models if not each.current]
            if not is_complete or not others or self._queue.count_waiting(rows):
                return False
        with self._database.writing() as statements:
            if statements.run(_DELETE_SOME, model=others[0].id, limit=_DELETED):
                return True
            if statements.row("select 1 from embedding where model = :model limit 1", model=others[0].id) is not None:
                return False  # the rest goes with documents that are being deleted
            self._get_backend().drop_model(statements, others[0])
            statements.run("delete from embedding_model where id = :model", model=others[0].id)
        log("info", "search.model_retired", model=others[0].name)
        return True

    def measure_memory(self) -> int:
        """Bytes that codes take in this process."""
        return 0 if self._backend is None else self._backend.measure_memory()

    def _get_backend(self) -> "SqliteVectorBackend | PostgresVectorBackend":
        if self._backend is None:
            # Imported late, because it loads numpy.
            if self._database.kind == "sqlite":
                from tokonoma.search.vectors.backends import SqliteVectorBackend

                self._backend = SqliteVectorBackend()
            else:
                from tokonoma.search.vectors.postgres import PostgresVectorBackend

                self._backend = PostgresVectorBackend(self._keeper)
        return self._backend

    def _search_backend(
        self, rows: Rows, model: StoredModel, query: QueryVector, filter: IndexFilter, limit: int
    ) -> dict[int, VectorMatch]:
        few = CandidatePool(self._database.kind, rows, filter).list_few() if filter.narrow else None
        if few is not None:
            return self._get_backend().compare(rows, model, query, few)
        return self._get_backend().find_nearest(rows, model, query, filter, limit)

    def _resolve_query(self, rows: Rows, query: QueryVector | int) -> tuple[StoredModel, QueryVector] | None:
        """None: the model that the query was embedded with has just been retired."""
        models = self._list_preferred(rows)
        if isinstance(query, QueryVector):
            return next(((model, query) for model in models if model.id == query.model), None)
        for model in models:
            own = store.read_own_vector(rows, self._database.kind, model.id, query)
            if own is not None:
                return model, own
        raise Unavailable("This record has no vector yet. Try again later.", reason="not_embedded")

    def _list_preferred(self, rows: Rows) -> list[StoredModel]:
        """The models that have vectors, the one to use first."""
        models = store.list_models(rows)
        current = [model for model in models if model.current]
        others = [model for model in reversed(models) if not model.current]
        if not others or not current:
            return current + others
        if current[0].backfilled_to is not None:
            return others + current
        total = rows.rows("select count(*) from document")[0][0]
        is_nearly_complete = self._queue.count_waiting(rows) * _NEARLY_ALL <= total
        return current + others if is_nearly_complete else others + current


def apply_metric(match: VectorMatch, metric: Metric) -> VectorMatch:
    """Vectors have length 1, so that either metric follows from the cosine and gives the same order."""
    if metric == "cosine":
        return match
    title = None if match.title is None else _to_nearness(match.title)
    return match._replace(similarity=_to_nearness(match.similarity), title=title)


def _to_nearness(cosine: float) -> float:
    """1 / (1 + distance) of two vectors of length 1."""
    return 1.0 / (1.0 + (2.0 - 2.0 * cosine) ** 0.5)

"""The leg of the search that goes by meaning: which model is asked, where the nearest lie, what still waits.

Two models are never mixed. A question is embedded with the model in use as soon as nearly all documents have its
vectors; until then with the one before it, if that can still be asked; else with the model in use and what it has.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from tokonoma.core.desk import Record, Rows, Statements
from tokonoma.core.errors import Unavailable
from tokonoma.core.log import log
from tokonoma.core.query import Metric
from tokonoma.search.filters import IndexFilter
from tokonoma.search.vector_leg import EmbeddingState, VectorMatch
from tokonoma.search.vectors import store as stored
from tokonoma.search.vectors.store import QueryVector, StoredModel
from tokonoma.search.weighting import detect_language
from tokonoma.store.database import Database

if TYPE_CHECKING:
    from tokonoma.search.vectors.store import Floats

_NEARLY_ALL = 20  # one in so many documents may still wait for a model that is asked
_LONG, _REMEMBER = 1_000, 2.0  # a queue of that length is counted once in so many seconds
_PORTION = 500  # vectors of a model that is no longer in use, deleted at once

ReadTexts = Callable[[Rows, Sequence[int]], Mapping[int, tuple[str, str]]]
"""What to embed of each document: its title and its text."""

EmbedWithModel = Callable[[StoredModel, str], "Floats | None"]
"""The vector of a question by a model; None if that model cannot be asked now."""


class EmbeddingQueue(Protocol):
    """Of the room that embeds."""

    def enqueue(self, statements: Statements, document_id: int) -> None: ...
    def count_waiting(self, rows: Rows) -> int: ...
    def get_problem(self, rows: Rows, document_id: int) -> str | None: ...


class VectorBackend(Protocol):
    """What differs between the databases."""

    def find_nearest(
        self, rows: Rows, model: StoredModel, asked: QueryVector, filter: IndexFilter, limit: int
    ) -> Mapping[int, VectorMatch]: ...
    def propose(
        self, rows: Rows, model: StoredModel, asked: QueryVector, filter: IndexFilter, limit: int
    ) -> Sequence[int]: ...
    def compare(
        self, rows: Rows, model: StoredModel, asked: QueryVector, documents: Sequence[int]
    ) -> Mapping[int, VectorMatch]: ...
    def maintain(self, database: Database, model: StoredModel) -> bool: ...
    def drop_model(self, statements: Statements, model: StoredModel) -> None: ...
    def measure_memory(self) -> int: ...


class VectorSearch:
    """One a process. `ask` is None where no model is set up: what is stored can still be compared."""

    def __init__(self, database: Database, queue: EmbeddingQueue, texts: ReadTexts, ask: EmbedWithModel | None) -> None:
        self.read_texts = texts
        self._database, self._queue, self._ask = database, queue, ask
        self._backend: VectorBackend | None = None
        self._counted, self._counted_at = 0, float("-inf")

    # Searching: the protocol of legs.py

    def embed_query(self, text: str) -> QueryVector | None:
        if self._ask is None or not text.strip():
            return None
        with self._database.reading() as rows:
            known = self._list_preferred(rows)
        for model in known:
            vector = self._ask(model, text)
            if vector is not None:
                return QueryVector(model.id, vector, detect_language(text))
        return None

    def find_nearest(
        self, rows: Rows, asked: QueryVector | int, filter: IndexFilter, metric: Metric, limit: int
    ) -> list[tuple[int, VectorMatch]]:
        """The nearest documents with their similarity, best first. A document's id asks with its own vector."""
        question = self._resolve_query(rows, asked)
        if question is None:
            return []
        found = self._get_backend().find_nearest(rows, *question, filter, limit)
        best = sorted(found.items(), key=lambda each: (-each[1].similarity, each[0]))[:limit]
        return [(document, _apply_metric(like, metric)) for document, like in best]

    def propose(self, rows: Rows, asked: QueryVector, filter: IndexFilter, limit: int) -> Sequence[int]:
        question = self._resolve_query(rows, asked)
        return [] if question is None else self._get_backend().propose(rows, *question, filter, limit)

    def compare(
        self, rows: Rows, asked: QueryVector | int, documents: Sequence[int], metric: Metric
    ) -> dict[int, VectorMatch]:
        """Of these documents, as far as they have vectors."""
        question = self._resolve_query(rows, asked)
        if question is None:
            return {}
        found = self._get_backend().compare(rows, *question, documents)
        return {document: _apply_metric(like, metric) for document, like in found.items()}

    def count_waiting(self, rows: Rows) -> int:
        if self._ask is None:
            return 0
        if time.monotonic() - self._counted_at > _REMEMBER or self._counted < _LONG:
            self._counted, self._counted_at = self._queue.count_waiting(rows), time.monotonic()
        return self._counted

    def get_state(self, rows: Rows, document_id: int) -> EmbeddingState:
        if any(stored.has_vector(rows, model.id, document_id) for model in stored.list_models(rows)):
            return "embedded"
        waits = self._ask is not None and self._queue.get_problem(rows, document_id) is not None
        return "waiting" if waits else "none"

    # Writing

    def mark_changed(self, statements: Statements, document_id: int) -> None:
        """The document is new, or its text is: until it is embedded, it has no vector."""
        self._queue.enqueue(statements, document_id)  # first: who holds its place in the queue holds its vectors
        stored.delete_vectors(statements, document_id)

    def refill(self, statements: Statements) -> None:
        """Look again for documents without a vector; the worker does it when it next begins."""
        for model in stored.list_models(statements):
            if model.current:
                stored.save_backfill(statements, model.id, 0)

    # What the worker needs

    def list_models(self, rows: Rows) -> list[StoredModel]:
        return stored.list_models(rows)

    def adopt(self, statements: Statements, name: str, recipe: str, anchor: "Floats") -> None:
        stored.adopt(statements, name, recipe, anchor)

    def list_missing(self, rows: Rows, model: int, after: int, limit: int) -> list[int]:
        return stored.list_missing(rows, model, after, limit)

    def lock_for_change(self, statements: Statements, document_ids: Sequence[int]) -> set[int]:
        return stored.lock_for_change(statements, document_ids)

    def lock_against_delete(self, statements: Statements, document_ids: Sequence[int]) -> set[int]:
        return stored.lock_against_delete(statements, document_ids)

    def save_backfill(self, statements: Statements, model: int, upto: int | None) -> None:
        stored.save_backfill(statements, model, upto)

    def store_vectors(
        self,
        statements: Statements,
        model: int,
        document_id: int,
        vectors: "Floats",
        texts: Sequence[str],
        titled: bool = False,
    ) -> None:
        languages = [detect_language(text) for text in texts]
        if titled:  # "NHK" over a Japanese text is no English
            languages[0] = languages[1]
        first = stored.TITLE_PIECE if titled else 0
        stored.store_vectors(statements, self._database.kind, model, document_id, vectors, languages, first)

    def maintain(self, model: int) -> None:
        with self._database.reading() as rows:
            known = [each for each in stored.list_models(rows) if each.id == model]
        for each in known:
            self._get_backend().maintain(self._database, each)

    def retire(self, model: int) -> bool:
        """Delete a portion of what other models have left behind, once every document has a vector of this one."""
        with self._database.reading() as rows:
            known = stored.list_models(rows)
            complete = any(each.id == model and each.current and each.backfilled_to is None for each in known)
            others = [each for each in known if not each.current]
            if not complete or not others or self._queue.count_waiting(rows):
                return False
        with self._database.writing() as statements:
            if stored.delete_some_vectors(statements, others[0].id, _PORTION):
                return True
            if stored.has_any_vector(
                statements, others[0].id
            ):  # the rest goes with the documents that somebody is deleting
                return False
            self._get_backend().drop_model(statements, others[0])
            stored.delete_model(statements, others[0].id)
        log("info", "search.model_retired", model=others[0].name)
        return True

    def measure_memory(self) -> int:
        """Bytes that codes take in this process."""
        return 0 if self._backend is None else self._backend.measure_memory()

    def _get_backend(self) -> VectorBackend:
        # Here numpy is loaded, and not before.
        if self._backend is None:
            if self._database.kind == "sqlite":
                from tokonoma.search.vectors.sqlite import SqliteVectorBackend

                self._backend = SqliteVectorBackend()
            else:
                from tokonoma.search.vectors.postgres import PostgresVectorBackend

                self._backend = PostgresVectorBackend()
        return self._backend

    def _resolve_query(self, rows: Rows, asked: QueryVector | int) -> tuple[StoredModel, QueryVector] | None:
        """None: the model that the question was embedded with has been retired in this very moment."""
        known = self._list_preferred(rows)
        if isinstance(asked, QueryVector):
            for model in known:
                if model.id == asked.model:
                    return model, asked
            return None
        for model in known:
            own = stored.read_own_vector(rows, self._database.kind, model.id, asked)
            if own is not None:
                return model, own
        raise Unavailable("This record has no vector yet. Try again in a moment.", reason="not_embedded")

    def _list_preferred(self, rows: Rows) -> list[StoredModel]:
        """The models that have vectors, the one to ask with first."""
        known = stored.list_models(rows)
        current = [model for model in known if model.current]
        others = [model for model in reversed(known) if not model.current]
        if not others or not current or self._is_nearly_complete(rows, current[0]):
            return current + others
        return others + current

    def _is_nearly_complete(self, rows: Rows, model: StoredModel) -> bool:
        """Whether so many have a vector of the new model that it can be asked."""
        if model.backfilled_to is not None:
            return False
        found = rows.row("select count(*) from document")
        return found is None or self._queue.count_waiting(rows) * _NEARLY_ALL <= int(found[0])


def build_text_reader(record: Callable[[Rows, str], Record | None]) -> ReadTexts:
    """From the modules' own records: the index keeps no text."""

    def texts(rows: Rows, document_ids: Sequence[int]) -> dict[int, tuple[str, str]]:
        found: dict[int, tuple[str, str]] = {}
        for document_id in document_ids:
            row = rows.row("select address from document where id = :id", id=document_id)
            read = None if row is None else record(rows, row[0])
            if read is not None:
                found[document_id] = read.title, read.text
        return found

    return texts


def _apply_metric(like: VectorMatch, metric: Metric) -> VectorMatch:
    """Vectors have length 1, so that either metric follows from the cosine and gives the same order."""
    if metric == "cosine":
        return like
    title = None if like.title is None else _to_nearness(like.title)
    return VectorMatch(_to_nearness(like.similarity), like.language, title)


def _to_nearness(cosine: float) -> float:
    """By the distance that two vectors of length 1 have."""
    return 1.0 / (1.0 + (2.0 - 2.0 * cosine) ** 0.5)

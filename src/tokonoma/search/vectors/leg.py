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
from tokonoma.search.filters import Filter
from tokonoma.search.vector_leg import Embedded, Likeness
from tokonoma.search.vectors import store as stored
from tokonoma.search.vectors.store import Asked, Model
from tokonoma.search.weighting import language_of
from tokonoma.store.database import Database

if TYPE_CHECKING:
    from tokonoma.search.vectors.store import Floats

_NEARLY_ALL = 20  # one in so many documents may still wait for a model that is asked
_LONG, _REMEMBER = 1_000, 2.0  # a queue of that length is counted once in so many seconds
_PORTION = 500  # vectors of a model that is no longer in use, deleted at once

Texts = Callable[[Rows, Sequence[int]], Mapping[int, tuple[str, str]]]
"""What to embed of each document: its title and its text."""

Ask = Callable[[Model, str], "Floats | None"]
"""The vector of a question by a model; None if that model cannot be asked now."""


class Queue(Protocol):
    """Of the room that embeds."""

    def enqueue(self, statements: Statements, document_id: int) -> None: ...
    def length(self, rows: Rows) -> int: ...
    def standing(self, rows: Rows, document_id: int) -> str | None: ...


class Near(Protocol):
    """What differs between the databases."""

    def near(self, rows: Rows, model: Model, asked: Asked, filter: Filter, limit: int) -> Mapping[int, Likeness]: ...
    def likely(self, rows: Rows, model: Model, asked: Asked, filter: Filter, limit: int) -> Sequence[int]: ...
    def similarities(
        self, rows: Rows, model: Model, asked: Asked, documents: Sequence[int]
    ) -> Mapping[int, Likeness]: ...
    def settle(self, database: Database, model: Model) -> bool: ...
    def forget(self, statements: Statements, model: Model) -> None: ...
    def size(self) -> int: ...


class Vectors:
    """One a process. `ask` is None where no model is set up: what is stored can still be compared."""

    def __init__(self, database: Database, queue: Queue, texts: Texts, ask: Ask | None) -> None:
        self.texts = texts
        self._database, self._queue, self._ask = database, queue, ask
        self._near: Near | None = None
        self._counted, self._counted_at = 0, float("-inf")

    # Searching: the protocol of legs.py

    def embed_query(self, text: str) -> Asked | None:
        if self._ask is None or not text.strip():
            return None
        with self._database.reading() as rows:
            known = self._preferred(rows)
        for model in known:
            vector = self._ask(model, text)
            if vector is not None:
                return Asked(model.id, vector, language_of(text))
        return None

    def near(
        self, rows: Rows, asked: Asked | int, filter: Filter, metric: Metric, limit: int
    ) -> list[tuple[int, Likeness]]:
        """The nearest documents with their similarity, best first. A document's id asks with its own vector."""
        question = self._question(rows, asked)
        if question is None:
            return []
        found = self._searcher().near(rows, *question, filter, limit)
        best = sorted(found.items(), key=lambda each: (-each[1].similarity, each[0]))[:limit]
        return [(document, _measured(like, metric)) for document, like in best]

    def likely(self, rows: Rows, asked: Asked, filter: Filter, limit: int) -> Sequence[int]:
        question = self._question(rows, asked)
        return [] if question is None else self._searcher().likely(rows, *question, filter, limit)

    def similarities(
        self, rows: Rows, asked: Asked | int, documents: Sequence[int], metric: Metric
    ) -> dict[int, Likeness]:
        """Of these documents, as far as they have vectors."""
        question = self._question(rows, asked)
        if question is None:
            return {}
        found = self._searcher().similarities(rows, *question, documents)
        return {document: _measured(like, metric) for document, like in found.items()}

    def waiting(self, rows: Rows) -> int:
        if self._ask is None:
            return 0
        if time.monotonic() - self._counted_at > _REMEMBER or self._counted < _LONG:
            self._counted, self._counted_at = self._queue.length(rows), time.monotonic()
        return self._counted

    def state(self, rows: Rows, document_id: int) -> Embedded:
        if any(stored.has(rows, model.id, document_id) for model in stored.models(rows)):
            return "embedded"
        waits = self._ask is not None and self._queue.standing(rows, document_id) is not None
        return "waiting" if waits else "none"

    # Writing

    def changed(self, statements: Statements, document_id: int) -> None:
        """The document is new, or its text is: until it is embedded, it has no vector."""
        self._queue.enqueue(statements, document_id)  # first: who holds its place in the queue holds its vectors
        stored.forget(statements, document_id)

    def refill(self, statements: Statements) -> None:
        """Look again for documents without a vector; the worker does it when it next begins."""
        for model in stored.models(statements):
            if model.current:
                stored.note_filled(statements, model.id, 0)

    # What the worker needs

    def models(self, rows: Rows) -> list[Model]:
        return stored.models(rows)

    def adopt(self, statements: Statements, name: str, recipe: str, anchor: "Floats") -> None:
        stored.adopt(statements, name, recipe, anchor)

    def lacking(self, rows: Rows, model: int, after: int, limit: int) -> list[int]:
        return stored.lacking(rows, model, after, limit)

    def resting(self, statements: Statements, document_ids: Sequence[int]) -> set[int]:
        return stored.resting(statements, document_ids)

    def staying(self, statements: Statements, document_ids: Sequence[int]) -> set[int]:
        return stored.staying(statements, document_ids)

    def note_filled(self, statements: Statements, model: int, upto: int | None) -> None:
        stored.note_filled(statements, model, upto)

    def store(
        self,
        statements: Statements,
        model: int,
        document_id: int,
        vectors: "Floats",
        texts: Sequence[str],
        titled: bool = False,
    ) -> None:
        languages = [language_of(text) for text in texts]
        if titled:  # "NHK" over a Japanese text is no English
            languages[0] = languages[1]
        first = stored.TITLE if titled else 0
        stored.store(statements, self._database.kind, model, document_id, vectors, languages, first)

    def settle(self, model: int) -> None:
        with self._database.reading() as rows:
            known = [each for each in stored.models(rows) if each.id == model]
        for each in known:
            self._searcher().settle(self._database, each)

    def retire(self, model: int) -> bool:
        """Delete a portion of what other models have left behind, once every document has a vector of this one."""
        with self._database.reading() as rows:
            known = stored.models(rows)
            complete = any(each.id == model and each.current and each.filled is None for each in known)
            others = [each for each in known if not each.current]
            if not complete or not others or self._queue.length(rows):
                return False
        with self._database.writing() as statements:
            if stored.forget_some(statements, others[0].id, _PORTION):
                return True
            if stored.used(statements, others[0].id):  # the rest goes with the documents that somebody is deleting
                return False
            self._searcher().forget(statements, others[0])
            stored.forget_model(statements, others[0].id)
        log("info", "search.model_retired", model=others[0].name)
        return True

    def memory(self) -> int:
        """Bytes that codes take in this process."""
        return 0 if self._near is None else self._near.size()

    def _searcher(self) -> Near:
        # Here numpy is loaded, and not before.
        if self._near is None:
            if self._database.kind == "sqlite":
                from tokonoma.search.vectors.sqlite import SqliteNear

                self._near = SqliteNear()
            else:
                from tokonoma.search.vectors.postgres import PostgresNear

                self._near = PostgresNear()
        return self._near

    def _question(self, rows: Rows, asked: Asked | int) -> tuple[Model, Asked] | None:
        """None: the model that the question was embedded with has been retired in this very moment."""
        known = self._preferred(rows)
        if isinstance(asked, Asked):
            for model in known:
                if model.id == asked.model:
                    return model, asked
            return None
        for model in known:
            own = stored.own(rows, self._database.kind, model.id, asked)
            if own is not None:
                return model, own
        raise Unavailable("This record has no vector yet. Try again in a moment.", reason="not_embedded")

    def _preferred(self, rows: Rows) -> list[Model]:
        """The models that have vectors, the one to ask with first."""
        known = stored.models(rows)
        current = [model for model in known if model.current]
        others = [model for model in reversed(known) if not model.current]
        if not others or not current or self._nearly_all(rows, current[0]):
            return current + others
        return others + current

    def _nearly_all(self, rows: Rows, model: Model) -> bool:
        """Whether so many have a vector of the new model that it can be asked."""
        if model.filled is not None:
            return False
        found = rows.row("select count(*) from document")
        return found is None or self._queue.length(rows) * _NEARLY_ALL <= int(found[0])


def texts_of(record: Callable[[Rows, str], Record | None]) -> Texts:
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


def _measured(like: Likeness, metric: Metric) -> Likeness:
    """Vectors have length 1, so that either metric follows from the cosine and gives the same order."""
    if metric == "cosine":
        return like
    title = None if like.title is None else _nearness(like.title)
    return Likeness(_nearness(like.similarity), like.language, title)


def _nearness(cosine: float) -> float:
    """By the distance that two vectors of length 1 have."""
    return 1.0 / (1.0 + (2.0 - 2.0 * cosine) ** 0.5)

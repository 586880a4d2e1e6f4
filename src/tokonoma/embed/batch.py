"""A portion of work: claim some documents, embed their texts, keep what is sound and still wanted."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokonoma.core.clock import now
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.embed import queue
from tokonoma.embed.bisect import bisect_failures
from tokonoma.embed.chunks import split_text
from tokonoma.embed.embedder import Embedder, UnusableAnswer
from tokonoma.embed.queue import QueueClaim
from tokonoma.embed.vector_store import EmbeddingModel, VectorStore
from tokonoma.store.database import Database

if TYPE_CHECKING:
    from tokonoma.embed.embedder import Vectors

_FIRST, _MOST = 8, 512  # documents of a portion: few at first, more as long as the provider is quick
_QUICK, _SLOW = 1.0, 5.0  # seconds of a portion
_LATER, _LATEST = 30_000, 6 * 3_600_000  # milliseconds until a text that spoils its batch is tried again


@dataclass(frozen=True, slots=True)
class _BatchItem:
    claim: QueueClaim
    pieces: list[str]
    titled: bool = False  # the first piece is the title by itself


class BatchRunner:
    def __init__(
        self, database: Database, embedder: Embedder, keep: VectorStore, lease: float, closing: Callable[[], bool]
    ) -> None:
        self._database, self._embedder, self._keep = database, embedder, keep
        self._lease = int(lease * 1000)
        self._closing = closing
        self._size = _FIRST

    def run_batch(self, model: EmbeddingModel) -> int:
        """How many documents were taken off the queue; Away or Unsound if the provider is the reason for none."""
        with self._database.reading() as rows:
            if not queue.has_ready(rows):
                return 0
        begin = time.monotonic()
        with self._database.writing() as statements:
            claims = queue.claim(statements, now() + self._lease, self._size)
        try:
            finished = self._process_claims(model, claims)
        except BaseException:
            with suppress(Refusal):  # the store may be what failed; the lease ends by itself
                self._release(claims)
            raise
        self._adapt_size(time.monotonic() - begin, len(claims))
        return finished

    def _process_claims(self, model: EmbeddingModel, claims: list[QueueClaim]) -> int:
        items = self._read_items(claims)
        finished, renew_at = 0, now() + self._lease // 3
        while items:
            if self._closing():
                self._release([item.claim for item in items])
                break
            group = _take_group(items, self._embedder.batch_size)
            del items[: len(group)]
            finished += self._process_group(model, group)
            if items and now() > renew_at:
                with self._database.writing() as statements:
                    queue.renew(statements, [item.claim for item in items], now() + self._lease)
                renew_at = now() + self._lease // 3
        return finished

    def _read_items(self, claims: list[QueueClaim]) -> list[_BatchItem]:
        try:
            texts = self._read_texts(claims)
        except Exception:  # a module that cannot read one of its records must not hold up the others
            texts = self._read_texts_singly(claims)
        found = [each for each in claims if each.document_id in texts]
        return [_build_item(each, *texts[each.document_id], self._embedder.chunk_length) for each in found]

    def _read_texts(self, claims: Sequence[QueueClaim]) -> dict[int, tuple[str, str]]:
        with self._database.reading() as rows:
            found = self._keep.read_texts(rows, [claim.document_id for claim in claims])
        return {claim.document_id: found.get(claim.document_id, ("", "")) for claim in claims}

    def _read_texts_singly(self, claims: Sequence[QueueClaim]) -> dict[int, tuple[str, str]]:
        """Those that cannot be read are tried again much later, and left out."""
        texts: dict[int, tuple[str, str]] = {}
        for claim in claims:
            try:
                texts |= self._read_texts([claim])
            except Exception as error:
                says = error.message if isinstance(error, Refusal) else f"({type(error).__name__})"
                with self._database.writing() as statements:
                    self._postpone(statements, claim, f"The record cannot be read: {says}", guilty=True)
        return texts

    def _process_group(self, model: EmbeddingModel, group: list[_BatchItem]) -> int:
        asked = [item for item in group if item.pieces]
        good, bad = bisect_failures(asked, lambda part: self._embed_group(model, part))
        with self._database.writing() as statements:
            # What somebody is changing at this moment comes again with its new text, or goes with its document.
            free = queue.lock_claims(statements, [item.claim for item in group])
            staying = self._keep.lock_against_delete(statements, [claim.document_id for claim in free])
            ours = {claim for claim in free if claim.document_id in staying}
            for item in group:
                if not item.pieces and item.claim in ours:  # blank, or gone: there is nothing to make a vector of
                    queue.finish(statements, item.claim)
            for item, vectors in good:
                if item.claim in ours and queue.finish(statements, item.claim):
                    self._keep.store_vectors(
                        statements, model.id, item.claim.document_id, vectors, item.pieces, item.titled
                    )
            for item, error in [each for each in bad if each[0].claim in ours]:
                self._postpone(statements, item.claim, error.message, guilty=bool(good))
        if asked and not good:
            raise bad[-1][1]
        return len(group) - len(bad)

    def _embed_group(self, model: EmbeddingModel, part: Sequence[_BatchItem]) -> "list[Vectors]":
        vectors = self._embedder.embed([piece for item in part for piece in item.pieces], "document")
        if vectors.shape[1] != model.dimension:
            raise UnusableAnswer(
                f"The vectors have {vectors.shape[1]} numbers; those of {model.name} have {model.dimension}."
            )
        found: list[Vectors] = []
        at = 0
        for item in part:
            found.append(vectors[at : at + len(item.pieces)])
            at += len(item.pieces)
        return found

    def _postpone(self, statements: queue.Statements, claim: QueueClaim, problem: str, *, guilty: bool) -> None:
        """A text that failed while others did not waits long; else it only goes behind the others."""
        wait = min(_LATER * 2 ** min(claim.tries, 20), _LATEST) if guilty else 0
        tries = claim.tries + 1 if guilty else claim.tries
        queue.postpone(statements, claim, now() + wait, tries, problem)
        if guilty:
            log("warning", "embed.text", document=claim.document_id, tries=tries, says=problem)

    def _release(self, claims: Sequence[QueueClaim]) -> None:
        with self._database.writing() as statements:
            queue.renew(statements, claims, 0)

    def _adapt_size(self, spent: float, count: int) -> None:
        if spent > _SLOW:
            self._size = max(self._size // 2, 1)
        elif spent < _QUICK and count == self._size:
            self._size = min(self._size * 2, _MOST)


def _build_item(claim: QueueClaim, title: str, text: str, reach: int) -> _BatchItem:
    """What speaks for a document: its pieces, the title in front of the text; and the title by itself, by which a
    question in another language finds it."""
    title = title.strip()
    if not title or not text.strip():
        return _BatchItem(claim, split_text(title or text, reach))
    return _BatchItem(claim, [title[:reach], *split_text(f"{title}\n{text}", reach)], titled=True)


def _take_group(items: list[_BatchItem], batch: int) -> list[_BatchItem]:
    """As many of the first as fit into one batch; at least one."""
    count, texts = 1, len(items[0].pieces)
    while count < len(items) and texts + len(items[count].pieces) <= batch:
        texts += len(items[count].pieces)
        count += 1
    return items[:count]

"""Batches of the queue: claim documents, split and embed their texts, store the vectors that are still wanted.

A long text is split into pieces that overlap, each with a vector of its own; the best piece counts. When a batch fails,
it is halved until the texts that fail are found, or until it shows that the provider fails.
"""

import re
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tokonoma.core.clock import now
from tokonoma.core.embedding import EmbeddedDocument, StoredModel
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.embed import queue
from tokonoma.embed.active_model import ModelSwitched
from tokonoma.embed.embedder import Embedder, SubwordEmbedder, UnusableAnswer, VectorStore
from tokonoma.embed.queue import QueueClaim
from tokonoma.store.database import Database

if TYPE_CHECKING:
    from tokonoma.embed.embedder import Vectors

Item = TypeVar("Item")
Result = TypeVar("Result")

_FIRST, _MOST = 8, 512  # documents of a batch: few at first, more as long as the provider is quick
_QUICK, _SLOW = 1.0, 5.0  # seconds of a batch
_BRIEF = 0.05  # seconds of a transaction that stores vectors: writers of these documents wait for it
_LATER = 30_000  # milliseconds until a text that fails is tried again; doubled after each further failure
_ENOUGH = 3  # texts that fail alone before any succeeds: no more are tried

MAX_CHUNKS = 64
"""Pieces of one text. The rest of it is found by text search only."""

_OVERLAP = 0.1
_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"[。．！？!?]|\.\s|\n"), re.compile(r"[\s、，,;；]"))
"""Where a text may be split, best first: between paragraphs, sentences, words."""


@dataclass(frozen=True, slots=True)
class _BatchItem:
    claim: QueueClaim
    pieces: list[str]
    titled: bool = False  # the first piece is the title by itself


class _MadeVectors(NamedTuple):
    vectors: "Vectors"
    subwords: list[bytes] | None


class BatchRunner:
    def __init__(
        self, database: Database, embedder: Embedder, store: VectorStore, lease: float, stopping: Callable[[], bool]
    ) -> None:
        self._database, self._embedder, self._store = database, embedder, store
        self._subwords = embedder if isinstance(embedder, SubwordEmbedder) else None  # asked once: it takes a while
        self._lease = int(lease * 1000)
        self._stopping = stopping
        self._size = self._stored = _FIRST

    def run_batch(self, model: StoredModel, *, saved: bool = False) -> int:
        """Returns how many documents left the queue; `saved`: only of those that callers have saved. Fails with
        ProviderUnavailable or UnusableAnswer if the provider is the reason that none did."""
        with self._database.reading() as rows:
            if not queue.has_ready(rows, saved=saved):
                return 0
        begin = time.monotonic()
        with self._database.writing() as statements:
            if not self._store.lock_active(statements, model.id, alone=True):
                raise ModelSwitched
            claims = queue.claim(statements, now() + self._lease, self._size, saved=saved)
        try:
            with self._renew_meanwhile(claims):
                finished = self._process_claims(model, claims)
        except BaseException:
            with suppress(Refusal):  # the database may be what failed; the lease ends by itself
                self._release(claims)
            raise
        spent = time.monotonic() - begin
        if spent > _SLOW:
            self._size = max(self._size // 2, 1)
        elif spent < _QUICK and len(claims) == self._size:
            self._size = min(self._size * 2, _MOST)
        return finished

    @contextmanager
    def _renew_meanwhile(self, claims: list[QueueClaim]) -> Generator[None]:
        """Leases are short, so that another process soon goes on if this one is killed; a provider may take longer."""
        ended = threading.Event()

        def renew() -> None:
            while not ended.wait(self._lease / 3000):
                with suppress(Refusal), self._database.writing() as statements:
                    queue.renew(statements, claims, now() + self._lease)

        thread = threading.Thread(target=renew, name="tokonoma-claims", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _process_claims(self, model: StoredModel, claims: list[QueueClaim]) -> int:
        items = self._read_items(claims)
        finished = 0
        while items:
            if self._stopping():
                self._release([item.claim for item in items])
                break
            group = _take_group(items, self._embedder.batch_size)
            del items[: len(group)]
            finished += self._process_group(model, group)
        return finished

    def _read_items(self, claims: list[QueueClaim]) -> list[_BatchItem]:
        """One record that cannot be read must not stop the others: it is left out, and tried again much later."""
        try:
            texts = self._store.read_texts([claim.document_id for claim in claims])
        except Exception as error:
            if len(claims) > 1:
                return [item for claim in claims for item in self._read_items([claim])]
            reason = error.message if isinstance(error, Refusal) else f"({type(error).__name__})"
            with self._database.writing() as statements:
                self._postpone(statements, claims[0], f"The record cannot be read: {reason}", guilty=True)
            return []
        length = self._embedder.chunk_length
        return [_build_item(each, *texts.get(each.document_id, ("", "")), length) for each in claims]

    def _process_group(self, model: StoredModel, group: list[_BatchItem]) -> int:
        count = len(group)
        sent = [item for item in group if item.pieces]
        good, bad = bisect_failures(sent, lambda part: self._embed_group(model, part))
        made = {item.claim: _MadeVectors(vectors, self._list_subwords(item)) for item, vectors in good}
        failed = {item.claim: error for item, error in bad}
        while group:
            part, group = group[: self._stored], group[self._stored :]
            begin = time.monotonic()
            self._store_part(model, part, made, failed)
            spent = time.monotonic() - begin
            self._stored = max(self._stored // 2, 1) if spent > _BRIEF else min(self._stored * 2, _MOST)
        if sent and not good:
            raise bad[-1][1]
        return count - len(bad)

    def _store_part(
        self,
        model: StoredModel,
        part: Sequence[_BatchItem],
        made: "Mapping[QueueClaim, _MadeVectors]",
        failed: Mapping[QueueClaim, UnusableAnswer],
    ) -> None:
        """One transaction. On PostgreSQL, who changes one of these documents waits for its end."""
        with self._database.writing() as statements:
            if not self._store.lock_active(statements, model.id):
                raise ModelSwitched
            # A document that is being changed comes again with its new text, or is deleted.
            free = queue.lock_claims(statements, [item.claim for item in part])
            existing = self._store.lock_against_delete(statements, [claim.document_id for claim in free])
            ours = {claim for claim in free if claim.document_id in existing}
            finished: list[QueueClaim] = []
            documents: list[EmbeddedDocument] = []
            for item in part:
                claim = item.claim
                if claim in ours and claim in failed:
                    self._postpone(statements, claim, failed[claim].message, guilty=bool(made))
                elif claim in ours and claim in made:
                    finished.append(claim)
                    documents.append(_build_embedded(item, made[claim]))
                elif claim in ours and not item.pieces:  # blank or deleted: there is nothing to embed
                    finished.append(claim)
            queue.finish(statements, finished)
            self._store.store_vectors(statements, model.id, documents)

    def _list_subwords(self, item: _BatchItem) -> list[bytes] | None:
        return None if self._subwords is None else self._subwords.list_subwords(item.pieces)

    def _embed_group(self, model: StoredModel, part: Sequence[_BatchItem]) -> "list[Vectors]":
        vectors = self._embedder.embed([piece for item in part for piece in item.pieces], "document")
        if vectors.shape[1] != model.dimension:
            raise UnusableAnswer(
                f"The vectors have {vectors.shape[1]} dimensions; those of {model.name} have {model.dimension}."
            )
        ends = accumulate(len(item.pieces) for item in part)
        return [vectors[end - len(item.pieces) : end] for item, end in zip(part, ends, strict=True)]

    def _postpone(self, statements: queue.Statements, claim: QueueClaim, problem: str, *, guilty: bool) -> None:
        """A text that failed while others did not waits long (`guilty`); else it only goes behind the others."""
        wait = min(_LATER * 2 ** min(claim.tries, 20), queue.LATEST_DUE) if guilty else 0
        tries = claim.tries + 1 if guilty else claim.tries
        queue.postpone(statements, claim, now() + wait, tries, problem)
        if guilty:
            log("warning", "embed.text", document=claim.document_id, tries=tries, says=problem)

    def _release(self, claims: Sequence[QueueClaim]) -> None:
        with self._database.writing() as statements:
            queue.renew(statements, claims, 0)


def _build_item(claim: QueueClaim, title: str, text: str, chunk_length: int) -> _BatchItem:
    """The texts that are embedded: the pieces of the title and the text together; and the title by itself, by which a
    query in another language finds the document."""
    title = title.strip()
    if not title or not text.strip():
        return _BatchItem(claim, split_text(title or text, chunk_length))
    return _BatchItem(claim, [title[:chunk_length], *split_text(f"{title}\n{text}", chunk_length)], titled=True)


def _build_embedded(item: _BatchItem, made: _MadeVectors) -> EmbeddedDocument:
    return EmbeddedDocument(item.claim.document_id, made.vectors, item.pieces, item.titled, made.subwords)


def _take_group(items: list[_BatchItem], batch: int) -> list[_BatchItem]:
    """As many of the first as fit into one batch; at least one."""
    count, texts = 1, len(items[0].pieces)
    while count < len(items) and texts + len(items[count].pieces) <= batch:
        texts += len(items[count].pieces)
        count += 1
    return items[:count]


def bisect_failures(
    items: list[Item], embed: Callable[[list[Item]], list[Result]]
) -> tuple[list[tuple[Item, Result]], list[tuple[Item, UnusableAnswer]]]:
    """The items that could be embedded, and those that could not. If there are none of the first kind, the provider may
    be the reason, and items may be missing from both."""
    good: list[tuple[Item, Result]] = []
    bad: list[tuple[Item, UnusableAnswer]] = []
    left = [items] if items else []
    while left and (good or len(bad) < _ENOUGH):
        part = left.pop()
        try:
            good += zip(part, embed(part), strict=True)
        except UnusableAnswer as error:
            if len(part) == 1:
                bad.append((part[0], error))
            else:
                middle = len(part) // 2
                left += [part[middle:], part[:middle]]
    return good, bad


def split_text(text: str, chunk_length: int) -> list[str]:
    """The text itself, if it is short enough; nothing, if it is blank."""
    text = text.strip()
    found: list[str] = []
    start = 0
    while start < len(text) and len(found) < MAX_CHUNKS:
        end = _find_end(text, start, chunk_length)
        found.append(text[start:end].strip())
        if end >= len(text):
            break
        start = max(end - int(chunk_length * _OVERLAP), start + 1)
    return [piece for piece in found if piece]


def _find_end(text: str, start: int, chunk_length: int) -> int:
    """The best place to split within the last third that fits."""
    most = start + chunk_length
    if most >= len(text):
        return len(text)
    least = start + max(chunk_length * 2 // 3, 1)
    for mark in _ENDS:
        if places := [found.end() for found in mark.finditer(text, least, most)]:
            return places[-1]
    return most

"""The worker that empties the queue: one job per process, started when there is something to do."""

import threading
import time
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from tokonoma.core.concurrency import Job, JobStarter
from tokonoma.core.embedding import StoredModel
from tokonoma.core.errors import Refusal, Unready
from tokonoma.core.log import log
from tokonoma.embed import queue
from tokonoma.embed.active_model import (
    GetEmbedder,
    ModelNotUsable,
    ModelSwitched,
    check_answers,
    find_active,
    is_update,
    load_active,
    parse_config,
    switch_model,
)
from tokonoma.embed.batches import BatchRunner
from tokonoma.embed.embedder import ProviderUnavailable, VectorStore
from tokonoma.embed.models import ModelConfig
from tokonoma.store.database import Database

_LOG_EVERY = 5_000  # documents after which progress is logged
_BACKFILL = 2_000  # documents that are put into the queue at once when the model has changed
SHORT_QUEUE = 64
"""Documents in the queue that a search can wait for: some tens of milliseconds with a model in this process. If more
wait, it waits for what callers have saved, unless that is more, too."""

_LEAST_OFTEN = 20  # looks at an empty queue after which the pause does not grow any more
_MAX_WAIT = 0.3  # seconds that a search waits at most
_MAX_CLAIMED, _CLAIMED_PAUSE = 0.3, 0.01  # seconds, for what another process is embedding


@dataclass(frozen=True, slots=True)
class WorkerTiming:
    """Seconds."""

    idle: float = 2.0  # between two looks at a queue that other processes may write to
    first: float = 1.0  # after the provider's first failure; twice as long after each further one
    most: float = 60.0
    lease: float = (
        6.0  # of a document; renewed while its vector is being made. After a kill another process waits for it
    )


class EmbedJobs(JobStarter, Protocol):
    """The job runner, as far as the worker needs it."""

    closing: bool


class EmbedWorker:
    """`get_embedder` is called when there is work, not before; it may fail. `config` is the model of the settings: the
    one of the store is used, if it is another."""

    def __init__(
        self,
        database: Database,
        get_embedder: GetEmbedder,
        config: ModelConfig,
        store: VectorStore,
        jobs: EmbedJobs,
        timing: WorkerTiming | None = None,
    ) -> None:
        self._database, self._get_embedder, self._config, self._store = database, get_embedder, config, store
        self._timing = timing or WorkerTiming()
        self._model: StoredModel | None = None
        self._batches: BatchRunner | None = None
        self._filled: int | None = None
        self._finished = self._quiet = 0  # documents embedded; looks at an empty queue in a row
        self._jobs = jobs
        self._work_lock = threading.Lock()  # one thread works on a batch
        self._hurry = threading.Event()  # a search waits for that thread
        self.problem = ""  # why it waits

    def wake(self) -> None:
        """There may be work. Also called before the transaction that adds it has committed."""
        self._quiet = 0
        timing = self._timing
        self._jobs.start(Job("embed", self.run_step, timing.first, timing.most, choose_pause=self._choose_pause))

    def resume(self, least: int = 1) -> None:
        """Continue where the last process ended, if at least so many documents wait, or begin with a new model."""
        with self._database.reading() as rows:
            if self._is_filling(find_active(self._store, rows)) or queue.has_ready(rows, least):
                self.wake()

    def catch_up(self) -> None:
        """Before a search: embed what waits, if that is quickly done. After any failure the search goes on without."""
        if self.problem:
            return
        try:
            with self._database.reading() as rows:
                active = find_active(self._store, rows)
                more = queue.has_ready(rows, claimed=True) or self._is_filling(active)
                config = self._config if active is None else parse_config(active)
                # Only a model in this process is quick enough to wait for.
                waits = more and config.provider == "builtin"
                saved = waits and queue.has_ready(rows, SHORT_QUEUE + 1, claimed=True)
                if saved:
                    least, most = (
                        queue.has_ready(rows, many, claimed=True, saved=True) for many in (1, SHORT_QUEUE + 1)
                    )
                    waits = least and not most
            if waits and self._take_work_lock(hurry=saved):
                try:
                    until = time.monotonic() + _MAX_WAIT
                    while more and time.monotonic() < until:
                        more = self._run_batch(saved=saved) or self._await_others(until, saved)
                finally:
                    self._work_lock.release()
            if more or saved:
                self.wake()
        except Exception as error:
            self._record_failure(error)
            self.wake()

    def _await_others(self, until: float, saved: bool) -> bool:
        """Whether another process has just made vectors of the rest, or lets this one do it."""
        latest = min(until, time.monotonic() + _MAX_CLAIMED)
        while time.monotonic() < latest:
            with self._database.reading() as rows:
                if not queue.has_ready(rows, claimed=True, saved=saved):
                    return False
                if queue.has_ready(rows, saved=saved):
                    return True
            time.sleep(_CLAIMED_PAUSE)
        return False

    def _take_work_lock(self, *, hurry: bool) -> bool:
        """`hurry`: the thread that has it gives back what it has not begun. False: it takes too long."""
        if hurry:
            self._hurry.set()
        try:
            return self._work_lock.acquire(timeout=_MAX_WAIT)
        finally:
            self._hurry.clear()

    def _is_filling(self, active: StoredModel | None) -> bool:
        """Whether documents are still to be put into the queue of the store's model."""
        return active is not None and (active.backfilled_to is not None or is_update(self._config, active))

    def run_batch(self) -> bool:
        """Work on one batch. False: there is nothing more to do."""
        with self._work_lock:
            return self._run_batch()

    def _run_batch(self, *, saved: bool = False) -> bool:
        """`saved`: of what callers have saved alone."""
        with self._database.reading() as rows:
            active = find_active(self._store, rows)
            if not queue.has_ready(rows) and not self._is_filling(active) and self._model is None:
                return False  # nothing to load a model for
        if self._model is None or active is None or active.id != self._model.id:
            self._model, self._batches = self._open_model(active)
            self._filled = self._model.backfilled_to
        assert self._batches is not None
        try:
            filling = not saved and self._filled is not None and self._enqueue_missing(self._model, self._filled)
            finished = self._batches.run_batch(self._model, saved=saved)
        except ModelSwitched:
            self._model = None
            return True
        self._log_progress(finished)
        self._store.maintain(self._model.id)
        return finished > 0 or filling or (not saved and self._store.retire(self._model.id))

    def _log_progress(self, finished: int) -> None:
        """Progress while a new model embeds everything."""
        before, self._finished = self._finished, self._finished + finished
        if before // _LOG_EVERY != self._finished // _LOG_EVERY:
            with self._database.reading() as rows:
                log("info", "embed.progress", finished=self._finished, waiting=queue.count_waiting(rows))

    def _open_model(self, active: StoredModel | None) -> tuple[StoredModel, BatchRunner]:
        """The store's model, after a check that it is the one whose vectors are stored under its name. A store without
        a model takes the one of the settings."""
        if active is None or is_update(self._config, active):
            embedder = self._get_embedder(self._config)
            assert embedder is not None, "no worker is started for the provider `none`"
            switch_model(self._database, self._store, embedder, self._config, active)
            with self._database.reading() as rows:
                active = find_active(self._store, rows)
            assert active is not None
        embedder = load_active(self._get_embedder, self._config, active)
        check_answers(embedder, self._config, active)
        stopping = lambda: self._jobs.closing or self._hurry.is_set()  # noqa: E731
        return active, BatchRunner(self._database, embedder, self._store, self._timing.lease, stopping)

    def _enqueue_missing(self, model: StoredModel, after: int) -> bool:
        """Put documents without a vector of this model into the queue."""
        with self._database.writing() as statements:
            # Looked for while no other worker stores vectors: what one has just finished is not done again.
            if not self._store.lock_active(statements, model.id, alone=True):
                raise ModelSwitched
            found = self._store.list_missing(statements, model.id, after, _BACKFILL)
            locked = self._store.lock_for_change(statements, found)
            ours = list(takewhile(locked.__contains__, found))  # the rest when the next one is no longer being changed
            if found and not ours:
                return False
            queue.enqueue_backlog(statements, ours)
            self._filled = ours[-1] if ours else None
            self._store.save_backfill(statements, model.id, self._filled)
        return True

    def run_step(self) -> float:
        """One batch, as a job: the seconds until the next look at the queue."""
        try:
            more = self.run_batch()
        except Exception as error:
            self._record_failure(error)
            raise
        self.problem = ""
        self._quiet = 0 if more else self._quiet + 1
        # Right after a wake-up its transaction may not have committed yet: look again soon, then less often.
        return 0.0 if more else min(0.05 * 3 ** min(self._quiet - 1, _LEAST_OFTEN), self._timing.idle)

    def _record_failure(self, error: Exception) -> None:
        self._model = None  # what comes back after a failure may be another model
        problem = (
            error.message if isinstance(error, Refusal) else f"The embedding worker failed ({type(error).__name__})."
        )
        if problem != self.problem:  # logged once, not with every try
            log("warning", "embed.waiting", model=self._config.name, says=problem)
        self.problem = problem

    def _choose_pause(self, error: Exception) -> float | None:
        if isinstance(error, ProviderUnavailable) and error.retry_after is not None:
            return error.retry_after
        if isinstance(error, ModelNotUsable):  # the store may get another model at any time
            return self._timing.idle
        return self._timing.most if isinstance(error, Unready) else None

"""Writing the journal: a write's entry in its own transaction, all others in groups, outside the caller's path."""

import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice

from tokonoma.core.call import Call
from tokonoma.core.clock import now
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Statements
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.core.log import log
from tokonoma.journal.chain import Chain, JournalEntry, build_entry, read_anchors
from tokonoma.journal.gap import Gap
from tokonoma.journal.heads import HeadsFile
from tokonoma.journal.prune import PruneStep, prune_step
from tokonoma.journal.refusals import RefusalRecorder

_MAX_DELAY = 0.2  # seconds that an entry of a read may wait
_GROUP_SIZE = 500  # entries of one transaction
_MAX_QUEUE = 50_000  # entries held while the database does not answer; then the oldest are dropped

OpenWrite = Callable[[CancelToken | None], AbstractContextManager[Statements]]


class JournalWriter:
    """One per process. `open_write` opens a transaction; `policy` returns the current policy version; `heads` is where
    committed entries are noted outside the database."""

    def __init__(self, open_write: OpenWrite, policy: Callable[[], str], heads: HeadsFile | None = None) -> None:
        self._open_write, self._policy, self._heads = open_write, policy, heads
        self._free_chains: list[Chain] = []  # as many as there were writers at the same time (on SQLite, one)
        self._queue: deque[JournalEntry] = deque()
        self._lock = threading.Lock()  # taken directly by every call: through the condition it costs three times that
        self._changed = threading.Condition(self._lock)
        self._flushing = threading.Lock()  # two flushes at once would write the same group
        self._thread: threading.Thread | None = None
        self._closing = False
        self._stop = CancelToken()  # ends the waiting for other writers, when the process ends
        self._dropped, self._report_at = 0, 1  # entries that are lost, and how many of them are logged next
        self._problem = ""  # why the last group could not be written
        self.refusals = RefusalRecorder(self._enqueue)

    @contextmanager
    def write(self, call: Call, outcome: str = "committed") -> Generator[Statements]:
        """Open a transaction whose last statement is the call's own entry: one commit per save."""
        policy = self._policy()  # asks the store, so not while the transaction has its connection
        with self._borrow_chain() as chain, self._open_write(call.cancel_token) as statements:
            yield statements
            chain.add(statements, build_entry(call, policy, outcome))

    def record_sent(self, call: Call) -> None:
        """Commit an entry before a call that changes something outside leaves: if this process is killed before the
        answer comes, the journal still shows that the request may have arrived."""
        with self.write(call, "sent"):
            pass

    @contextmanager
    def _borrow_chain(self) -> Generator[Chain]:
        """Lend a chain for one transaction: enter before the transaction opens, leave after it has committed."""
        with self._lock:
            chain = self._free_chains.pop() if self._free_chains else Chain()
        reusable = True
        try:
            yield chain
            self._note_commit(chain)
        except BaseException as error:
            chain.roll_back()
            # If the connection broke at the commit, the end of this chain is unknown: it is not used again.
            reusable = not (isinstance(error, Unavailable) and error.reason == "database")
            raise
        finally:
            if reusable:
                self._free_chains.append(chain)

    def _note_commit(self, chain: Chain) -> None:
        added = chain.commit()
        if added and self._heads is not None:
            self._heads.note(added)

    def prune(self, call: Call, before: int) -> Generator[PruneStep]:
        """Remove the entries from before a time, in groups. Each group leaves a checkpoint and an entry of the call."""
        after: str | None = ""
        while after is not None:
            policy = self._policy()
            with self._borrow_chain() as chain, self._open_write(call.cancel_token) as statements:
                step = prune_step(statements, before, after)
                if step.entries:
                    checkpoint = JournalEntry(now(), "prune", anchors=step.to_checkpoint(before))
                    chain.add(statements, checkpoint, build_entry(call, policy, "committed"))
            after = step.after
            yield step

    def get_gap(self) -> Gap | None:
        """What this database had recorded and has lost."""
        return None if self._heads is None else self._heads.get_gap()

    def accept_gap(self, call: Call, gap: Gap) -> None:
        """Record that the owner goes on without what was lost."""
        policy = self._policy()
        with self._borrow_chain() as chain, self._open_write(call.cancel_token) as statements:
            entry = JournalEntry(now(), "gap", anchors=gap.to_json())
            chain.add(statements, entry, build_entry(call, policy, "committed"))

    def record(self, call: Call, outcome: str, code: str, duration_us: int) -> None:
        """Queue an entry for the next group."""
        self._enqueue(build_entry(call, self._policy(), outcome, code, duration_us))

    def _enqueue(self, entry: JournalEntry) -> None:
        with self._lock:
            if len(self._queue) >= _MAX_QUEUE:
                self._queue.popleft()
                self._count_dropped(1)
            self._queue.append(entry)
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
                self._thread.start()
            elif len(self._queue) == 1:
                self._changed.notify()

    def flush(self) -> None:
        """Write what is queued. An entry leaves the queue only after its transaction has committed."""
        try:
            self._write_groups()
        except Exception as error:
            self._fail(error)
            raise
        self._problem = ""

    def _write_groups(self) -> None:
        with self._flushing:
            for _ in range(-(-len(self._queue) // _GROUP_SIZE)):
                with self._lock:
                    group, dropped = list(islice(self._queue, _GROUP_SIZE)), self._dropped
                with self._borrow_chain() as chain, self._open_write(self._stop) as statements:
                    chain.add(statements, *group)
                with self._lock:
                    for _ in range(len(group) - (self._dropped - dropped)):
                        self._queue.popleft()

    def describe_problem(self) -> str:
        """What is wrong, in words; empty if every entry is written."""
        if not self._problem and not self._dropped:
            return ""
        return f"{self._dropped} entries are lost, {len(self._queue)} wait ({self._problem or 'written again'})"

    def _count_dropped(self, entries: int) -> None:
        """Log the first loss, and each time that the number has doubled."""
        self._dropped += entries
        if self._dropped >= self._report_at:
            self._report_at = 2 * self._dropped
            log("error", "journal.dropped", entries=self._dropped, reason=self._problem or "queue_full")

    def close(self, wait: float = 30.0) -> None:
        """Write the last group, and the end of each chain, if other writers let it within `wait` seconds."""
        self.refusals.close()
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        timer = threading.Timer(wait, self._stop.cancel, ("timeout",))
        timer.daemon = True
        timer.start()
        try:
            self._write_end()
        finally:
            timer.cancel()

    def _write_end(self) -> None:
        if self._thread is not None:
            self._thread.join()
        try:
            self.flush()
            for chain in filter(lambda each: each.is_open, self._free_chains):
                with self._open_write(self._stop) as statements:
                    chain.add(statements, JournalEntry(now(), "close", anchors=read_anchors(statements, chain.id)))
                self._note_commit(chain)
        except Refusal as error:
            if self._queue:
                log("error", "journal.dropped", entries=len(self._queue), reason=error.reason)
        if self._heads is not None:
            self._heads.flush()

    def _run(self) -> None:
        while not self._closing:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._queue) or self._closing)
                self._changed.wait_for(lambda: self._closing, timeout=_MAX_DELAY)
            try:
                self.flush()
            except Exception:  # logged; the next round tries again
                with self._changed:
                    self._changed.wait_for(lambda: self._closing, timeout=1.0)

    def _fail(self, error: Exception) -> None:
        problem = error.reason or error.kind if isinstance(error, Refusal) else type(error).__name__
        if problem != self._problem:  # logged once, not with every try
            log("error", "journal", waiting=len(self._queue), reason=problem)
        self._problem = problem
        if problem == "read_only":  # waiting does not help: reads go on, and the entries are counted
            with self._lock:
                self._count_dropped(len(self._queue))
                self._queue.clear()

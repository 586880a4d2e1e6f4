"""The keeper writes entries: a write's own with its transaction, all others in groups, off the caller's path."""

import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

from tokonoma.core.call import Call
from tokonoma.core.cancellation import CancelToken
from tokonoma.core.clock import now
from tokonoma.core.desk import Statements
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.journal.chain import ChainPool, read_anchors
from tokonoma.journal.entry import JournalEntry, build_entry
from tokonoma.journal.prune import PruneStep, format_checkpoint, prune_step

_MAX_DELAY = 0.2  # seconds that an entry of a read may wait
_GROUP_SIZE = 500  # entries of one transaction
_SKEW = 60_000  # milliseconds that the clocks of two machines on one database may differ
_MAX_QUEUE = 50_000  # entries kept while the database does not answer; then the oldest go, and the log says so

OpenWriteWithCancel = Callable[[CancelToken | None], AbstractContextManager[Statements]]


class JournalWriter:
    """One per process. `writing` opens a transaction; `policy` names the version in force."""

    def __init__(self, writing: OpenWriteWithCancel, policy: Callable[[], str]) -> None:
        self._open_write, self._policy = writing, policy
        self._chains = ChainPool()
        self._queue: deque[JournalEntry] = deque()
        self._lock = threading.Lock()  # taken as it is by every call: through the condition it would cost thrice that
        self._changed = threading.Condition(self._lock)
        self._flushing = threading.Lock()  # two at once would write the same group
        self._thread: threading.Thread | None = None
        self._closing = False
        self._dropped = 0

    @contextmanager
    def write(self, call: Call, outcome: str = "committed") -> Generator[Statements]:
        """A transaction whose last statement is the call's own entry: one commit a save."""
        with self._chains.borrow() as strand, self._open_write(call.cancel_token) as statements:
            yield statements
            strand.add(statements, build_entry(call, self._policy(), outcome))

    def record_sent(self, call: Call) -> None:
        """Commit an entry before a call that changes something outside leaves: if this process is killed before the
        answer comes, the journal still shows that the request may have arrived."""
        with self.write(call, "sent"):
            pass

    def prune(self, call: Call, before: int) -> Generator[PruneStep]:
        """Remove the entries from before a time, a group at a time; checkpoints and the call's own entries say so."""
        place: str | None = ""
        since, keep = before, set[str]()
        while place is not None:
            begun = now()
            with self._chains.borrow() as strand, self._open_write(call.cancel_token) as statements:
                done = prune_step(statements, before, place, since, keep)
                if done.entries:
                    checkpoint = JournalEntry(now(), "prune", anchors=format_checkpoint(done, before))
                    strand.add(statements, checkpoint, build_entry(call, self._policy(), "committed"))
            place, since = done.place, begun - _SKEW
            yield done

    def record(self, call: Call, outcome: str, code: str, duration_us: int) -> None:
        """Keep an entry for the next group."""
        entry = build_entry(call, self._policy(), outcome, code, duration_us)
        with self._lock:
            if len(self._queue) >= _MAX_QUEUE:
                self._queue.popleft()
                self._dropped += 1
            self._queue.append(entry)
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
                self._thread.start()
            elif len(self._queue) == 1:
                self._changed.notify()

    def flush(self) -> None:
        """Write what waits now. An entry leaves the queue only after its transaction has committed."""
        with self._flushing:
            for _ in range(-(-len(self._queue) // _GROUP_SIZE)):
                self._write_group()

    def _write_group(self) -> None:
        with self._changed:
            group = [self._queue[place] for place in range(min(_GROUP_SIZE, len(self._queue)))]
            before = self._dropped
        with self._chains.borrow() as strand, self._open_write(None) as statements:
            strand.add(statements, *group)
        with self._changed:
            for _ in range(len(group) - (self._dropped - before)):
                self._queue.popleft()

    def close(self) -> None:
        """The last group, and the end of each strand."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        try:
            self.flush()
            for strand in self._chains.open_chains():
                with self._open_write(None) as statements:
                    strand.add(statements, JournalEntry(now(), "close", anchors=read_anchors(statements, strand.id)))
        except Refusal as error:
            log("error", "journal", waiting=len(self._queue), reason=error.reason)

    def _run(self) -> None:
        while not self._closing:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._queue) or self._closing)
                self._changed.wait_for(lambda: self._closing, timeout=_MAX_DELAY)
            try:
                self.flush()
            except Exception as error:  # the next round tries again; nothing has left the queue
                log("error", "journal", waiting=len(self._queue), error=type(error).__name__)
                with self._changed:
                    self._changed.wait_for(lambda: self._closing, timeout=1.0)

"""The composition root: joins the rooms, starts and stops them. A call never passes through it."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tokonoma import __version__
from tokonoma.app.modules import ConnectedModules
from tokonoma.app.policies import open_gate, open_policies
from tokonoma.app.services import build_refresh_job, open_services
from tokonoma.app.upstreams import open_upstreams
from tokonoma.config.home import find_home, load_settings, open_tracer
from tokonoma.config.settings import choose_language
from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.core.clock import now
from tokonoma.core.ids import uuid7
from tokonoma.core.lazy import Lazy
from tokonoma.core.log import set_format, set_level
from tokonoma.core.tracing import Tracer
from tokonoma.pipeline.identify import CallerIdentifier
from tokonoma.pipeline.run import CallRunner
from tokonoma.pipeline.worker_pool import WorkerPool
from tokonoma.server.access import AccessWatch
from tokonoma.server.dispatch import ToolDispatcher
from tokonoma.server.resources import ChangeFeed

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tokonoma.app.changes import ChangeDetector
    from tokonoma.app.exchange import RecordExchange
    from tokonoma.app.search import SearchEngine
    from tokonoma.app.server_info import ProcessInfo
    from tokonoma.auth.authenticate import Authenticator
    from tokonoma.core.desk import Statements
    from tokonoma.jobs.runner import JobRunner
    from tokonoma.journal.writer import JournalWriter
    from tokonoma.pipeline.journal import Observe
    from tokonoma.pipeline.run import Invoke, Stage
    from tokonoma.policy.current import CurrentPolicy
    from tokonoma.policy.reclassifier import Reclassifier
    from tokonoma.services.connect import ServiceConnector
    from tokonoma.store.database import Database
    from tokonoma.upstream.hub import UpstreamHub


def read_environment() -> Mapping[str, str]:
    """The process's environment, for the command line too: no other place reads it."""
    return os.environ


class App:
    """One process of the server. Everything that costs time to load is made when it is first needed."""

    def __init__(
        self,
        flags: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        spans: Tracer | None = None,
        clock: Callable[[], int] = now,
    ) -> None:
        # Searches multiply small matrices: with several threads for each, most of the time goes into waiting for them.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded
        flags, environ = flags or {}, read_environment() if environ is None else environ
        self.home = find_home(flags.get("home"), environ)
        self.settings = load_settings(self.home, flags, environ)
        set_level(self.settings.get_text("log_level"))
        set_format(self.settings.get_text("log_format"))
        self.clock = clock
        self.started_at = clock()
        self.observers: list[Observe] = []  # see every call after its journal entry
        self.spans = spans or open_tracer(self.settings)
        lock = threading.RLock()
        self._database = Lazy(self._open_database, lock)
        self.modules = ConnectedModules(self, self._database)
        self.registry = self.modules.open_registry()
        self._jobs = Lazy(self._open_jobs, lock)
        self._search = Lazy(self._open_search, lock)
        self._policies = Lazy(partial(open_policies, self), lock)
        self.gate = Lazy(partial(open_gate, self), lock)
        self._reclassifier = Lazy(self._open_reclassifier, lock)
        self._journal = Lazy(self._open_journal, lock)
        self._server_info = Lazy(self._open_server_info, lock)
        self._exchange = Lazy(self._open_exchange, lock)
        self._authenticator = Lazy(self._open_authenticator, lock)
        self._changes = Lazy(self._open_changes, lock)
        self._services = Lazy(partial(open_services, self), lock)
        self._upstreams = Lazy(partial(open_upstreams, self), lock)
        self.feed = ChangeFeed(lambda uris: self._changes().has_changed(uris), lambda job: self.jobs.start(job))
        self.observers.append(self.feed.observe)
        self.pool = WorkerPool(self.settings.get_int("workers"))
        self.calls = CallRunner(self.pool, self._build_pipeline, self.registry.writes)
        self.identify = CallerIdentifier(self._authenticator, self._record_refusal)
        self.access = AccessWatch(self.identify.renew, self._jobs)
        direct, surface = self.settings.get_names("direct"), self.settings.get_text("surface")
        self.dispatcher = ToolDispatcher(
            __version__, self.registry, self.calls.submit, self.identify, direct, self.spans, self.feed,
            choose_language(self.settings, environ), surface, self.access,
        )  # fmt: skip
        self._closers: list[Callable[[], None]] = []

    # The pipeline, built by the first call

    def _build_pipeline(self) -> "tuple[Sequence[Stage], Invoke]":
        """The stages, in the order in which a call passes them, and what runs the tool."""
        from tokonoma.app.desk_parts import build_desk_parts
        from tokonoma.auth.rate_limit import create_rate_limit
        from tokonoma.pipeline.authors import authors
        from tokonoma.pipeline.choose import choose
        from tokonoma.pipeline.deadline import DeadlineWatch, deadline
        from tokonoma.pipeline.guard import guard
        from tokonoma.pipeline.identify import identify
        from tokonoma.pipeline.invoke import ToolInvoker
        from tokonoma.pipeline.journal import journal
        from tokonoma.pipeline.limit import limit
        from tokonoma.pipeline.mask_errors import mask_errors
        from tokonoma.pipeline.parse import parse
        from tokonoma.pipeline.trace import trace

        registry, policies, gate, watch = self.registry, self.policies, self.gate(), DeadlineWatch()
        stages = [
            trace(self.spans),
            identify(self.identify, self._record_refusal),
            journal(self.journal.record, self.observers),
            mask_errors(policies.get_active),
            choose(registry.find_tool, self.modules.look),
            limit(create_rate_limit(self.settings.get_text("rate_limit"), self.database.writing)),
            gate.permit,
            parse(registry.load_tool),
            deadline(watch, self.settings.get_seconds("time_limit")),
            guard(policies.get_active, registry.return_type),
            gate.ask,
            authors(self._database),
        ]
        invoker = ToolInvoker(registry.load_tool, build_desk_parts(self), self.pool.submit, self.journal.record_sent)
        self._closers += [invoker.close, watch.close]
        return stages, invoker

    # What is opened when it is first needed

    @property
    def database(self) -> "Database":
        return self._database()

    @property
    def jobs(self) -> "JobRunner":
        return self._jobs()

    @property
    def search(self) -> "SearchEngine":
        return self._search()

    @property
    def policies(self) -> "CurrentPolicy":
        return self._policies()

    @property
    def reclassifier(self) -> "Reclassifier":
        return self._reclassifier()

    @property
    def journal(self) -> "JournalWriter":
        return self._journal()

    @property
    def server_info(self) -> "ProcessInfo":
        return self._server_info()

    @property
    def authenticator(self) -> "Authenticator":
        return self._authenticator()

    @property
    def services(self) -> "ServiceConnector":
        return self._services()

    @property
    def upstreams(self) -> "UpstreamHub":
        return self._upstreams()

    def _record_refusal(self, caller: Caller, code: str, place: str) -> None:
        self.journal.refusals.record(caller, code, place)

    def database_url(self) -> str:
        from tokonoma.store.database import format_sqlite_url

        return self.settings.get_text("database_url") or format_sqlite_url(self.home / "tokonoma.db")

    def _open_database(self) -> "Database":
        from tokonoma.app.store import open_store

        return open_store(self.home, self.database_url(), durable=self.settings.get_flag("durable"))

    def _open_jobs(self) -> "JobRunner":
        from tokonoma.jobs.leases import Leases
        from tokonoma.jobs.runner import JobRunner

        return JobRunner(Leases(self.database.writing, self.clock))

    def _open_search(self) -> "SearchEngine":
        from tokonoma.app.search import SearchEngine
        from tokonoma.policy.current import read_for_index

        read = partial(read_for_index, self._policies, self.registry.read_record)
        return SearchEngine(self.database, self.settings, self.registry, read, self.jobs)

    def _open_reclassifier(self) -> "Reclassifier":
        from tokonoma.policy.reclassifier import Reclassifier

        return Reclassifier(self.database, self.policies, self.jobs.start)

    def _open_journal(self) -> "JournalWriter":
        from tokonoma.app.store import open_heads
        from tokonoma.journal.writer import JournalWriter

        return JournalWriter(self.database.writing, self.policies.get_version, open_heads(self.home, self.database))

    def _open_changes(self) -> "ChangeDetector":
        from tokonoma.app.changes import ChangeDetector

        return ChangeDetector(self.database, self.registry, lambda: self._upstreams.current)

    def _open_server_info(self) -> "ProcessInfo":
        from tokonoma.app.server_info import ProcessInfo

        parts = (self._database, self._search, self._policies, self._journal)
        rest = (self.started_at, self._exchange, self.calls.submit, lambda: self._upstreams.current)
        return ProcessInfo(self.home, self.settings, self.registry, *parts, *rest)

    def _open_exchange(self) -> "RecordExchange":
        from tokonoma.app.exchange import RecordExchange

        return RecordExchange(self)

    def _open_authenticator(self) -> "Authenticator":
        from tokonoma.app.access import open_authenticator

        return open_authenticator(self)

    # The owner's own work, start and end

    def write_as_owner(self, what: str) -> "AbstractContextManager[Statements]":
        """A transaction for the owner's own work at the command line; the journal holds it like any call."""
        return self.journal.write(build_owner_call(what))

    def warm(self, *, serves: bool = False) -> None:
        """Open the store and load what a first call needs, ahead of it. `serves`: a server for many clients."""
        from tokonoma.app.memory import return_memory, share_heap
        from tokonoma.app.store import update_statistics

        share_heap()  # before there are threads that would take heaps of their own
        self.calls.warm()
        self.search.resume(serves=serves)
        self.jobs.start_step("statistics", partial(update_statistics, self.database))
        self.modules.look()
        if serves:
            self.jobs.start_step("services", self.modules.keep_looking)
            self.jobs.start_step("memory", return_memory)
            self.jobs.start(build_refresh_job(self))
        self.registry.load_tool(self.registry.find_meta_tool("get_module_schema"))

    def close(self, grace: float = 1.5, journal_wait: float = 30.0) -> None:
        """Finish what was accepted, stop background work, end the journal's chains, close the database. `journal_wait`:
        seconds that the journal waits for other writers."""
        until = time.monotonic() + grace
        self.pool.close(grace)
        for close in self._closers:
            close()
        if self._upstreams.current is not None:
            self._upstreams.current.kill()
        if self._jobs.current is not None:
            self._jobs.current.close(max(0.1, until - time.monotonic()))
        if self._search.current is not None:
            self._search.current.close()
        if self._journal.current is not None:
            self._journal.current.close(journal_wait)
        if self._database.current is not None:
            self._database.current.close()
        if self.spans is not None:
            self.spans.close()


def build_owner_call(what: str) -> Call:
    """The call that stands in the journal for the owner's own work at the command line."""
    return Call("admin", what, {}, Caller("cli", principal=OWNER), request_id=uuid7(), identified=OWNER)

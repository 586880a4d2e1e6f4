"""The composition root: the only place that reads the environment and joins the rooms."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from tokonoma import __version__, catalogue
from tokonoma.catalogue import plugins
from tokonoma.catalogue.registry import GATEWAY, Registry
from tokonoma.config.home import find_home, load_settings, open_tracer
from tokonoma.core.call import OWNER, Call, Caller, Principal
from tokonoma.core.clock import now
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log, set_level
from tokonoma.core.module import Module
from tokonoma.core.tracing import Tracer
from tokonoma.pipeline.pool import WorkerPool
from tokonoma.server.dispatch import ToolDispatcher
from tokonoma.server.results import build_error

if TYPE_CHECKING:
    from tokonoma.app.reclassify_job import ReclassifyJob
    from tokonoma.app.search import SearchEngine
    from tokonoma.app.server_info import ProcessInfo
    from tokonoma.auth.authenticate import Authenticator
    from tokonoma.core.desk import Rows, Statements
    from tokonoma.journal.prune import PruneStep
    from tokonoma.journal.writer import JournalWriter
    from tokonoma.pipeline.run import Done
    from tokonoma.policy.active import ActivePolicy
    from tokonoma.policy.current import CurrentPolicy
    from tokonoma.policy.desk_policy import CallDeskPolicy
    from tokonoma.store.database import Database
    from tokonoma.telemetry.metrics import Metrics


def read_environment() -> Mapping[str, str]:
    """The process's environment, for the command line too: nobody else looks at it."""
    return os.environ


class App:
    """One process's house. Everything that costs time to load is joined when it is first needed."""

    def __init__(
        self,
        flags: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        spans: Tracer | None = None,
    ) -> None:
        flags, environ = flags or {}, read_environment() if environ is None else environ
        self.home = find_home(flags.get("home"), environ)
        self.settings = load_settings(self.home, flags, environ)
        set_level(self.settings.get_text("log_level"))
        self.started_at = now()
        self.metrics: Metrics | None = None
        self.spans = spans or open_tracer(self.settings)
        self.registry = Registry(
            # Plugins by the catalogues that were kept when they were enabled: entry points are not read at start.
            [*catalogue.read_catalogue(catalogue.CATALOGUE_FILE), *plugins.read_usable_plugins(self.home)],
            self._load,
            self._prepare,
            frozenset(self.settings.get_names("modules_off")),
        )
        self.pool = WorkerPool(self.settings.get_int("workers"))
        self.dispatcher = ToolDispatcher(
            __version__, self.registry, self.run, self.identify, self.settings.get_names("direct"), self.spans
        )
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._row: Callable[[Call, Done], None] | None = None

    # Calls

    def run(self, call: Call, done: "Done") -> None:
        """Put a call on a worker, where it walks the whole pipeline."""
        self.pool.submit(partial(self._run_on_worker, call, done))

    def _run_on_worker(self, call: Call, done: "Done") -> None:
        try:
            row = self._row or self._build_pipeline()
        except Exception as error:  # a broken installation: whoever called is told, and does not wait for ever
            log("error", "join", error=type(error).__name__)
            done(call, error)
            return
        row(call, done)

    def _build_pipeline(self) -> "Callable[[Call, Done], None]":
        """The row of stages, in the order in which they are walked."""
        from tokonoma.auth.rate_limit import create_rate_limit
        from tokonoma.pipeline.choose import choose
        from tokonoma.pipeline.deadline import DeadlineWatch, deadline
        from tokonoma.pipeline.guard import guard
        from tokonoma.pipeline.identify import identify
        from tokonoma.pipeline.invoke import invoke
        from tokonoma.pipeline.journal import journal
        from tokonoma.pipeline.limit import limit
        from tokonoma.pipeline.mask_errors import veil
        from tokonoma.pipeline.parse import parse
        from tokonoma.pipeline.run import run_call
        from tokonoma.pipeline.trace import trace

        with self._lock:
            if self._row is not None:
                return self._row
            stages = [
                trace(self.spans),
                identify(self.identify),
                journal(self.journal.record, self._observe),
                veil(self.policies.get_active),
                choose(self.registry.find_tool),
                limit(create_rate_limit(self.settings.get_text("rate_limit"), lambda: self.database.writing())),
                parse(self.registry.load_tool),
                guard(self.policies.get_active, self.registry.return_type),
                deadline(DeadlineWatch(), self.settings.get_seconds("time_limit")),
            ]
            run = invoke(self.registry.load_tool, self._build_desk_parts())
            self._row = lambda call, done: run_call(call, stages, run, done)
            return self._row

    def _build_desk_parts(self) -> Any:
        from tokonoma.pipeline.desk import DeskParts

        return DeskParts(
            server=self.server_info,
            addresses=self.registry,
            record_tables=self.registry.record_tables,
            unclassified_tables=self.registry.unclassified_tables,
            open_read=self._reading,
            open_write=self._writing,
            open_derived_write=lambda: self.database.writing(),
            index_document=self.policies.put_document,
            unindex_document=lambda statements, address: self.search.index.drop(statements, address),
            find=lambda call, query, where, labels: self.search.find(call, query, where, labels),
            lock_policy=self.policies.lock_active,
            build_policy=self._boundary,
        )

    def _reading(self, call: Call) -> "AbstractContextManager[Rows]":
        opened = self.database.reading(call.cancel_token)
        return opened if self.spans is None else self._time("database read", call, opened)

    def _writing(self, call: Call) -> "AbstractContextManager[Statements]":
        opened = self.journal.write(call)
        return opened if self.spans is None else self._time("database write", call, opened)

    @contextmanager
    def _time(self, name: str, call: Call, opened: AbstractContextManager[Any]) -> Any:
        from tokonoma.core.tracing import format_traceparent, record_span

        assert self.spans is not None
        with record_span(self.spans, name, format_traceparent(call.trace_id, call.span_id)), opened as inner:
            yield inner

    def _observe(self, call: Call, outcome: str, spent: int) -> None:
        if self.metrics is not None:
            self.metrics.observe(call, outcome, spent)

    def write_as_owner(self, what: str) -> "AbstractContextManager[Statements]":
        """A transaction for the owner's own work at the command line; the journal holds it like any call."""
        return self.journal.write(_owner_call(what))

    def prune_journal(self, before: int) -> "Iterator[PruneStep]":
        """Remove the journal's entries from before a time, a group at a time."""
        return self.journal.prune(_owner_call("journal.prune"), before)

    # Who calls

    def identify(self, caller: Caller) -> Principal:
        """stdio and the command line are the owner; HTTP needs a key as soon as one exists."""
        if caller.principal is None:
            caller.principal = (
                OWNER if caller.transport in ("stdio", "cli") else self.authenticator.authenticate(caller)
            )
        return caller.principal

    @cached_property
    def authenticator(self) -> "Authenticator":
        from tokonoma.auth.authenticate import Authenticator

        return Authenticator(lambda: self.database.reading(), self.settings.get_flag("require_key"))

    # Rooms that are opened when they are first needed

    @property
    def database(self) -> "Database":
        if self._database is None:
            with self._lock:
                if self._database is None:
                    self._database = self._open_database()
        return self._database

    @cached_property
    def journal(self) -> "JournalWriter":
        from tokonoma.journal.writer import JournalWriter

        return JournalWriter(lambda stop: self.database.writing(stop), lambda: self.policy.version)

    @property
    def policy(self) -> "ActivePolicy":
        return self.policies.get_active()

    @cached_property
    def policies(self) -> "CurrentPolicy":
        from tokonoma.policy.current import CurrentPolicy
        from tokonoma.policy.reclassify import RecordSource

        return CurrentPolicy(
            lambda: self.database.reading(),
            lambda statements, document, scan: self.search.index.put(statements, document, scan),
            RecordSource(self.registry.load_all, self.registry.find_module, self.registry.read_record),
            lambda: self.reclassifier.wake(),
            self.settings.get_names("policy_signers"),
        )

    @cached_property
    def reclassifier(self) -> "ReclassifyJob":
        from tokonoma.app.reclassify_job import ReclassifyJob

        return ReclassifyJob(self.database, self.policies)

    def _boundary(self, call: Call) -> "CallDeskPolicy":
        from tokonoma.pipeline.desk import unfiltered
        from tokonoma.policy.desk_policy import CallDeskPolicy

        return CallDeskPolicy(self.policies, self.reclassifier.run_until_done, unfiltered, call)

    @cached_property
    def server_info(self) -> "ProcessInfo":
        from tokonoma.app.server_info import ProcessInfo

        rooms = (lambda: self.database, lambda: self.search, lambda: self.policies)
        return ProcessInfo(self.home, self.settings, self.registry, *rooms, self.started_at)

    @cached_property
    def search(self) -> "SearchEngine":
        from tokonoma.app.search import SearchEngine

        return SearchEngine(self.database, self.settings, self.registry.read_record)

    def database_url(self) -> str:
        from tokonoma.store.database import format_sqlite_url

        return self.settings.get_text("database_url") or format_sqlite_url(self.home / "tokonoma.db")

    def _open_database(self) -> "Database":
        from tokonoma.app.store import open_store

        return open_store(self.home, self.database_url(), durable=self.settings.get_flag("durable"))

    def _prepare(self, module: Module) -> None:
        if module.tables:
            from tokonoma.app.store import migrate_tables

            migrate_tables(self.database, self.home, module.name, module.tables)

    def _load(self, source: str) -> Module:
        module = self._gateway() if source == catalogue.BUILT_IN_MODULES[GATEWAY] else catalogue.load_module(source)
        return module.bind(self.server_info) if module.bind is not None else module

    def _gateway(self) -> Module:
        """The gateway of this house: its steps walk the same pipeline as every other call."""
        from tokonoma.gateway.tools import build_gateway

        return build_gateway(
            submit=self.run,
            check=lambda entry, params: self.registry.load_tool(entry).parse(params),
            failure=lambda call, error: build_error(call, error, self.registry.error_codes(call.module)),
            writing=lambda stop: self.database.writing(stop),
        )

    def warm(self, *, serves: bool = False) -> None:
        """Open the store and load what a first call needs, while nobody waits. `serves`: for many, and for long."""
        self._build_pipeline()
        self.search.resume(serves=serves)
        self.registry.load_tool(self.registry.find_meta_tool("get_module_schema"))

    def close(self, grace: float = 1.5) -> None:
        """Finish what was accepted, end the journal's strands, close the database."""
        self.pool.close(grace)
        for room in ("reclassifier", "search", "journal"):
            if room in self.__dict__:  # it was opened
                getattr(self, room).close()
        if self._database is not None:
            self._database.close()
        if self.spans is not None:
            self.spans.close()


def _owner_call(what: str) -> Call:
    return Call("admin", what, {}, Caller("cli", principal=OWNER), request_id=uuid7(), identified=OWNER)

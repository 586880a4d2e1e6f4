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
from tokonoma.config.home import home_of, settings_of, telemetry_of
from tokonoma.core.call import OWNER, Call, Caller, Principal
from tokonoma.core.clock import now
from tokonoma.core.ids import uuid7
from tokonoma.core.log import log, set_level
from tokonoma.core.module import Module
from tokonoma.core.tracing import Spans
from tokonoma.pipeline.pool import Pool
from tokonoma.server.dispatch import HouseFront
from tokonoma.server.results import failure

if TYPE_CHECKING:
    from tokonoma.app.desk_policy import DeskBoundary
    from tokonoma.app.policy import Policing
    from tokonoma.app.reclassify_job import Relabeller
    from tokonoma.app.search import Searching
    from tokonoma.app.server_info import TheHouse
    from tokonoma.auth.authenticate import Door
    from tokonoma.core.desk import Rows, Statements
    from tokonoma.journal.prune import Cut
    from tokonoma.journal.writer import Keeper
    from tokonoma.pipeline.run import Done
    from tokonoma.policy.active import InForce
    from tokonoma.store.database import Database
    from tokonoma.telemetry.metrics import Metrics


def environment() -> Mapping[str, str]:
    """The process's environment, for the command line too: nobody else looks at it."""
    return os.environ


class App:
    """One process's house. Everything that costs time to load is joined when it is first needed."""

    def __init__(
        self,
        flags: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        spans: Spans | None = None,
    ) -> None:
        flags, environ = flags or {}, environment() if environ is None else environ
        self.home = home_of(flags.get("home"), environ)
        self.settings = settings_of(self.home, flags, environ)
        set_level(self.settings.text("log_level"))
        self.started_at = now()
        self.metrics: Metrics | None = None
        self.spans = spans or telemetry_of(self.settings)
        self.registry = Registry(
            # Plugins by the catalogues that were kept when they were enabled: entry points are not read at start.
            [*catalogue.read(catalogue.SHIPPED), *plugins.kept(self.home)],
            self._load,
            self._prepare,
            frozenset(self.settings.names("modules_off")),
        )
        self.pool = Pool(self.settings.number("workers"))
        self.front = HouseFront(
            __version__, self.registry, self.run, self.identify, self.settings.names("direct"), self.spans
        )
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._row: Callable[[Call, Done], None] | None = None

    # Calls

    def run(self, call: Call, done: "Done") -> None:
        """Put a call on a worker, where it walks the whole pipeline."""
        self.pool.submit(partial(self._walk, call, done))

    def _walk(self, call: Call, done: "Done") -> None:
        try:
            row = self._row or self._join()
        except Exception as error:  # a broken installation: whoever called is told, and does not wait for ever
            log("error", "join", error=type(error).__name__)
            done(call, error)
            return
        row(call, done)

    def _join(self) -> "Callable[[Call, Done], None]":
        """The row of stages, in the order in which they are walked."""
        from tokonoma.auth.rate_limit import rates
        from tokonoma.pipeline.choose import choose
        from tokonoma.pipeline.deadline import Watch, deadline
        from tokonoma.pipeline.guard import guard
        from tokonoma.pipeline.identify import identify
        from tokonoma.pipeline.invoke import work
        from tokonoma.pipeline.journal import journal
        from tokonoma.pipeline.limit import limit
        from tokonoma.pipeline.mask_errors import veil
        from tokonoma.pipeline.parse import parse
        from tokonoma.pipeline.run import walk
        from tokonoma.pipeline.trace import trace

        with self._lock:
            if self._row is not None:
                return self._row
            stages = [
                trace(self.spans),
                identify(self.identify),
                journal(self.keeper.note, self._observe),
                veil(self.policing.current),
                choose(self.registry.find),
                limit(rates(self.settings.text("rate_limit"), lambda: self.database.writing())),
                parse(self.registry.bound),
                guard(self.policing.current, self.registry.promised),
                deadline(Watch(), self.settings.seconds("time_limit")),
            ]
            run = work(self.registry.bound, self._rooms())
            self._row = lambda call, done: walk(call, stages, run, done)
            return self._row

    def _rooms(self) -> Any:
        from tokonoma.pipeline.desk import Rooms

        return Rooms(
            house=self.house,
            directory=self.registry,
            guarded=self.registry.guarded,
            unlabelled=self.registry.unlabelled,
            reading=self._reading,
            writing=self._writing,
            upkeep=lambda: self.database.writing(),
            put=self.policing.put,
            drop=lambda statements, address: self.searching.index.drop(statements, address),
            find=lambda call, query, where, labels: self.searching.find(call, query, where, labels),
            fresh=self.policing.fresh,
            boundary=self._boundary,
        )

    def _reading(self, call: Call) -> "AbstractContextManager[Rows]":
        opened = self.database.reading(call.stop)
        return opened if self.spans is None else self._timed("database read", call, opened)

    def _writing(self, call: Call) -> "AbstractContextManager[Statements]":
        opened = self.keeper.write(call)
        return opened if self.spans is None else self._timed("database write", call, opened)

    @contextmanager
    def _timed(self, name: str, call: Call, opened: AbstractContextManager[Any]) -> Any:
        from tokonoma.core.tracing import timed, traceparent

        assert self.spans is not None
        with timed(self.spans, name, traceparent(call.trace_id, call.span_id)), opened as inner:
            yield inner

    def _observe(self, call: Call, outcome: str, spent: int) -> None:
        if self.metrics is not None:
            self.metrics.observe(call, outcome, spent)

    def administer(self, what: str) -> "AbstractContextManager[Statements]":
        """A transaction for the owner's own work at the command line; the journal holds it like any call."""
        return self.keeper.write(_owners(what))

    def prune_journal(self, before: int) -> "Iterator[Cut]":
        """Remove the journal's entries from before a time, a group at a time."""
        return self.keeper.prune(_owners("journal.prune"), before)

    # Who calls

    def identify(self, caller: Caller) -> Principal:
        """stdio and the command line are the owner; HTTP needs a key as soon as one exists."""
        if caller.principal is None:
            caller.principal = OWNER if caller.transport in ("stdio", "cli") else self.door.principal(caller)
        return caller.principal

    @cached_property
    def door(self) -> "Door":
        from tokonoma.auth.authenticate import Door

        return Door(lambda: self.database.reading(), self.settings.flag("require_key"))

    # Rooms that are opened when they are first needed

    @property
    def database(self) -> "Database":
        if self._database is None:
            with self._lock:
                if self._database is None:
                    self._database = self._opened()
        return self._database

    @cached_property
    def keeper(self) -> "Keeper":
        from tokonoma.journal.writer import Keeper

        return Keeper(lambda stop: self.database.writing(stop), lambda: self.policy.version)

    @property
    def policy(self) -> "InForce":
        return self.policing.current()

    @cached_property
    def policing(self) -> "Policing":
        from tokonoma.app.policy import Policing

        return Policing(
            lambda: self.database.reading(),
            lambda: self.searching.index,
            self.registry.known,
            self.registry.modules,
            self.registry.record,
            lambda: self.relabeller.wake(),
            self.settings.names("policy_signers"),
        )

    @cached_property
    def relabeller(self) -> "Relabeller":
        from tokonoma.app.reclassify_job import Relabeller

        return Relabeller(self.database, self.policing)

    def _boundary(self, call: Call) -> "DeskBoundary":
        from tokonoma.app.desk_policy import DeskBoundary

        return DeskBoundary(self.policing, self.relabeller, call)

    @cached_property
    def house(self) -> "TheHouse":
        from tokonoma.app.server_info import TheHouse

        rooms = (lambda: self.database, lambda: self.searching, lambda: self.policing)
        return TheHouse(self.home, self.settings, self.registry, *rooms, self.started_at)

    @cached_property
    def searching(self) -> "Searching":
        from tokonoma.app.search import Searching

        return Searching(self.database, self.settings, self.registry.record)

    def database_url(self) -> str:
        from tokonoma.store.database import sqlite_url

        return self.settings.text("database_url") or sqlite_url(self.home / "tokonoma.db")

    def _opened(self) -> "Database":
        from tokonoma.app.store import opened

        return opened(self.home, self.database_url(), durable=self.settings.flag("durable"))

    def _prepare(self, module: Module) -> None:
        if module.tables:
            from tokonoma.app.store import migrated

            migrated(self.database, self.home, module.name, module.tables)

    def _load(self, source: str) -> Module:
        module = self._gateway() if source == catalogue.BUILT_IN[GATEWAY] else catalogue.load(source)
        return module.housed(self.house) if module.housed is not None else module

    def _gateway(self) -> Module:
        """The gateway of this house: its steps walk the same pipeline as every other call."""
        from tokonoma.gateway.tools import gateway_module

        return gateway_module(
            submit=self.run,
            check=lambda entry, params: self.registry.bound(entry).parse(params),
            failure=lambda call, error: failure(call, error, self.registry.codes(call.module)),
            writing=lambda stop: self.database.writing(stop),
        )

    def warm(self, *, serves: bool = False) -> None:
        """Open the store and load what a first call needs, while nobody waits. `serves`: for many, and for long."""
        self._join()
        self.searching.resume(serves=serves)
        self.registry.bound(self.registry.meta("get_module_schema"))

    def close(self, grace: float = 1.5) -> None:
        """Finish what was accepted, end the journal's strands, close the database."""
        self.pool.close(grace)
        for room in ("relabeller", "searching", "keeper"):
            if room in self.__dict__:  # it was opened
                getattr(self, room).close()
        if self._database is not None:
            self._database.close()
        if self.spans is not None:
            self.spans.close()


def _owners(what: str) -> Call:
    return Call("admin", what, {}, Caller("cli", principal=OWNER), request_id=uuid7(), principal=OWNER)

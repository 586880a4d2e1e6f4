"""A small server for the gateway: the real registry, stages, workers and store around tools that a test controls."""

import threading
from collections import Counter
from collections.abc import Generator
from functools import partial
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from typing_extensions import TypedDict

from tokonoma.catalogue import describe_module
from tokonoma.catalogue.registry import Registry
from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Missing
from tokonoma.core.module import Module, Tool
from tokonoma.core.query import Hits
from tokonoma.gateway.tools import MODULE, build_gateway
from tokonoma.pipeline.choose import choose
from tokonoma.pipeline.deadline import DeadlineWatch, deadline
from tokonoma.pipeline.desk_tx import DeskParts
from tokonoma.pipeline.guard import guard
from tokonoma.pipeline.identify import identify
from tokonoma.pipeline.invoke import ToolInvoker
from tokonoma.pipeline.parse import parse
from tokonoma.pipeline.run import run_call
from tokonoma.pipeline.trace import trace
from tokonoma.pipeline.worker_pool import WorkerPool
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.cursors import CursorSealer
from tokonoma.server.results import build_error
from tokonoma.store.migrate import migrate

HANG = 60  # seconds after which a test that waits for something gives up, instead of hanging for ever


class Value(TypedDict):
    value: Any


class Stage:
    """What the tools of a test do, and what is known of them: gates to open, calls seen, how many ran side by side."""

    def __init__(self) -> None:
        self.gates: dict[str, threading.Event] = {}
        self.entered: dict[str, threading.Event] = {}
        self.calls: list[Call] = []
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self._lock = threading.Lock()

    def gate(self, name: str) -> threading.Event:
        with self._lock:
            return self.gates.setdefault(name, threading.Event())

    def inside(self, name: str) -> threading.Event:
        with self._lock:
            return self.entered.setdefault(name, threading.Event())

    def enter(self, desk: Desk, change: int) -> None:
        with self._lock:
            self.now[desk.call.module] += change
            self.most[desk.call.module] = max(self.most[desk.call.module], self.now[desk.call.module])
            if change > 0:
                self.calls.append(desk.call)

    def tools(self) -> tuple[Tool, ...]:
        def echo(desk: Desk, value: Any = None) -> Value:
            """Gives back what it got."""
            self.enter(desk, 1)
            self.enter(desk, -1)
            return {"value": value}

        def number(desk: Desk, n: int) -> Value:
            """Takes a whole number."""
            return echo(desk, n)

        def wait(desk: Desk, gate: str) -> Value:
            """Waits until its gate opens or it is told to stop."""
            self.enter(desk, 1)
            opened = self.gate(gate)
            desk.call.cancel_token.on_cancel(opened.set)
            self.inside(gate).set()
            assert opened.wait(HANG)
            self.enter(desk, -1)
            desk.check()
            return {"value": gate}

        def deaf(desk: Desk, gate: str) -> Value:
            """Waits until its gate opens, whatever it is told."""
            self.inside(gate).set()
            assert self.gate(gate).wait(HANG)
            return {"value": gate}

        def fail(desk: Desk, how: str = "missing") -> Value:
            """Fails."""
            if how == "missing":
                raise Missing("There is no such thing.", thing="t")
            raise RuntimeError("a secret of the inside")

        return tuple(Tool(each.__name__, each, each.__name__) for each in (echo, number, wait, deaf, fail))


class SmallHouse:
    """Stands for core.house.House where the gateway looks at it, and for the composition root where it is joined."""

    version, started_at = "0", 0

    def __init__(self, database: Any, workers: int = 8, at_once: int = 4) -> None:
        self.database, self.stage, self.who, self.at_once = database, Stage(), OWNER, at_once
        self.pool = WorkerPool(workers)
        tools = self.stage.tools()
        codes = {"missing": 1003, "internal": 1999}
        self.modules = {
            "demo": Module("demo", "Tools for tests.", tools),
            "other": Module("other", "The same tools again.", tools, codes=codes),
            "gateway": MODULE,
        }
        shelves = [describe_module(module, name) for name, module in self.modules.items()]
        self.registry = Registry(shelves, self._load, lambda module: None)
        policy, self.policy_state = ActivePolicy(), "1"
        rooms = DeskParts(
            server=self,  # type: ignore[arg-type]
            addresses=self.registry,
            record_tables=self.registry.record_tables,
            textless_tables=self.registry.textless_tables,
            unclassified_tables=self.registry.unclassified_tables,
            database=database,
            open_write=lambda call: database.writing(call.cancel_token),
            index_document=lambda *_: "internal",
            index_documents=lambda *_: [],
            unindex_document=lambda *_: None,
            hold_vectors=lambda *_: [],
            queue_vectors=lambda *_: None,
            find=lambda *_: Hits([], "text"),
            find_near=lambda *_: None,
            find_successors=lambda *_: {},
            find_like=lambda *_: (),
            compare=lambda _: None,
            lock_policy=lambda _: policy,
            build_policy=lambda _: SimpleNamespace(state=self.policy_state),  # type: ignore[arg-type, return-value]
            cursors=CursorSealer(database.reading),
            start_job=lambda *_: None,
            connect=lambda *_: None,  # type: ignore[arg-type, return-value]
        )
        self.work = ToolInvoker(self.registry.load_tool, rooms, self.pool.submit, lambda call: None)
        self.stages = [
            trace(None),
            identify(lambda caller: self.who, lambda caller, code, place: None),
            choose(self.registry.find_tool),
            parse(self.registry.load_tool),
            guard(lambda: policy, self.registry.return_type),
            deadline(DeadlineWatch(), 120),
        ]

    def visible_modules(self, principal: Any) -> Any:
        return self.registry.visible_modules(principal)

    def list_unconnected(self, principal: Any) -> Any:
        return self.registry.list_unconnected(principal)

    def find_tool(self, module: str, tool: str, principal: Any) -> Any:
        return self.registry.find_tool(module, tool, principal)

    def _load(self, source: str) -> Module:
        if source != "gateway":
            return self.modules[source]
        return build_gateway(
            self.run,
            lambda entry, params: self.registry.load_tool(entry).parse(params),
            lambda call, error: build_error(call, error, self.registry.error_codes(call.module)),
            lambda stop: self.database.writing(stop),
            self.at_once,
        )

    def run(self, call: Call, done: Any) -> None:
        self.pool.submit(partial(run_call, call, self.stages, self.work, done))

    def start(self, name: str, **arguments: Any) -> "Asked":
        return Asked(self, name, arguments)

    def ask(self, name: str, **arguments: Any) -> Any:
        return self.start(name, **arguments).value()

    def batch(self, *steps: dict[str, Any], **arguments: Any) -> "Asked":
        lines = [{"id": f"s{number}", "module": "demo", **step} for number, step in enumerate(steps)]
        return self.start("batch", jsonl=b"\n".join(map(orjson.dumps, lines)).decode(), **arguments)


class Asked:
    """A meta-tool that was called, and its answer when it comes."""

    def __init__(self, house: SmallHouse, name: str, arguments: dict[str, Any]) -> None:
        self.progress: list[tuple[float, float | None]] = []
        self.cancel_at: int | None = arguments.pop("cancel_at", None)
        self.call = Call("gateway", name, arguments, Caller("stdio"), progress=self._told)
        if name == "call":  # as the dispatcher does
            tool, params = arguments["tool_name"], arguments.get("params", {})
            self.call = Call(arguments["module"], tool, params, Caller("stdio"), progress=self._told)
        else:
            self.call.tool_info = house.registry.find_meta_tool(name)
        self._answered, self._error = threading.Event(), None
        house.run(self.call, self._done)

    def _told(self, count: float, total: float | None, message: str | None) -> None:
        self.progress.append((count, total))
        if self.cancel_at is not None and count >= self.cancel_at:
            self.call.cancel_token.cancel("cancelled")

    def _done(self, call: Call, error: BaseException | None) -> None:
        self._error = error
        self._answered.set()

    def value(self) -> Any:
        assert self._answered.wait(HANG)
        if self._error is not None:
            raise self._error
        return orjson.loads(self.call.body)

    @property
    def answered(self) -> bool:
        return self._answered.is_set()


@pytest.fixture
def database(sqlite_database) -> Any:
    migrate(sqlite_database, "gateway", MODULE.tables, lambda reason: None)
    return sqlite_database


@pytest.fixture
def houses(database) -> Generator[Any]:
    """Makes houses on one database, as several processes would."""
    made: list[SmallHouse] = []

    def make(**options: Any) -> SmallHouse:
        made.append(SmallHouse(database, **options))
        return made[-1]

    yield make
    for house in made:
        for gate in house.stage.gates.values():
            gate.set()
        house.pool.close(HANG)


@pytest.fixture
def house(houses) -> SmallHouse:
    return houses()

"""Durable saves from several processes on one file, beside bare one-row transactions on a file of their own."""

import json
import select
import sys
import time
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

import apsw

from .child import PATIENCE, Child, Failed, started
from .messages import INITIALIZE, INITIALIZED, TEXT, failure, tool_call
from .peers import HERE, Peer, Peers
from .plan import Plan
from .report import Goal, Row, row
from .rounds import Sample, collect, percentile

WARM = 20  # saves of each process before its first round
SETTLE = 0.5  # seconds: a commit that comes late is a commit of these saves


def commits(database: Path) -> int:
    """SQLite counts the commits of a WAL in its shared index: `iChange`, bytes 8 to 12 of the -shm file."""
    with Path(f"{database}-shm").open("rb") as shared:
        return int.from_bytes(shared.read(12)[8:12], sys.byteorder)


class Savers:
    """Tokonoma over stdio, `processes` times, each with one save under way."""

    name = "tokonoma"

    def __init__(self, peer: Peer, database: Path, processes: int, stack: ExitStack) -> None:
        self.peer, self.database, self.numbers = peer, database, count(10)
        self.errors, self.acknowledged, self.problem = 0, 0, ""
        self.children = [stack.enter_context(started(peer.stdio, peer.env, peer.log)) for _ in range(processes)]
        for child in self.children:
            child.ask(INITIALIZE)
            child.tell(INITIALIZED)
            for _ in range(WARM):
                self._check(child.ask(self._message()))

    def _message(self) -> bytes:
        return tool_call(next(self.numbers), self.peer.params("add", TEXT))

    def _check(self, answer: bytes) -> None:
        problem = failure(answer, TEXT)
        if problem is None:
            self.acknowledged += 1
        else:
            self.errors += 1
            self.problem = problem

    def block(self, seconds: float) -> Sample:
        acknowledged = self.acknowledged
        before = commits(self.database)
        times, elapsed, answers = self._drive(seconds)
        for answer in answers:
            self._check(answer)
        time.sleep(SETTLE)
        saved = self.acknowledged - acknowledged
        if not saved:
            raise Failed(f"tokonoma: no save came through: {self.problem}")
        return {
            "rate": saved / elapsed,
            "p50": percentile(times, 0.5) * 1e6,
            "p99": percentile(times, 0.99) * 1e6,
            "longest": max(times) * 1e3,
            "commits": (commits(self.database) - before) % 2**32 / saved,
        }

    def _drive(self, seconds: float) -> tuple[list[float], float, list[bytes]]:
        poll = select.poll()
        sent: dict[int, tuple[Child, float]] = {}
        times: list[float] = []
        answers: list[bytes] = []
        begin = time.perf_counter()
        for child in self.children:
            poll.register(child.back, select.POLLIN)
            sent[child.back] = (child, time.perf_counter())
            child.tell(self._message())
        while sent:
            for number, _ in poll.poll(PATIENCE * 1000) or _give_up():
                child, at = sent.pop(number)
                answers.append(child.hear())
                now = time.perf_counter()
                times.append(now - at)
                if now - begin < seconds:
                    sent[number] = (child, now)
                    child.tell(self._message())
        return times, time.perf_counter() - begin, answers


class Bare:
    name = "floor"

    def __init__(self, database: Path, processes: int) -> None:
        self.database, self.processes, self.errors = database, processes, 0

    def block(self, seconds: float) -> Sample:
        argv = [sys.executable, "-m", "bench.bare", str(self.database), str(seconds)]
        env = {"PYTHONPATH": str(HERE.parent)}
        with ExitStack() as stack:
            log = self.database.with_suffix(".log")
            workers = [stack.enter_context(started(argv, env, log)) for _ in range(self.processes)]
            for worker in workers:
                worker.hear()
            before = commits(self.database)
            for worker in workers:
                worker.tell(b"go")
            done = [json.loads(worker.hear()) for worker in workers]
            after = commits(self.database)
        times = [one for worker in done for one in worker["times"]]
        self.errors += sum(worker["errors"] for worker in done)
        return {
            "rate": len(times) / seconds,
            "p50": percentile(times, 0.5) * 1e6,
            "p99": percentile(times, 0.99) * 1e6,
            "longest": max(times) * 1e3,
            "commits": (after - before) % 2**32 / len(times),
        }


def measure(peers: Peers, plan: Plan) -> list[Row]:
    rows: list[Row] = []
    for processes in plan.write_processes:
        rows += _with(processes, peers, plan)
    return rows


def _with(processes: int, peers: Peers, plan: Plan) -> list[Row]:
    folder = peers.database.parent
    bare = Bare(folder.parent / f"bare-{processes}.db", processes)
    tokonoma = peers.tokonoma()
    with ExitStack() as stack:
        savers = Savers(tokonoma, peers.database, processes, stack) if tokonoma else None
        kept = _rows(peers.database) - savers.acknowledged if savers else 0
        sides = [bare, savers] if savers else [bare]
        samples = collect(sides, plan.write_rounds, lambda one: one.name, lambda one: one.block(plan.write_seconds))
    title = f"durable saves, {processes} process{'es' if processes > 1 else ''}"
    rows = [
        row(samples, "rate", f"{title}, per second", "/s", Goal("≥", 0.5, "floor") if processes > 1 else None),
        row(samples, "p50", f"{title}, p50", "µs", Goal("≤", 2, "floor") if processes == 1 else None),
        row(samples, "p99", f"{title}, p99", "µs"),
        row(samples, "longest", f"{title}, longest wait", "ms"),
        row(samples, "commits", f"{title}, commits a save", "", Goal("=", 1)),
        Row(f"{title}, errors", "", {one.name: float(one.errors) for one in sides}, Goal("=", 0)),
    ]
    if savers:
        lost = float(savers.acknowledged - (_rows(peers.database) - kept))
        rows.append(Row(f"{title}, acknowledged and not there", "", {"tokonoma": lost}, Goal("=", 0)))
    return rows


def _rows(database: Path) -> int:
    with closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return len(connection.execute("select 1 from bench_note").fetchall())


def _give_up() -> list[tuple[int, int]]:
    raise Failed(f"no save was answered within {PATIENCE:.0f} s")

"""Writers beside each other on PostgreSQL: `python -m bench.writers --seconds 60`, some two minutes and a half.

One `tokonoma serve` and a PostgreSQL of the tests' own, which writes to the disk as one out of the box does. First 4
clients, then 16, each on a database of their own; every client in turn saves a memo and updates five items that all
clients share. Passes if no call failed, 99 of 100 calls took less than a second, and 16 clients got at least two thirds
of the calls that 4 got.
"""

import argparse
import http.client
import random
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .child import started
from .items import Vocabulary
from .peers import PROGRAM, environment
from .rounds import percentile
from .soak import HttpCaller
from .web import await_port, free_port

FEW, MANY = 4, 16  # clients
ITEMS, UPDATED = 200, 5  # items there are, and how many of them one call changes
MAX_SECONDS = 1.0  # of 99 in 100 calls
MIN_RATIO = 2 / 3  # of the calls of MANY clients to those of FEW


@dataclass
class WritersRun:
    """`times` are seconds of calls, by tool."""

    clients: int
    times: dict[str, list[float]] = field(default_factory=lambda: {"memory.save": [], "items.bulk_update": []})
    errors: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        return sum(map(len, self.times.values())) / self.seconds

    @property
    def slowest(self) -> float:
        return max(percentile(times, 0.99) for times in self.times.values())

    def print_row(self) -> None:
        shown = "".join(
            f"  {tool}: {percentile(times, 0.5) * 1e3:.0f} ms, p99 {percentile(times, 0.99) * 1e3:.0f} ms"
            for tool, times in self.times.items()
        )
        print(f"{self.clients:>3} clients  {self.rate:>7.1f} calls/s  {len(self.errors)} errors{shown}", flush=True)


def write_for(port: int, clients: int, seconds: float) -> WritersRun:
    run = WritersRun(clients)
    numbers = create_items(HttpCaller(0, [port]))
    started_at = time.monotonic()
    threads = [
        threading.Thread(target=work, args=(run, number, HttpCaller(number, [port]), numbers, started_at + seconds))
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.seconds = time.monotonic() - started_at
    return run


def create_items(ask: HttpCaller) -> list[int]:
    params = {"type": "issue", "title": "An item that all clients change"}
    return [call_tool(ask, "items", "create_item", params)["id"] for _ in range(ITEMS)]


def work(run: WritersRun, number: int, ask: HttpCaller, items: list[int], end: float) -> None:
    chance, words = random.Random(number), Vocabulary(random.Random(7))
    while time.monotonic() < end:
        content = words.text(chance, 20, 60)
        time_call(run, ask, "memory", "save", {"content": f"{content} {number}"})
        changed = chance.sample(items, UPDATED)
        data = {"description": content, "priority": chance.choice(("LOW", "HIGH"))}
        updates = [{"type": "issue", "id": each, "data": data} for each in changed]
        time_call(run, ask, "items", "bulk_update", {"updates": updates})


def time_call(run: WritersRun, ask: HttpCaller, module: str, tool: str, params: dict[str, Any]) -> None:
    start = time.monotonic()
    try:
        call_tool(ask, module, tool, params)
    except (RuntimeError, OSError, http.client.HTTPException) as error:
        run.errors.append(str(error)[:1_000])
    run.times[f"{module}.{tool}"].append(time.monotonic() - start)


def call_tool(ask: HttpCaller, module: str, tool: str, params: dict[str, Any]) -> dict[str, Any]:
    return ask("call", module=module, tool_name=tool, params=params)


def measure(folder: Path, seconds: float) -> list[WritersRun]:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    on = dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes", "autovacuum"), "on")
    (folder / "server").mkdir()
    runs: list[WritersRun] = []
    with ExitStack() as stack:
        server = import_module("store.server").PostgresServer(folder / "server", shared_buffers="128MB", **on)
        stack.callback(server.stop)
        for clients in (FEW, MANY):
            home, port = folder / f"home-{clients}", free_port()
            env = environment(
                home,
                TOKONOMA_HOME=str(home),
                TOKONOMA_LOG_LEVEL="warning",
                TOKONOMA_DATABASE_URL=server.url(server.take()),
            )
            argv = [str(PROGRAM), "serve", "--port", str(port)]
            with started(argv, env, folder / f"server-{clients}.log", by_signal=True) as child:
                await_port(child, port)
                runs.append(write_for(port, clients, seconds))
            runs[-1].print_row()
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.writers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each number of clients")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="tokonoma-writers-") as folder:
        few, many = measure(Path(folder), options.seconds)
    ratio, slowest = many.rate / few.rate, max(few.slowest, many.slowest)
    print(f"\np99 {slowest:.3f} s (goal ≤ {MAX_SECONDS})")
    print(f"calls of {MANY} clients to those of {FEW}: × {ratio:.2f} (goal ≥ {MIN_RATIO:.2f})")
    for error in [*few.errors, *many.errors][:10]:
        print(error)
    failed = few.errors or many.errors or slowest > MAX_SECONDS or ratio < MIN_RATIO
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()

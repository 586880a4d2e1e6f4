"""What a server keeps: memory, live objects and the size of the database's log under a mixed load.

`python -m bench.growth --calls 100000`. One process, which is spoken to in bytes, so that its objects can be counted.
Python's search for cycles is left as the program sets it: what is kept between two searches counts.
"""

import argparse
import gc
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from tokonoma.app import App
from tokonoma.cli import GC_THRESHOLDS
from tokonoma.core.call import Caller
from tokonoma.server.mcp.session import StdioSession

from .mixed import MixedClient

WARM_UP = 0.25  # of all calls: until then caches fill
MAX_RATIO = 1.05  # of the memory after the warm-up
MAX_LOG = 16.0  # MB


class InProcessServer:
    """A server in this process. Each client has a session of its own."""

    def __init__(self, home: Path) -> None:
        gc.set_threshold(*GC_THRESHOLDS)  # as the program does
        self.home = home
        self.app = App({"home": str(home), "log_level": "error"}, {})
        self.app.warm(serves=True)
        self.calls = 0

    def connect(self, number: int) -> MixedClient:
        return MixedClient(number, SessionCaller(self), self.home / "workspace" / "manuals")


class SessionCaller:
    """Calls tools over a stream of lines, one at a time."""

    def __init__(self, server: InProcessServer) -> None:
        self._server, self._number = server, 0
        self._answer, self._ready = b"", threading.Event()
        self._session = StdioSession(server.app.dispatcher, Caller("stdio"), self._take)

    def _take(self, message: bytes) -> None:
        self._answer = message
        self._ready.set()

    def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        self._number += 1
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
        self._ready.clear()
        self._session.handle_line(json.dumps(message).encode())
        self._ready.wait()
        self._server.calls += 1  # several clients: close enough
        return read_answer(json.loads(self._answer), arguments)


def read_answer(message: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The structured content of an answer; RuntimeError for every kind of failure."""
    result = message.get("result", {})
    if "error" in message or result.get("isError"):
        raise RuntimeError(f"{json.dumps(arguments)[:500]}: {json.dumps(message)[:2000]}")
    return result["structuredContent"]


@dataclass(frozen=True)
class GrowthSample:
    calls: int
    memory: float  # MB, resident
    log: float  # MB of the database's write-ahead log
    objects: int  # that Python's search for cycles would look at
    types: Counter[str] = field(repr=False)


def read_memory(pid: int | str = "self") -> float:
    """Resident megabytes of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def read_log_size(home: Path) -> float:
    log = home / "tokonoma.db-wal"
    return log.stat().st_size / 1e6 if log.exists() else 0.0


def take_sample(server: InProcessServer) -> GrowthSample:
    types = Counter(type(each).__qualname__ for each in gc.get_objects())
    return GrowthSample(server.calls, read_memory(), read_log_size(server.home), types.total(), types)


def measure_growth(home: Path, calls: int, clients: int, samples: int) -> list[GrowthSample]:
    """Make the calls, and print and return a sample after each part of them."""
    server = InProcessServer(home)
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            client = server.connect(number)
            while server.calls < calls and not failed:
                client.step()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    taken: list[GrowthSample] = []
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.05)
        if server.calls >= len(taken) * calls / samples:
            taken.append(take_sample(server))
            one = taken[-1]
            print(f"{one.calls:>8} {one.memory:>8.1f} {one.log:>8.1f} {one.objects:>9}", flush=True)
    taken.append(take_sample(server))
    server.app.close()
    if failed:
        raise failed[0]
    return taken


def summarize(samples: Sequence[GrowthSample], calls: int) -> bool:
    """Print what grew after the warm-up; whether all goals are met."""
    after = [sample for sample in samples if sample.calls >= WARM_UP * calls]
    memory = find_growth([sample.memory for sample in after])
    log = max(sample.log for sample in samples)
    print(f"\nafter a warm-up of {after[0].calls} calls:")
    print(f"memory   × {memory:.3f}  (goal ≤ {MAX_RATIO})")
    print(f"objects  × {find_growth([sample.objects for sample in after]):.3f}")
    print(f"log      {log:.1f} MB at most  (goal ≤ {MAX_LOG})")
    grown = {name: after[-1].types[name] - after[0].types[name] for name in after[-1].types}
    print("most new objects:", ", ".join(f"{name} {grown[name]:+}" for name in sorted(grown, key=grown.get)[:-9:-1]))  # type: ignore[arg-type]
    return memory <= MAX_RATIO and log <= MAX_LOG


def find_growth(values: Sequence[float]) -> float:
    """The last fifth over the first, by their medians: the memory that one call needs for a moment is no growth."""
    size = max(1, len(values) // 5)
    return median(values[-size:]) / median(values[:size])


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.growth", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--samples", type=int, default=20)
    options = parser.parse_args()
    print("   calls      RSS      log   objects")
    with TemporaryDirectory(prefix="tokonoma-growth-") as folder:
        samples = measure_growth(Path(folder), options.calls, options.clients, options.samples)
    raise SystemExit(0 if summarize(samples, options.calls) else 1)


if __name__ == "__main__":
    main()

"""A mixed load for a long time: four clients, two servers, one home. `python -m bench.soak --minutes 20`.

Passes if no call failed, `doctor` and `journal verify` find nothing afterwards, and no server's memory grew by more
than a twentieth after the first quarter of the time (at most five minutes).
"""

import argparse
import http.client
import json
import random
import subprocess
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .child import PATIENCE, Child, Failed, started
from .growth import MAX_RATIO, find_growth, read_answer, read_log_size, read_memory
from .messages import STATELESS, http_headers, tool_call
from .mixed import MixedClient
from .peers import PROGRAM, environment
from .web import await_port, free_port

CLIENTS, SERVERS = 4, 2
WARM_UP = 300.0  # seconds, or a quarter of the time
EVERY = 5.0  # seconds between two samples
SETTLE = 3.0  # seconds: the journal and the vectors of the last calls


class HttpCaller:
    """One client with a connection to every server. Each call takes one of them by chance, so that a client finds with
    one server what it saved with the other."""

    def __init__(self, number: int, ports: list[int]) -> None:
        self._chance = random.Random(number)
        self._lines = [(port, http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) for port in ports]
        self.calls = 0

    def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        port, line = self._chance.choice(self._lines)
        self.calls += 1
        body = tool_call(self.calls, {"name": name, "arguments": arguments}, STATELESS)
        line.request("POST", "/mcp", body, http_headers(port, STATELESS, "tools/call", name))
        answer = line.getresponse()
        text = answer.read().decode()
        if answer.headers.get_content_type() == "text/event-stream":  # a slow call: its answer is the last event
            text = [event[6:] for event in text.splitlines() if event.startswith("data: ")][-1]
        if answer.status >= 400 and not text.startswith("{"):
            raise RuntimeError(f"{answer.status}: {text[:500]}")
        return read_answer(json.loads(text), arguments)


@dataclass(frozen=True)
class SoakSample:
    seconds: float
    calls: int
    memory: list[float]  # MB, of each server
    log: float  # MB of the database's write-ahead log


class SoakRun:
    def __init__(self, home: Path, servers: list[Child], ports: list[int], seconds: float) -> None:
        self._home, self._servers, self._seconds = home, servers, seconds
        self._callers = [HttpCaller(number, ports) for number in range(CLIENTS)]
        self.errors: list[str] = []
        self.samples: list[SoakSample] = []

    def run(self) -> None:
        """Let all clients work until the time is over; one that fails goes on with its next call."""
        end = time.monotonic() + self._seconds
        threads = [threading.Thread(target=self._work, args=(number, end)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(min(EVERY, max(0.1, end - time.monotonic())))
            self._take_sample(self._seconds - (end - time.monotonic()))

    def _work(self, number: int, end: float) -> None:
        client = MixedClient(number, self._callers[number], self._home / "workspace" / "manuals")
        while time.monotonic() < end:
            try:
                client.step()
            except (RuntimeError, OSError, http.client.HTTPException) as error:
                self.errors.append(f"client {number}: {error}"[:2_000])

    def _take_sample(self, seconds: float) -> None:
        calls = sum(caller.calls for caller in self._callers)
        memory = [read_memory(server.pid) for server in self._servers]
        self.samples.append(SoakSample(seconds, calls, memory, read_log_size(self._home)))
        shown = "  ".join(f"{each:>7.1f}" for each in memory)
        print(f"{seconds:>7.0f} {calls:>8}  {shown} {self.samples[-1].log:>8.1f} {len(self.errors):>7}", flush=True)

    def growth(self) -> float:
        """By how much the server that grew most has grown since the warm-up."""
        warm_up = min(WARM_UP, self._seconds / 4)
        after = [sample.memory for sample in self.samples if sample.seconds >= warm_up]
        return max(find_growth([memory[place] for memory in after]) for place in range(len(self._servers)))


def check_home(env: dict[str, str]) -> list[str]:
    """What `doctor` and `journal verify` find in the home that the servers left."""
    found: list[str] = []
    for command in (["doctor"], ["journal", "verify"]):
        done = subprocess.run([str(PROGRAM), *command], env=env, capture_output=True, text=True, timeout=600)
        print(f"tokonoma {' '.join(command)}: exit code {done.returncode}")
        if done.returncode:
            found.append(f"{' '.join(command)}:\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}")
    return found


def run_soak(home: Path, seconds: float) -> bool:
    env = environment(home, TOKONOMA_HOME=str(home), TOKONOMA_LOG_LEVEL="warning")
    with ExitStack() as stack:
        ports, servers = [free_port() for _ in range(SERVERS)], list[Child]()
        for port in ports:
            argv = [str(PROGRAM), "serve", "--port", str(port)]
            servers.append(stack.enter_context(started(argv, env, home / f"server-{port}.log", by_signal=True)))
            await_port(servers[-1], port)
        run = SoakRun(home, servers, ports, seconds)
        run.run()
        time.sleep(SETTLE)
        gone = [f"server {place} has ended\n{each.complaint()}" for place, each in enumerate(servers) if each.gone()]
    problems = [*run.errors[:10], *gone, *check_home(env)]
    growth, calls = run.growth(), run.samples[-1].calls
    print(f"\n{calls} calls, {len(run.errors)} errors, memory × {growth:.3f} after the warm-up (goal ≤ {MAX_RATIO})")
    for problem in problems:
        print(problem)
    return not problems and growth <= MAX_RATIO


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    options = parser.parse_args()
    print("seconds    calls  RSS of each server     log  errors")
    with TemporaryDirectory(prefix="tokonoma-soak-") as folder:
        try:
            passed = run_soak(Path(folder), options.minutes * 60)
        except Failed as error:
            raise SystemExit(str(error)) from error
    raise SystemExit(0 if passed else 1)


if __name__ == "__main__":
    main()

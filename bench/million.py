"""A store of a million memos on either database: `python -m bench.million --sizes 10000,1000000`.

One store that grows from size to size by `tokonoma import --wait`, vectors and their index included. At each size: what
an import took, what a save and a search take in a warm process, the first search of a new process, the size on disk,
and a backup. Texts as in bench.search: real sentences in two languages, 220 characters on average.

--postgres [URL]     on PostgreSQL instead; without a URL on a server of the tests' own
--folder FOLDER      where the store is made and kept; a store that is already as large is not filled again
--memory MB          what PostgreSQL may take to build its index of vectors

CPU seconds hold also while others are at work on the machine; seconds on the clock do not. On PostgreSQL the CPU time
of the server's processes is counted beside ours: the slower of the two decides how long an import takes.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from tokonoma.transfer.jsonl import format_footer, format_header

from . import texts
from .child import started
from .messages import INITIALIZE, INITIALIZED, tool_call
from .peers import PROGRAM, environment
from .quality import OPEN, House
from .report import Goal, Row, table
from .rounds import percentile
from .search import Times, children_cpu, own_server

QUESTIONS, SAVES, SPACES = 200, 50, 400
SEARCH = 80.0  # milliseconds, p95
FIRST = 2_000.0  # milliseconds
SLOWER = 1.5  # a save, as often as at the smallest size
IMPORT = {"SQLite": 1_500.0, "PostgreSQL": 600.0}  # memos a second


@dataclass(frozen=True)
class LargeStore:
    folder: Path
    settings: dict[str, str]
    server: int = 0  # the process of a PostgreSQL of our own

    @property
    def kind(self) -> str:
        return "PostgreSQL" if "database_url" in self.settings else "SQLite"

    @property
    def env(self) -> dict[str, str]:
        names = {f"TOKONOMA_{name.upper()}": value for name, value in self.settings.items()}
        return environment(self.folder, TOKONOMA_HOME=str(self.folder / "home"), **names)

    def run(self, *words: str) -> tuple[float, float, float]:
        """Seconds of a command: on the clock, of its CPU, and of the server's."""
        begin, own, theirs = time.perf_counter(), _measure_children(), children_cpu(self.server) if self.server else 0.0
        done = subprocess.run([str(PROGRAM), *words], env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}")
        used = (children_cpu(self.server) if self.server else 0.0) - theirs
        return time.perf_counter() - begin, _measure_children() - own, used

    def count(self) -> int:
        path = self.folder / "count"
        return int(path.read_text()) if path.exists() else 0


def _measure_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_source(path: Path, low: int, high: int) -> None:
    """An export of this program with the memos from one number to another."""
    with path.open("wb") as file:
        file.write(format_header())
        for number, text in enumerate(islice(texts.make_records(), low, high), low):
            memo_id = uuid.UUID(int=random.Random(number).getrandbits(128), version=4)
            memo = {"memo_id": str(memo_id), "namespace": f"notes/{number % SPACES}", "content": text, "version": 1}
            file.write(orjson.dumps({"type": "memo", **memo}) + b"\n")
        file.write(format_footer(high - low, 0))


def fill(store: LargeStore, size: int) -> list[Row]:
    """Import up to this size. The busier process decides what a machine with nothing else to do would reach."""
    low, title = store.count(), _title(store, size)
    if low == 0:
        policy = store.folder / "policy.yml"
        policy.write_text(OPEN)
        store.run("policy", "apply", str(policy))
    if low >= size:
        return []
    source = store.folder / "memos.jsonl"
    write_source(source, low, size)
    clock, own, theirs = store.run("import", str(source), "--wait")
    source.unlink()
    (store.folder / "count").write_text(str(size))
    rate, best = (size - low) / clock, (size - low) / max(own, theirs)
    goal = Goal("≥", IMPORT[store.kind])
    return [
        Row(f"{title}: import with vectors, memos per second", "/s", {"tokonoma": rate}),
        Row(f"{title}: the same per CPU second of the busier process", "/s", {"tokonoma": best}, goal),
        Row(f"{title}: import, CPU of the program", "s", {"tokonoma": own}),
        Row(f"{title}: import, CPU of the database server", "s", {"tokonoma": theirs}),
    ]


def measure(store: LargeStore, size: int, first_save: float | None) -> tuple[list[Row], float]:
    """The rows, and what a save took."""
    title = _title(store, size)
    known = list(islice(texts.make_records(), 0, size, max(1, size // 5_000)))
    rows = _measure_first(store, title, known[7])
    house = House(store.folder / "home", "", **store.settings)
    house.settle()
    times = {mode: Times(store.server) for mode in ("text", "vector", "hybrid")}
    for mode in times:
        for question in texts.questions(known, 10):
            house.call("search", query=question, mode=mode)
    for question in texts.questions(known, QUESTIONS):
        for mode, each in times.items():
            each.take(lambda asked=question, how=mode: house.call("search", query=asked, mode=how))
    saves = Times(store.server)
    for number in range(SAVES):
        saves.take(lambda at=number: house.call("save", content=f"{known[at]} ({size}-{at})", namespace="new"))
    house.app.close()
    for mode, each in times.items():
        goal = Goal("≤", SEARCH)
        rows.append(Row(f"{title}: search ({mode}), CPU p95", "ms", {"tokonoma": percentile(each.cpu, 0.95)}, goal))
        rows.append(Row(f"{title}: search ({mode}), CPU p50", "ms", {"tokonoma": percentile(each.cpu, 0.5)}))
        rows.append(Row(f"{title}: search ({mode}), p95 on the clock", "ms", {"tokonoma": percentile(each.wall, 0.95)}))
    save = percentile(saves.cpu, 0.5)
    limit = None if first_save is None else Goal("≤", round(SLOWER * first_save, 2))
    rows.append(Row(f"{title}: a save, CPU p50", "ms", {"tokonoma": save}, limit))
    return [*rows, *_measure_upkeep(store, title)], save


def _measure_first(store: LargeStore, title: str, text: str) -> list[Row]:
    """A new process: from its start to the answer of its first search, by words and vectors."""
    params = {"query": " ".join(text.split()[:3])[:60]}
    arguments = {"module": "memory", "tool_name": "search", "params": params}
    begin = time.perf_counter()
    with started([str(PROGRAM), "stdio"], store.env, store.folder / "first.log") as child:
        child.ask(INITIALIZE)
        child.tell(INITIALIZED)
        answer = json.loads(child.ask(tool_call(2, {"name": "call", "arguments": arguments})))
        wall, cpu, memory = time.perf_counter() - begin, child.cpu(), child.memory()["rss"]
    assert answer["result"]["structuredContent"]["items"], answer
    return [
        Row(f"{title}: first search of a process, CPU", "ms", {"tokonoma": cpu * 1e3}, Goal("≤", FIRST)),
        Row(f"{title}: first search of a process, on the clock", "ms", {"tokonoma": wall * 1e3}),
        Row(f"{title}: memory of a process after it", "MB", {"tokonoma": memory / 1e6}),
    ]


def _measure_upkeep(store: LargeStore, title: str) -> list[Row]:
    """Its size, and what an upgrade does first: a backup."""
    house = House(store.folder / "home", "", **store.settings)
    size = house.app.database.size()
    house.app.close()
    target = store.folder / "saved"
    clock, own, theirs = store.run("backup", str(target))
    saved = target.stat().st_size
    target.unlink()
    return [
        Row(f"{title}: size of the database", "MB", {"tokonoma": size / 1e6}),
        Row(f"{title}: a backup, CPU", "s", {"tokonoma": own + theirs}),
        Row(f"{title}: a backup, on the clock", "s", {"tokonoma": clock}),
        Row(f"{title}: size of the backup", "MB", {"tokonoma": saved / 1e6}),
    ]


def _title(store: LargeStore, size: int) -> str:
    return f"{store.kind} {size:,}".replace(",", " ")


def run_sizes(store: LargeStore, sizes: Sequence[int]) -> None:
    """Each table as soon as it is known: a run takes hours on a busy machine."""
    first: float | None = None
    for size in sizes:
        if store.count() > size:
            continue
        rows = fill(store, size)
        more, save = measure(store, size, first)
        first = save if first is None else first
        print(f"{table([*rows, *more])}\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench.million", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="10000,1000000")
    parser.add_argument("--postgres", nargs="?", const="own", metavar="URL")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--memory", type=int, default=2_000)
    options = parser.parse_args()
    print(f"{texts.source()}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n", flush=True)
    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(TemporaryDirectory(prefix="tokonoma-million-")))
        folder.mkdir(parents=True, exist_ok=True)
        settings, server = {"index_memory": str(options.memory)}, 0
        if options.postgres:
            own = options.postgres == "own"
            settings["database_url"], server = own_server(stack, folder / "server") if own else (options.postgres, 0)
        run_sizes(LargeStore(folder, settings, server), [int(each) for each in options.sizes.split(",")])


if __name__ == "__main__":
    sys.exit(main())

"""Searching through the real tool, by words and by both legs, at several sizes, beside a bare FTS5 table over the same
texts.

`python -m bench.search` runs it alone:

--sizes 1000,10000,100000    how many memos
--postgres [URL]             on PostgreSQL too; without a URL on a server of the tests' own
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue

import apsw

from tokonoma.core.call import Caller
from tokonoma.server.mcp.interface import ToolRequest, ToolResult

from . import texts
from .child import started
from .messages import INITIALIZE, INITIALIZED, tool_call
from .peers import PROGRAM, Peers, environment
from .plan import Plan
from .quality import House
from .report import Goal, Row, table
from .rounds import percentile

QUESTIONS = 200
GOALS = {10_000: 10.0, 100_000: 40.0}  # milliseconds, p95, on an idle core
SLACK = 3  # what PostgreSQL may take more
_AT_ONCE = 500
_FILES = 200
_SINGLE = 50  # memos that are saved one by one, to see what a save costs at this size
_WORD = re.compile(r"\w+")


@dataclass
class Times:
    server: int = 0  # the process of a database that works for us; its children's time is ours
    wall: list[float] = field(default_factory=list[float])  # milliseconds
    cpu: list[float] = field(default_factory=list[float])

    def take(self, work: Callable[[], object]) -> None:
        begin, used = time.perf_counter(), self._used()
        work()
        self.wall.append((time.perf_counter() - begin) * 1e3)
        self.cpu.append((self._used() - used) * 1e3)

    def _used(self) -> float:
        return time.process_time() + (children_cpu(self.server) if self.server else 0.0)


def children_cpu(parent: int) -> float:
    """Seconds that the children of a process have used; a connection of PostgreSQL's is one."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return sum(time.clock_gettime((~int(child) << 3) | 2) for child in children)


class Bare:
    """What SQLite does out of the box: one table, one index, any of the words, by rank."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path))
        self.connection.execute("create virtual table bare using fts5(content)").fetchall()

    def add(self, some: Sequence[str]) -> None:
        with self.connection:
            self.connection.executemany("insert into bare values (?)", [(text,) for text in some])

    def find(self, question: str) -> None:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question)) or '""'
        self.connection.execute("select content from bare(?) order by rank limit 10", (words,)).fetchall()


def measure(peers: Peers, plan: Plan) -> list[Row]:
    """For `python -m bench`: in the folder that the run was given."""
    folder = peers.database.parent.parent / "search"
    with ExitStack() as stack:
        rows = on_database("", plan.search_sizes, folder / "sqlite")
        url, server = own_server(stack, folder / "server")
        return rows + on_database(url, plan.search_sizes, folder / "postgresql", server)


def own_server(stack: ExitStack, folder: Path) -> tuple[str, int]:
    """The tests' PostgreSQL, from the binaries of a package, with memory and housekeeping as a server has them out of
    the box; its process."""
    folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    server = import_module("store.server").PostgresServer(folder, shared_buffers="128MB", autovacuum="on")
    stack.callback(server.stop)
    return server.url(server.take()), server._process.pid


def on_database(url: str, sizes: Sequence[int], folder: Path, server: int = 0) -> list[Row]:
    """One store that grows from size to size. Without a URL: SQLite."""
    folder.mkdir(parents=True, exist_ok=True)
    more = {"database_url": url} if url else {}
    kind = "PostgreSQL" if url else "SQLite"
    house = House(folder / "home", **more)
    bare = None if url else Bare(folder / "bare.db")
    every = texts.records(max(sizes) + _SINGLE)
    _write_files(house, every[:_FILES])
    rows: list[Row] = []
    for low, size in zip((0, *sizes), sizes, strict=False):
        print(f"filling {kind}: {size} memos", file=sys.stderr, flush=True)
        filling = _filled(house, bare, every[low:size])
        if url:
            _settle(url)
        rows += _size(house, bare, every[: size + _SINGLE], filling, kind, server)
        question = " ".join(every[0].split()[:3])[:60]  # whatever the texts are, one of them holds it
        rows += _cold({"home": folder / "home", **more}, size, folder, kind, question)
    house.app.close()
    return rows


def _settle(url: str) -> None:
    """What every server does by itself a minute later, and the tests' does not: look at what there is now."""
    with import_module("psycopg").connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


def _filled(house: House, bare: Bare | None, some: Sequence[str]) -> dict[str, float]:
    """Memos a second, 500 in a call."""
    spent = {"tokonoma": 0.0, "floor": 0.0}
    for start in range(0, len(some), _AT_ONCE):
        part = some[start : start + _AT_ONCE]
        begin = time.process_time()
        house.call("save", memos=[{"content": text, "namespace": f"notes/{n % 7}"} for n, text in enumerate(part)])
        middle = time.process_time()
        if bare is not None:
            bare.add(part)
        spent["tokonoma"] += middle - begin
        spent["floor"] += time.process_time() - middle
    return {name: len(some) / seconds for name, seconds in spent.items() if seconds and (bare or name == "tokonoma")}


def _size(
    house: House, bare: Bare | None, every: list[str], filling: dict[str, float], kind: str, server: int
) -> list[Row]:
    known, extra = every[:-_SINGLE], every[-_SINGLE:]
    title = f"{kind} {len(known):,}".replace(",", " ")
    mine, both, floor, saves = Times(server), Times(server), Times(), Times(server)
    everything = Times(server)
    _search_all(house, "first")  # indexes the files
    house.settle()
    for mode in ("text", "hybrid"):
        house.call("search", query="first", mode=mode)
    for question in texts.questions(known, QUESTIONS):
        mine.take(lambda asked=question: house.call("search", query=asked, mode="text"))
        both.take(lambda asked=question: house.call("search", query=asked))
        everything.take(lambda asked=question: _search_all(house, asked))
        if bare is not None:
            floor.take(lambda asked=question: bare.find(asked))
    kept = [house_saved(house, saves, text) for text in extra]
    for memo_id in kept:
        house.call("delete", memo_id=memo_id)
    goal = GOALS.get(len(known))
    limit = Goal("≤", goal * (1 if kind == "SQLite" else SLACK)) if goal else None
    # What a server of somebody else's spends is not seen: there the clock on the wall decides.
    seen = kind == "SQLite" or server > 0
    return [
        *_spent(f"{title}: search by words", mine, floor, limit, seen=seen),
        *_spent(f"{title}: search by both", both, Times(), limit, seen=seen),
        *_spent(f"{title}: search over all modules", everything, Times(), None, seen=seen),
        Row(f"{title}: search over all modules / search by both, CPU p95", "×", _divide(everything.cpu, both.cpu)),
        Row(f"{title}: saves per second of CPU, 500 a call", "/s", filling),
        Row(f"{title}: a save, CPU p50", "ms", {"tokonoma": percentile(saves.cpu, 0.5)}),
    ]


def _write_files(house: House, some: Sequence[str]) -> None:
    """Files for the search over all modules, half of them in a manual."""
    places = house.app.server_info.locations()
    for number, text in enumerate(some):
        folder = Path(places["vault"]) / "notes" if number % 2 else Path(places["manuals"]) / "book"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")


def _search_all(house: House, question: str) -> None:
    answers: SimpleQueue[ToolResult] = SimpleQueue()
    request = ToolRequest("search", {"query": question, "k": 10}, Caller("cli"))
    house.app.dispatcher.start_call(request, answers.put)
    if (answer := answers.get()).is_error:
        raise RuntimeError(answer.text)


def _divide(mine: Sequence[float], other: Sequence[float]) -> dict[str, float]:
    return {"tokonoma": percentile(mine, 0.95) / percentile(other, 0.95)}


def _spent(title: str, mine: Times, floor: Times, goal: Goal | None, *, seen: bool) -> list[Row]:
    return [
        Row(f"{title}, p95", "ms", _p(mine.wall, floor.wall, 0.95), None if seen else goal),
        Row(f"{title}, p50", "ms", _p(mine.wall, floor.wall, 0.5)),
        Row(f"{title}, CPU p95", "ms", _p(mine.cpu, floor.cpu, 0.95), goal if seen else None),
        Row(f"{title}, CPU p50", "ms", _p(mine.cpu, floor.cpu, 0.5)),
    ]


def house_saved(house: House, saves: Times, text: str) -> str:
    told: dict[str, str] = {}
    saves.take(lambda: told.update(house.call("save", content=text)))
    return told["memo_id"]


def _cold(settings: dict[str, object], size: int, folder: Path, kind: str, question: str) -> list[Row]:
    """A fresh `tokonoma stdio`: from its start to the answer of its first search, and the memory it then has."""
    names = {f"TOKONOMA_{name.upper()}": str(value) for name, value in settings.items()}
    arguments = {"module": "memory", "tool_name": "search", "params": {"query": question, "mode": "text"}}
    begin = time.perf_counter()
    with started([str(PROGRAM), "stdio"], environment(folder, **names), folder / "cold.log") as child:
        child.ask(INITIALIZE)
        child.tell(INITIALIZED)
        answer = json.loads(child.ask(tool_call(2, {"name": "call", "arguments": arguments})))
        wall, cpu, memory = time.perf_counter() - begin, child.cpu(), child.memory()["rss"]
    assert answer["result"]["structuredContent"]["items"], answer
    title = f"{kind} {size:,}".replace(",", " ")
    return [
        Row(f"{title}: first search of a process", "ms", {"tokonoma": wall * 1e3}, Goal("≤", 1000)),
        Row(f"{title}: first search of a process, CPU", "ms", {"tokonoma": cpu * 1e3}),
        Row(f"{title}: memory after a search", "MB", {"tokonoma": memory / 1e6}),
    ]


def _p(mine: list[float], floor: list[float], share: float) -> dict[str, float]:
    values = {"tokonoma": percentile(mine, share)}
    return values | ({"floor": percentile(floor, share)} if floor else {})


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench.search", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--postgres", nargs="?", const="own", metavar="URL")
    parser.add_argument("--no-sqlite", action="store_true")
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.sizes.split(","))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tokonoma-search-")))
        rows = [] if options.no_sqlite else on_database("", sizes, folder / "sqlite")
        if options.postgres:
            own = options.postgres == "own"
            url, server = own_server(stack, folder / "server") if own else (options.postgres, 0)
            rows += on_database(url, sizes, folder / "postgresql", server)
        print(f"{texts.source()}\n\n{table(rows)}")


if __name__ == "__main__":
    main()

"""Items: each line of the latency table of its interface, at 1 000, 10 000 and 100 000 items with three links each.

CPU time of the whole call, from the bytes of the request to those of the answer, in one process: what it takes on an
idle core, also while others are at work. The goal is a tenth of the table's target, for nineteen calls of twenty.
"""

import gc
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokonoma.app import App
from tokonoma.cli import GC_THRESHOLDS
from tokonoma.cli.call import call_owner_tool
from tokonoma.core.call import Caller
from tokonoma.core.ids import uuid7
from tokonoma.server.mcp.session import StdioSession

from .child import Failed
from .peers import Peers
from .plan import Plan
from .report import Goal, Row
from .rounds import percentile

TARGETS = {  # milliseconds, as the interface has them; ours is a tenth
    "one item": 10,
    "a list": 50,
    "full text": 100,
    "graph, depth 1": 100,
    "graph, depth 3": 300,
    "graph, depth 3, all of it": 300,
}
LINKS = 3  # an item
BATCH = 500
STATUSES = ["Open", "In Progress", "Review", "Waiting", "Completed", "Closed"]
PRIORITIES = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "MINIMAL"]
TYPES = ["issue", "docs", "decision", "bug", "knowledge"]


class House:
    """A house in this process, spoken to in bytes."""

    def __init__(self, folder: Path, size: int, links: int) -> None:
        gc.set_threshold(*GC_THRESHOLDS)  # as the program does
        self.app = App({"home": str(folder), "durable": False, "log_level": "error", "embed_provider": "none"}, {})
        self.words = Vocabulary(random.Random(7))
        self._answer, self._ready = b"", threading.Event()
        self._conversation = StdioSession(self.app.dispatcher, Caller("stdio"), self._take)
        self._number = 0
        self.ids = self._fill(size, links)

    def _take(self, answer: bytes) -> None:
        self._answer = answer
        self._ready.set()

    def call(self, tool: str, **params: Any) -> float:
        """Milliseconds of CPU time for one call."""
        self._number += 1
        order = {"name": "call", "arguments": {"module": "items", "tool_name": tool, "params": params}}
        message = json.dumps({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": order}).encode()
        self._ready.clear()
        begin = time.process_time()
        self._conversation.handle_line(message)
        self._ready.wait()
        spent = time.process_time() - begin
        if b'"isError":true' in self._answer:
            raise Failed(f"{tool}: {self._answer[:500]!r}")
        return spent * 1000

    def _fill(self, size: int, links: int) -> list[int]:
        chance = random.Random(11)
        uids = [uuid7() for _ in range(size)]
        for start in range(0, size, BATCH):
            items = [self._item(chance, uids[number], number + 1) for number in range(start, min(size, start + BATCH))]
            call_owner_tool(self.app, "items", "import", {"items": items})
        pairs = {tuple(sorted(chance.sample(range(1, size + 1), 2))) for _ in range(links * 11 // 10)}
        both = [{"one": a, "other": b} for pair in sorted(pairs)[:links] for a, b in (pair, pair[::-1])]
        with self.app.database.writing() as statements:
            statements.run_many(
                "insert into item_link (item_id, other_id, kind) values (:one, :other, 'related')", both
            )
        return list(range(1, size + 1))

    def _item(self, chance: random.Random, uid: str, number: int) -> dict[str, Any]:
        words = self.words
        return {
            "uid": uid, "id": number, "type": chance.choice(TYPES), "title": words.text(chance, 3, 7),
            "description": words.text(chance, 5, 20), "content": words.text(chance, 60, 160),
            "status": chance.choice(STATUSES), "priority": chance.choice(PRIORITIES),
            "tags": chance.sample(words.words[:40], 2), "category": chance.choice(["a", "b", ""]),
        }  # fmt: skip


class Vocabulary:
    """Words as often as in a language: the second half as often as the first, and so on. Latin and Japanese."""

    def __init__(self, chance: random.Random) -> None:
        parts = ["ka", "lo", "mi", "ter", "sa", "no", "vi", "pre", "ston", "ra"]
        latin = {"".join(chance.choices(parts, k=chance.randint(2, 4))) for _ in range(4000)}
        signs = [chr(0x4E00 + chance.randrange(3000)) for _ in range(600)]
        kanji = {"".join(chance.choices(signs, k=2)) for _ in range(4000)}
        self.words = sorted(latin | kanji)
        chance.shuffle(self.words)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(len(self.words))))

    def asked(self, chance: random.Random, least: int, most: int) -> str:
        """What people search for: frequent words and rare ones alike, but not the few that every text holds."""
        ranks = [int(len(self.words) ** chance.uniform(0.4, 1)) - 1 for _ in range(chance.randint(least, most))]
        return " ".join(self.words[rank] for rank in ranks)

    def text(self, chance: random.Random, least: int, most: int) -> str:
        return " ".join(chance.choices(self.words, cum_weights=self._weights, k=chance.randint(least, most)))


def measure(peers: Peers, plan: Plan) -> list[Row]:
    del peers
    rows: list[Row] = []
    for size in plan.item_counts:
        with _house(size, LINKS * size) as house:
            rows += [_row(house, name, size, plan.item_calls) for name in ASKING]
            rows.append(_cacheable(house, size, plan.item_calls))
    with _house(1000, 30_000) as house:
        dense = [_best(_depth_3, house, number) for number in range(plan.item_calls)]
    what = "items: graph, depth 3, 1 000 items with 30 000 links, p95"
    return [*rows, Row(what, "ms", {"tokonoma": percentile(dense, 0.95)}, Goal("≤", 30), {"tokonoma": dense})]


class _house:
    def __init__(self, size: int, links: int) -> None:
        self._size, self._links = size, links

    def __enter__(self) -> House:
        self._folder = TemporaryDirectory(prefix="tokonoma-items-")
        self._house = House(Path(self._folder.name) / "home", self._size, self._links)
        return self._house

    def __exit__(self, *_: object) -> None:
        self._house.app.close()
        self._folder.cleanup()


def _row(house: House, name: str, size: int, calls: int) -> Row:
    asking = ASKING[name]
    for chance in _chances(10):
        asking(house, chance)
    spent = [_best(asking, house, number) for number in range(calls)]
    goal = Goal("≤", TARGETS[name] / 10) if size <= 10_000 and name in TARGETS else None
    what = f"items: {name}, {size} items, p95"
    return Row(what, "ms", {"tokonoma": percentile(spent, 0.95)}, goal, {"tokonoma": spent})


def _best(asking: Callable[[House, random.Random], float], house: House, number: int) -> float:
    """The same request three times, and the quickest of them: the others tell of the machine, not of the program."""
    return min(asking(house, random.Random(number)) for _ in range(3))


def _chances(calls: int) -> Iterator[random.Random]:
    return (random.Random(number) for number in range(calls))


def _one(house: House, chance: random.Random) -> float:
    return house.call("get_item_detail", type="items", id=chance.choice(house.ids))


def _list(house: House, chance: random.Random) -> float:
    return house.call("get_items", type=chance.choice(TYPES))


def _text(house: House, chance: random.Random) -> float:
    return house.call("search_items", query=house.words.asked(chance, 1, 4), mode="text")


def _fields(house: House, chance: random.Random) -> float:
    query = f"{house.words.asked(chance, 1, 3)} is:open (type:docs OR priority:HIGH)"
    return house.call("search_items", query=query, mode="text")


def _depth_1(house: House, chance: random.Random) -> float:
    return house.call("get_related_items", type="items", id=chance.choice(house.ids), depth=1)


def _depth_3_of_50(house: House, chance: random.Random) -> float:
    return house.call("get_related_items", type="items", id=chance.choice(house.ids), depth=3)


def _depth_3(house: House, chance: random.Random) -> float:
    return house.call("get_related_items", type="items", id=chance.choice(house.ids), depth=3, max_results=5000)


ASKING: dict[str, Callable[[House, random.Random], float]] = {
    "one item": _one,
    "a list": _list,
    "full text": _text,
    "full text, fields": _fields,
    "graph, depth 1": _depth_1,
    "graph, depth 3": _depth_3_of_50,
    "graph, depth 3, all of it": _depth_3,
}


def _cacheable(house: House, size: int, calls: int) -> Row:
    """What a cache of answers could save at most: the call's own part of what one call costs. See ADR 0015."""
    again = percentile([house.call("get_item_detail", type="items", id=house.ids[0]) for _ in range(calls)], 0.5)
    # This one walks through every stage and asks the database for nothing.
    idle = percentile([house.call("search_suggest", query=" ") for _ in range(calls)], 0.5)
    return Row(f"items: share of a read that a cache could save, {size} items", "", {"tokonoma": 1 - idle / again})

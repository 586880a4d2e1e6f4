"""Outside tools side by side: twenty small answers, alone and beside one of 7 MB on its way back."""

import asyncio
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.core.async_desk import AsyncDesk
from tokonoma.core.call import Call, Caller
from tokonoma.core.module import Module, Tool

from .peers import Peers
from .plan import Plan
from .report import Goal, Row

SMALL = 20
ROUNDS = 5
LINE = "A line of a page that another service sent, with 12 numbers and some words in it.\n"


async def small(desk: AsyncDesk) -> dict[str, Any]:
    """700 bytes after a while, as from a service."""
    await asyncio.sleep(0.05)
    return {"text": LINE * 8}


async def big(desk: AsyncDesk) -> dict[str, Any]:
    """7 MB at once."""
    await asyncio.sleep(0)
    return {"page": "".join(f"{number} {LINE}" for number in range(7_000_000 // (len(LINE) + 6)))}


TOOLS = (Tool("small", small, "Small", outside=True), Tool("big", big, "Big", outside=True))
MODULE = Module("outside_bench", "Answers of two sizes.", TOOLS)


def measure(peers: Peers, plan: Plan) -> list[Row]:
    del peers, plan
    with tempfile.TemporaryDirectory(prefix="tokonoma-outside-") as home:
        described = catalogue.describe_module(MODULE, "bench.outside:MODULE")
        Path(home, "plugins.json").write_bytes(catalogue.dump_catalogue([described]))
        app = App({"home": home, "durable": False, "embed_provider": "none"}, {})
        try:
            _ask(app, 1, with_big=True)  # everything is loaded
            alone = [_ask(app, SMALL, with_big=False) for _ in range(ROUNDS)]
            beside = [_ask(app, SMALL, with_big=True) for _ in range(ROUNDS)]
        finally:
            app.close()
    values = {"alone": 1000 * median(alone), "beside": 1000 * median(beside)}
    ratio = values["beside"] / values["alone"]
    return [
        Row("outside: 20 small answers alone", "ms", {"tokonoma": values["alone"]}),
        Row("outside: 20 small answers beside one of 7 MB", "ms", {"tokonoma": values["beside"]}),
        Row("outside: beside / alone", "", {"tokonoma": ratio}, Goal("≤", 2.0)),
    ]


def _ask(app: App, count: int, *, with_big: bool) -> float:
    """The slowest of the small answers, in seconds; the big call starts first."""
    times: list[float] = []
    ended = threading.Semaphore(0)

    def start(tool: str) -> None:
        begin = time.perf_counter()

        def done(call: Call, error: BaseException | None) -> None:
            if error is not None:
                raise error
            if tool == "small":
                times.append(time.perf_counter() - begin)
            ended.release()

        app.calls.submit(Call("outside_bench", tool, {}, Caller("cli")), done)

    names = (["big"] if with_big else []) + ["small"] * count
    for name in names:
        start(name)
    for _ in names:
        ended.acquire()
    return max(times)

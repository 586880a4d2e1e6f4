"""A plugin with tools that take their time: an outside one, one that computes in SQL, and one that reports."""

import asyncio
import threading
from typing import Any

from typing_extensions import TypedDict

from tokonoma.core.errors import Unavailable
from tokonoma.core.module import Module, Tool

BEGUN = threading.Event()
CANCELLED = threading.Event()


class Said(TypedDict):
    said: str


async def echo(desk: Any, text: str) -> Said:
    """Say it again, from outside."""
    await asyncio.sleep(0)
    return {"said": text}


async def broken(desk: Any) -> Said:
    """An outside service that is away."""
    await asyncio.sleep(0)
    raise Unavailable("The service does not answer.", reason="service")


async def forever(desk: Any) -> Said:
    """Wait until somebody stops it."""
    BEGUN.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        CANCELLED.set()
        raise
    return {"said": ""}


def compute(desk: Any) -> Said:
    """A statement that would take for ever."""
    BEGUN.set()
    sql = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000000) select max(i) from n"
    return {"said": str(desk.row(sql))}


def report(desk: Any, steps: int) -> Said:
    """Report each step."""
    for step in range(steps):
        desk.report(step + 1, steps, f"step {step + 1}")
    return {"said": "done"}


MODULE = Module(
    name="slow",
    summary="Slow things.",
    tools=(
        Tool("echo", echo, "Echo", outside=True),
        Tool("broken", broken, "Broken", outside=True),
        Tool("forever", forever, "For ever", outside=True),
        Tool("compute", compute, "Compute"),
        Tool("report", report, "Report"),
    ),
)

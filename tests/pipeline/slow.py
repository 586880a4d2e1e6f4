"""A plugin with tools that take their time: an outside one, one that computes in SQL, and one that reports."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Mapping
from typing import Any

from typing_extensions import TypedDict

from tokonoma.core.async_desk import AsyncDesk
from tokonoma.core.content import ImageContent, ResourceContent, RichResult
from tokonoma.core.errors import Unavailable
from tokonoma.core.module import Migration, Module, Tool

BEGUN = threading.Event()
CANCELLED = threading.Event()
RELEASED = threading.Event()


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "(a+)+$"},
        "count": {"type": ["integer", "null"]},
        "more": {"$ref": "http://127.0.0.1:9/never-fetched"},
    },
    "required": ["name"],
    "additionalProperties": False,
}


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


async def note(desk: AsyncDesk, text: str) -> Said:
    """Write a note, read it again, and count the notes."""
    async with desk.write() as tx:
        await tx.run("insert into slow_note (text) values (:text)", text=text)
        assert await tx.row("select text from slow_note where text = :text", text=text) == (text,)
    (count,) = await desk.row("select count(*) from slow_note") or (0,)
    return {"said": f"{count}"}


async def send(desk: AsyncDesk) -> Said:
    """Change something outside; by then the journal holds that it was sent."""
    rows = await desk.rows("select outcome from journal where request_id = :id", id=desk.call.request_id)
    return {"said": ",".join(outcome for (outcome,) in rows)}


async def undo(desk: AsyncDesk) -> Said:
    """Write a note and wait for ever inside the transaction."""
    async with desk.write() as tx:
        await tx.run("insert into slow_note (text) values ('undone')")
        return await forever(desk)


def prepare(desk: Any, text: str) -> Coroutine[Any, Any, Said]:
    """A plain function that prepares on a worker and returns the coroutine."""
    prepared = f"{text} on {threading.current_thread().name.split('-')[0]}"
    return echo(desk, prepared)


async def draw(desk: AsyncDesk) -> RichResult[Said]:
    """A value with a picture and two documents."""
    blocks = [
        ImageContent(b"\x89PNG", "image/png"),
        ResourceContent("tokonoma://slow/page", "a page", "text/markdown"),
        ResourceContent("tokonoma://slow/data", b"\0\1", "application/octet-stream"),
    ]
    return RichResult({"said": "drawn"}, blocks)


def echo_all(desk: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"given": params}


def compute(desk: Any) -> Said:
    """A statement that would take for ever."""
    BEGUN.set()
    sql = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000000) select max(i) from n"
    return {"said": str(desk.row(sql))}


def block(desk: Any) -> Said:
    """Hold the worker until the test lets it go, and hear nothing of any cancellation."""
    BEGUN.set()
    assert RELEASED.wait(60)
    with desk.write() as tx:
        tx.run("insert into slow_note (text) values ('late')")
    return {"said": "late"}


async def hold(desk: Any) -> Said:
    """Ignore its own cancellation."""
    BEGUN.set()
    while not RELEASED.is_set():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.01)
    return {"said": "late"}


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
        Tool("note", note, "Note", effect="write", outside=True),
        Tool("send", send, "Send", effect="write", outside=True),
        Tool("undo", undo, "Undo", effect="write", outside=True),
        Tool("prepare", prepare, "Prepare", outside=True),
        Tool("draw", draw, "Draw", outside=True),
        Tool("any", echo_all, "Any", input_schema=SCHEMA, output_schema={"type": "object"}, description="Repeat it."),
        Tool("compute", compute, "Compute"),
        Tool("block", block, "Block", effect="write"),
        Tool("hold", hold, "Hold", outside=True),
        Tool("report", report, "Report"),
    ),
    tables=(Migration("001_note", ("create table slow_note (text text not null)",)),),
)

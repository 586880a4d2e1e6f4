"""The benchmark's own module: an echo, and the smallest durable save. It enters as anybody's plugin does."""

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.module import Migration, Module, Tool


class Said(TypedDict):
    text: str


def echo(desk: Desk, text: str) -> Said:
    """Answer with the same text."""
    return {"text": text}


def add(desk: Desk, text: str) -> Said:
    """Keep one row and answer with its text."""
    with desk.write() as tx:
        tx.run("INSERT INTO bench_note (text) VALUES (:text)", text=text)
    return {"text": text}


MODULE = Module(
    name="bench",
    summary="What the benchmark calls.",
    tools=(Tool("echo", echo, "Echo"), Tool("add", add, "Add a row", effect="write")),
    tables=(Migration("notes", ("CREATE TABLE bench_note (id {identity}, text TEXT NOT NULL)",)),),
)

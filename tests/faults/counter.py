"""A plugin for the fault tests: one number that every call reads, adds to and writes back."""

from typing import Any

from typing_extensions import TypedDict

from tokonoma.core.module import Migration, Module, Tool


class Count(TypedDict):
    count: int


def bump(desk: Any) -> Count:
    """Read the number, add one, write it back."""
    with desk.write() as tx:
        (count,) = tx.row("select number from tally where id = 1 {for_update}")
        tx.run("update tally set number = :number where id = 1", number=count + 1)
    return {"count": count + 1}


def count(desk: Any) -> Count:
    """The number."""
    return {"count": desk.row("select number from tally where id = 1")[0]}


MODULE = Module(
    name="counter",
    summary="One number.",
    tools=(Tool("bump", bump, "Bump", effect="write"), Tool("count", count, "Count")),
    tables=(
        Migration(
            "001_tally",
            (
                "create table tally (id {big} not null primary key, number {big} not null)",
                "insert into tally (id, number) values (1, 0)",
            ),
        ),
    ),
)

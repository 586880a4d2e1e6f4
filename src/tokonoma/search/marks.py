"""What records say of each other and of their own time: which one stands in the place of another, and from when until
when one holds.

A record that was replaced in turn leads to the last one. Records that replace each other in a circle, as two homes may
have said, replace nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import orjson

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.filters import IndexFilter

_LONGEST = 50  # records in a row of which each replaces the next
_NEWER = """select s.older, d.id, d.address, d.at from ({texts}) t join successor s on s.older = t.value
join document d on d.id = s.newer where """
_WRITE = "insert into successor (older, newer) values (:older, :newer)"
T = TypeVar("T")


class Successor(NamedTuple):
    """A record that replaces another."""

    id: int
    address: str
    at: int


def write_supersedes(statements: Statements, number: int, addresses: Iterable[str], *, new: bool) -> None:
    """Which records this document replaces."""
    wanted = set(addresses)
    stored: set[str] = set()
    if not new:
        stored = {row[0] for row in statements.rows("select older from successor where newer = :id", id=number)}
    if stored != wanted:
        if stored:
            statements.run("delete from successor where newer = :id", id=number)
        if wanted:
            statements.run_many(_WRITE, [{"older": each, "newer": number} for each in sorted(wanted)])


def read_successors(rows: Rows, addresses: Collection[str], visible: IndexFilter) -> dict[str, Successor]:
    """What replaces these records, and what replaces that in turn; of several the newest."""
    found: dict[str, Successor] = {}
    waiting = set(addresses)
    for _ in range(_LONGEST):
        if not waiting:
            break
        for older, *newer in rows.rows(
            _NEWER + visible.sql, texts=orjson.dumps(sorted(waiting)).decode(), **visible.params
        ):
            other, before = Successor(*newer), found.get(older)
            if before is None or (before.at, before.id) < (other.at, other.id):
                found[older] = other
        waiting = {each.address for each in found.values()} - found.keys() - waiting
    return found


def follow(successors: Mapping[T, T], start: T) -> list[T]:
    """What stands in its place, one after another; nothing if that leads back to one of them."""
    path = [start]
    while path[-1] in successors:
        path.append(successors[path[-1]])
        if path[-1] in path[:-1]:
            return []
    return path[1:]


def find_last(successors: Mapping[str, Successor], addresses: Sequence[str]) -> dict[str, str]:
    """Of these records, those that were replaced, each with the last one in its place."""
    next_ones = {older: newer.address for older, newer in successors.items()}
    paths = {each: follow(next_ones, each) for each in addresses}
    return {each: path[-1] for each, path in paths.items() if path}

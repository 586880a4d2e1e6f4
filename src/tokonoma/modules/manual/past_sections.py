"""Hashes of sections, and what became of sections that were changed.

A hash says which text a ref was given for. When a file is indexed again, each section that is not in it any more is
noted by its hash, with the hash of the section that it has become: the new one with its headings, else the new one
with its body.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tokonoma.core.desk import Desk, Tx

_KEPT_MS = 7 * 24 * 3600 * 1000
_MAX_STEPS = 100  # changes of one section that are followed
_SELECT_SECTIONS = """select line, title, parent, hash, body_hash from manual_section
where manual = :manual and path = :path order by line"""
_INSERT_PAST = """insert into manual_past (manual, path, hash, successor, at)
values (:manual, :path, :hash, :successor, :at)
on conflict (manual, path, hash) do update set successor = excluded.successor, at = excluded.at"""
_SELECT_SUCCESSOR = "select successor from manual_past where manual = :manual and path = :path and hash = :hash"


class HashedSection(NamedTuple):
    line: int
    headings: tuple[str, ...]
    hash: str
    body_hash: str


def hash_text(text: str) -> str:
    """Of a section's own text as the index holds it: without what is hidden from anyone, so that it tells nothing."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def hash_body(text: str) -> str:
    """Of the text below the heading; empty if there is none, because that says nothing."""
    body = text.partition("\n")[2]
    return hash_text(body) if body.strip() else ""


def list_hashes(tx: Tx, manual: str, path: str) -> list[HashedSection]:
    """The sections of a file as they are indexed."""
    sections: list[HashedSection] = []
    headings: dict[int, tuple[str, ...]] = {}
    for line, title, parent, hash, body_hash in tx.rows(_SELECT_SECTIONS, manual=manual, path=path):
        headings[line] = (*headings.get(parent, ()), title)
        sections.append(HashedSection(line, headings[line], hash, body_hash))
    return sections


def save_changes(tx: Tx, manual: str, path: str, before: Sequence[HashedSection], at: int) -> None:
    """Note what the sections of a file have become, now that it is indexed again."""
    changes = pair_sections(before, list_hashes(tx, manual, path))
    named = {"manual": manual, "path": path}
    rows = [{**named, "hash": old, "successor": new, "at": at} for old, new in changes.items()]
    if rows:
        tx.run_many(_INSERT_PAST, rows)
        tx.run("delete from manual_past where at < :old", old=at - _KEPT_MS)


def pair_sections(before: Sequence[HashedSection], after: Sequence[HashedSection]) -> dict[str, str]:
    """The hash of each section that is not there any more, with the hash of the new section that it has become."""
    known, kept = {each.hash for each in before}, {each.hash for each in after}
    old = [each for each in before if each.hash not in kept]
    new = [each for each in after if each.hash not in known]
    changes: dict[str, str] = {}
    criteria: tuple[Callable[[HashedSection], object], ...] = (lambda each: each.headings, lambda each: each.body_hash)
    for criterion in criteria:
        alike: dict[object, deque[str]] = {}
        taken = set(changes.values())
        for each in new:
            if each.hash not in taken:
                alike.setdefault(criterion(each), deque()).append(each.hash)
        for each in old:  # the first of several with one heading becomes the first
            if each.hash not in changes and criterion(each) and alike.get(criterion(each)):
                changes[each.hash] = alike[criterion(each)].popleft()
    return changes


def find_successors(desk: Desk, manual: str, path: str, hash: str) -> list[str]:
    """The hashes that a changed section of a file had later, in order."""
    found: list[str] = []
    for _ in range(_MAX_STEPS):
        row = desk.row(_SELECT_SUCCESSOR, manual=manual, path=path, hash=hash)
        if row is None or row[0] in found:
            break
        hash = row[0]
        found.append(hash)
    return found

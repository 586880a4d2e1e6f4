"""Strands: each writer keeps its own chain of hashes, so that writers never wait for each other.

A strand begins with an entry that notes where the other strands stand, and ends with another. Cutting the tail off
a strand therefore shows in whichever strand was anchored to it. A killed process leaves its strand open: that is valid.
"""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unavailable
from tokonoma.core.ids import uuid7
from tokonoma.core.module import Migration
from tokonoma.journal.entry import COLUMNS, JournalEntry, digest

TABLES = (
    Migration(
        "001_journal",
        (
            """create table journal (
                strand text not null, seq {big} not null, at {big} not null, kind text not null,
                request_id text not null, trace_id text not null, parent text, principal text not null,
                transport text not null, remote text, module text not null, tool text not null,
                outcome text not null, code text not null, duration_us {big}, policy text not null,
                bytes_in {big} not null, bytes_out {big} not null, anchors text, hash {blob} not null,
                primary key (strand, seq)
            )""",
            "create index journal_at on journal (at)",
            "create index journal_principal on journal (principal, at)",
        ),
    ),
)

_INSERT = (  # the columns are our own
    f"insert into journal (strand, seq, {', '.join(COLUMNS)}, hash) "  # noqa: S608
    f"values (:strand, :seq, {', '.join(':' + column for column in COLUMNS)}, :hash)"
)
_NEWEST = 200  # entries looked at for the strands that moved last; older ones were anchored by these when they began


class Chain:
    """One chain. What `add` inserts counts only after `keep`: a rolled-back transaction leaves no gap."""

    def __init__(self) -> None:
        self.id = uuid7()
        self.is_open = False
        self._seq, self._head = 0, b""
        self._next_seq, self._next_head = 0, b""

    def add(self, statements: Statements, *entries: JournalEntry) -> None:
        if self._next_seq == 0:
            entries = (JournalEntry(now(), "open", anchors=read_anchors(statements, self.id)), *entries)
        rows = [self._link(entry) for entry in entries]
        if len(rows) == 1:
            statements.run(_INSERT, **rows[0])
        else:
            statements.run_many(_INSERT, rows)

    def commit(self) -> None:
        self._seq, self._head = self._next_seq, self._next_head
        self.is_open = True

    def roll_back(self) -> None:
        self._next_seq, self._next_head = self._seq, self._head

    def _link(self, entry: JournalEntry) -> dict[str, Any]:
        """The entry as the next link of the chain."""
        head = digest(self._next_head, self.id, self._next_seq, entry)
        row = dict(zip(COLUMNS, entry, strict=True))
        row |= {"strand": self.id, "seq": self._next_seq, "hash": head}
        self._next_seq, self._next_head = self._next_seq + 1, head
        return row


class ChainPool:
    """The strands of this process: as many as it has had writers at once (on SQLite, one)."""

    def __init__(self) -> None:
        self._free: list[Chain] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self) -> Generator[Chain]:
        """A strand for one transaction: enter before the transaction opens, leave after it has committed."""
        with self._lock:
            strand = self._free.pop() if self._free else Chain()
        try:
            yield strand
        except BaseException as error:
            strand.roll_back()
            # A connection that broke at the commit leaves the end of this chain unknown: it is never used again.
            if not (isinstance(error, Unavailable) and error.reason == "database"):
                self._give_back(strand)
            raise
        strand.commit()
        self._give_back(strand)

    def open_chains(self) -> list[Chain]:
        with self._lock:
            return [strand for strand in self._free if strand.is_open]

    def _give_back(self, strand: Chain) -> None:
        with self._lock:
            self._free.append(strand)


def read_anchors(rows: Rows, own: str) -> str:
    """Where the other strands stand: id, number and hash of their last entries."""
    heads = rows.rows(
        """select j.strand, j.seq, j.hash from journal j
        join (select strand, max(seq) as seq
              from (select strand, seq from journal where strand <> :own order by at desc limit :most) newest
              group by strand) last
        on last.strand = j.strand and last.seq = j.seq order by j.strand""",
        own=own,
        most=_NEWEST,
    )
    return json.dumps([[strand, seq, bytes(head).hex()] for strand, seq, head in heads])

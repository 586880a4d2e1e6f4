"""Journal entries and their chains of hashes. Each writer has a chain of its own, so that writers never wait for each
other.

A chain begins with an entry that notes where the other chains stand, and ends with another. Cutting off the end of a
chain therefore shows in every chain that was anchored to it. A killed process leaves its chain without an end: that is
valid.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from tokonoma.core.call import Call
from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.ids import uuid7
from tokonoma.core.module import Migration

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
    # Nothing to change, but programs from before it must not write here: they know neither the checksums of pages nor
    # entries of kind `gap`.
    Migration("002_damage", ()),
)


class JournalEntry(NamedTuple):
    """Who called what, when, how it ended, how long it took and how large it was. Never a body."""

    at: int  # milliseconds since the epoch
    kind: str  # call | open | close | prune | gap
    request_id: str = ""
    trace_id: str = ""
    parent: str | None = None
    principal: str = ""
    transport: str = ""
    remote: str | None = None
    module: str = ""
    tool: str = ""
    outcome: str = ""  # ok | committed | sent | refused | failed
    code: str = ""
    duration_us: int | None = None  # a write is entered before its commit, when its duration is not known yet
    policy: str = ""
    bytes_in: int = 0
    bytes_out: int = 0
    anchors: str | None = (
        None  # JSON; open and close: where other chains stood; prune: where chains were cut; gap: what was lost
    )


COLUMNS = JournalEntry._fields
_INSERT = (  # the columns are our own
    f"insert into journal (strand, seq, {', '.join(COLUMNS)}, hash) "  # noqa: S608
    f"values (:strand, :seq, {', '.join(':' + column for column in COLUMNS)}, :hash)"
)
_NEWEST = 200  # entries searched for the chains that moved last; older chains were anchored by these when they began
_MAX_FINDS = 20  # named in an entry; of more only the count


def build_entry(call: Call, policy: str, outcome: str, code: str = "", duration_us: int | None = None) -> JournalEntry:
    tool, caller, finds = call.tool_info, call.caller, call.detections
    if finds:  # kinds and salted hashes, never the text
        more = [f"+{len(finds) - _MAX_FINDS}"] if len(finds) > _MAX_FINDS else []
        policy = " ".join([policy, *finds[:_MAX_FINDS], *more])
    if call.approval:
        policy = f"{policy} approval:{call.approval}"
    return JournalEntry(  # by position: by name it would take twice as long, and every call comes through here
        now(),
        "call",
        call.request_id,
        call.trace_id,
        call.parent,
        call.principal.name if call.principal else "",
        caller.transport,
        caller.remote,
        # An unknown name is the caller's text and may be anything, so only its start is stored.
        tool.module if tool else shorten_name(call.module),
        tool.name if tool else shorten_name(call.tool),
        outcome,
        code,
        duration_us,
        policy,
        call.bytes_in,
        call.bytes_out,
    )


def shorten_name(name: str) -> str:
    # No database takes a NUL or half a surrogate pair: one such name would keep a whole group from being written.
    return name[:64].encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def digest(previous: bytes, chain: str, seq: int, values: Sequence[Any]) -> bytes:
    """Hash one link: the hash of the entry before it, its position, and all its values."""
    return hashlib.sha256(previous + orjson.dumps([chain, seq, *values])).digest()


class Chain:
    """One chain. What `add` inserts counts only after `commit`: a rolled-back transaction leaves no gap."""

    def __init__(self) -> None:
        self.id = uuid7()
        self.is_open = False
        self._committed = self._next = (0, b"")  # number of the next entry, and hash of the last one
        self._added: list[dict[str, Any]] = []

    def add(self, statements: Statements, *entries: JournalEntry) -> None:
        if self._next[0] == 0:
            entries = (JournalEntry(now(), "open", anchors=read_anchors(statements, self.id)), *entries)
        rows: list[dict[str, Any]] = []
        for entry in entries:
            seq, head = self._next
            head = digest(head, self.id, seq, entry)
            rows.append({**entry._asdict(), "strand": self.id, "seq": seq, "hash": head})
            self._next = seq + 1, head
        self._added += rows
        if len(rows) == 1:
            statements.run(_INSERT, **rows[0])
        else:
            statements.run_many(_INSERT, rows)

    def commit(self) -> list[dict[str, Any]]:
        """The entries that count from now on."""
        self._committed = self._next
        self.is_open = True
        added, self._added = self._added, []
        return added

    def roll_back(self) -> None:
        self._next = self._committed
        self._added = []


def read_anchors(rows: Rows, own: str) -> str:
    """Return where the other chains stand: id, number and hash of their last entries."""
    heads = rows.rows(
        """select j.strand, j.seq, j.hash from journal j
        join (select strand, max(seq) as seq
              from (select strand, seq from journal where strand <> :own order by at desc limit :most) newest
              group by strand) last
        on last.strand = j.strand and last.seq = j.seq order by j.strand""",
        own=own,
        most=_NEWEST,
    )
    return json.dumps([[chain, seq, bytes(head).hex()] for chain, seq, head in heads])

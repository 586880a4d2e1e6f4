"""Reading the journal: newest entries, and whether every chain holds."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tokonoma.core import cursor
from tokonoma.core.clock import format_time
from tokonoma.core.desk import Rows
from tokonoma.journal.entry import COLUMNS, digest
from tokonoma.journal.prune import read_checkpoints

_PAGE = 1000
_AT, _KIND = COLUMNS.index("at"), COLUMNS.index("kind")


@dataclass(frozen=True, slots=True)
class Verification:
    chains: int
    entries: int
    problems: tuple[str, ...]


def list_recent(
    rows: Rows, principal: str | None, limit: int, page: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    """The newest calls first, of one principal or of all; and the cursor of the next page."""
    at, strand, seq = cursor.decode("journal", page) if page else (2**62, "", 0)
    who = "" if principal is None else "principal = :principal and"
    found = rows.rows(
        f"""select strand, seq, at, request_id, trace_id, parent, principal, transport, remote, module, tool, outcome,
            code, duration_us, bytes_in, bytes_out from journal
        where {who} kind = 'call'
            and (at < :at or (at = :at and (strand < :strand or (strand = :strand and seq < :seq))))
        order by at desc, strand desc, seq desc limit :most""",  # noqa: S608 - both forms are our own text
        **({} if principal is None else {"principal": principal}),
        at=at,
        strand=strand,
        seq=seq,
        most=limit + 1,
    )
    items = [_to_response(row) for row in found[:limit]]
    if len(found) <= limit:
        return items, None
    last = found[limit - 1]
    return items, cursor.encode("journal", last[2], last[0], last[1])


def verify(rows: Rows) -> Verification:
    """Walk every strand from its first entry, or from where it was cut; then look up every anchor."""
    problems: list[str] = []
    anchored: list[tuple[str, bool, str, int, str]] = []
    seen: set[str] = set()
    heads, line = read_checkpoints(rows)
    strand, expected, before, entries, strands = "", 0, b"", 0, 0
    for row in _iterate_entries(rows):
        found, seq, said, kept = row[0], row[1], row[2:-1], bytes(row[-1])
        if found != strand:
            cut, head = heads.get(found, (-1, ""))
            strand, expected, before, strands = found, cut + 1, bytes.fromhex(head), strands + 1
        if seq < expected:
            problems.append(f"strand {strand}: entry {seq} is there, though it was pruned")
        elif seq > expected:
            problems.append(f"strand {strand}: entries {expected} to {seq - 1} are missing")
        elif digest(before, strand, seq, said) != kept:
            problems.append(f"strand {strand}: entry {seq} was changed")
        expected, before, entries = seq + 1, kept, entries + 1
        if said[-1] and said[_KIND] != "prune":
            anchored += [(strand, said[_AT] < line, *each) for each in json.loads(said[-1])]
        seen.add(strand)
    for by, due, other, seq, head in anchored:
        cut, hashed = heads.get(other, (-1, ""))
        if seq < cut or (seq == cut and head == hashed):
            continue
        # An entry that was to be pruned itself may speak of strands of which nothing is left.
        if due and other not in heads and other not in seen:
            continue
        kept = rows.row("select hash from journal where strand = :strand and seq = :seq", strand=other, seq=seq)
        if kept is None or bytes(kept[0]).hex() != head:
            problems.append(
                f"strand {other}: entry {seq}, which strand {by} was anchored to, is missing or was changed"
            )
    return Verification(strands, entries, tuple(problems))


def _iterate_entries(rows: Rows) -> Iterator[tuple[Any, ...]]:
    """Every entry, strand by strand, a page at a time: a journal may be larger than memory."""
    strand, seq = "", -1
    while True:
        page = rows.rows(
            f"""select strand, seq, {", ".join(COLUMNS)}, hash from journal
            where strand > :strand or (strand = :strand and seq > :seq)
            order by strand, seq limit :most""",  # noqa: S608 - the columns are our own
            strand=strand,
            seq=seq,
            most=_PAGE,
        )
        yield from page
        if len(page) < _PAGE:
            return
        strand, seq = page[-1][0], page[-1][1]


def _to_response(row: tuple[Any, ...]) -> dict[str, Any]:
    names = (
        "request_id", "trace_id", "parent", "principal", "transport", "remote", "module", "tool",
        "outcome", "code", "duration_us", "bytes_in", "bytes_out",
    )  # fmt: skip
    told = {name: value for name, value in zip(names, row[3:], strict=True) if value not in (None, "")}
    return {"at": format_time(row[2]), **told}

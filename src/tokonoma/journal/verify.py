"""Reading the journal: the newest entries, and whether every chain holds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Rows
from tokonoma.journal.chain import COLUMNS, digest
from tokonoma.journal.prune import read_checkpoints

_PAGE = 1000
_AT, _KIND = COLUMNS.index("at"), COLUMNS.index("kind")
_LISTED = (
    "request_id", "trace_id", "parent", "principal", "transport", "remote", "module", "tool", "outcome", "code",
    "duration_us", "bytes_in", "bytes_out",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verification:
    chains: int
    entries: int
    problems: tuple[str, ...]


FILTERS = ("principal", "module", "tool", "outcome", "transport")
"""Fields of an entry that a list can be narrowed by."""


def list_recent(
    rows: Rows,
    principal: str | None,
    limit: int,
    after: Sequence[Any] | None,
    filters: Mapping[str, str] | None = None,
) -> tuple[list[dict[str, Any]], Sequence[Any] | None]:
    """Return the newest calls first, of one principal or of all, and after which position the next page starts.
    `filters`: values of `FILTERS`."""
    at, chain, seq = after or (2**62, "", 0)
    equal = {name: value for name, value in (filters or {}).items() if name in FILTERS}
    if principal is not None:
        equal["principal"] = principal
    own = "".join(f"{name} = :{name} and " for name in equal)
    found = rows.rows(
        f"""select strand, seq, at, {", ".join(_LISTED)} from journal
        where {own} kind = 'call'
            and (at < :at or (at = :at and (strand < :chain or (strand = :chain and seq < :seq))))
        order by at desc, strand desc, seq desc limit :most""",  # noqa: S608 - the names are our own text
        **equal,
        at=at,
        chain=chain,
        seq=seq,
        most=limit + 1,
    )
    items = [_to_response(row) for row in found[:limit]]
    if len(found) <= limit:
        return items, None
    chain, seq, at = found[limit - 1][:3]
    return items, (at, chain, seq)


def _to_response(row: tuple[Any, ...]) -> dict[str, Any]:
    found = zip(_LISTED, row[3:], strict=True)
    # The name of an unknown tool may come without a module: these are always listed.
    values = {name: value for name, value in found if value not in (None, "") or name in ("module", "tool", "trace_id")}
    return {"at": format_time(row[2]), **values}


def verify(rows: Rows) -> Verification:
    """Walk every chain from its first entry, or from where it was cut; then look up every anchor."""
    problems: list[str] = []
    anchors: list[tuple[str, bool, str, int, str]] = []
    seen: set[str] = set()
    heads, pruned_before = read_checkpoints(rows)
    chain, expected, previous, entries = "", 0, b"", 0
    for row in _iterate_entries(rows):
        found, seq, values, stored = row[0], row[1], row[2:-1], bytes(row[-1])
        if found != chain:
            cut, head = heads.get(found, (-1, ""))
            chain, expected, previous = found, cut + 1, bytes.fromhex(head)
            seen.add(chain)
        if seq < expected:
            problems.append(f"chain {chain}: entry {seq} exists although it was pruned")
        elif seq > expected:
            problems.append(f"chain {chain}: entries {expected} to {seq - 1} are missing")
        elif digest(previous, chain, seq, values) != stored:
            problems.append(f"chain {chain}: entry {seq} was changed")
        expected, previous, entries = seq + 1, stored, entries + 1
        if values[-1] and values[_KIND] in ("open", "close"):
            anchors += [(chain, values[_AT] < pruned_before, *each) for each in json.loads(values[-1])]
    for by, due, other, seq, head in anchors:
        cut, cut_head = heads.get(other, (-1, ""))
        # An entry that was itself due to be pruned may refer to chains of which nothing is left.
        gone = due and other not in heads and other not in seen
        if gone or seq < cut or (seq == cut and head == cut_head):
            continue
        row = rows.row("select hash from journal where strand = :chain and seq = :seq", chain=other, seq=seq)
        if row is None or bytes(row[0]).hex() != head:
            problems.append(f"chain {other}: entry {seq}, which chain {by} is anchored to, is missing or was changed")
    return Verification(len(seen), entries, tuple(problems))


def _iterate_entries(rows: Rows) -> Iterator[tuple[Any, ...]]:
    """Yield every entry, chain by chain, a page at a time: a journal may be larger than memory."""
    chain, seq = "", -1
    while True:
        page = rows.rows(
            f"""select strand, seq, {", ".join(COLUMNS)}, hash from journal
            where strand > :chain or (strand = :chain and seq > :seq)
            order by strand, seq limit :most""",  # noqa: S608 - the columns are our own
            chain=chain,
            seq=seq,
            most=_PAGE,
        )
        yield from page
        if len(page) < _PAGE:
            return
        chain, seq = page[-1][0], page[-1][1]

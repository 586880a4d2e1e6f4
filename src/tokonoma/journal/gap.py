"""A database that is behind its own journal: what is missing, and that its owner goes on without it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Rows
from tokonoma.journal.prune import read_checkpoints

_SHOWN = 10


class NotedEntry(NamedTuple):
    """An entry of the journal as it was noted outside the database."""

    chain: str
    seq: int
    hash: str
    at: int  # milliseconds since the epoch
    request_id: str
    tool: str  # with its module
    outcome: str


@dataclass(frozen=True, slots=True)
class Gap:
    """Entries that were committed and are not in the database. Not all of them were noted one by one."""

    entries: tuple[NotedEntry, ...]
    count: int

    def describe(self) -> str:
        writes = [entry for entry in self.entries if entry.outcome in ("committed", "sent")]
        shown = [f"{each.tool} at {format_time(each.at)} ({each.request_id})" for each in writes[-_SHOWN:]]
        times = [entry.at for entry in self.entries]
        more = f"{len(writes) - _SHOWN} more, " if len(writes) > _SHOWN else ""
        lost = f" Writes that were lost: {more}{', '.join(shown)}." if writes else " No write was among them."
        return f"{self.summarize()}, from {format_time(min(times))} to {format_time(max(times))}.{lost}"

    def summarize(self) -> str:
        return f"The database is older than it was: {self.count} calls that it had recorded are missing"

    def to_json(self) -> str:
        """For the journal itself: where the chains had stood, and what is known of the rest."""
        heads: dict[str, NotedEntry] = {entry.chain: entry for entry in self.entries}
        return json.dumps(
            {
                "count": self.count,
                "heads": [[head.chain, head.seq, head.hash] for head in heads.values()],
                "lost": [[entry.at, entry.request_id, entry.tool] for entry in self.entries],
            }
        )


def find_gap(rows: Rows, noted: Sequence[NotedEntry]) -> Gap | None:
    """Compare what was noted, oldest first, with the journal."""
    heads: dict[str, NotedEntry] = {}
    for entry in noted:
        if entry.chain not in heads or entry.seq > heads[entry.chain].seq:
            heads[entry.chain] = entry
    behind = [head for head in heads.values() if not _has_entry(rows, head)]
    if not behind:
        return None
    # Both are looked up only now: the journal may be long.
    cuts, pruned_before = read_checkpoints(rows)
    accepted = _read_accepted(rows)
    entries: list[NotedEntry] = []
    count = 0
    for head in behind:
        pruned = head.at < pruned_before or head.seq <= cuts.get(head.chain, (-1, ""))[0]
        if pruned or head.seq <= accepted.get(head.chain, -1):
            continue
        last = rows.row("select max(seq) from journal where strand = :chain", chain=head.chain)
        # Of a chain whose last entry is another than was noted, at least that entry is missing.
        kept = min(-1 if last is None or last[0] is None else last[0], head.seq - 1)
        entries += {each.seq: each for each in noted if each.chain == head.chain and each.seq > kept}.values()
        count += head.seq - kept
    return Gap(tuple(sorted(entries, key=lambda each: (each.at, each.seq))), count) if entries else None


def _has_entry(rows: Rows, head: NotedEntry) -> bool:
    row = rows.row("select hash from journal where strand = :chain and seq = :seq", chain=head.chain, seq=head.seq)
    return row is not None and bytes(row[0]).hex() == head.hash


def _read_accepted(rows: Rows) -> dict[str, int]:
    accepted: dict[str, int] = {}
    for (text,) in rows.rows("select anchors from journal where principal = '' and kind = 'gap'"):
        for chain, seq, _hash in json.loads(text)["heads"]:
            accepted[chain] = max(seq, accepted.get(chain, -1))
    return accepted

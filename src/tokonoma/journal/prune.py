"""Forgetting the oldest entries so that what remains still proves itself.

Entries go from the front of a strand only, the last one only if it ends the strand. A checkpoint says where a strand
was cut: an entry of kind `prune`, itself a link of the pruner's strand, with the number and the hash of the last entry
that went. From there the rest of the chain is verified, and what others were anchored to is compared with it.
Checkpoints are pruned like everything else; what is still needed of them is said again by the one that comes with it.
"""

import json
from dataclasses import dataclass, field

from tokonoma.core.desk import Rows, Statements

_GROUP = 5_000  # entries of one transaction: other writers wait that long
_LOOKED_AT = 2_000  # strands of one transaction
_NEWEST = _GROUP + 200  # entries whose strands a writer that begins just now may be anchored to

Heads = dict[str, tuple[int, str]]
"""Per strand, number and hash of the last entry that was removed from its front."""


@dataclass(slots=True)
class PruneStep:
    """What one transaction removed, and where the next goes on; `place` is None when there is no more."""

    place: str | None
    entries: int = 0
    heads: Heads = field(default_factory=dict[str, tuple[int, str]])


def read_checkpoints(rows: Rows) -> tuple[Heads, int]:
    """Where strands were cut so far; and the line, in milliseconds, before which entries were to go."""
    heads: Heads = {}
    line = 0
    # Entries that nobody called for have no principal: the index finds them among all the calls.
    for (said,) in rows.rows("select anchors from journal where principal = '' and kind = 'prune'"):
        checkpoint = json.loads(said)
        line = max(line, checkpoint["before"])
        for strand, seq, head in checkpoint["heads"]:
            if seq > heads.get(strand, (-1, ""))[0]:
                heads[strand] = seq, head
    return heads, line


def count_before(rows: Rows, before: int) -> int:
    found = rows.row("select count(*) from journal where at < :before", before=before)
    return 0 if found is None else int(found[0])


def find_anchored_chains(rows: Rows, since: int) -> set[str]:
    """Strands that entries since a time are anchored to, or one that is just being written may be."""
    anchored = rows.rows(
        "select anchors from journal where principal = '' and at >= :since and kind in ('open', 'close')", since=since
    )
    newest = rows.rows("select strand from journal order by at desc limit :most", most=_NEWEST)
    return {strand for (strand,) in newest} | {
        each[0] for (said,) in anchored if said is not None for each in json.loads(said)
    }


def prune_step(statements: Statements, before: int, place: str, since: int, keep: set[str]) -> PruneStep:
    """Remove entries from the fronts of the strands after `place`, as many as one transaction should. `keep` names the
    strands whose heads are told even if nothing of them remains; it grows by what others wrote since `since`."""
    keep |= find_anchored_chains(statements, since)
    known, _ = read_checkpoints(statements)
    done = PruneStep(place)
    gone: Heads = {}
    for _ in range(_LOOKED_AT):
        first = statements.row(
            "select strand, seq from journal where strand > :place order by strand, seq limit 1", place=done.place
        )
        if first is None:
            done.place = None
            break
        strand, start = first
        end, whole = _find_end(statements, strand, start, before, _GROUP - done.entries)
        if end > start:
            gone[strand] = _read_head(statements, strand, end - 1)
            done.entries += statements.run(
                "delete from journal where strand = :strand and seq < :end", strand=strand, end=end
            )
        if not whole:
            break
        done.place = strand
        if done.entries >= _GROUP:
            break
    still, _ = read_checkpoints(statements)
    # What checkpoints said that went with them.
    lost = {strand: head for strand, head in known.items() if still.get(strand, (-1, ""))[0] < head[0]}
    done.heads = {
        strand: head for strand, head in {**lost, **gone}.items() if strand in keep or _has_entries(statements, strand)
    }
    return done


def format_checkpoint(done: PruneStep, before: int) -> str:
    """What a checkpoint says."""
    heads = [[strand, seq, head] for strand, (seq, head) in sorted(done.heads.items())]
    return json.dumps({"before": before, "entries": done.entries, "heads": heads})


def _find_end(rows: Rows, strand: str, start: int, before: int, most: int) -> tuple[int, bool]:
    """The number of the first entry of the strand that stays, and whether that is so for good."""
    stays = rows.row(
        "select seq from journal where strand = :strand and at >= :before order by seq limit 1",
        strand=strand,
        before=before,
    )
    if stays is None:
        last = rows.row("select seq, kind from journal where strand = :strand order by seq desc limit 1", strand=strand)
        assert last is not None
        # A strand that has no end may be that of a process which still runs: its last entry waits for the next.
        stays = (last[0] + (last[1] == "close"),)
    return min(stays[0], start + most), stays[0] <= start + most


def _read_head(rows: Rows, strand: str, seq: int) -> tuple[int, str]:
    found = rows.row("select hash from journal where strand = :strand and seq = :seq", strand=strand, seq=seq)
    assert found is not None, "a chain that holds has no gaps"
    return seq, bytes(found[0]).hex()


def _has_entries(rows: Rows, strand: str) -> bool:
    return rows.row("select 1 from journal where strand = :strand limit 1", strand=strand) is not None

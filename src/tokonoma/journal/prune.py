"""Removing the oldest entries so that the rest can still be verified.

Entries are removed from the front of a chain only, the last one only if it closes the chain. A checkpoint records where
a chain was cut: an entry of kind `prune`, itself a link of the pruner's chain, with the number and the hash of the last
entry removed. Verification starts there, and compares anchors with it. Checkpoints are pruned like any other entry; the
checkpoint that is written at the same time repeats what is still needed of them.
"""

import json
from dataclasses import dataclass, field

from tokonoma.core.desk import Rows, Statements

_GROUP_SIZE = 5_000  # entries of one transaction: other writers wait that long
_MAX_CHAINS = 2_000  # chains of one transaction
_NEWEST = _GROUP_SIZE + 200  # entries whose chains a writer that starts now may be anchored to
_NEXT_CHAIN = """select strand, min(seq), min(case when at >= :before then seq end), max(seq),
    max(case when kind = 'close' then seq end) from journal
    where strand = (select min(strand) from journal where strand > :after) group by strand"""

Heads = dict[str, tuple[int, str]]
"""Per chain, number and hash of the last entry that was removed from its front."""


@dataclass(slots=True)
class PruneStep:
    """What one transaction removed, and the chain after which the next goes on; None at the end."""

    after: str | None
    entries: int = 0
    heads: Heads = field(default_factory=dict[str, tuple[int, str]])

    def to_checkpoint(self, before: int) -> str:
        heads = [[chain, seq, head] for chain, (seq, head) in sorted(self.heads.items())]
        return json.dumps({"before": before, "entries": self.entries, "heads": heads})


def read_checkpoints(rows: Rows) -> tuple[Heads, int]:
    """Return where chains were cut so far, and the latest `before` of a prune in milliseconds."""
    heads: Heads = {}
    latest = 0
    # Entries without a caller have no principal: the index finds them among all the calls.
    for (text,) in rows.rows("select anchors from journal where principal = '' and kind = 'prune'"):
        checkpoint = json.loads(text)
        latest = max(latest, checkpoint["before"])
        for chain, seq, head in checkpoint["heads"]:
            if seq > heads.get(chain, (-1, ""))[0]:
                heads[chain] = seq, head
    return heads, latest


def count_before(rows: Rows, before: int) -> int:
    ((count,),) = rows.rows("select count(*) from journal where at < :before", before=before)
    return count


def prune_step(statements: Statements, before: int, after: str) -> PruneStep:
    """Remove old entries from the fronts of the chains after `after`, as many as one transaction should."""
    anchored = _find_anchored_chains(statements, before)
    heads, _ = read_checkpoints(statements)
    step = PruneStep(after)
    for _ in range(_MAX_CHAINS):
        bounds = statements.row(_NEXT_CHAIN, after=step.after, before=before)
        if bounds is None:
            step.after = None
            break
        chain, start, stays, last, closed = bounds
        # A chain that is not closed may belong to a running process: its last entry stays, for the next to link to.
        end = stays if stays is not None else last + (closed == last)
        stop = min(end, start + _GROUP_SIZE - step.entries)
        if stop > start:
            head = statements.row("select hash from journal where strand = :c and seq = :seq", c=chain, seq=stop - 1)
            assert head is not None, "a chain that holds has no gaps"
            heads[chain] = stop - 1, bytes(head[0]).hex()
            step.entries += statements.run("delete from journal where strand = :c and seq < :stop", c=chain, stop=stop)
        if stop < end:
            break
        step.after = chain
    stored, _ = read_checkpoints(statements)
    for chain, head in heads.items():
        # A new cut, or one whose checkpoint was removed just now; unless no entry can refer to the chain any more.
        if stored.get(chain, (-1, ""))[0] < head[0] and (
            chain in anchored or statements.row("select 1 from journal where strand = :c limit 1", c=chain)
        ):
            step.heads[chain] = head
    return step


def _find_anchored_chains(rows: Rows, since: int) -> set[str]:
    """Return the chains that entries since a time are anchored to, or that one being written now may be."""
    anchors = rows.rows(
        "select anchors from journal where principal = '' and at >= :since and kind in ('open', 'close')", since=since
    )
    newest = rows.rows("select strand from journal order by at desc limit :most", most=_NEWEST)
    return {chain for (chain,) in newest} | {
        chain for (text,) in anchors if text is not None for chain, _, _ in json.loads(text)
    }

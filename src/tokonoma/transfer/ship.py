"""What was read, sent into the house in batches, and what became of it there."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.transfer.carried import Remark, SourceRecord, TransferMemo, TransferRelation

Record = TransferMemo | TransferRelation
RecordOutcome = Mapping[str, str]  # outcome, and why
SendBatch = Callable[
    [Sequence[TransferMemo], Sequence[TransferRelation], Sequence[str]], Mapping[str, Sequence[RecordOutcome]]
]
"""memos, relations, ids of memos that are taken to be there → what became of each"""

_MEMOS, _LETTERS, _RELATIONS = 500, 4 * 1024 * 1024, 1000  # of one batch
_SAID = 10_000  # remarks of each kind that are kept; the rest is counted


@dataclass(slots=True)
class RemarkList:
    """Remarks, as many as anybody would read."""

    items: list[Remark] = field(default_factory=list[Remark])
    total: int = 0

    def add(self, place: str, why: str) -> None:
        self.total += 1
        if len(self.items) < _SAID:
            self.items.append(Remark(place, why))


@dataclass(slots=True)
class ImportTally:
    """By outcome: saved, changed, unchanged, kept (what is here stays), skipped (what came could not be taken)."""

    memos: Counter[str] = field(default_factory=Counter[str])
    relations: Counter[str] = field(default_factory=Counter[str])
    skipped: RemarkList = field(default_factory=RemarkList)
    kept: RemarkList = field(default_factory=RemarkList)
    notes: RemarkList = field(default_factory=RemarkList)

    def add_remark(self, remark: Remark) -> None:
        (self.skipped if remark.lost else self.notes).add(remark.place, remark.why)

    def add_outcome(self, record: Record, landed: RecordOutcome) -> None:
        outcome = landed["outcome"]
        (self.memos if isinstance(record, TransferMemo) else self.relations)[outcome] += 1
        if outcome in ("skipped", "kept"):
            (self.skipped if outcome == "skipped" else self.kept).add(record.place, landed.get("why", ""))


class Importer:
    """One import on its way. `rehearsal` sends nothing that would be kept, and so remembers what would be there."""

    def __init__(self, send: SendBatch, told: Callable[[ImportTally], None], *, rehearsal: bool = False) -> None:
        self.tally = ImportTally()
        self._send, self._on_progress = send, told
        self._dry_run_ids: set[str] | None = set() if rehearsal else None
        self._memos: list[TransferMemo] = []
        self._relations: list[TransferRelation] = []
        self._letters = 0

    def run(self, carried: Iterable[SourceRecord]) -> None:
        for each in carried:
            if isinstance(each, Remark):
                self.tally.add_remark(each)
            elif isinstance(each, TransferMemo):
                self._add_memo(each)
            else:
                self._add_relation(each)
        self._flush()

    def _add_memo(self, memo: TransferMemo) -> None:
        size = len(memo.content)
        # A relation finds its two memos only after they were sent: the order in which they came is kept.
        if self._relations or len(self._memos) == _MEMOS or (self._memos and self._letters + size > _LETTERS):
            self._flush()
        self._memos.append(memo)
        self._letters += size

    def _add_relation(self, relation: TransferRelation) -> None:
        if self._memos or len(self._relations) == _RELATIONS:
            self._flush()
        self._relations.append(relation)

    def _flush(self) -> None:
        memos, relations = self._memos, self._relations
        if not memos and not relations:
            return
        self._memos, self._relations, self._letters = [], [], 0
        ends = {end for each in relations for end in (each.source, each.target)}
        coming = sorted(ends & (self._dry_run_ids or set()))
        for record, fate in self._send_or_bisect([*memos, *relations], coming):
            self.tally.add_outcome(record, fate)
            if self._dry_run_ids is not None and isinstance(record, TransferMemo) and fate["outcome"] == "saved":
                self._dry_run_ids.add(record.memo_id)
        self._on_progress(self.tally)

    def _send_or_bisect(self, records: list[Record], coming: Sequence[str]) -> Iterator[tuple[Record, RecordOutcome]]:
        """What became of each. A batch that the store refuses is halved until the one is found that is to blame."""
        memos = [each for each in records if isinstance(each, TransferMemo)]
        relations = [each for each in records if isinstance(each, TransferRelation)]
        try:
            landed = self._send(memos, relations, coming)
        except Invalid as error:
            if len(records) == 1:
                yield records[0], {"outcome": "skipped", "why": error.message}
                return
            middle = len(records) // 2
            yield from self._send_or_bisect(records[:middle], coming)
            yield from self._send_or_bisect(records[middle:], coming)
            return
        yield from zip(records, [*landed["memos"], *landed["relations"]], strict=True)


def to_params(record: Record) -> dict[str, Any]:
    """As the house takes it in: everything but where it stood."""
    return {name: getattr(record, name) for name in record.__slots__ if name != "place"}

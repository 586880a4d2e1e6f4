"""The thresholds of stage 4, moved a little a day by what was learnt, and put back when that made things worse."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk

DAY = 24 * 3600 * 1000
WINDOW = 100
_HIGH_CUTOFF_RATE, _LOW_CUTOFF_RATE = 0.20, 0.05  # cut-off rates beyond which it moves
_RECALL_FALL, _CUTOFF_RISE = 0.03, 0.05


@dataclass(frozen=True, slots=True)
class Thresholds:
    """`low`: fewer candidates than this are too few. `bias`: this share in one file is too much."""

    low: int = 3
    bias: float = 0.80
    at: int = 0  # when they were last moved


@dataclass(frozen=True, slots=True)
class PastRun:
    cutoff: bool
    used: int
    hit: int


def adjust_thresholds(before: Thresholds, day: Sequence[PastRun], at: int) -> Thresholds:
    """A day's step: many cut-offs widen less readily, few more so."""
    if not day:
        return before
    rate = sum(run.cutoff for run in day) / len(day)
    step = -1 if rate > _HIGH_CUTOFF_RATE else 1 if rate < _LOW_CUTOFF_RATE else 0
    return Thresholds(min(6, max(2, before.low + step)), min(0.90, max(0.70, round(before.bias + 0.03 * step, 2))), at)


def is_worse(recent: Sequence[PastRun], earlier: Sequence[PastRun]) -> bool:
    """Whether the newer window finds less of what is used, or is cut off more often."""
    if len(recent) < WINDOW or len(earlier) < WINDOW:
        return False
    now_, before = _recall(recent), _recall(earlier)
    fell = now_ is not None and before is not None and before - now_ >= _RECALL_FALL
    rate = [sum(run.cutoff for run in runs) / len(runs) for runs in (recent, earlier)]
    return fell or rate[0] - rate[1] >= _CUTOFF_RISE


def _recall(runs: Sequence[PastRun]) -> float | None:
    counted = [run for run in runs if run.used]
    return sum(run.hit / run.used for run in counted) / len(counted) if counted else None


def load_thresholds(desk: Desk) -> Thresholds:
    """Those in force; once a day they are moved or put back."""
    row = desk.row("select value from manual_state where name = 'thresholds'")
    current = Thresholds(**json.loads(row[0])) if row else Thresholds(at=now())
    if row is not None and now() - current.at < DAY:
        return current
    return _save_thresholds(desk, _compute_next(desk, current) if row is not None else current)


def _compute_next(desk: Desk, current: Thresholds) -> Thresholds:
    newest = _load_runs(desk, "select cutoff, used, hit from manual_run order by at desc limit 200")
    if is_worse(newest[:WINDOW], newest[WINDOW:]):
        return Thresholds(at=now())
    day = _load_runs(
        desk, "select cutoff, used, hit from manual_run where at >= :since order by at desc", since=now() - DAY
    )
    return adjust_thresholds(current, day, now())


def _load_runs(desk: Desk, sql: str, **params: int) -> list[PastRun]:
    return [PastRun(bool(row[0]), row[1], row[2]) for row in desk.rows(sql, **params)]


def _save_thresholds(desk: Desk, new: Thresholds) -> Thresholds:
    with desk.write_derived() as tx:
        tx.run("delete from manual_state where name = 'thresholds'")
        tx.run("insert into manual_state values ('thresholds', :value)", value=json.dumps(asdict(new)))
        tx.run("delete from manual_run where at < :old", old=now() - 90 * DAY)
    return new

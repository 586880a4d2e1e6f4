"""What each caller has read of a file and cited from it, by the file's content: another content begins anew."""

from dataclasses import dataclass, replace
from math import ceil

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.files.index_sync import TextFile
from tokonoma.modules.vault.ranges import Range, count_lines, find_gaps, merge_ranges, pack_ranges, unpack_ranges

MINIMUM_COVERAGE = 0.90
MINIMUM_GAIN = 0.02

_SELECT_LOG = """select has_read, has_cited, tokens, told_tokens from vault_ledger
where principal = :principal and path = :path and version = :version"""
_UPSERT_LOG = """insert into vault_ledger (principal, path, version, has_read, has_cited, tokens, told_tokens, at)
values (:principal, :path, :version, :has_read, :has_cited, :tokens, :told_tokens, :at)
on conflict (principal, path, version) do update set has_read = excluded.has_read, has_cited = excluded.has_cited,
    tokens = excluded.tokens, told_tokens = excluded.told_tokens, at = excluded.at"""
_INSERT_GAIN = (
    "insert into vault_gain (at, tool, evidence, tokens, gain) values (:at, :tool, :evidence, :tokens, :gain)"
)
_STATISTICS_MS = 365 * 86_400_000  # milliseconds that statistics are kept


@dataclass(frozen=True, slots=True)
class ReadingLog:
    """One caller's ledger of one file. `tokens` were spent on reading it, `told` of them when it was last cited."""

    read: list[Range]
    cited: list[Range]
    tokens: int = 0
    cited_tokens: int = 0

    def unread_ranges(self, total: int) -> list[Range]:
        return find_gaps(total, self.read)


@dataclass(frozen=True, slots=True)
class ReadingGain:
    evidence: int
    tokens: int

    @property
    def marginal(self) -> float:
        return round(self.evidence / self.tokens, 6) if self.tokens else 0.0


def estimate_tokens(chars_in: int, chars_out: int) -> int:
    return ceil((chars_in + chars_out) / 4)


def load_log(desk: Desk, sheet: TextFile) -> ReadingLog:
    row = desk.row(_SELECT_LOG, principal=desk.principal.name, path=sheet.path, version=sheet.version)
    return (
        ReadingLog([], []) if row is None else ReadingLog(unpack_ranges(row[0]), unpack_ranges(row[1]), row[2], row[3])
    )


def log_reading(page: ReadingLog, ranges: list[Range], tokens: int) -> tuple[ReadingLog, int]:
    """The page after some lines were read, and how many of them were new."""
    now_read = merge_ranges([*page.read, *ranges])
    return replace(page, read=now_read, tokens=page.tokens + tokens), count_lines(now_read) - count_lines(page.read)


def log_citation(page: ReadingLog, ranges: list[Range], tokens: int) -> tuple[ReadingLog, ReadingGain]:
    """The page after lines were cited, and what that gained for what was read since the last time."""
    now_cited = merge_ranges([*page.cited, *ranges])
    spent = page.tokens - page.cited_tokens + tokens
    gain = ReadingGain(count_lines(now_cited) - count_lines(page.cited), spent)
    return replace(page, cited=now_cited, cited_tokens=page.tokens), gain


def save_log(tx: Tx, desk: Desk, sheet: TextFile, page: ReadingLog) -> None:
    tx.run(
        _UPSERT_LOG,
        principal=desk.principal.name,
        path=sheet.path,
        version=sheet.version,
        has_read=pack_ranges(page.read),
        has_cited=pack_ranges(page.cited),
        tokens=page.tokens,
        told_tokens=page.cited_tokens,
        at=now(),
    )


def save_gain(tx: Tx, tool: str, gain: ReadingGain) -> None:
    """Figures alone, never a path or a text."""
    at = now()
    tx.run(_INSERT_GAIN, at=at, tool=tool, evidence=gain.evidence, tokens=gain.tokens, gain=gain.marginal)
    tx.run("delete from vault_gain where at < :before", before=at - _STATISTICS_MS)

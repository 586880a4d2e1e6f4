"""What each caller has read of a file and cited from it, by the file's content: another content begins anew."""

from dataclasses import dataclass, replace
from math import ceil

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Tx
from tokonoma.files.index_sync import Sheet
from tokonoma.modules.vault.ranges import Range, count, left, merged, packed, unpacked

MINIMUM_COVERAGE = 0.90
MINIMUM_GAIN = 0.02

_GET = """select has_read, has_cited, tokens, told_tokens from vault_ledger
where principal = :principal and path = :path and version = :version"""
_PUT = """insert into vault_ledger (principal, path, version, has_read, has_cited, tokens, told_tokens, at)
values (:principal, :path, :version, :has_read, :has_cited, :tokens, :told_tokens, :at)
on conflict (principal, path, version) do update set has_read = excluded.has_read, has_cited = excluded.has_cited,
    tokens = excluded.tokens, told_tokens = excluded.told_tokens, at = excluded.at"""
_GAIN = "insert into vault_gain (at, tool, evidence, tokens, gain) values (:at, :tool, :evidence, :tokens, :gain)"
_KEPT = 365 * 86_400_000  # milliseconds that statistics are kept


@dataclass(frozen=True, slots=True)
class Page:
    """One caller's ledger of one file. `tokens` were spent on reading it, `told` of them when it was last cited."""

    read: list[Range]
    cited: list[Range]
    tokens: int = 0
    told: int = 0

    def unread(self, total: int) -> list[Range]:
        return left(total, self.read)


@dataclass(frozen=True, slots=True)
class Gain:
    evidence: int
    tokens: int

    @property
    def marginal(self) -> float:
        return round(self.evidence / self.tokens, 6) if self.tokens else 0.0


def est_tokens(chars_in: int, chars_out: int) -> int:
    return ceil((chars_in + chars_out) / 4)


def page_of(desk: Desk, sheet: Sheet) -> Page:
    row = desk.row(_GET, principal=desk.principal.name, path=sheet.path, version=sheet.version)
    return Page([], []) if row is None else Page(unpacked(row[0]), unpacked(row[1]), row[2], row[3])


def read_on(page: Page, ranges: list[Range], tokens: int) -> tuple[Page, int]:
    """The page after some lines were read, and how many of them were new."""
    now_read = merged([*page.read, *ranges])
    return replace(page, read=now_read, tokens=page.tokens + tokens), count(now_read) - count(page.read)


def cite(page: Page, ranges: list[Range], tokens: int) -> tuple[Page, Gain]:
    """The page after lines were cited, and what that gained for what was read since the last time."""
    now_cited = merged([*page.cited, *ranges])
    spent = page.tokens - page.told + tokens
    gain = Gain(count(now_cited) - count(page.cited), spent)
    return replace(page, cited=now_cited, told=page.tokens), gain


def keep(tx: Tx, desk: Desk, sheet: Sheet, page: Page) -> None:
    tx.run(
        _PUT,
        principal=desk.principal.name,
        path=sheet.path,
        version=sheet.version,
        has_read=packed(page.read),
        has_cited=packed(page.cited),
        tokens=page.tokens,
        told_tokens=page.told,
        at=now(),
    )


def note_gain(tx: Tx, tool: str, gain: Gain) -> None:
    """Figures alone, never a path or a text."""
    at = now()
    tx.run(_GAIN, at=at, tool=tool, evidence=gain.evidence, tokens=gain.tokens, gain=gain.marginal)
    tx.run("delete from vault_gain where at < :before", before=at - _KEPT)

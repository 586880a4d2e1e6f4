"""The vault's types: paths as callers write them, ranges of lines, next actions, and the reading log.

The reading log holds what each caller has read and cited, by the file's content: new content starts a new log.
"""

import json
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Tx, note_down
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path, split_file_path, split_path
from tokonoma.files.folder import RootFolder, open_root
from tokonoma.files.rules import canonicalize_path
from tokonoma.files.text import namespace_of
from tokonoma.files.text_file import TextFile, read_text_file
from tokonoma.files.write import recover_if_needed

VaultPath = Annotated[str, Field(description="relative to the vault, like notes/today.md")]
RelativeDir = Annotated[str | None, Field(description="only below this folder")]
Glob = Annotated[str | None, Field(description="like *.md, notes/**, {a,b}.json; a leading ! excludes")]
ExpectedVersion = Annotated[str | None, Field(description="fail unless the file is at this version (from vault_read)")]
PageCursor = Annotated[str | None, Field(description="next_cursor of the previous page")]
Range = tuple[int, int]
"""The first and last line, counted from 1."""

MAX_CHARS = 20_000
"""Characters of text in one result."""
MAX_RANGES = 200
"""Ranges in one result."""


_SELECT_LOG = """select has_read, has_cited, tokens, told_tokens from vault_ledger
where principal = :principal and path = :path and version = :version"""
_UPSERT_LOG = """insert into vault_ledger (principal, path, version, has_read, has_cited, tokens, told_tokens, at)
values (:principal, :path, :version, :has_read, :has_cited, :tokens, :told_tokens, :at)
on conflict (principal, path, version) do update set has_read = excluded.has_read, has_cited = excluded.has_cited,
    tokens = excluded.tokens, told_tokens = excluded.told_tokens, at = excluded.at"""
_INSERT_GAIN = "insert into vault_gain values (:at, :tool, :evidence, :tokens, :gain)"
_STATISTICS_MS = 365 * 86_400_000


class LineRange(TypedDict):
    start_line: Annotated[int, Field(ge=1)]
    end_line: Annotated[int, Field(ge=1)]


class VaultNextAction(TypedDict):
    """What to do next: a tool and its parameters, or stop."""

    type: str
    confidence: float | None
    params: dict[str, Any] | None
    intent: NotRequired[str]


Recorded = Annotated[Literal[False], Field(description="this caller may only read: what it reads is not recorded")]


class ReadingGain(TypedDict):
    added_evidence_count: int
    added_est_tokens: int
    marginal_gain: float
    recorded: NotRequired[Recorded]


def stop_action(intent: str, confidence: float | None = None) -> VaultNextAction:
    return {"type": "stop", "confidence": confidence, "params": None, "intent": intent}


def next_action(tool: str, intent: str, confidence: float | None, **params: Any) -> VaultNextAction:
    return {"type": tool, "confidence": confidence, "params": params, "intent": intent}


@contextmanager
def open_vault(desk: Desk) -> Generator[RootFolder]:
    """Open the vault's root. Changes that a killed writer left open are decided first."""
    with open_root(desk.server.locations()["vault"]) as folder:
        recover_if_needed(desk, folder)
        yield folder


def resolve_file(desk: Desk, folder: RootFolder, path: str, field: str = "path") -> PathParts:
    """The file that a path means, spelt as on the disk. Fails if it cannot be one, or is outside the key's folder."""
    parts = canonicalize_path(split_file_path(path, field))
    if not is_inside(namespace_of(parts), desk.principal.root):
        raise Denied(f"{join_path(parts)} is outside the folder of this key.", reason="scope", path=join_path(parts))
    return folder.resolve_names(parts)


def resolve_folder(folder: RootFolder, relative_dir: str | None) -> PathParts:
    parts = split_path(relative_dir or "", "relative_dir")
    return folder.resolve_names(canonicalize_path(parts)) if parts else ()


def read_vault_file(desk: Desk, path: str) -> TextFile:
    with open_vault(desk) as folder:
        return read_text_file(desk, folder, resolve_file(desk, folder, path))


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Sort ranges and join those that overlap or touch."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def find_gaps(total: int, ranges: Iterable[Range]) -> list[Range]:
    """The lines of a file of `total` lines that are in none of the ranges."""
    gaps: list[Range] = []
    following = 1
    for start, end in merge_ranges(ranges):
        if start > following:
            gaps.append((following, min(start - 1, total)))
        following = max(following, end + 1)
    if following <= total:
        gaps.append((following, total))
    return [gap for gap in gaps if gap[0] <= gap[1]]


def count_lines(ranges: Iterable[Range]) -> int:
    return sum(end - start + 1 for start, end in merge_ranges(ranges))


def line_ratio(total: int, ranges: Iterable[Range]) -> float:
    """The share of the file's lines that the ranges cover; 1.0 for an empty file."""
    return round(count_lines(ranges) / total, 6) if total else 1.0


def to_line_ranges(ranges: Sequence[Range]) -> list[LineRange]:
    return [{"start_line": start, "end_line": end} for start, end in ranges]


def require_ranges(given: Sequence[LineRange], total: int, field: str) -> list[Range]:
    """Merge the ranges of a caller; Invalid for one that is reversed or ends beyond the file."""
    for index, each in enumerate(given):
        start, end, place = each["start_line"], each["end_line"], f"{field}[{index}]"
        if start > end:
            raise Invalid(f"{place}: start_line {start} is after end_line {end}.", field=place)
        if end > total:
            raise Invalid(f"{place}: line {end} does not exist; the file has {total} lines.", field=place, limit=total)
    return merge_ranges((each["start_line"], each["end_line"]) for each in given)


def estimate_tokens(chars_in: int, chars_out: int) -> int:
    return ceil((chars_in + chars_out) / 4)


@dataclass(frozen=True, slots=True)
class ReadingLog:
    """What one caller has read and cited of one file. `tokens` were spent on reading; `cited_tokens` is their number
    at the last citation."""

    read: list[Range]
    cited: list[Range]
    tokens: int = 0
    cited_tokens: int = 0

    @classmethod
    def load(cls, desk: Desk, file: TextFile) -> "ReadingLog":
        row = desk.row(_SELECT_LOG, principal=desk.principal.name, path=file.path, version=file.version)
        if row is None:
            return cls([], [])
        read, cited = ([(start, end) for start, end in json.loads(ranges)] for ranges in row[:2])
        return cls(read, cited, row[2], row[3])

    def add_reading(self, ranges: list[Range], tokens: int) -> tuple["ReadingLog", int]:
        """The log with these lines read, and how many of them are new."""
        read = merge_ranges([*self.read, *ranges])
        return replace(self, read=read, tokens=self.tokens + tokens), count_lines(read) - count_lines(self.read)

    def save(self, tx: Tx, desk: Desk, file: TextFile) -> None:
        tx.run(
            _UPSERT_LOG,
            principal=desk.principal.name,
            path=file.path,
            version=file.version,
            has_read=json.dumps(merge_ranges(self.read), separators=(",", ":")),
            has_cited=json.dumps(merge_ranges(self.cited), separators=(",", ":")),
            tokens=self.tokens,
            told_tokens=self.cited_tokens,
            at=desk.now(),
        )


def save_log(desk: Desk, file: TextFile, log: ReadingLog) -> None:
    with desk.write() as tx:
        log.save(tx, desk, file)


def save_reading(desk: Desk, tool: str, file: TextFile, log: ReadingLog, evidence: int, tokens: int) -> ReadingGain:
    """Save the log, and the figures of what a step gained: never a path or a text. Only for a caller that may write."""
    at, marginal = desk.now(), round(evidence / tokens, 6) if tokens else 0.0
    gain: ReadingGain = {
        "added_evidence_count": evidence,
        "added_est_tokens": tokens,
        "marginal_gain": marginal,
    }
    if not desk.may_write:
        return {**gain, "recorded": False}

    def save() -> None:
        with desk.write() as tx:
            log.save(tx, desk, file)
            tx.run(_INSERT_GAIN, at=at, tool=tool, evidence=evidence, tokens=tokens, gain=marginal)
            tx.run("delete from vault_gain where at < :before", before=at - _STATISTICS_MS)

    note_down(save)
    return gain


def cite_lines(
    desk: Desk, tool: str, file: TextFile, ranges: list[Range], tokens: int
) -> tuple[ReadingLog, ReadingGain]:
    """Save lines as cited. The gain counts the new ones against the tokens read since the last citation."""
    before = ReadingLog.load(desk, file)
    log = replace(before, cited=merge_ranges([*before.cited, *ranges]), cited_tokens=before.tokens)
    new = count_lines(log.cited) - count_lines(before.cited)
    return log, save_reading(desk, tool, file, log, new, before.tokens - before.cited_tokens + tokens)

"""The reading log: which lines of a file each caller has read and cited, for the vault and for manuals.

It is kept by caller, file and content. After an edit, the lines that stayed keep their state at their new numbers. A
line counts as read when all of its characters were shown, in one step or in several.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import ceil
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Rows, Tx, note_down
from tokonoma.files.line_diff import find_replaced, hash_lines, match_lines, move_ranges, split_hashes
from tokonoma.files.ranges import Range, count_lines, intersect_ranges, merge_ranges, subtract_ranges
from tokonoma.files.text_file import TextFile

_MAX_LINES = 100_000  # of a file whose log survives an edit
_MAX_PARTS = 200  # long lines of which pieces are known
_MAX_PIECES = 100  # of one line

_SELECT_LOG = """select has_read, has_cited, has_changed, parts, tokens, told_tokens, version, lines from file_ledger
where principal = :principal and module = :module and path = :path"""
_SELECT_READERS = "select distinct principal from file_ledger where module = :module order by principal"
_THIS = f"{_SELECT_LOG} and version = :version"
_NEWEST = f"{_SELECT_LOG} order by at desc limit 1"
_UPSERT_LOG = """insert into file_ledger (principal, module, path, version, lines, has_read, has_cited, has_changed,
    parts, tokens, told_tokens, at) values (:principal, :module, :path, :version, :lines, :has_read, :has_cited,
    :has_changed, :parts, :tokens, :told_tokens, :at)
on conflict (principal, module, path, version) do update set has_read = excluded.has_read,
    has_cited = excluded.has_cited, has_changed = excluded.has_changed, parts = excluded.parts,
    tokens = excluded.tokens, told_tokens = excluded.told_tokens, at = excluded.at"""
_DELETE_LOG = """delete from file_ledger
where principal = :principal and module = :module and path = :path and version = :version"""
_DELETE_LINES = """delete from file_lines where id = :lines
and not exists (select 1 from file_ledger where lines = :lines)"""

Piece = tuple[int, int, int]
"""A line, and the first and last but one character of it that were shown."""
Recorded = Annotated[Literal[False], Field(description="this caller may only read: what it reads is not recorded")]


class ReadingGain(TypedDict):
    added_evidence_count: int
    added_est_tokens: int
    marginal_gain: float
    recorded: NotRequired[Recorded]


def estimate_tokens(chars_in: int, chars_out: int) -> int:
    return ceil((chars_in + chars_out) / 4)


@dataclass(frozen=True, slots=True)
class ReadingLog:
    """What one caller has read and cited of one file. `changed` are unread lines in place of lines that it had read.
    `parts` are the pieces of long lines. `tokens` were spent on reading; `cited_tokens` is their number at the last
    citation."""

    read: list[Range] = field(default_factory=list[Range])
    cited: list[Range] = field(default_factory=list[Range])
    changed: list[Range] = field(default_factory=list[Range])
    parts: Mapping[int, Sequence[Range]] = field(default_factory=dict[int, Sequence[Range]])
    tokens: int = 0
    cited_tokens: int = 0
    origin: tuple[str, str] | None = None  # of an older content, whose log this one replaces: version, lines

    @property
    def covered(self) -> list[Range]:
        """Lines that were read and cited."""
        return intersect_ranges(self.read, self.cited)

    @property
    def cited_unread(self) -> list[Range]:
        return subtract_ranges(self.cited, self.read)

    def add_reading(self, whole: Iterable[Range], pieces: Iterable[Piece], file: TextFile, tokens: int) -> "ReadingLog":
        """The log with these lines and pieces of lines read."""
        parts, complete = dict(self.parts), list[Range]()
        for line, start, end in pieces:
            known = merge_ranges([*parts.pop(line, ()), (start, end)])
            if known[0][0] <= 0 and known[0][1] >= len(file.lines[line - 1].rstrip("\r\n")):
                complete.append((line, line))
            else:
                parts[line] = known[-_MAX_PIECES:]
        read = merge_ranges([*self.read, *whole, *complete])
        kept = dict(list(parts.items())[-_MAX_PARTS:])
        changed = subtract_ranges(self.changed, read)
        return replace(self, read=read, changed=changed, parts=kept, tokens=self.tokens + tokens)

    def cite(self, ranges: Iterable[Range]) -> "ReadingLog":
        return replace(self, cited=merge_ranges([*self.cited, *ranges]), cited_tokens=self.tokens)

    def join(self, other: "ReadingLog") -> "ReadingLog":
        """With what another call has noted meanwhile."""
        read = merge_ranges([*self.read, *other.read])
        return replace(
            self,
            read=read,
            cited=merge_ranges([*self.cited, *other.cited]),
            changed=subtract_ranges([*self.changed, *other.changed], read),
            parts={**other.parts, **self.parts},
            tokens=max(self.tokens, other.tokens),
            cited_tokens=max(self.cited_tokens, other.cited_tokens),
        )


def split_shown(file: TextFile, first: int, last: int, text: str, offset: int = 0) -> tuple[list[Range], list[Piece]]:
    """The lines that a shown text holds whole, and the piece of a line of which it is only a part."""
    if first == last and (offset or len(text) < len(file.lines[first - 1].rstrip("\r\n"))):
        return [], [(first, offset, offset + len(text))]
    return [(first, last)], []


def load_log(desk: Desk, module: str, file: TextFile) -> ReadingLog:
    """What this caller has read and cited of the file as it is now."""
    return _read_log(desk, desk.principal.name, module, file) or ReadingLog()


def load_log_of(desk: Desk, module: str, file: TextFile, caller: str) -> ReadingLog:
    """The same of another caller, for the owner; `*` means all of them together."""
    names = list_readers(desk, module) if caller == "*" else [caller]
    joined = ReadingLog()
    for name in names:
        joined = joined.join(_read_log(desk, name, module, file) or ReadingLog())
    return joined


def list_readers(desk: Desk, module: str) -> list[str]:
    """The callers of whom something is known."""
    return [name for (name,) in desk.rows(_SELECT_READERS, module=module)]


def _read_log(rows: Rows, principal: str, module: str, file: TextFile) -> ReadingLog | None:
    place = {"principal": principal, "module": module, "path": file.path}
    row = rows.row(_THIS, **place, version=file.version)
    if row is not None:
        return _parse_row(row)
    row = rows.row(_NEWEST, **place)
    if row is None:
        return None
    stored = rows.row("select hashes from file_lines where id = :id", id=row[7])
    log = replace(_parse_row(row), origin=(row[6], row[7]))
    if stored is None or len(file.lines) > _MAX_LINES:
        return replace(ReadingLog(), origin=log.origin)
    return _follow_edit(log, split_hashes(bytes(stored[0])), split_hashes(hash_lines(file.lines)))


def _parse_row(row: Sequence[str | int]) -> ReadingLog:
    read, cited, changed = ([(start, end) for start, end in json.loads(str(ranges))] for ranges in row[:3])
    parts = {line: [(start, end) for start, end in known] for line, known in json.loads(str(row[3]))}
    return ReadingLog(read, cited, changed, parts, int(row[4]), int(row[5]))


def _follow_edit(log: ReadingLog, old: Sequence[bytes], new: Sequence[bytes]) -> ReadingLog:
    """The log of the content before, at the lines of the present one."""
    blocks = match_lines(old, new)
    seen = merge_ranges([*log.read, *log.changed])
    read = move_ranges(log.read, blocks)
    replaced = [*move_ranges(log.changed, blocks), *find_replaced(seen, blocks, len(old), len(new))]
    parts: dict[int, Sequence[Range]] = {}
    for line, known in log.parts.items():
        for now, _ in move_ranges([(line, line)], blocks):
            parts[now] = known
    changed = subtract_ranges(replaced, read)
    return replace(log, read=read, cited=move_ranges(log.cited, blocks), changed=changed, parts=parts)


def save_logs(
    desk: Desk, logs: Sequence[tuple[str, TextFile, ReadingLog]], more: Callable[[Tx], None] | None = None
) -> None:
    """Save logs in one transaction, and what else belongs to them. Without effect for a caller that may only read."""
    if not desk.may_write or (not logs and more is None):
        return

    def save() -> None:
        with desk.write() as tx:
            for module, file, log in logs:
                _save_log(tx, desk, module, file, log)
            if more is not None:
                more(tx)

    note_down(save)


def _save_log(tx: Tx, desk: Desk, module: str, file: TextFile, log: ReadingLog) -> None:
    place = {"principal": desk.principal.name, "module": module, "path": file.path}
    row = tx.row(f"{_THIS} {{for_update}}", **place, version=file.version)
    lines = str(row[7]) if row is not None else _save_lines(tx, file)
    log = log if row is None else log.join(_parse_row(row))
    tx.run(
        _UPSERT_LOG,
        **place,
        version=file.version,
        lines=lines,
        has_read=_pack(log.read),
        has_cited=_pack(log.cited),
        has_changed=_pack(log.changed),
        parts=_pack(list(log.parts.items())),
        tokens=log.tokens,
        told_tokens=log.cited_tokens,
        at=desk.now(),
    )
    if log.origin is not None:
        tx.run(_DELETE_LOG, **place, version=log.origin[0])
        tx.run(_DELETE_LINES, lines=log.origin[1])


def _save_lines(tx: Tx, file: TextFile) -> str:
    """Store the hashes of the file's lines, once for all callers that see the same; returns their id."""
    if len(file.lines) > _MAX_LINES:
        return ""
    hashes = hash_lines(file.lines)
    identity = blake2b(hashes, digest_size=16).hexdigest()
    tx.run("insert into file_lines values (:id, :hashes) on conflict (id) do nothing", id=identity, hashes=hashes)
    return identity


def _pack(value: Sequence[object]) -> str:
    return json.dumps(value, separators=(",", ":"))


def measure_gain(desk: Desk, evidence: int, tokens: int) -> ReadingGain:
    gain: ReadingGain = {
        "added_evidence_count": evidence,
        "added_est_tokens": tokens,
        "marginal_gain": round(evidence / tokens, 6) if tokens else 0.0,
    }
    return gain if desk.may_write else {**gain, "recorded": False}


def count_new_lines(before: Sequence[Range], after: Sequence[Range]) -> int:
    return count_lines(after) - count_lines(before)

"""Imports a source: detects its format, sends its records to the server in batches, and counts what became of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tokonoma.core.errors import Invalid, Missing
from tokonoma.transfer import jsonl, markdown, memory_servers, notes
from tokonoma.transfer.files import NOTE_SUFFIXES, as_object, read_note, read_objects, scan_folder
from tokonoma.transfer.markdown_file import read_front_matter
from tokonoma.transfer.memory_databases import is_database
from tokonoma.transfer.model import ImportSource, MemoRecord, Metadata, RelationRecord, Remark, SourceError, SourceItem

Reader = Callable[[ImportSource], Iterator[SourceItem]]
Record = MemoRecord | RelationRecord
RecordOutcome = Mapping[str, str]  # outcome, why, note
SendBatch = Callable[
    [Sequence[MemoRecord], Sequence[RelationRecord], Sequence[str]], Mapping[str, Sequence[RecordOutcome]]
]
"""memos, relations, ids of memos to regard as existing → the outcome of each"""

_MAX_MEMOS, _MAX_CHARS, _MAX_RELATIONS = 500, 4 * 1024 * 1024, 1000  # of one batch
_MAX_REMARKS = 10_000  # of each kind that are kept; the others are counted
_SAMPLE_SIZE = 200  # notes of a folder, or lines of a file, that are read to detect the format
_NOTE_READERS: Mapping[str, Reader] = {
    "tokonoma": markdown.read_markdown,
    "basic-memory": partial(notes.read_notes, typed=True),
    "obsidian": partial(notes.read_notes, typed=False),
}
_FILE_READERS: Mapping[str, Reader] = {
    "tokonoma": jsonl.read_jsonl,
    "mcp-memory": memory_servers.read_graph,
    "mcp-memory-service": partial(memory_servers.read_memories, parse=memory_servers.parse_service_memory),
    "mem0": memory_servers.read_mem0,
}
FORMATS = ("tokonoma", "mcp-memory", "mcp-memory-service", "basic-memory", "obsidian", "mem0")


def find_reader(source: ImportSource) -> Reader:
    """Return the reader of this source; raise Invalid if it cannot have that format."""
    is_notes = _holds_notes(source.path)
    reader = (_NOTE_READERS if is_notes else _FILE_READERS).get(source.format)
    if reader is None:
        wanted = "a file" if is_notes else "a folder, or a Markdown file"
        raise Invalid(f"{source.path} cannot have the format {source.format}, which is {wanted}.")
    return reader


def detect_format(path: Path) -> str:
    """Return the format of a file or folder by its content; raise Invalid if that is unknown."""
    if _holds_notes(path):
        found: str | None = _detect_notes(path)
    else:
        found = (None if is_database(path) else _detect_lines(path)) or _detect_document(path)
    if found is None:
        raise Invalid(f"{path} looks like none of {', '.join(FORMATS)}. Use --from if you know the format.")
    return found


def _holds_notes(path: Path) -> bool:
    return path.is_dir() or path.suffix.lower() in NOTE_SUFFIXES


def _detect_notes(path: Path) -> str:
    folder = scan_folder(path)
    if not folder.notes:
        hint = " Import one of its JSON files instead." if folder.others.keys() & {".json", ".jsonl"} else ""
        raise Missing(f"There is no Markdown file in {path}.{hint}")
    fronts: list[Metadata] = []
    for inside in folder.notes[:_SAMPLE_SIZE]:
        try:
            fields, _ = read_front_matter(read_note(folder.root, inside)[0])
        except SourceError:
            continue
        fronts += [fields] if fields else []
    if sum("tokonoma" in fields for fields in fronts) * 2 > len(fronts):
        return "tokonoma"
    # Obsidian Publish has permalinks too, but not a type with each of them.
    typed = sum({"permalink", "type"} <= fields.keys() for fields in fronts)
    return "basic-memory" if typed * 2 > len(fronts) else "obsidian"


def _detect_lines(path: Path) -> str | None:
    """Detect the format by the first line that is a JSON object."""
    first = next((each for each in islice(read_objects(path), _SAMPLE_SIZE) if isinstance(each, tuple)), None)
    if first is None:
        return None
    kind, raw = first[1].get("type"), first[1]
    if kind in (jsonl.TYPE, "memo") or (kind == "relation" and "source" in raw):
        return "tokonoma"
    return "mcp-memory" if kind in ("entity", "relation") else None


def _detect_document(path: Path) -> str | None:
    value = memory_servers.load_memories(path)
    whole, memories = as_object(value), memory_servers.find_memory_list(value)
    if isinstance(whole.get("entities"), list):
        return "mcp-memory"
    first = next((each for each in map(as_object, memories or []) if each), Metadata())
    if "memory" in first:
        return "mem0"
    if "content_hash" in first or {"content", "tags"} <= first.keys() or {"document", "metadata"} <= first.keys():
        return "mcp-memory-service"
    if memories:
        return None
    # An empty export: only the name of its list is left.
    return "mcp-memory-service" if "memories" in whole else "mem0" if "results" in whole else None


@dataclass(slots=True)
class RemarkList:
    """The first remarks, and the number of all."""

    items: list[Remark] = field(default_factory=list[Remark])
    total: int = 0

    def add(self, place: str, why: str) -> None:
        self.total += 1
        if len(self.items) < _MAX_REMARKS:
            self.items.append(Remark(place, why))


@dataclass(slots=True)
class ImportTally:
    """By outcome: saved, changed, unchanged, kept (the stored record stays), skipped (it could not be imported)."""

    memos: Counter[str] = field(default_factory=Counter[str])
    relations: Counter[str] = field(default_factory=Counter[str])
    skipped: RemarkList = field(default_factory=RemarkList)
    kept: RemarkList = field(default_factory=RemarkList)
    notes: RemarkList = field(default_factory=RemarkList)

    def add_outcome(self, record: Record, result: RecordOutcome) -> None:
        outcome = result["outcome"]
        (self.memos if isinstance(record, MemoRecord) else self.relations)[outcome] += 1
        if outcome in ("skipped", "kept"):
            (self.skipped if outcome == "skipped" else self.kept).add(record.place, result.get("why", ""))
        if "note" in result:
            self.notes.add(record.place, result["note"])


class Importer:
    """Sends records in batches. With `rehearsal` nothing is stored, so it remembers which memos would exist."""

    def __init__(self, send: SendBatch, on_progress: Callable[[ImportTally], None], *, rehearsal: bool = False) -> None:
        self.tally = ImportTally()
        self._send, self._on_progress = send, on_progress
        self._rehearsed: set[str] | None = set() if rehearsal else None
        self._memos: list[MemoRecord] = []
        self._relations: list[RelationRecord] = []
        self._chars = 0

    def run(self, records: Iterable[SourceItem]) -> None:
        for each in records:
            if isinstance(each, Remark):
                (self.tally.skipped if each.lost else self.tally.notes).add(each.place, each.why)
            elif isinstance(each, MemoRecord):
                size = len(each.content)
                full = len(self._memos) == _MAX_MEMOS or (self._memos and self._chars + size > _MAX_CHARS)
                # A relation needs its two memos to be stored before it, so the order of the source is kept.
                if self._relations or full:
                    self._flush()
                self._memos.append(each)
                self._chars += size
            else:
                if self._memos or len(self._relations) == _MAX_RELATIONS:
                    self._flush()
                self._relations.append(each)
        self._flush()

    def _flush(self) -> None:
        memos, relations = self._memos, self._relations
        if not memos and not relations:
            return
        self._memos, self._relations, self._chars = [], [], 0
        ends = {end for each in relations for end in (each.source, each.target)}
        existing = sorted(ends & (self._rehearsed or set()))
        for record, result in self._send_or_bisect([*memos, *relations], existing):
            self.tally.add_outcome(record, result)
            if self._rehearsed is not None and isinstance(record, MemoRecord) and result["outcome"] == "saved":
                self._rehearsed.add(record.memo_id)
        self._on_progress(self.tally)

    def _send_or_bisect(self, records: list[Record], existing: Sequence[str]) -> Iterator[tuple[Record, RecordOutcome]]:
        """Send a batch. If the store refuses it, halve it until the record that causes this is found."""
        memos = [each for each in records if isinstance(each, MemoRecord)]
        relations = [each for each in records if isinstance(each, RelationRecord)]
        try:
            results = self._send(memos, relations, existing)
        except Invalid as error:
            if len(records) == 1:
                yield records[0], {"outcome": "skipped", "why": error.message}
                return
            middle = len(records) // 2
            yield from self._send_or_bisect(records[:middle], existing)
            yield from self._send_or_bisect(records[middle:], existing)
            return
        yield from zip(records, [*results["memos"], *results["relations"]], strict=True)


def to_params(record: Record) -> dict[str, Any]:
    """The parameters of the import tool: every field but the place in the source."""
    return {name: getattr(record, name) for name in record.__slots__ if name != "place"}

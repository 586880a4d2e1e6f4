"""The manuals as one call sees them: the index is synced with the files first, and the sections are cached per process.

The files are the truth. A generation is the state of all sections; it stays cached until a file changes.
"""

import json
import threading
import unicodedata
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from typing import Any

from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.errors import Denied, Missing, Unavailable, is_storage_error
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import is_readable_name
from tokonoma.files.backlog import IndexingProgress, Patience, process_backlog
from tokonoma.files.folder import FileEntry, RootFolder, open_root
from tokonoma.files.listing import LeftOut, list_folder
from tokonoma.modules.manual import model
from tokonoma.modules.manual.corpus import IndexedSection, ManualCorpus
from tokonoma.modules.manual.hooks import renew_state
from tokonoma.modules.manual.index_files import delete_file, index_page
from tokonoma.modules.manual.model import (
    FileNote,
    Glossary,
    ManualFileKey,
    ManualsOnDisk,
    parse_section_name,
    to_file_key,
)
from tokonoma.modules.manual.owner_files import load_shipped_glossary, parse_glossary, parse_settings
from tokonoma.modules.manual.variants import ManualDefinitions, Variants

GLOSSARY_FILE, SETTINGS_FILE = "glossary.yml", "manual.yml"
_SUFFIXES = (".md", ".json")
_FILES_PER_TRANSACTION = 40  # other writers get their turn in between
_MIN_AGE_NS = 2_000_000_000  # a file that changed shortly before it was read may change again with the same stamp
_MAX_UNCHANGED = 2  # generations whose files are known: of this server, and of another one in the same process
_MAX_CALLERS = 30  # kinds of callers, by what they may see

_SELECT_STAMPS = "select manual, path, size, mtime, ctime, inode, checked_at, hash from manual_stamp"
_SELECT_SECTIONS = """select manual, path, line, own_end, end_line, level, title, anchor, parent, size, folded, tight,
    refers, defines, names, hash from manual_section where {everyone} order by manual, path, line"""

_SELECT_NOTES = """select manual, path, problem, reason, encoding from manual_file
where problem <> '' or encoding <> '' order by manual, path"""

VisibleSections = Mapping[str, Mapping[str, Sequence[int]]]
"""manual → path → the positions of the sections that a caller may see"""


@dataclass(frozen=True, slots=True)
class Generation:
    """All sections, the words that they define, and what each kind of caller may see of them."""

    corpus: ManualCorpus
    definitions: Mapping[str, ManualDefinitions]
    notes: Mapping[ManualFileKey, FileNote]
    visible: OrderedDict[tuple[Any, ...], VisibleSections]


@dataclass(frozen=True, slots=True)
class ManualLibrary:
    """What one call works with: the sections, those of them that it may see, and the words of each manual."""

    corpus: ManualCorpus
    definitions: Mapping[str, ManualDefinitions]
    notes: Mapping[ManualFileKey, FileNote]
    visible: VisibleSections
    on_disk: ManualsOnDisk
    root: str  # the namespaces that the caller may reach are below it

    def positions(self, manual: str | None, path: str | None = None) -> Sequence[int]:
        """The sections of all manuals, of one, or of a file; Missing for one that the caller may not see."""
        if manual is None:
            return [position for name in sorted(self.visible) for position in self.positions(name)]
        files = self.visible.get(model.require_manual_id(manual))
        if not files and (indexing := self.count_indexed(manual)) is not None:
            raise model.indexing_error(indexing)
        if files is None:
            raise model.manual_missing_error(manual, self.visible)
        if path is None:
            return [position for positions in files.values() for position in positions]
        path = unicodedata.normalize("NFC", path)
        if path not in files:
            raise model.manual_file_missing_error(manual, path)
        return files[path]

    def list_pending(self, manual: str | None) -> list[ManualFileKey]:
        """The files that are not indexed yet: of one manual, or of all that the caller may reach."""
        return sorted(file for file in self.on_disk.pending if manual in (None, file[0]) and self._is_reachable(file))

    def count_indexed(self, manual: str | None = None) -> IndexingProgress | None:
        """None if all files are indexed."""
        files = [file for file in self.on_disk.files if manual in (None, file[0]) and self._is_reachable(file)]
        left = len(self.list_pending(manual))
        return {"done": len(files) - left, "total": len(files)} if left else None

    def _is_reachable(self, file: ManualFileKey) -> bool:
        return is_inside(self.on_disk.namespace_of(file[0]), self.root)

    def list_definitions(self, manual: str | None) -> Mapping[str, ManualDefinitions]:
        """Of one manual, or of all that the caller may see."""
        wanted = self.visible if manual is None else (manual,)
        return {name: each for name, each in self.definitions.items() if name in wanted and name in self.visible}

    def glossary(self, manual: str | None) -> tuple[Glossary, Variants]:
        """The glossaries of one manual, or of all, with the shipped one; and the words that they join."""
        manual = manual and unicodedata.normalize("NFC", manual)
        own = sorted(self.on_disk.glossaries.items())
        return _merge_glossaries(tuple(glossary for name, glossary in own if manual in (None, name)))


@lru_cache(maxsize=32)
def _merge_glossaries(own: tuple[Glossary, ...]) -> tuple[Glossary, Variants]:
    merged = reduce(Glossary.merge, own, load_shipped_glossary())
    return merged, Variants(merged.groups)


def load_library(desk: Desk, wanted: ManualFileKey | None = None, wait: float | None = None) -> ManualLibrary:
    """Everything as the files are now, as far as they are indexed: one that is wanted is, in any case. `wait` are the
    seconds that the caller gives for the others."""
    on_disk = sync_manuals(desk, wanted, wait)
    generation = _load_generation(desk)
    visible = _visible_sections(desk, generation)
    left = on_disk.unindexed | on_disk.pending
    if left:
        visible = {
            manual: {path: found for path, found in files.items() if (manual, path) not in left}
            for manual, files in visible.items()
        }
    notes = {file: note for file, note in generation.notes.items() if file[1] in visible.get(file[0], ())}
    definitions, root = generation.definitions, desk.principal.root
    return ManualLibrary(generation.corpus, definitions, notes, visible, on_disk, root)


_generations: dict[str, Generation] = {}  # the one in use: each may be as large as all files together
_lock = threading.Lock()


def _load_generation(desk: Desk) -> Generation:
    name = _read_state(desk, "generation")
    with _lock:
        generation = _generations.get(name)
        if generation is None:
            _generations.clear()  # first, so that two are in memory only while a call still uses the old one
            generation = _generations[name] = _read_generation(desk)
        return generation


def _put_newest(cache: OrderedDict[Any, Any], key: Any, value: Any, limit: int) -> None:
    with _lock:
        cache[key] = value
        cache.move_to_end(key)
        while len(cache) > limit:
            cache.popitem(last=False)


def _read_generation(desk: Desk) -> Generation:
    """All sections, for every caller: which of them a caller may see is asked for each call."""
    rows = desk.rows(_SELECT_SECTIONS)
    notes = desk.rows(_SELECT_NOTES)
    definitions: defaultdict[str, ManualDefinitions] = defaultdict(ManualDefinitions)
    for row in rows:
        for pair in json.loads(row[13]):
            definitions[row[0]].add(pair)
    folded, tight, refers, names = ([row[column] for row in rows] for column in (10, 11, 12, 14))
    sections = [IndexedSection(*row[:10], hash=row[15]) for row in rows]
    corpus = ManualCorpus(sections, folded, tight, refers, names)
    return Generation(corpus, definitions, {row[:2]: FileNote(*row[2:]) for row in notes}, OrderedDict())


def _visible_sections(desk: Desk, generation: Generation) -> VisibleSections:
    """Files and classifications decide what a caller may see, and both have a state that says when they change. The
    desk is still asked each time, because it notes whether what it counts must be masked in the result."""
    count = desk.row("select count(*) from manual_section where {visible}")
    key = desk.principal.root, desk.call.granted_view.classifications, _read_state(desk, "classes"), count
    known = generation.visible.get(key)
    if known is not None:
        return known
    visible: dict[str, dict[str, list[int]]] = {}
    sql = "select manual, path, line from manual_section where {visible} order by manual, path, line"
    for manual, path, line in desk.rows(sql):
        position = generation.corpus.positions.get((manual, path, line))
        if position is not None:
            visible.setdefault(manual, {}).setdefault(path, []).append(position)
    _put_newest(generation.visible, key, visible, _MAX_CALLERS)
    return visible


def _read_state(desk: Desk, name: str) -> str:
    row = desk.row("select value from manual_state where name = :name", name=name)
    return row[0] if row else ""


# The files of a generation when each was known by its stamp, and unchanged for long enough to trust the stamp.
_unchanged: OrderedDict[tuple[str, str], ManualsOnDisk] = OrderedDict()


def sync_manuals(desk: Desk, wanted: ManualFileKey | None = None, wait: float | None = None) -> ManualsOnDisk:
    """Compare every file with the index; read those that changed, and drop those that are gone. New files are indexed
    for a second, or for the seconds that the caller waits; then a job continues. A file that is wanted is indexed now,
    whatever its size."""
    patience = Patience(desk, wait)
    while True:
        on_disk = _sync_once(desk, patience, wanted)
        if not on_disk.pending or not patience.waits_on:
            return on_disk


def _sync_once(desk: Desk, patience: Patience, wanted: ManualFileKey | None) -> ManualsOnDisk:
    root = desk.server.locations()["manuals"]
    patience.wait_for_others(root)
    with open_root(root) as folder:
        on_disk = _scan_folder(folder)
    state = _read_state(desk, "generation"), desk.policy.masks_key
    if _unchanged.get(state) == on_disk:
        return on_disk
    known = {(row[0], row[1]): row for row in desk.rows(_SELECT_STAMPS)}
    gone = [file for file in known if file not in on_disk.files]
    starts = {file: f"{on_disk.namespace_of(file[0])} {state[1]} " for file in on_disk.files}
    changed = {file: each for file, each in on_disk.files.items() if _has_changed(known.get(file), each, starts[file])}
    if not gone and not changed:
        _put_newest(_unchanged, state, on_disk, _MAX_UNCHANGED)
    try:
        if gone:
            with desk.write_derived() as tx:
                for file in gone:
                    delete_file(tx, *file)
                renew_state(tx, "generation")
        index = partial(index_page, desk, on_disk, known)
        if wanted in changed:
            with open_root(root) as folder:
                on_disk.unindexed.update(index(folder, [changed.pop(wanted)], desk.check))
        if changed:
            new_first = [changed[file] for file in sorted(changed, key=lambda file: file in known)]
            pages = process_backlog(desk, root, new_first, _FILES_PER_TRANSACTION, index, patience)
            on_disk.unindexed.update(pages[0])
            on_disk.pending.update(to_file_key(entry.parts) for entry in pages[1])
    except Unavailable as error:
        if not is_storage_error(error):
            raise
        on_disk.unindexed.update(gone)
    return on_disk


def refresh_record(desk: Desk, address: str) -> None:
    manual, path, _ = parse_section_name(parse_address(address)[1])
    if (manual, path) in sync_manuals(desk, (manual, path)).unindexed:
        # Its stored classification is not that of the new text.
        raise Unavailable(f"{manual}/{path} was changed, and the disk is full or read-only.", reason="disk_full")


def sync_index(desk: Desk) -> list[str]:
    """Index the files that have changed. Returns the addresses of those that are not indexed yet."""
    on_disk = sync_manuals(desk)
    return [model.section_address(*file) for file in on_disk.pending | on_disk.unindexed]


def _scan_folder(folder: RootFolder) -> ManualsOnDisk:
    on_disk, listing = ManualsOnDisk(), list_folder(folder, is_acceptable=is_readable_name)
    for entry in listing.files:
        manual, path = to_file_key(entry.parts)
        if not entry.path.lower().endswith(_SUFFIXES):
            on_disk.left_out.append(LeftOut(entry.parts, "not_a_manual_file"))
        elif not path:
            on_disk.left_out.append(LeftOut(entry.parts, "outside_manual"))
        else:
            on_disk.files[manual, path] = entry
        if path in (GLOSSARY_FILE, SETTINGS_FILE):
            try:
                raw = folder.read(entry.parts).data
            except (Denied, Missing):
                raw = b""
            if path == GLOSSARY_FILE:
                on_disk.glossaries[manual] = parse_glossary(raw)
            else:
                on_disk.settings[manual] = parse_settings(raw)
    for each in listing.left_out:
        is_other = each.reason in ("hard_link", "not_a_file") and not each.path.lower().endswith(_SUFFIXES)
        on_disk.left_out.append(each._replace(reason="not_a_manual_file") if is_other else each)
    return on_disk


def _has_changed(known: Sequence[Any] | None, entry: FileEntry, start: str) -> bool:
    """`start`: its namespace and how it is masked, with which its hash begins."""
    if known is None or not known[7].startswith(start):
        return True
    return entry.stamp != known[2:6] or known[6] * 1_000_000 - entry.stamp.mtime < _MIN_AGE_NS

"""The manuals as one call sees them: the index is synced with the files first, and the sections are cached per process.

The files are the truth. A generation is the state of all sections; it stays cached until a file changes.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from typing import Any

from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.errors import Denied, Missing, Unavailable, is_storage_error
from tokonoma.files.backlog import process_backlog, wait_for_others
from tokonoma.files.folder import FileEntry, RootFolder, open_root
from tokonoma.modules.manual import model
from tokonoma.modules.manual.corpus import IndexedSection, ManualCorpus
from tokonoma.modules.manual.hooks import renew_state
from tokonoma.modules.manual.index_files import delete_file, index_page
from tokonoma.modules.manual.model import Glossary, ManualFileKey, ManualsOnDisk, parse_section_name
from tokonoma.modules.manual.variants import Variants

GLOSSARY_FILE, SETTINGS_FILE = "glossary.yml", "manual.yml"
_SUFFIXES = (".md", ".json")
_FILES_PER_TRANSACTION = 40  # other writers get their turn in between
_MIN_AGE_NS = 2_000_000_000  # a file that changed shortly before it was read may change again with the same stamp
_MAX_UNCHANGED = 2  # generations whose files are known: of this server, and of another one in the same process
_MAX_CALLERS = 30  # kinds of callers, by what they may see

_SELECT_STAMPS = "select manual, path, size, mtime, ctime, inode, checked_at, hash from manual_stamp"
_SELECT_SECTIONS = """select manual, path, line, own_end, end_line, level, title, anchor, parent, size, folded, tight,
    refers, defines from manual_section where {everyone} order by manual, path, line"""

VisibleSections = Mapping[str, Mapping[str, Sequence[int]]]
"""manual → path → the positions of the sections that a caller may see"""


@dataclass(frozen=True, slots=True)
class Generation:
    """All sections, the words that they define, and what each kind of caller may see of them."""

    corpus: ManualCorpus
    definitions: Variants
    problems: Mapping[ManualFileKey, str]
    visible: OrderedDict[tuple[Any, ...], VisibleSections]


@dataclass(frozen=True, slots=True)
class ManualLibrary:
    """What one call works with: the sections, those of them that it may see, and the words of each manual."""

    corpus: ManualCorpus
    definitions: Variants
    problems: Mapping[ManualFileKey, str]
    visible: VisibleSections
    on_disk: ManualsOnDisk

    def positions(self, manual: str | None, path: str | None = None) -> Sequence[int]:
        """The sections of all manuals, of one, or of a file; Missing for one that the caller may not see."""
        if manual is None:
            return [position for name in sorted(self.visible) for position in self.positions(name)]
        files = self.visible.get(model.require_manual_id(manual))
        if files is None:
            raise model.manual_missing_error(manual, self.visible)
        if path is None:
            return [position for positions in files.values() for position in positions]
        if path not in files:
            raise model.manual_file_missing_error(manual, path)
        return files[path]

    def glossary(self, manual: str | None) -> tuple[Glossary, Variants]:
        """The glossaries of one manual, or of all, with the shipped one; and the words that they join."""
        own = sorted(self.on_disk.glossaries.items())
        return _merge_glossaries(tuple(glossary for name, glossary in own if manual in (None, name)))


@lru_cache(maxsize=32)
def _merge_glossaries(own: tuple[Glossary, ...]) -> tuple[Glossary, Variants]:
    merged = reduce(Glossary.merge, own, model.load_shipped_glossary())
    return merged, Variants(merged.groups)


def load_library(desk: Desk) -> ManualLibrary:
    """Everything as the files are now."""
    on_disk = sync_manuals(desk)
    generation = _load_generation(desk)
    visible = _visible_sections(desk, generation)
    if on_disk.unindexed:
        visible = {
            manual: {path: found for path, found in files.items() if (manual, path) not in on_disk.unindexed}
            for manual, files in visible.items()
        }
    problems = {file: text for file, text in generation.problems.items() if file[1] in visible.get(file[0], ())}
    return ManualLibrary(generation.corpus, generation.definitions, problems, visible, on_disk)


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
    problems = desk.rows("select manual, path, problem from manual_file where problem <> '' order by manual, path")
    definitions = Variants()
    for row in rows:
        for pair in json.loads(row[13]):
            definitions.add_group(pair)
    folded, tight, refers = ([row[column] for row in rows] for column in (10, 11, 12))
    corpus = ManualCorpus([IndexedSection(*row[:10]) for row in rows], folded, tight, refers)
    return Generation(corpus, definitions, {(manual, path): text for manual, path, text in problems}, OrderedDict())


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


def sync_manuals(desk: Desk) -> ManualsOnDisk:
    """Compare every file with the index; read those that changed, and drop those that are gone."""
    root = desk.server.locations()["manuals"]
    wait_for_others(desk, root)
    with open_root(root) as folder:
        on_disk = _scan_folder(folder)
    state = _read_state(desk, "generation"), desk.policy.masks_key
    if _unchanged.get(state) == on_disk:
        return on_disk
    known = {(row[0], row[1]): row for row in desk.rows(_SELECT_STAMPS)}
    gone = [file for file in known if file not in on_disk.files]
    files = on_disk.files.items()
    starts = {file: f"{on_disk.namespace_of(file[0])} {state[1]} " for file in on_disk.files}
    changed = [entry for file, entry in files if _has_changed(known.get(file), entry, starts[file])]
    if not gone and not changed:
        _put_newest(_unchanged, state, on_disk, _MAX_UNCHANGED)
    try:
        if gone:
            with desk.write_derived() as tx:
                for file in gone:
                    delete_file(tx, *file)
                renew_state(tx, "generation")
        if changed:
            process_backlog(desk, root, changed, _FILES_PER_TRANSACTION, partial(index_page, desk, on_disk, known))
    except Unavailable as error:
        if not is_storage_error(error):
            raise
        on_disk.unindexed.update(gone)
    return on_disk


def refresh_record(desk: Desk, address: str) -> None:
    manual, path, _ = parse_section_name(parse_address(address)[1])
    if (manual, path) in sync_manuals(desk).unindexed:  # its stored classification is not that of the new text
        raise Unavailable(f"{manual}/{path} was changed, and the disk is full or read-only.", reason="disk_full")


def _scan_folder(folder: RootFolder) -> ManualsOnDisk:
    on_disk = ManualsOnDisk()
    for entry in folder.list_files():
        manual, *path = entry.parts
        if path in ([GLOSSARY_FILE], [SETTINGS_FILE]):
            try:
                raw = folder.read(entry.parts).data
            except (Denied, Missing):
                raw = b""
            if path == [GLOSSARY_FILE]:
                on_disk.glossaries[manual] = model.parse_glossary(raw)
            else:
                on_disk.settings[manual] = model.parse_settings(raw)
        elif path and path[-1].lower().endswith(_SUFFIXES):
            on_disk.files[manual, "/".join(path)] = entry
    return on_disk


def _has_changed(known: Sequence[Any] | None, entry: FileEntry, start: str) -> bool:
    """`start`: its namespace and how it is masked, with which its hash begins."""
    if known is None or not known[7].startswith(start):
        return True
    return entry.stamp != known[2:6] or known[6] * 1_000_000 - entry.stamp.mtime < _MIN_AGE_NS

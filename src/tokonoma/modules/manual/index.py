"""Bringing the index up to date with the files, before anything is answered. The files are the truth."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Document, Statements, Tx
from tokonoma.core.errors import Denied, Missing
from tokonoma.core.ids import uuid7
from tokonoma.files.backlog import process_backlog, wait_for_others
from tokonoma.files.folder import MAX_FILE_BYTES, FileEntry, FileStamp, RootFolder, open_root
from tokonoma.files.sections import Section, parse_markdown, section_text, single_section, split_lines
from tokonoma.modules.manual.addresses import section_address
from tokonoma.modules.manual.corpus import build_search_texts
from tokonoma.modules.manual.references import find_references
from tokonoma.modules.manual.settings_file import Glossary, ManualSettings, parse_glossary, parse_settings
from tokonoma.modules.manual.variants import find_definitions

GLOSSARY_FILE, SETTINGS_FILE = "glossary.yml", "manual.yml"
_SUFFIXES = (".md", ".json")
_FILES_PER_TRANSACTION = 40  # files of one transaction: others write in between
_MIN_AGE_NS = 2_000_000_000  # nanoseconds: a file changed as lately as it was read may change again unseen
_MAX_REFERENCES = 40  # of one section
_MAX_UNCHANGED = 3  # generations whose files were all found settled

File = tuple[str, str]
"""manual, path"""


@dataclass(frozen=True, slots=True)
class ManualsOnDisk:
    """What lies in the folder of the manuals."""

    files: dict[File, FileEntry]
    glossaries: dict[str, Glossary]
    settings: dict[str, ManualSettings]

    def namespace_of(self, manual: str) -> str:
        return self.settings.get(manual, ManualSettings()).namespace


def manuals_root(desk: Desk) -> str:
    return desk.server.locations()["manuals"]


def sync_manuals(desk: Desk) -> ManualsOnDisk:
    """Look at every file; read those that are not as they were; drop those that have gone."""
    root = manuals_root(desk)
    wait_for_others(desk, root)
    with open_root(root) as folder:
        shelved = _scan_folder(folder)
    generation = read_state(desk, "generation")
    if _unchanged.get(generation) == shelved:
        return shelved
    known = {(row[0], row[1]): row for row in desk.rows(_SELECT_STAMPS)}
    gone = [file for file in known if file not in shelved.files]
    changed = [
        file
        for file, found in shelved.files.items()
        if _has_changed(known.get(file), found, shelved.namespace_of(file[0]))
    ]
    if not gone and not changed:
        _unchanged[generation] = shelved
        while len(_unchanged) > _MAX_UNCHANGED:
            _unchanged.popitem(last=False)
        return shelved
    if gone:
        with desk.write_derived() as tx:
            for file in gone:
                _delete_file(tx, *file)
            renew_state(tx, "generation")
    if changed:
        process_backlog(
            desk,
            root,
            changed,
            _FILES_PER_TRANSACTION,
            lambda folder, page: _index_page(desk, folder, shelved, known, page),
        )
    return shelved


_SELECT_STAMPS = "select manual, path, size, mtime, ctime, inode, checked_at, hash from manual_stamp"
# A generation's files as they lay when each of them was known by its stamp, and long enough unchanged to be trusted.
_unchanged: OrderedDict[str, ManualsOnDisk] = OrderedDict()


def read_state(desk: Desk, name: str) -> str:
    row = desk.row("select value from manual_state where name = :name", name=name)
    return row[0] if row else ""


def _scan_folder(folder: RootFolder) -> ManualsOnDisk:
    shelved = ManualsOnDisk({}, {}, {})
    for found in folder.list_files():
        if len(found.parts) < 2:
            continue
        manual, name = found.parts[0], found.parts[-1]
        if len(found.parts) == 2 and name in (GLOSSARY_FILE, SETTINGS_FILE):
            raw = _read_bytes(folder, found)
            if name == GLOSSARY_FILE:
                shelved.glossaries[manual] = parse_glossary(raw)
            else:
                shelved.settings[manual] = parse_settings(raw)
        elif name.lower().endswith(_SUFFIXES):
            shelved.files[manual, "/".join(found.parts[1:])] = found
    return shelved


def _read_bytes(folder: RootFolder, found: FileEntry) -> bytes:
    try:
        return folder.read(found.parts).data
    except (Denied, Missing):
        return b""


def _has_changed(known: Sequence[Any] | None, found: FileEntry, space: str) -> bool:
    if known is None or not known[7].startswith(f"{space} "):
        return True
    return found.stamp != known[2:6] or known[6] * 1_000_000 - found.stamp.mtime < _MIN_AGE_NS


def _index_page(
    desk: Desk, folder: RootFolder, shelved: ManualsOnDisk, known: dict[File, Any], portion: Sequence[File]
) -> None:
    texts = [(file, *_read_text(folder, shelved.files[file])) for file in portion]
    with desk.write_derived() as tx:
        news = False
        for file, stamp, text, content, problem in texts:
            before, space = known.get(file), shelved.namespace_of(file[0])
            hash = f"{space} {content}"  # a manual that moves is read anew, though its text is the same
            if before is None or before[7] != hash:
                _delete_file(tx, *file)
                _insert_file(tx, file, text, problem, space)
                news = True
            tx.run("delete from manual_stamp where manual = :manual and path = :path", manual=file[0], path=file[1])
            tx.run(
                "insert into manual_stamp values (:manual, :path, :size, :mtime, :ctime, :inode, :at, :hash)",
                manual=file[0],
                path=file[1],
                size=stamp.size,
                mtime=stamp.mtime,
                ctime=stamp.ctime,
                inode=stamp.inode,
                at=now(),
                hash=hash,
            )
        if news:
            renew_state(tx, "generation")


def _read_text(folder: RootFolder, found: FileEntry) -> tuple[FileStamp, str, str, str]:
    """stamp, text, hash, problem"""
    try:
        content = folder.read(found.parts)
    except Denied:
        return found.stamp, "", f"too large {found.stamp.size}", f"larger than {MAX_FILE_BYTES} bytes"
    except Missing:
        return found.stamp, "", "gone", "gone"
    hash = hashlib.sha256(content.data).hexdigest()
    try:
        return content.stamp, content.data.decode("utf-8-sig"), hash, ""
    except UnicodeDecodeError:
        return content.stamp, content.data.decode(errors="replace"), hash, "not UTF-8: odd bytes were replaced"


def _insert_file(tx: Tx, file: File, text: str, problem: str, space: str) -> None:
    manual, path = file
    text = text.replace("\x00", "\ufffd")
    lines = split_lines(text)
    kind = "json" if path.lower().endswith(".json") else "md"
    sections = single_section(text, path) if kind == "json" else parse_markdown(text, path)
    tx.run(
        "insert into manual_file values (:manual, :path, :kind, :size, :lines, :problem)",
        manual=manual,
        path=path,
        kind=kind,
        size=len(text),
        lines=len(lines),
        problem=problem,
    )
    for document, row in zip(
        build_documents(manual, path, space, sections, lines), _section_rows(manual, path, sections, lines), strict=True
    ):
        tx.run(_INSERT, **row, space=space, label=tx.put(document))


def build_documents(
    manual: str, path: str, space: str, sections: Sequence[Section], lines: Sequence[str]
) -> Iterator[Document]:
    """A file's sections as the shared index holds them."""
    titles = {section.line: section.title for section in sections}
    facts = (("manual_id", manual), ("path", path))
    for section in sections:
        title = section.title if section.parent is None else f"{titles[section.parent]} > {section.title}"
        yield Document(
            section_address(manual, path, section.line), space, section_text(lines, section), title, facts=facts
        )


def _section_rows(
    manual: str, path: str, sections: Sequence[Section], lines: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for section in sections:
        own = section_text(lines, section)
        folded, tightened = build_search_texts(section.title, own)
        yield {
            "manual": manual,
            "path": path,
            "line": section.line,
            "own_end": section.own_end,
            "end_line": section.end,
            "level": section.level,
            "title": section.title,
            "anchor": section.anchor,
            "parent": section.parent,
            "size": len(own),
            "folded": folded,
            "tight": tightened,
            "defines": json.dumps(sorted(set(find_definitions(folded))), ensure_ascii=False),
            "refers": json.dumps(list(islice(find_references(own), _MAX_REFERENCES)), ensure_ascii=False),
        }


_INSERT = """insert into manual_section values (:manual, :path, :line, :own_end, :end_line, :level, :title, :anchor,
    :parent, :size, :folded, :tight, :defines, :space, :label, :refers)"""


def _delete_file(tx: Tx, manual: str, path: str) -> None:
    named = {"manual": manual, "path": path}
    for (line,) in tx.rows("select line from manual_section where manual = :manual and path = :path", **named):
        tx.drop(section_address(manual, path, line))
    tx.run("delete from manual_section where manual = :manual and path = :path", **named)
    tx.run("delete from manual_file where manual = :manual and path = :path", **named)
    tx.run("delete from manual_stamp where manual = :manual and path = :path", **named)


def renew_state(statements: Statements, name: str) -> None:
    """Whoever holds the sections in memory, or which of them have which class, sees by this that they have changed."""
    statements.run("delete from manual_state where name = :name", name=name)
    statements.run("insert into manual_state values (:name, :value)", name=name, value=uuid7())

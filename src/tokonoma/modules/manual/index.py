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
from tokonoma.files.backlog import others_are_done, work_off
from tokonoma.files.folder import MOST, Folder, Found, Stamp, opened_root
from tokonoma.files.sections import Section, body, lines_of, markdown, whole_file
from tokonoma.modules.manual.addresses import address
from tokonoma.modules.manual.corpus import forms
from tokonoma.modules.manual.references import references
from tokonoma.modules.manual.settings_file import About, Glossary, about, glossary
from tokonoma.modules.manual.variants import defined_in

GLOSSARY, ABOUT = "glossary.yml", "manual.yml"
_KINDS = (".md", ".json")
_PORTION = 40  # files of one transaction: others write in between
_RACY = 2_000_000_000  # nanoseconds: a file changed as lately as it was read may change again unseen
_REFERENCES = 40  # of one section
_REMEMBERED = 3  # generations whose files were all found settled

File = tuple[str, str]
"""manual, path"""


@dataclass(frozen=True, slots=True)
class Shelved:
    """What lies in the folder of the manuals."""

    files: dict[File, Found]
    glossaries: dict[str, Glossary]
    abouts: dict[str, About]

    def space(self, manual: str) -> str:
        return self.abouts.get(manual, About()).space


def root_of(desk: Desk) -> str:
    return desk.house.places()["manuals"]


def refresh(desk: Desk) -> Shelved:
    """Look at every file; read those that are not as they were; drop those that have gone."""
    root = root_of(desk)
    others_are_done(desk, root)
    with opened_root(root) as folder:
        shelved = _looked(folder)
    generation = state(desk, "generation")
    if _settled.get(generation) == shelved:
        return shelved
    known = {(row[0], row[1]): row for row in desk.rows(_KNOWN)}
    gone = [file for file in known if file not in shelved.files]
    changed = [
        file for file, found in shelved.files.items() if _changed(known.get(file), found, shelved.space(file[0]))
    ]
    if not gone and not changed:
        _settled[generation] = shelved
        while len(_settled) > _REMEMBERED:
            _settled.popitem(last=False)
        return shelved
    if gone:
        with desk.upkeep() as tx:
            for file in gone:
                _forget(tx, *file)
            renew(tx, "generation")
    if changed:
        work_off(desk, root, changed, _PORTION, lambda folder, page: _taken_in(desk, folder, shelved, known, page))
    return shelved


_KNOWN = "select manual, path, size, mtime, ctime, inode, checked_at, hash from manual_stamp"
# A generation's files as they lay when each of them was known by its stamp, and long enough unchanged to be trusted.
_settled: OrderedDict[str, Shelved] = OrderedDict()


def state(desk: Desk, name: str) -> str:
    row = desk.row("select value from manual_state where name = :name", name=name)
    return row[0] if row else ""


def _looked(folder: Folder) -> Shelved:
    shelved = Shelved({}, {}, {})
    for found in folder.files():
        if len(found.parts) < 2:
            continue
        manual, name = found.parts[0], found.parts[-1]
        if len(found.parts) == 2 and name in (GLOSSARY, ABOUT):
            raw = _read(folder, found)
            if name == GLOSSARY:
                shelved.glossaries[manual] = glossary(raw)
            else:
                shelved.abouts[manual] = about(raw)
        elif name.lower().endswith(_KINDS):
            shelved.files[manual, "/".join(found.parts[1:])] = found
    return shelved


def _read(folder: Folder, found: Found) -> bytes:
    try:
        return folder.read(found.parts).data
    except (Denied, Missing):
        return b""


def _changed(known: Sequence[Any] | None, found: Found, space: str) -> bool:
    if known is None or not known[7].startswith(f"{space} "):
        return True
    return found.stamp != known[2:6] or known[6] * 1_000_000 - found.stamp.mtime < _RACY


def _taken_in(desk: Desk, folder: Folder, shelved: Shelved, known: dict[File, Any], portion: Sequence[File]) -> None:
    texts = [(file, *_text_of(folder, shelved.files[file])) for file in portion]
    with desk.upkeep() as tx:
        news = False
        for file, stamp, text, content, problem in texts:
            before, space = known.get(file), shelved.space(file[0])
            hash = f"{space} {content}"  # a manual that moves is read anew, though its text is the same
            if before is None or before[7] != hash:
                _forget(tx, *file)
                _put(tx, file, text, problem, space)
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
            renew(tx, "generation")


def _text_of(folder: Folder, found: Found) -> tuple[Stamp, str, str, str]:
    """stamp, text, hash, problem"""
    try:
        content = folder.read(found.parts)
    except Denied:
        return found.stamp, "", f"too large {found.stamp.size}", f"larger than {MOST} bytes"
    except Missing:
        return found.stamp, "", "gone", "gone"
    hash = hashlib.sha256(content.data).hexdigest()
    try:
        return content.stamp, content.data.decode("utf-8-sig"), hash, ""
    except UnicodeDecodeError:
        return content.stamp, content.data.decode(errors="replace"), hash, "not UTF-8: odd bytes were replaced"


def _put(tx: Tx, file: File, text: str, problem: str, space: str) -> None:
    manual, path = file
    text = text.replace("\x00", "\ufffd")
    lines = lines_of(text)
    kind = "json" if path.lower().endswith(".json") else "md"
    sections = whole_file(text, path) if kind == "json" else markdown(text, path)
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
        documents_of(manual, path, space, sections, lines), _rows(manual, path, sections, lines), strict=True
    ):
        tx.run(_INSERT, **row, space=space, label=tx.put(document))


def documents_of(
    manual: str, path: str, space: str, sections: Sequence[Section], lines: Sequence[str]
) -> Iterator[Document]:
    """A file's sections as the shared index holds them."""
    titles = {section.line: section.title for section in sections}
    facts = (("manual_id", manual), ("path", path))
    for section in sections:
        title = section.title if section.parent is None else f"{titles[section.parent]} > {section.title}"
        yield Document(address(manual, path, section.line), space, body(lines, section), title, facts=facts)


def _rows(manual: str, path: str, sections: Sequence[Section], lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    for section in sections:
        own = body(lines, section)
        folded, tightened = forms(section.title, own)
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
            "defines": json.dumps(sorted(set(defined_in(folded))), ensure_ascii=False),
            "refers": json.dumps(list(islice(references(own), _REFERENCES)), ensure_ascii=False),
        }


_INSERT = """insert into manual_section values (:manual, :path, :line, :own_end, :end_line, :level, :title, :anchor,
    :parent, :size, :folded, :tight, :defines, :space, :label, :refers)"""


def _forget(tx: Tx, manual: str, path: str) -> None:
    named = {"manual": manual, "path": path}
    for (line,) in tx.rows("select line from manual_section where manual = :manual and path = :path", **named):
        tx.drop(address(manual, path, line))
    tx.run("delete from manual_section where manual = :manual and path = :path", **named)
    tx.run("delete from manual_file where manual = :manual and path = :path", **named)
    tx.run("delete from manual_stamp where manual = :manual and path = :path", **named)


def renew(statements: Statements, name: str) -> None:
    """Whoever holds the sections in memory, or which of them have which class, sees by this that they have changed."""
    statements.run("delete from manual_state where name = :name", name=name)
    statements.run("insert into manual_state values (:name, :value)", name=name, value=uuid7())

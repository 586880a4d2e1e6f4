"""Files of the manuals as rows and documents of the index: whole files, so that what must be hidden is found."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, cast

from tokonoma.core.desk import Desk, Row, Tx
from tokonoma.core.errors import Conflict, Denied, Missing, Unavailable, is_storage_error
from tokonoma.core.ids import random_hex
from tokonoma.core.log import log
from tokonoma.files.backlog import Check
from tokonoma.files.encoding import ENCODING_NAMES, DecodedText, decode_bytes
from tokonoma.files.folder import MAX_FILE_BYTES, FileEntry, FileStamp, RootFolder
from tokonoma.files.listing import LeftOutReason
from tokonoma.modules.manual.hooks import build_documents, build_rows, renew_state
from tokonoma.modules.manual.model import FileNote, ManualFileKey, ManualsOnDisk, is_json, section_address, to_file_key
from tokonoma.modules.manual.past_sections import list_hashes, save_changes
from tokonoma.modules.manual.source_file import SourceFile

_INSERT_STAMP = "insert into manual_stamp values (:manual, :path, :size, :mtime, :ctime, :inode, :at, :hash)"
_INSERT_FILE = """insert into manual_file
values (:manual, :path, :kind, :size, :lines, :problem, :reason, :encoding)"""
_INSERT_SECTION = """insert into manual_section (manual, path, line, own_end, end_line, level, title, anchor, parent,
    size, folded, tight, defines, space, label, refers, names, hash, body_hash)
values (:manual, :path, :line, :own_end, :end, :level, :title, :anchor, :parent,
    :size, :folded, :tight, :defines, :space, :label, :refers, :names, :hash, :body_hash)"""

_DELETE_SECTION = "delete from manual_section where manual = :manual and path = :path"

_LONG_CHARS = 256 * 1024  # a longer file is indexed in several transactions
_SECTIONS_PER_GROUP = 20

_PROBLEMS: Mapping[str, str] = {
    "too_large": f"larger than {MAX_FILE_BYTES} bytes: split it",
    "unreadable": "the server has no permission to read it",
    "changed": "it was changed or removed while it was read",
    "not_text": "not text: it contains NUL or other control characters",
    "encoding": "not UTF-8, and its encoding cannot be recognised: convert it to UTF-8",
}

FileText = tuple[ManualFileKey, FileStamp, str, str, FileNote]
"""key, stamp, text, hash, note"""


def index_page(
    desk: Desk,
    on_disk: ManualsOnDisk,
    known: Mapping[Any, Row],
    folder: RootFolder,
    page: Sequence[FileEntry],
    check: Check,
) -> list[ManualFileKey]:
    """Returns the files that cannot be stored."""
    texts = [(to_file_key(entry.parts), *_read_text(folder, entry)) for entry in page]
    try:
        for text in texts:
            if len(text[2]) > _LONG_CHARS:
                _store_in_groups(desk, on_disk, text, check)
        _store_page(desk, on_disk, [text for text in texts if len(text[2]) <= _LONG_CHARS], check)
    except Unavailable as error:
        if not is_storage_error(error):
            raise
        # A text that was not classified is not shown; a file that is only looked at again is what it was.
        masks = desk.policy.masks_key
        seen = {file: f"{on_disk.namespace_of(file[0])} {masks} {content}" for file, _, _, content, _ in texts}
        unindexed = [file for file, hash in seen.items() if file not in known or known[file][7] != hash]
        log("warning", "manual.unindexed", files=len(unindexed), reason=error.reason)
        return unindexed
    return []


def _store_page(desk: Desk, on_disk: ManualsOnDisk, texts: Sequence[FileText], check: Check) -> None:
    with desk.write_derived() as tx:
        has_news = False
        for file, stamp, text, content, note in texts:
            namespace = on_disk.namespace_of(file[0])
            # A manual with another namespace, or from which something else must be hidden, is indexed again.
            hash = f"{namespace} {tx.masks_key} {content}"
            if _read_hash(tx, file) != hash:
                sections = list_hashes(tx, *file)
                delete_file(tx, *file)
                _insert_file(tx, *file, SourceFile.parse(text, file[1]).with_stamp(stamp), note, namespace, check)
                save_changes(tx, *file, sections, desk.now())
                has_news = True
            _save_stamp(tx, file, stamp, desk.now(), hash)
        if has_news:
            renew_state(tx, "generation")


def _store_in_groups(desk: Desk, on_disk: ManualsOnDisk, text: FileText, check: Check) -> None:
    """A long file: parsed and scanned outside of any transaction, and stored in several, so that other writers get
    their turn. Meanwhile its stamp says that it is not indexed, and who does it: a later process begins anew, and the
    earlier one stops. Sections that are stored already are only compared."""
    key, stamp, written, content, note = text
    namespace, claim = on_disk.namespace_of(key[0]), f"indexing {random_hex(8)}"
    with desk.write_derived() as tx:
        masks = tx.masks_key
        hash = f"{namespace} {masks} {content}"
        is_known = _read_hash(tx, key) == hash
        _save_stamp(tx, key, stamp, desk.now(), hash if is_known else claim)
    if is_known:
        return
    file = SourceFile.parse(written, key[1]).with_stamp(stamp)
    documents = [*build_documents(*key, namespace, file)]
    desk.policy.classify_document(documents[0])  # scans the whole text, and every document knows the result

    def is_mine(tx: Tx) -> bool:
        return _read_hash(tx, key) == claim and tx.masks_key == masks

    with desk.write_derived() as tx:
        if not is_mine(tx):
            return
        before = list_hashes(tx, *key)
        _replace_file_row(tx, *key, file, note)
        lines = {section.line for section in file.sections}
        _delete_sections(tx, *key, [line for line in _list_lines(tx, *key) if line not in lines])
        address = section_address(*key)
        shown = file.mask(lambda text: tx.mask_for_index(text, address, namespace))
    rows = zip(documents, build_rows(*key, shown), strict=True)
    while group := list(islice(rows, _SECTIONS_PER_GROUP)):
        check()
        with desk.write_derived() as tx:
            if not is_mine(tx):
                return
            for document, row in group:
                tx.run(f"{_DELETE_SECTION} and line = :line", manual=key[0], path=key[1], line=row["line"])
                tx.run(_INSERT_SECTION, **row, space=namespace, label=tx.put(document))
    with desk.write_derived() as tx:
        if is_mine(tx):
            save_changes(tx, *key, before, desk.now())
            _save_stamp(tx, key, stamp, desk.now(), hash)
            renew_state(tx, "generation")


def _read_hash(tx: Tx, file: ManualFileKey) -> str:
    sql = "select hash from manual_stamp where manual = :manual and path = :path"
    row = tx.row(sql, manual=file[0], path=file[1])
    return row[0] if row is not None else ""


def _save_stamp(tx: Tx, file: ManualFileKey, stamp: FileStamp, at: int, hash: str) -> None:
    named = {"manual": file[0], "path": file[1]}
    tx.run("delete from manual_stamp where manual = :manual and path = :path", **named)
    tx.run(_INSERT_STAMP, **named, **stamp._asdict(), at=at, hash=hash)


def _read_text(folder: RootFolder, entry: FileEntry) -> tuple[FileStamp, str, str, FileNote]:
    """stamp, text, hash, note"""
    try:
        content = folder.read(entry.parts)
    except (Denied, Missing, Conflict) as error:
        reason: LeftOutReason = cast("LeftOutReason", error.reason) if error.reason in _PROBLEMS else "changed"
        # What has changed meanwhile is read again by the next call, whatever its stamp is then.
        stamp = entry.stamp._replace(mtime=0, ctime=0) if reason == "changed" else entry.stamp
        return stamp, "", f"{reason} {entry.stamp.size}", FileNote(_PROBLEMS[reason], reason)
    hash = hashlib.sha256(content.data).hexdigest()
    decoded = decode_bytes(content.data)
    if not isinstance(decoded, DecodedText):
        return content.stamp, "", hash, FileNote(_PROBLEMS[decoded], decoded)
    name = "" if decoded.encoding == "utf-8" else ENCODING_NAMES[decoded.encoding]
    return content.stamp, decoded.text.removeprefix("\ufeff"), hash, FileNote(encoding=name)


def _insert_file(
    tx: Tx, manual: str, path: str, file: SourceFile, note: FileNote, namespace: str, check: Check
) -> None:
    _replace_file_row(tx, manual, path, file, note)
    address = section_address(manual, path)
    shown = file.mask(lambda text: tx.mask_for_index(text, address, namespace))
    documents = build_documents(manual, path, namespace, file)
    for document, row in zip(documents, build_rows(manual, path, shown), strict=True):
        check()
        tx.run(_INSERT_SECTION, **row, space=namespace, label=tx.put(document))


def _replace_file_row(tx: Tx, manual: str, path: str, file: SourceFile, note: FileNote) -> None:
    named = {"manual": manual, "path": path}
    tx.run("delete from manual_file where manual = :manual and path = :path", **named)
    note = note._replace(problem=note.problem or file.find_problem())
    kind = "json" if is_json(path) else "md"
    tx.run(_INSERT_FILE, **named, kind=kind, size=len(file.text), lines=len(file.lines), **note._asdict())


def delete_file(tx: Tx, manual: str, path: str) -> None:
    _delete_sections(tx, manual, path, _list_lines(tx, manual, path))
    for table in ("manual_file", "manual_stamp"):
        tx.run(f"delete from {table} where manual = :manual and path = :path", manual=manual, path=path)  # noqa: S608 - fixed names


def _list_lines(tx: Tx, manual: str, path: str) -> list[int]:
    sql = "select line from manual_section where manual = :manual and path = :path"
    return [line for (line,) in tx.rows(sql, manual=manual, path=path)]


def _delete_sections(tx: Tx, manual: str, path: str, lines: Sequence[int]) -> None:
    for line in lines:
        tx.drop(section_address(manual, path, line))
        tx.run(f"{_DELETE_SECTION} and line = :line", manual=manual, path=path, line=line)

"""Files of the manuals as rows and documents of the index: whole files, so that what must be hidden is found."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.desk import Desk, Row, Tx
from tokonoma.core.errors import Denied, Missing, Unavailable, is_storage_error
from tokonoma.core.log import log
from tokonoma.files.backlog import Check
from tokonoma.files.folder import MAX_FILE_BYTES, FileEntry, FileStamp, RootFolder
from tokonoma.modules.manual.hooks import SourceFile, build_documents, build_rows, renew_state
from tokonoma.modules.manual.model import ManualFileKey, ManualsOnDisk, section_address

_INSERT_STAMP = "insert into manual_stamp values (:manual, :path, :size, :mtime, :ctime, :inode, :at, :hash)"
_INSERT_FILE = "insert into manual_file values (:manual, :path, :kind, :size, :lines, :problem)"
_INSERT_SECTION = """insert into manual_section values (:manual, :path, :line, :own_end, :end, :level, :title, :anchor,
    :parent, :size, :folded, :tight, :defines, :space, :label, :refers)"""

FileText = tuple[ManualFileKey, FileStamp, str, str, str]
"""key, stamp, text, hash, problem"""


def index_page(
    desk: Desk,
    on_disk: ManualsOnDisk,
    known: Mapping[Any, Row],
    folder: RootFolder,
    page: Sequence[FileEntry],
    check: Check,
) -> None:
    texts = [((entry.parts[0], "/".join(entry.parts[1:])), *_read_text(folder, entry)) for entry in page]
    try:
        _store_page(desk, on_disk, known, texts, check)
    except Unavailable as error:
        if not is_storage_error(error):
            raise
        # Nobody sees a text that was not classified; a file that is only looked at again is what it was.
        masks = desk.policy.masks_key
        seen = {file: f"{on_disk.namespace_of(file[0])} {masks} {content}" for file, _, _, content, _ in texts}
        on_disk.unindexed.update(file for file, hash in seen.items() if file not in known or known[file][7] != hash)
        log("warning", "manual.unindexed", files=len(on_disk.unindexed), reason=error.reason)


def _store_page(
    desk: Desk, on_disk: ManualsOnDisk, known: Mapping[Any, Row], texts: Sequence[FileText], check: Check
) -> None:
    with desk.write_derived() as tx:
        has_news = False
        for file, stamp, text, content, problem in texts:
            before, namespace = known.get(file), on_disk.namespace_of(file[0])
            # A manual with another namespace, or from which something else must be hidden, is indexed again.
            hash = f"{namespace} {tx.masks_key} {content}"
            named = {"manual": file[0], "path": file[1]}
            if before is None or before[7] != hash:
                delete_file(tx, *file)
                _insert_file(tx, *file, text, problem, namespace, check)
                has_news = True
            tx.run("delete from manual_stamp where manual = :manual and path = :path", **named)
            tx.run(_INSERT_STAMP, **named, **stamp._asdict(), at=desk.now(), hash=hash)
        if has_news:
            renew_state(tx, "generation")


def _read_text(folder: RootFolder, entry: FileEntry) -> tuple[FileStamp, str, str, str]:
    """stamp, text, hash, problem"""
    try:
        content = folder.read(entry.parts)
    except Denied:
        return entry.stamp, "", f"too large {entry.stamp.size}", f"larger than {MAX_FILE_BYTES} bytes"
    except Missing:
        return entry.stamp, "", "gone", "gone"
    hash = hashlib.sha256(content.data).hexdigest()
    try:
        return content.stamp, content.data.decode("utf-8-sig"), hash, ""
    except UnicodeDecodeError:
        return content.stamp, content.data.decode(errors="replace"), hash, "not UTF-8: invalid bytes were replaced"


def _insert_file(tx: Tx, manual: str, path: str, text: str, problem: str, namespace: str, check: Check) -> None:
    text = text.replace("\x00", "\ufffd")
    file = SourceFile.parse(text, path)
    named = {"manual": manual, "path": path, "kind": "json" if path.lower().endswith(".json") else "md"}
    tx.run(_INSERT_FILE, **named, size=len(text), lines=len(file.lines), problem=problem or file.find_problem())
    address = section_address(manual, path)
    shown = file.mask(lambda text: tx.mask_for_index(text, address, namespace))
    documents = build_documents(manual, path, namespace, file)
    for document, row in zip(documents, build_rows(manual, path, shown), strict=True):
        check()
        tx.run(_INSERT_SECTION, **row, space=namespace, label=tx.put(document))


def delete_file(tx: Tx, manual: str, path: str) -> None:
    named = {"manual": manual, "path": path}
    for (line,) in tx.rows("select line from manual_section where manual = :manual and path = :path", **named):
        tx.drop(section_address(manual, path, line))
    for table in ("manual_section", "manual_file", "manual_stamp"):
        tx.run(f"delete from {table} where manual = :manual and path = :path", **named)  # noqa: S608 - fixed names

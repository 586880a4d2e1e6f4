"""The vault's files in the shared index: looked at before an answer is given, and put anew where they have changed."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tokonoma.core.desk import LABELS, Desk, Document, Label, Row, Rows, Tx
from tokonoma.core.errors import Missing, Refusal
from tokonoma.core.namespaces import inside
from tokonoma.core.paths import Parts, joined
from tokonoma.files.backlog import others_are_done, work_off
from tokonoma.files.folder import Content, Folder, Found, Stamp
from tokonoma.files.sections import lines_of
from tokonoma.files.text import address, decoded, pieces, space_of, version_of

COARSE = 2 * 10**9  # nanoseconds within which the time of a change may not tell a second change
_PAGE = 100  # files a transaction
NO_TEXT = -1  # as the number of lines: too large, or no text

_ALL = "select path, size, mtime, ctime, inode, version, lines, looked_at from vault_file"
_ONE = f"{_ALL} where path = :path"
_KEEP = """insert into vault_file (path, size, mtime, ctime, inode, version, lines, looked_at)
values (:path, :size, :mtime, :ctime, :inode, :version, :lines, :looked_at)
on conflict (path) do update set size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime,
    inode = excluded.inode, version = excluded.version, lines = excluded.lines, looked_at = excluded.looked_at"""
_SEEN = "select count(*), sum(case when {visible} then 1 else 0 end) from vault_part where path = :path"
_HIDDEN = """select path from vault_part group by path
having count(*) > sum(case when {visible} then 1 else 0 end)"""


@dataclass(frozen=True, slots=True)
class Known:
    """A file as the store knows it."""

    path: str
    stamp: Stamp
    version: str
    lines: int
    looked_at: int

    def stands(self, stamp: Stamp) -> bool:
        """Whether it is still the same, as far as its stamp can tell."""
        return stamp == self.stamp and max(stamp.mtime, stamp.ctime) + COARSE < self.looked_at


@dataclass(frozen=True, slots=True)
class Sheet:
    """A text file, read just now."""

    parts: Parts
    text: str
    version: str
    lines: Sequence[str]

    @property
    def path(self) -> str:
        return joined(self.parts)


def sheet(desk: Desk, folder: Folder, parts: Parts) -> Sheet:
    """A file that this caller may see, with the index in step with it. Missing, Denied as the folder says."""
    try:
        content = folder.read(parts)
    except Missing:
        forget(desk, [joined(parts)])
        raise
    text = decoded(content.data, parts)
    in_step(desk, parts, content)
    return Sheet(parts, text, version_of(content.data), lines_of(text))


def in_step(desk: Desk, parts: Parts, content: Content) -> None:
    """The index as this content is; then Missing, as if it were not there, for a file of which the caller may not see
    every piece."""
    row = desk.row(_ONE, path=joined(parts))
    if row is None or _known(row).version != version_of(content.data):
        with desk.upkeep() as tx:
            put(tx, parts, content)
    count, seen = desk.row(_SEEN, path=joined(parts)) or (0, 0)
    if count > (seen or 0) or not inside(space_of(parts), desk.principal.root):
        raise Missing(f"There is no file {joined(parts)!r}.", path=joined(parts))


def all_files(desk: Desk, folder: Folder, below: Parts = ()) -> list[Known]:
    """Every file below a folder that this caller may see, with the index in step with all of them."""
    root = desk.house.places()["vault"]
    others_are_done(desk, root)
    rows = {row[0]: _known(row) for row in desk.rows(_ALL)}
    found = {each.path: each for each in folder.files(below)}
    inside_of = joined(below) + "/" if below else ""
    gone = [path for path in rows if path.startswith(inside_of) and path not in found]
    forget(desk, gone)
    changed = [each for each in found.values() if each.path not in rows or not rows[each.path].stands(each.stamp)]
    if changed:
        work_off(desk, root, changed, _PAGE, lambda folder, page: rows.update(_look(desk, folder, page, rows)))
    hidden = {row[0] for row in desk.rows(_HIDDEN)}
    wall = desk.principal.root
    return [
        rows[path]
        for path, each in found.items()
        if path in rows and path not in hidden and inside(space_of(each.parts), wall)
    ]


def forget(desk: Desk, paths: Sequence[str]) -> None:
    """What has vanished from the disk vanishes from the index."""
    if paths:
        with desk.upkeep() as tx:
            for path in paths:
                drop(tx, path)


def classed(tx: Tx, path: str, label: Label = "internal") -> Label:
    """The class that a file has by what was copied into it: from now on at least this one."""
    row = tx.row("select label from vault_class where path = :path", path=path)
    known: Label = row[0] if row else "internal"
    if LABELS.index(label) <= LABELS.index(known):
        return known
    tx.run(
        "insert into vault_class (path, label) values (:path, :label)"
        " on conflict (path) do update set label = excluded.label",
        path=path,
        label=label,
    )
    return label


def put(tx: Tx, parts: Parts, content: Content) -> Known:
    """A file's row, its pieces and their documents, as the content is now."""
    path, version = joined(parts), version_of(content.data)
    before = tx.row(_ONE, path=path)
    try:
        text = decoded(content.data, parts)
    except Refusal:
        known = noted(tx, path, content.stamp, version, NO_TEXT)
        _put_pieces(tx, parts, [])
        return known
    known = noted(tx, path, content.stamp, version, len(lines_of(text)))
    if before is None or before[5] != version:
        at = content.stamp.mtime // 10**6
        label = classed(tx, path)
        _put_pieces(tx, parts, [replace(each, label=label) for each in _documents(parts, text, at)])
    return known


def noted(tx: Tx, path: str, stamp: Stamp, version: str, lines: int) -> Known:
    looked_at = time.time_ns()
    tx.run(
        _KEEP, path=path, size=stamp.size, mtime=stamp.mtime, ctime=stamp.ctime, inode=stamp.inode, version=version,
        lines=lines, looked_at=looked_at,
    )  # fmt: skip
    return Known(path, stamp, version, lines, looked_at)


def drop(tx: Tx, path: str) -> None:
    for (gone,) in _addresses(tx, path):
        tx.drop(gone)
    tx.run("delete from vault_part where path = :path and ({visible} or 1 = 1)", path=path)
    tx.run("delete from vault_file where path = :path", path=path)


def documents(folder: Folder, known: Iterable[Found]) -> Iterator[Document]:
    """What the index should hold of these files."""
    for each in known:
        try:
            content = folder.read(each.parts)
            text = decoded(content.data, each.parts)
        except Refusal:
            continue
        yield from sorted(_documents(each.parts, text, content.stamp.mtime // 10**6), key=lambda piece: piece.address)


def _documents(parts: Parts, text: str, at: int) -> list[Document]:
    path = joined(parts)
    return [
        Document(
            address(path, piece.start, piece.end),
            space_of(parts),
            piece.text,
            piece.title,
            facts=(("path", path),),
            thread=path,
            at=at,
        )
        for piece in pieces(text, parts)
    ]


def _put_pieces(tx: Tx, parts: Parts, wanted: Sequence[Document]) -> None:
    path = joined(parts)
    before = {row[0] for row in _addresses(tx, path)}
    after = {each.address for each in wanted}
    for gone in before - after:
        tx.drop(gone)
        tx.run("delete from vault_part where address = :address and ({visible} or 1 = 1)", address=gone)
    for document in wanted:
        if document.address not in before:
            tx.run(
                "insert into vault_part (address, path, space, label) values (:address, :path, :space, :label)",
                address=document.address, path=path, space=document.space, label=document.label,
            )  # fmt: skip
        tx.put(document)


def _addresses(tx: Tx, path: str) -> list[Row]:
    # The index follows the disk whoever asks: it is not the caller who sees these.
    return tx.rows("select address from vault_part where path = :path and ({visible} or 1 = 1)", path=path)


def _look(desk: Desk, folder: Folder, page: Sequence[Found], rows: dict[str, Known]) -> dict[str, Known]:
    """Read what may have changed; one transaction for what has."""
    looked: dict[str, Known] = {}
    read: list[tuple[Found, Content]] = []
    for each in page:
        try:
            read.append((each, folder.read(each.parts)))
        except Missing:
            continue
        except Refusal:  # too large, or not for us: known by its stamp alone
            read.append((each, Content(b"\0", each.stamp, 0)))
    with desk.upkeep() as tx:
        for each, content in read:
            old = rows.get(each.path)
            if old is not None and old.version == version_of(content.data):
                looked[each.path] = noted(tx, each.path, content.stamp, old.version, old.lines)
            else:
                looked[each.path] = put(tx, each.parts, content)
    return looked


def _known(row: Row) -> Known:
    path, size, mtime, ctime, inode, version, lines, looked_at = row
    return Known(path, Stamp(size, mtime, ctime, inode), version, lines, looked_at)


def text_at(folder: Folder, parts: Parts, start: int | None, end: int | None) -> tuple[str, str]:
    """The lines of a file, and its version, for whoever the desk has let through."""
    content = folder.read(parts)
    text = decoded(content.data, parts)
    if start is None:
        return text, version_of(content.data)
    return "".join(lines_of(text)[start - 1 : end]), version_of(content.data)


def labels_of(rows: Rows, path: str, version: str) -> frozenset[Label]:
    """The classes of a file's pieces; none if nobody has looked at this version of it yet."""
    return frozenset(
        row[0]
        for row in rows.rows(
            "select p.label from vault_part p join vault_file f on f.path = p.path"
            " where p.path = :path and f.version = :version",
            path=path,
            version=version,
        )
    )

"""The own export as a folder: a Markdown file for each memo, with everything about it in its front matter.

Names of files and folders are for people; the front matter counts. After the content, which is kept exactly, the
relations are listed once more for readers.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import quote

from tokonoma.core.errors import Conflict
from tokonoma.core.printable import escape_line
from tokonoma.transfer import jsonl
from tokonoma.transfer.files import read_note, scan_folder
from tokonoma.transfer.markdown_file import UniquePaths, choose_title, format_front_matter, read_front_matter
from tokonoma.transfer.model import ImportSource, MemoRecord, Metadata, RelationRecord, Remark, SourceError, SourceItem

FORMAT = 1
MAX_RELATIONS = 1000  # in one front matter; the others go to OVERFLOW_FILE
OVERFLOW_FILE = "relations.jsonl"  # beside the folders
_MARK = "<!-- tokonoma: the relations of the front matter, for people -->"
# Name in the front matter → name in a record.
_NAMES = {
    "id": "memo_id",
    "to": "target",
    "created": "created_at",
    "updated": "updated_at",
    "expires": "expires_at",
    "deleted": "deleted_at",
}
_MARKUP = re.compile(r"[\\`*_\[\]()<>&#!|~$]")  # with a backslash before it, each of these is only itself
_SHORT_NAMES = {name: short for short, name in _NAMES.items()}


class ExportFolder:
    """Writes an export into a folder that is new or empty; hidden entries such as `.git` may be there."""

    def __init__(self, root: Path) -> None:
        if root.exists() and (not root.is_dir() or any(not each.name.startswith(".") for each in root.iterdir())):
            raise Conflict(f"{root} is not an empty folder. Choose another name, or empty it.", reason="exists")
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.root = root
        self._paths = UniquePaths()
        self._overflow: BinaryIO | None = None
        self._overflow_count = 0

    def write_memo(self, memo: MemoRecord, relations: Sequence[tuple[RelationRecord, str]]) -> None:
        title = choose_title(memo.title, memo.content)
        path = self.root / self._paths.claim_path(memo.namespace, title, memo.memo_id)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _open_new(path) as file:
            file.write(format_memo_page(memo, relations[:MAX_RELATIONS]).encode())
        for relation, _ in relations[MAX_RELATIONS:]:
            if self._overflow is None:
                self._overflow = _open_new(self.root / OVERFLOW_FILE)
                self._overflow.write(jsonl.format_header())
            self._overflow.write(jsonl.format_record(relation))
            self._overflow_count += 1

    def close(self) -> None:
        if self._overflow is not None:
            with self._overflow:
                self._overflow.write(jsonl.format_footer(0, self._overflow_count))


def _open_new(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb")


def format_memo_page(memo: MemoRecord, relations: Sequence[tuple[RelationRecord, str]] = ()) -> str:
    """The file of a memo; each relation comes with the title of its target."""
    fields: Metadata = {"tokonoma": FORMAT, **_rename_keys(jsonl.to_json(memo), _SHORT_NAMES)}
    del fields["content"]
    fields["metadata"] = fields.pop("metadata", {})  # after the short fields
    body = f"{memo.content}\n"
    if relations:
        fields["relations"] = [_relation_fields(relation) for relation, _ in relations]
        body += f"\n{_MARK}\n\n" + "".join(_format_relation(relation, title) for relation, title in relations)
    return format_front_matter(fields) + body


def _relation_fields(relation: RelationRecord) -> Metadata:
    fields = _rename_keys(jsonl.to_json(relation), _SHORT_NAMES)
    del fields["source"]
    return {"to": fields.pop("to"), "tag": fields.pop("tag"), **fields}


def _format_relation(relation: RelationRecord, title: str) -> str:
    name = _escape_markdown(title) or relation.target
    reason = f": {_escape_markdown(relation.reason)}" if relation.reason else ""
    address = f"tokonoma://memory/{quote(relation.target, safe='')}"
    return f"- {_escape_markdown(relation.tag)} [{name}]({address}) ({relation.weight:g}){reason}\n"


def _escape_markdown(text: str) -> str:
    """A text as one line of a list: no link, no HTML, no heading, and nothing that steers a terminal."""
    return _MARKUP.sub(r"\\\g<0>", escape_line(" ".join(text.split())))


def _rename_keys(fields: Metadata, names: dict[str, str]) -> Metadata:
    return {names.get(key, key): value for key, value in fields.items()}


def read_markdown(source: ImportSource) -> Iterator[SourceItem]:
    """Yield memos in the order of their ids, which is the order of their threads; then relations."""
    folder = scan_folder(source.path)
    yield from folder.remarks
    pages: list[tuple[str, str]] = []
    for inside in folder.notes:
        try:
            pages.append((str(_read_page(folder.root, inside)[0].get("id")), inside))
        except SourceError as error:
            yield Remark(inside, str(error))
    relations: list[SourceItem] = []
    for _, inside in sorted(pages):
        try:
            fields, body = _read_page(folder.root, inside)
            relations += _parse_relations(source, inside, fields)
            # The last mark on a line of its own: the content, or a title in the list, may contain the mark too.
            end = body.rfind(f"\n\n{_MARK}\n") if fields.get("relations") else -1
            content = body[:end] if end >= 0 else body.removesuffix("\n")
            yield jsonl.parse_memo({**_rename_keys(fields, _NAMES), "content": content}, source, inside)
        except SourceError as error:
            yield Remark(inside, str(error))
    yield from relations
    overflow = folder.root / OVERFLOW_FILE
    if folder.others.get(".jsonl") and overflow.is_file() and not overflow.is_symlink():
        yield from jsonl.read_jsonl(replace(source, path=overflow))


def _read_page(root: Path, inside: str) -> tuple[Metadata, str]:
    """Return the front matter and the body of a file of an own export."""
    fields, body = read_front_matter(read_note(root, inside)[0])
    if fields is None or "tokonoma" not in fields:
        raise SourceError("It is not of an export (no `tokonoma:` in its front matter); --from obsidian imports it.")
    if fields["tokonoma"] != FORMAT:
        raise SourceError(f"It has the format {fields['tokonoma']!r}; this program reads {FORMAT}.")
    return fields, body


def _parse_relations(source: ImportSource, inside: str, fields: Metadata) -> Iterator[SourceItem]:
    listed: Any = fields.get("relations") or []
    if not isinstance(listed, list):
        yield Remark(inside, "relations is not a list.")
        return
    for number, raw in enumerate(cast("list[Any]", listed)):
        place = f"{inside}: relations[{number}]"
        if not isinstance(raw, dict):
            yield Remark(place, "It is not a relation.")
            continue
        own = {"source": fields.get("id"), "namespace": fields.get("namespace")}
        try:
            yield jsonl.parse_relation({**own, **_rename_keys(cast("Metadata", raw), _NAMES)}, source, place)
        except SourceError as error:
            yield Remark(place, str(error))

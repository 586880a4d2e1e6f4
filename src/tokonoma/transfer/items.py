"""Items as a folder of Markdown files that is exported again and again, so that git shows what changed.

A file has everything about an item in its front matter and the exact content as its body. `digest` covers what people
may edit: if it does not match, the file was edited since its export. Such a file is a conflict and never overwritten,
unless it has the same text as the item; files that are no items are left alone.
"""

import hashlib
import json
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tokonoma.core.clock import format_time
from tokonoma.core.errors import Conflict
from tokonoma.transfer.files import as_object, as_time, read_note, replace_file, scan_folder
from tokonoma.transfer.markdown_file import format_front_matter, make_safe_name, read_front_matter, split_front_matter
from tokonoma.transfer.model import Remark, SourceError

MARK = "tokonoma_item"
FORMAT = 1
_ID_NAMESPACE = uuid.UUID("5f0c6f5e-3a0b-5d5c-9d0e-6974656d7321")
_TEXTS = ("type", "title", "description", "status", "priority", "category", "version", "assignee")
_TIMES = {
    "start_date": "start_at", "end_date": "end_at", "created": "created_at", "updated": "updated_at",
    "deleted": "deleted_at",
}  # fmt: skip
_IDENTITY = ("namespace", "uid", "created_by", "updated_by")
_NUMBERS = ("id", "revision")
_KNOWN = frozenset({MARK, *_TEXTS, *_TIMES, *_IDENTITY, *_NUMBERS, "tags", "related", "aliases", "comments", "digest"})

ItemFields = dict[str, Any]


@dataclass(slots=True)
class ExportOutcome:
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    conflicts: list[Remark] = field(default_factory=list[Remark])


class ItemFolder:
    """A folder to export items into."""

    def __init__(self, root: Path) -> None:
        if root.exists() and not root.is_dir():
            raise Conflict(f"{root} is not a folder.", reason="exists")
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._root = root
        self._existing = {each[1]["uid"]: each for each in read_pages(root) if not isinstance(each, Remark)}
        self.outcome = ExportOutcome()

    def write_item(self, item: ItemFields) -> None:
        inside, text = build_file_name(item), format_page(item).encode()
        old = self._existing.pop(item["uid"], None)
        path = self._root / inside
        if old is not None and self._has_conflict(old, item):
            return
        if old is None and path.exists():
            self.outcome.conflicts.append(Remark(inside, "Another file has this name; it was not overwritten."))
            return
        if old is not None and old[0] == inside and path.read_bytes() == text:
            self.outcome.unchanged += 1
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replace_file(path, durable=False) as file:
            file.write(text)
        self.outcome.written += 1
        if old is not None and old[0] != inside:
            self._remove_file(old[0])

    def remove_item(self, item: ItemFields) -> None:
        """Remove the file of an item that is in the trash, unless the file was edited."""
        old = self._existing.pop(item["uid"], None)
        if old is None or self._has_conflict(old, item):
            return
        self._remove_file(old[0])
        self.outcome.removed += 1

    def _has_conflict(self, old: tuple[str, ItemFields], item: ItemFields) -> bool:
        inside, fields = old
        stored = {**item, "deleted_at": fields.get("deleted_at")}
        if not fields["edited"] or compute_digest(fields) == compute_digest(stored):
            return False
        self.outcome.conflicts.append(Remark(inside, "It was edited since it was exported; import it first."))
        return True

    def _remove_file(self, inside: str) -> None:
        path = self._root / inside
        path.unlink(missing_ok=True)
        with suppress(OSError):  # the folder may contain other files
            path.parent.rmdir()


def read_pages(root: Path) -> Iterator[tuple[str, ItemFields] | Remark]:
    """Yield the items of a folder, each with the path of its file, in the order of paths."""
    folder = scan_folder(root)
    yield from folder.remarks
    for inside in folder.notes:
        try:
            text, _, _ = read_note(folder.root, inside)
            if is_page(text):
                yield inside, parse_page(text, inside)
            else:
                yield Remark(inside, "It is not an item (no `tokonoma_item:` in its front matter).", lost=False)
        except SourceError as error:
            yield Remark(inside, str(error))


def build_file_name(item: ItemFields) -> str:
    """The path of an item inside the folder; it changes only with the type or the title."""
    return f"{item['type']}/{item['id']} {make_safe_name(item['title'])}.md"


def format_page(item: ItemFields) -> str:
    fields: ItemFields = {MARK: FORMAT, "id": item["id"], "type": item["type"], "title": item["title"]}
    fields |= {name: item[name] for name in _TEXTS[2:] if item[name] or name in ("status", "priority")}
    fields |= {name: format_time(item[key]) for name, key in _TIMES.items() if item.get(key) is not None}
    lists = {"tags": item["tags"], "related": item["links"], "aliases": item["aliases"]}
    lists["comments"] = [{**each, "at": format_time(each["at"])} for each in item["comments"]]
    fields |= {name: values for name, values in lists.items() if values}
    fields |= {name: item[name] for name in (*_IDENTITY, "revision")}
    return format_front_matter({**fields, "digest": compute_digest(item)}) + item["content"] + "\n"


def is_page(text: str) -> bool:
    block, _ = split_front_matter(text.replace("\r\n", "\n", 3))
    return block is not None and f"{MARK}:" in block


def parse_page(text: str, inside: str) -> ItemFields:
    """Return the item of a file; `edited` says whether it differs from what was exported."""
    fields, body = read_front_matter(text)
    fields = fields or {}
    if fields.get(MARK) != FORMAT:
        raise SourceError(f"It has the format {fields.get(MARK)!r}; this program reads {FORMAT}.")
    unknown = sorted(fields.keys() - _KNOWN)
    if unknown:
        raise SourceError(f"It has the unknown key {unknown[0]!r}; known keys: {', '.join(sorted(_KNOWN))}.")
    given = {name: value for name, value in fields.items() if value is not None}
    item: ItemFields = {"content": body.removesuffix("\n"), "links": _parse_links(fields)}
    item["comments"] = _parse_comments(fields)
    for name in ("aliases", "tags"):
        item[name] = [each if isinstance(each, str) else json.dumps(each) for each in _parse_list(fields, name)]
    item |= {name: _parse_text(name, given[name]) for name in (*_TEXTS, *_IDENTITY) if name in given}
    item |= {name: _parse_number(name, given[name]) for name in _NUMBERS if name in given}
    item |= {key: _parse_moment(name, given[name]) for name, key in _TIMES.items() if name in given}
    for name in ("type", "title"):
        if name not in item:
            raise SourceError(f"It has no {name}.")
    item.setdefault("uid", str(uuid.uuid5(_ID_NAMESPACE, inside)))
    item["edited"] = fields.get("digest") != compute_digest(item)
    return item


def compute_digest(item: ItemFields) -> str:
    """A digest of the fields that people may edit, so without ids, authors and times of change."""
    texts = {name: item.get(name) or "" for name in (*_TEXTS, "content") if item.get(name) or name != "assignee"}
    times = {key: item.get(key) for key in ("start_at", "end_at", "deleted_at")}
    links = sorted([link["to"], link.get("uid") or "", link.get("kind") or "related"] for link in item["links"])
    parts: list[Any] = [texts, times, item["tags"], links, sorted(item["aliases"])]
    if item["comments"]:  # else as in files that were written before there were any
        parts.append(item["comments"])
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _parse_list(fields: ItemFields, name: str) -> list[Any]:
    listed: Any = fields.get(name) or []
    if not isinstance(listed, list):
        raise SourceError(f"{name} is not a list.")
    return cast("list[Any]", listed)


def _parse_links(fields: ItemFields) -> list[dict[str, str]]:
    """Each link is an address such as `docs-12`, or `{to, uid, kind}` as an export writes it."""
    links: list[dict[str, str]] = []
    for each in _parse_list(fields, "related"):
        link = {"to": each} if isinstance(each, str) else as_object(each)
        if not isinstance(link.get("to"), str) or not link.keys() <= {"to", "uid", "kind"}:
            raise SourceError("An entry of related is neither an address nor {to, uid, kind}.")
        links.append({key: str(value) for key, value in link.items()})
    return links


def _parse_comments(fields: ItemFields) -> list[ItemFields]:
    """Each comment is `{at, by, text}`."""
    comments: list[ItemFields] = []
    for each in map(as_object, _parse_list(fields, "comments")):
        if not isinstance(each.get("text"), str) or not each.keys() <= {"at", "by", "text"}:
            raise SourceError("An entry of comments is not {at, by, text}.")
        at = _parse_moment("comments.at", each["at"]) if "at" in each else 0
        comments.append({"at": at, "by": _parse_text("comments.by", each.get("by", "")), "text": each["text"]})
    return comments


def _parse_text(name: str, value: Any) -> str:
    if isinstance(value, dict | list | bool):
        raise SourceError(f"{name} is not a text.")
    return str(value)  # `version: 1.2` is a number in YAML


def _parse_number(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**62:
        raise SourceError(f"{name} is not a whole number above 0.")
    return value


def _parse_moment(name: str, value: Any) -> int:
    time = as_time(value) if isinstance(value, str) else None
    if time is None:
        raise SourceError(f"{name} is not a time like 2027-01-31T09:00:00Z.")
    return time

"""Reads folders of linked Markdown notes: vaults of Obsidian and projects of basic-memory. Folders become namespaces.

The folder is read twice: first for the names that links use, then for the notes. Only names are held in memory.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from tokonoma.transfer import wiki
from tokonoma.transfer.files import NoteFolder, as_time, first_time, read_note, scan_folder
from tokonoma.transfer.fit import fit_memo, fit_relation
from tokonoma.transfer.markdown_file import FrontMatterError, parse_front_matter, split_front_matter
from tokonoma.transfer.model import (
    ImportSource,
    MemoRecord,
    Metadata,
    RelationRecord,
    Remark,
    SourceError,
    SourceItem,
    as_date,
)

_ATTACHMENT = re.compile(
    r".\.(?:png|jpe?g|gif|bmp|svg|webp|avif|heic|pdf|mp3|m4a|wav|ogg|flac|3gp|mp4|mov|mkv|webm|ogv|canvas|base|csv|tsv"
    r"|txt|json|html?|docx?|xlsx?|pptx?|zip|excalidraw)$",
    re.IGNORECASE,
)
_CREATED, _CHANGED = ("created", "created_at", "date created"), ("modified", "updated", "updated_at", "date modified")


@dataclass(frozen=True, slots=True)
class _Note:
    """One file. `path` is its path inside the folder, in the same normal form on every system."""

    path: str
    front: Metadata
    body: str
    start: int  # lines before the body
    changed: int
    remarks: list[Remark] = field(default_factory=list[Remark])


def read_notes(source: ImportSource, *, typed: bool) -> Iterator[SourceItem]:
    """Read a vault of Obsidian, or (`typed`) a project of basic-memory, where links and observations have a type and a
    link means a title before it means a file."""
    folder = scan_folder(source.path)
    yield from folder.remarks
    index = wiki.NoteIndex()
    readable: list[str] = []
    for inside in folder.notes:
        try:
            note = _read_note(folder, inside)
        except SourceError as error:
            yield Remark(inside, str(error))
            continue
        index.add(
            note.path, [_note_title(note), *_split_texts(note.front.get("permalink")), *_note_aliases(note.front)]
        )
        readable.append(inside)
    relations: list[RelationRecord] = []
    for inside in readable:
        try:
            yield from _convert_note(source, _read_note(folder, inside), index, relations, typed=typed)
        except SourceError as error:
            yield Remark(inside, str(error))
    for relation in relations:
        yield from fit_relation(relation)
    if folder.others:
        kinds = ", ".join(f"{count} {suffix}" for suffix, count in sorted(folder.others.items()))
        yield Remark(source.path.name, f"Files that are not Markdown were not imported: {kinds}.", lost=False)


def _read_note(folder: NoteFolder, inside: str) -> _Note:
    text, encoding, changed = read_note(folder.root, inside)
    remarks = [Remark(inside, encoding, lost=False)] if encoding else []
    block, body = split_front_matter(text)
    fields: Metadata = {}
    if block is not None:
        try:
            fields = parse_front_matter(block)
        except FrontMatterError as error:
            body = text  # nothing of it is lost
            remarks.append(Remark(inside, f"Its front matter was imported as text. {error}", lost=False))
    start = text.count("\n") - body.count("\n")
    return _Note(unicodedata.normalize("NFC", inside), fields, body, start, changed, remarks)


def _convert_note(
    source: ImportSource, note: _Note, index: wiki.NoteIndex, relations: list[RelationRecord], *, typed: bool
) -> Iterator[SourceItem]:
    """Yield remarks and the memo of a note; add its relations to the list."""
    yield from note.remarks
    lines = wiki.blank_code(note.body)
    metadata = _build_metadata(note, lines, typed=typed)
    missing: list[Metadata] = []
    attached: list[str] = []
    seen: set[tuple[str, str]] = set()
    for link in (*_find_property_links(note.front), *wiki.find_links(lines, typed=typed)):
        target = index.find_note(link.target, note.path, named_first=typed, wiki=link.wiki)
        if target == note.path or not link.target or (link.target, link.tag) in seen or (target, link.tag) in seen:
            continue
        seen.add((target or link.target, link.tag))
        place = f"{note.path}:{note.start + link.line}" if link.line else note.path
        if target is not None:
            namespace = find_common_namespace(_note_namespace(source, note.path), _note_namespace(source, target))
            ends = source.make_memo_id(note.path), source.make_memo_id(target)
            relations.append(RelationRecord(namespace, *ends, link.tag, reason=link.reason, place=place))
        elif _ATTACHMENT.search(link.target):
            attached.append(link.target)
        else:
            missing.append({"target": link.target, "tag": link.tag})
            why = f"The link to {link.target[:80]!r} leads to no note; it was saved in metadata.missing_links."
            yield Remark(place, why, lost=False)
    metadata |= {"missing_links": missing} if missing else {}
    metadata |= {"attachments": attached} if attached else {}
    yield from fit_memo(_build_memo(source, note, metadata))


def _build_memo(source: ImportSource, note: _Note, metadata: Metadata) -> MemoRecord:
    changed = first_time(note.front, *_CHANGED, local=True)
    created = first_time(note.front, *_CREATED, local=True)
    updated = changed if changed is not None else max(note.changed, created or 0)
    return source.build_memo(
        note.path,
        note.body.strip("\r\n"),
        metadata,
        namespace=_note_namespace(source, note.path),
        title=_note_title(note),
        created_at=min(created, updated) if created is not None else updated,
        updated_at=updated,
        date=as_date(note.front.get("date")) or as_date(_note_title(note)),  # a daily note is called by its day
        place=note.path,
    )


def find_common_namespace(one: str, other: str) -> str:
    """The deepest namespace that contains both: the namespace of a relation between their memos."""
    return posixpath.commonpath((one, other))


def _note_namespace(source: ImportSource, path: str) -> str:
    return source.nest_namespace("".join(" " if ord(each) < 32 else each for each in path.rpartition("/")[0]))


def _build_metadata(note: _Note, lines: list[str], *, typed: bool) -> Metadata:
    """Join the front matter with what the text says; both have tags."""
    used = {"title", "tag", "tags", "alias", "aliases"}
    used |= {key for key in (*_CREATED, *_CHANGED) if as_time(note.front.get(key), local=True) is not None}
    metadata = {key: value for key, value in note.front.items() if key not in used}
    tags = [each.lstrip("#") for key in ("tags", "tag") for each in _split_texts(note.front.get(key), r"[,\s]+")]
    described = {
        "tags": list(dict.fromkeys([*tags, *wiki.find_tags(lines)])),
        "categories": wiki.find_categories(lines) if typed else [],
        "aliases": _note_aliases(note.front),
    }
    return {**metadata, **{key: value for key, value in described.items() if value}}


def _find_property_links(fields: Metadata) -> Iterator[wiki.WikiLink]:
    """Links in the front matter: `up: "[[Parent]]"` is a relation to the parent with the tag `up`."""
    for key, value in fields.items():
        for each in cast("list[Any]", value) if isinstance(value, list) else [value]:
            if isinstance(each, str) and each.startswith("[[") and each.endswith("]]"):
                yield wiki.WikiLink(wiki.parse_target(each[2:-2]), key, 0)


def _note_title(note: _Note) -> str:
    titles = _split_texts(note.front.get("title"))
    return titles[0] if titles else wiki.strip_suffix(note.path).rpartition("/")[2]


def _note_aliases(fields: Metadata) -> list[str]:
    return [each for key in ("aliases", "alias") for each in _split_texts(fields.get(key), ",")]


def _split_texts(value: Any, separator: str = "") -> list[str]:
    """The texts of a list, or of one text with separators."""
    if isinstance(value, str) and separator:
        value = re.split(separator, value)
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    texts = [str(each).strip() for each in listed if isinstance(each, str | int | float) and not isinstance(each, bool)]
    return [each for each in texts if each]

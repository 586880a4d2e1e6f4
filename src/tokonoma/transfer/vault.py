"""Folders of linked Markdown notes: Obsidian's vaults and basic-memory's projects. Folders become namespaces.

The folder is read twice: first for the names that links may use, then for the notes. Only names are held in memory.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from tokonoma.transfer import front, wiki
from tokonoma.transfer.carried import (
    ImportSource,
    Metadata,
    Remark,
    SourceRecord,
    TransferMemo,
    TransferRelation,
    find_common_namespace,
)
from tokonoma.transfer.fit import fit_memo, fit_relation
from tokonoma.transfer.index import NoteIndex, strip_extension
from tokonoma.transfer.times import parse_foreign_time
from tokonoma.transfer.walk import NoteFolder, UnreadableFile, read_note, scan_folder

_ATTACHED = re.compile(
    r".\.(?:png|jpe?g|gif|bmp|svg|webp|avif|heic|pdf|mp3|m4a|wav|ogg|flac|3gp|mp4|mov|mkv|webm|ogv|canvas|base|csv|tsv"
    r"|txt|json|html?|docx?|xlsx?|pptx?|zip|excalidraw)$",
    re.IGNORECASE,
)
_CREATED, _CHANGED = ("created", "created_at", "date created"), ("modified", "updated", "updated_at", "date modified")


@dataclass(frozen=True, slots=True)
class _Note:
    """One file. `path` is its name inside the folder, in one normal form on every system."""

    path: str
    front: Metadata
    body: str
    start: int  # lines before the body
    changed: int
    remarks: list[Remark] = field(default_factory=list[Remark])


@dataclass(frozen=True, slots=True)
class _Dialect:
    links: Callable[[list[str]], Iterator[wiki.WikiLink]]
    named_first: bool  # a link means a title or permalink before it means a file
    words: Callable[[list[str]], Metadata]  # what the text says about the note


def read_obsidian(origin: ImportSource) -> Iterator[SourceRecord]:
    return _read_notes(
        origin, _Dialect(wiki.find_links, named_first=False, words=lambda lines: {"tags": wiki.find_tags(lines)})
    )


def read_basic_memory(origin: ImportSource) -> Iterator[SourceRecord]:
    def words(lines: list[str]) -> Metadata:
        return {"tags": wiki.find_tags(lines), "categories": wiki.find_categories(lines)}

    return _read_notes(origin, _Dialect(wiki.find_typed_links, named_first=True, words=words))


def _read_notes(origin: ImportSource, dialect: _Dialect) -> Iterator[SourceRecord]:
    found = scan_folder(origin.path)
    yield from found.remarks
    index = NoteIndex()
    readable: list[str] = []
    for inside in found.notes:
        try:
            note = _read_note(found, inside)
        except UnreadableFile as error:
            yield Remark(inside, str(error))
            continue
        index.add(
            note.path, [_note_title(note), *_split_texts(note.front.get("permalink")), *_note_aliases(note.front)]
        )
        readable.append(inside)
    relations: list[TransferRelation] = []
    for inside in readable:
        try:
            yield from _convert_note(origin, _read_note(found, inside), index, dialect, relations)
        except UnreadableFile as error:
            yield Remark(inside, str(error))
    for relation in relations:
        yield from fit_relation(relation)
    if found.others:
        kinds = ", ".join(f"{count} {ending}" for ending, count in sorted(found.others.items()))
        yield Remark(origin.path.name, f"Files that are no Markdown stay where they are: {kinds}.", lost=False)


def _read_note(found: NoteFolder, inside: str) -> _Note:
    text, word, changed = read_note(found.root, inside)
    path = unicodedata.normalize("NFC", inside)
    remarks = [Remark(inside, word, lost=False)] if word else []
    block, body = front.split_front_matter(text)
    about: Metadata = {}
    if block is not None:
        try:
            about = front.parse_front_matter(block)
        except front.FrontMatterError as error:
            body = text  # nothing of it is lost
            remarks.append(Remark(inside, f"Its front matter was taken as text. {error}", lost=False))
    return _Note(path, about, body, text.count("\n") - body.count("\n"), changed, remarks)


def _convert_note(
    origin: ImportSource, note: _Note, index: NoteIndex, dialect: _Dialect, relations: list[TransferRelation]
) -> Iterator[SourceRecord]:
    yield from note.remarks
    lines = wiki.blank_code(note.body)
    told = _build_metadata(note, dialect.words(lines))
    missing: list[Metadata] = []
    attached: list[str] = []
    seen: set[tuple[str, str]] = set()
    for link in (*_find_property_links(note.front), *dialect.links(lines)):
        target = index.find_note(link.target, note.path, named_first=dialect.named_first, wiki=link.wiki)
        if target == note.path or not link.target or (link.target, link.tag) in seen or (target, link.tag) in seen:
            continue
        seen.add((target or link.target, link.tag))
        if target is not None:
            relations.append(_build_relation(origin, note, target, link))
        elif _ATTACHED.search(link.target):
            attached.append(link.target)
        else:
            missing.append({"target": link.target, "tag": link.tag})
            why = f"The link to {link.target[:80]!r} leads to no note; it is kept in metadata.missing_links."
            yield Remark(_link_place(note, link), why, lost=False)
    told |= {"missing_links": missing} if missing else {}
    told |= {"attachments": attached} if attached else {}
    yield from fit_memo(_build_memo(origin, note, told))


def _build_memo(origin: ImportSource, note: _Note, told: Metadata) -> TransferMemo:
    changed = _first_time(note.front, _CHANGED)
    created = _first_time(note.front, _CREATED)
    updated = changed if changed is not None else max(note.changed, created or 0)
    return TransferMemo(
        memo_id=origin.make_memo_id(note.path),
        namespace=_note_namespace(origin, note.path),
        title=_note_title(note),
        content=note.body.strip("\r\n"),
        metadata={**told, **origin.build_metadata(note.path)},
        created_at=min(created, updated) if created is not None else updated,
        updated_at=updated,
        place=note.path,
    )


def _build_relation(origin: ImportSource, note: _Note, target: str, link: wiki.WikiLink) -> TransferRelation:
    return TransferRelation(
        namespace=find_common_namespace(_note_namespace(origin, note.path), _note_namespace(origin, target)),
        source=origin.make_memo_id(note.path),
        target=origin.make_memo_id(target),
        tag=link.tag,
        reason=link.reason,
        place=_link_place(note, link),
    )


def _link_place(note: _Note, link: wiki.WikiLink) -> str:
    return f"{note.path}:{note.start + link.line}" if link.line else note.path


def _note_namespace(origin: ImportSource, path: str) -> str:
    folders = "".join(" " if ord(each) < 32 else each for each in path.rpartition("/")[0])
    return origin.nest_namespace(folders)


def _build_metadata(note: _Note, words: Metadata) -> Metadata:
    """What the front matter says, and the tags of both."""
    taken = {"title", "tag", "tags", "alias", "aliases"}
    taken |= {key for key in (*_CREATED, *_CHANGED) if parse_foreign_time(note.front.get(key), local=True) is not None}
    told = {key: value for key, value in note.front.items() if key not in taken}
    tags = [each.lstrip("#") for key in ("tags", "tag") for each in _split_texts(note.front.get(key), r"[,\s]+")]
    words["tags"] = list(dict.fromkeys([*tags, *words["tags"]]))
    words["aliases"] = _note_aliases(note.front)
    return {**told, **{key: value for key, value in words.items() if value}}


def _find_property_links(about: Metadata) -> Iterator[wiki.WikiLink]:
    """Links in the front matter: `up: "[[Parent]]"` relates the note to its parent under `up`."""
    for key, value in about.items():
        listed = cast("list[Any]", value) if isinstance(value, list) else [value]
        for each in listed:
            if isinstance(each, str) and each.startswith("[[") and each.endswith("]]"):
                yield wiki.WikiLink(wiki.parse_target(each[2:-2]), key, 0)


def _note_title(note: _Note) -> str:
    told = _split_texts(note.front.get("title"))
    return told[0] if told else strip_extension(note.path).rpartition("/")[2]


def _note_aliases(about: Metadata) -> list[str]:
    return [each for key in ("aliases", "alias") for each in _split_texts(about.get(key), ",")]


def _split_texts(value: Any, between: str = "") -> list[str]:
    """One text or several: a list, or one text with something between its parts."""
    if isinstance(value, str) and between:
        value = re.split(between, value)
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    found = [str(each).strip() for each in listed if isinstance(each, str | int | float) and not isinstance(each, bool)]
    return [each for each in found if each]


def _first_time(about: Metadata, keys: tuple[str, ...]) -> int | None:
    return next((at for key in keys if (at := parse_foreign_time(about.get(key), local=True)) is not None), None)

"""Folders of linked Markdown notes: Obsidian's vaults and basic-memory's projects. Folders become namespaces.

The folder is read twice: first for the names that links may use, then for the notes. Only names are held in memory.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from tokonoma.transfer import front, wiki
from tokonoma.transfer.carried import Carried, Memo, Metadata, Origin, Relation, Remark, common
from tokonoma.transfer.fit import fitted, fitted_relation
from tokonoma.transfer.index import Index, stem
from tokonoma.transfer.times import moment
from tokonoma.transfer.walk import Folder, Unreadable, folder, text_of

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
    links: Callable[[list[str]], Iterator[wiki.Link]]
    named_first: bool  # a link means a title or permalink before it means a file
    words: Callable[[list[str]], Metadata]  # what the text says about the note


def obsidian(origin: Origin) -> Iterator[Carried]:
    return _notes(origin, _Dialect(wiki.links, named_first=False, words=lambda lines: {"tags": wiki.tags(lines)}))


def basic_memory(origin: Origin) -> Iterator[Carried]:
    def words(lines: list[str]) -> Metadata:
        return {"tags": wiki.tags(lines), "categories": wiki.categories(lines)}

    return _notes(origin, _Dialect(wiki.related, named_first=True, words=words))


def _notes(origin: Origin, dialect: _Dialect) -> Iterator[Carried]:
    found = folder(origin.path)
    yield from found.remarks
    index = Index()
    readable: list[str] = []
    for inside in found.notes:
        try:
            note = _read(found, inside)
        except Unreadable as error:
            yield Remark(inside, str(error))
            continue
        index.add(note.path, [_title(note), *_texts(note.front.get("permalink")), *_aliases(note.front)])
        readable.append(inside)
    relations: list[Relation] = []
    for inside in readable:
        try:
            yield from _carried(origin, _read(found, inside), index, dialect, relations)
        except Unreadable as error:
            yield Remark(inside, str(error))
    for relation in relations:
        yield from fitted_relation(relation)
    if found.others:
        kinds = ", ".join(f"{count} {ending}" for ending, count in sorted(found.others.items()))
        yield Remark(origin.path.name, f"Files that are no Markdown stay where they are: {kinds}.", lost=False)


def _read(found: Folder, inside: str) -> _Note:
    text, word, changed = text_of(found.root, inside)
    path = unicodedata.normalize("NFC", inside)
    remarks = [Remark(inside, word, lost=False)] if word else []
    block, body = front.split(text)
    about: Metadata = {}
    if block is not None:
        try:
            about = front.read(block)
        except front.BadFront as error:
            body = text  # nothing of it is lost
            remarks.append(Remark(inside, f"Its front matter was taken as text. {error}", lost=False))
    return _Note(path, about, body, text.count("\n") - body.count("\n"), changed, remarks)


def _carried(
    origin: Origin, note: _Note, index: Index, dialect: _Dialect, relations: list[Relation]
) -> Iterator[Carried]:
    yield from note.remarks
    lines = wiki.prose(note.body)
    told = _metadata(note, dialect.words(lines))
    missing: list[Metadata] = []
    attached: list[str] = []
    seen: set[tuple[str, str]] = set()
    for link in (*_properties(note.front), *dialect.links(lines)):
        target = index.found(link.target, note.path, named_first=dialect.named_first, wiki=link.wiki)
        if target == note.path or not link.target or (link.target, link.tag) in seen or (target, link.tag) in seen:
            continue
        seen.add((target or link.target, link.tag))
        if target is not None:
            relations.append(_relation(origin, note, target, link))
        elif _ATTACHED.search(link.target):
            attached.append(link.target)
        else:
            missing.append({"target": link.target, "tag": link.tag})
            why = f"The link to {link.target[:80]!r} leads to no note; it is kept in metadata.missing_links."
            yield Remark(_place(note, link), why, lost=False)
    told |= {"missing_links": missing} if missing else {}
    told |= {"attachments": attached} if attached else {}
    yield from fitted(_memo(origin, note, told))


def _memo(origin: Origin, note: _Note, told: Metadata) -> Memo:
    changed = _first(note.front, _CHANGED)
    created = _first(note.front, _CREATED)
    updated = changed if changed is not None else max(note.changed, created or 0)
    return Memo(
        memo_id=origin.memo_id(note.path),
        namespace=_space(origin, note.path),
        title=_title(note),
        content=note.body.strip("\r\n"),
        metadata={**told, **origin.marks(note.path)},
        created_at=min(created, updated) if created is not None else updated,
        updated_at=updated,
        place=note.path,
    )


def _relation(origin: Origin, note: _Note, target: str, link: wiki.Link) -> Relation:
    return Relation(
        namespace=common(_space(origin, note.path), _space(origin, target)),
        source=origin.memo_id(note.path),
        target=origin.memo_id(target),
        tag=link.tag,
        reason=link.reason,
        place=_place(note, link),
    )


def _place(note: _Note, link: wiki.Link) -> str:
    return f"{note.path}:{note.start + link.line}" if link.line else note.path


def _space(origin: Origin, path: str) -> str:
    folders = "".join(" " if ord(each) < 32 else each for each in path.rpartition("/")[0])
    return origin.below(folders)


def _metadata(note: _Note, words: Metadata) -> Metadata:
    """What the front matter says, and the tags of both."""
    taken = {"title", "tag", "tags", "alias", "aliases"}
    taken |= {key for key in (*_CREATED, *_CHANGED) if moment(note.front.get(key), local=True) is not None}
    told = {key: value for key, value in note.front.items() if key not in taken}
    tags = [each.lstrip("#") for key in ("tags", "tag") for each in _texts(note.front.get(key), r"[,\s]+")]
    words["tags"] = list(dict.fromkeys([*tags, *words["tags"]]))
    words["aliases"] = _aliases(note.front)
    return {**told, **{key: value for key, value in words.items() if value}}


def _properties(about: Metadata) -> Iterator[wiki.Link]:
    """Links in the front matter: `up: "[[Parent]]"` relates the note to its parent under `up`."""
    for key, value in about.items():
        listed = cast("list[Any]", value) if isinstance(value, list) else [value]
        for each in listed:
            if isinstance(each, str) and each.startswith("[[") and each.endswith("]]"):
                yield wiki.Link(wiki.target_of(each[2:-2]), key, 0)


def _title(note: _Note) -> str:
    told = _texts(note.front.get("title"))
    return told[0] if told else stem(note.path).rpartition("/")[2]


def _aliases(about: Metadata) -> list[str]:
    return [each for key in ("aliases", "alias") for each in _texts(about.get(key), ",")]


def _texts(value: Any, between: str = "") -> list[str]:
    """One text or several: a list, or one text with something between its parts."""
    if isinstance(value, str) and between:
        value = re.split(between, value)
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    found = [str(each).strip() for each in listed if isinstance(each, str | int | float) and not isinstance(each, bool)]
    return [each for each in found if each]


def _first(about: Metadata, keys: tuple[str, ...]) -> int | None:
    return next((at for key in keys if (at := moment(about.get(key), local=True)) is not None), None)

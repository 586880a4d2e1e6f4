"""Our own export as a folder: a Markdown file for each memo, with everything about it in its front matter.

The file's name and folder are for people; what counts stands inside. After the content, which is kept to the letter,
the relations are listed once more for readers.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from tokonoma.transfer import front, jsonl
from tokonoma.transfer.carried import ImportSource, Metadata, Remark, SourceRecord, TransferMemo, TransferRelation
from tokonoma.transfer.records import RecordError, memo_to_json, parse_memo, parse_relation, relation_to_json
from tokonoma.transfer.walk import UnreadableFile, read_note, scan_folder

FORMAT = 1
OVERFLOW_FILE = "relations.jsonl"  # beside the folders: the relations that were too many for a front matter
_MARK = "<!-- tokonoma: the relations of the front matter, for people -->"
# As the front matter calls them → as our records do.
_NAMES = {
    "id": "memo_id",
    "to": "target",
    "created": "created_at",
    "updated": "updated_at",
    "expires": "expires_at",
    "deleted": "deleted_at",
}
_BACK = {ours: theirs for theirs, ours in _NAMES.items()}


def format_memo_page(memo: TransferMemo, relations: Sequence[tuple[TransferRelation, str]] = ()) -> str:
    """The file of a memo; each relation comes with the title of the memo that it leads to."""
    told: Metadata = {"tokonoma": FORMAT, **_rename_keys(memo_to_json(memo), _BACK)}
    del told["content"]
    told["metadata"] = told.pop("metadata", {})  # after the short ones
    if relations:
        told["relations"] = [_relation_fields(relation) for relation, _ in relations]
    body = f"{memo.content}\n"
    if relations:
        body += f"\n{_MARK}\n\n" + "".join(_format_relation(relation, title) for relation, title in relations)
    return front.format_front_matter(told) + body


def read_markdown(origin: ImportSource) -> Iterator[SourceRecord]:
    """Memos in the order of their ids, which is that of their threads; then relations."""
    found = scan_folder(origin.path)
    yield from found.remarks
    notes: list[tuple[str, str, bool]] = []
    for inside in found.notes:
        each = _read_page(origin, inside)
        if isinstance(each, Remark):
            yield each
        else:
            about, _ = each
            notes.append((str(about.get("id")), inside, bool(about.get("relations"))))
    for _, inside, _ in sorted(notes):
        yield from _parse_page_memo(origin, inside)
    for _, inside, related in sorted(notes):
        if related:
            yield from _parse_page_relations(origin, inside)
    more = found.root / OVERFLOW_FILE
    if found.others.get(".jsonl") and more.is_file() and not more.is_symlink():
        yield from jsonl.read_jsonl(ImportSource(more, origin.format, origin.namespace, origin.name))


def _read_page(origin: ImportSource, inside: str) -> tuple[Metadata, str] | Remark:
    """The front matter and the rest of one of our files."""
    root = origin.path if origin.path.is_dir() else origin.path.parent
    try:
        text, _, _ = read_note(root, inside)
        if text.startswith("---\r\n"):  # we never write that: git or an editor has turned every line's end
            text = text.replace("\r\n", "\n")
        block, body = front.split_front_matter(text)
        about = front.parse_front_matter(block) if block is not None else {}
    except (UnreadableFile, front.FrontMatterError) as error:
        return Remark(inside, str(error))
    if "tokonoma" not in about:
        return Remark(inside, "It is not of an export (no `tokonoma:` in its front matter); --from obsidian takes it.")
    if about["tokonoma"] != FORMAT:
        return Remark(inside, f"It has the format {about['tokonoma']!r}; this program reads {FORMAT}.")
    return about, body


def _parse_page_memo(origin: ImportSource, inside: str) -> Iterator[SourceRecord]:
    each = _read_page(origin, inside)
    if isinstance(each, Remark):
        yield each
        return
    about, body = each
    try:
        content = _strip_relations(body, related=bool(about.get("relations")))
        yield parse_memo({**_rename_keys(about, _NAMES), "content": content}, origin, inside)
    except RecordError as error:
        yield Remark(inside, str(error))


def _parse_page_relations(origin: ImportSource, inside: str) -> Iterator[SourceRecord]:
    each = _read_page(origin, inside)
    if isinstance(each, Remark):
        return  # said when its memo was read
    about, _ = each
    listed: Any = about["relations"]
    if not isinstance(listed, list):
        yield Remark(inside, "relations is not a list.")
        return
    for number, raw in enumerate(cast("list[Any]", listed)):
        place = f"{inside}: relations[{number}]"
        if not isinstance(raw, dict):
            yield Remark(place, "It is not a relation.")
            continue
        own = {"source": about.get("id"), "namespace": about.get("namespace")}
        try:
            yield parse_relation({**own, **_rename_keys(cast("Metadata", raw), _NAMES)}, origin, place)
        except RecordError as error:
            yield Remark(place, str(error))


def _strip_relations(body: str, *, related: bool) -> str:
    # The last mark that stands alone: the content, or a title in the list, may speak of it too.
    if related and (end := body.rfind(f"\n\n{_MARK}\n")) >= 0:
        return body[:end]
    return body.removesuffix("\n")


def _relation_fields(relation: TransferRelation) -> Metadata:
    told = _rename_keys(relation_to_json(relation), _BACK)
    del told["source"]
    return {"to": told.pop("to"), "tag": told.pop("tag"), **told}


def _format_relation(relation: TransferRelation, title: str) -> str:
    name = re.sub(r"([\\\[\]])", r"\\\1", " ".join(title.split())) or relation.target
    reason = f": {' '.join(relation.reason.split())}" if relation.reason else ""
    return f"- {relation.tag} [{name}](tokonoma://memory/{relation.target}) ({relation.weight:g}){reason}\n"


def _rename_keys(told: Metadata, names: dict[str, str]) -> Metadata:
    return {names.get(key, key): value for key, value in told.items()}

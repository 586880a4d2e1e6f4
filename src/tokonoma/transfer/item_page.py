"""An item as a Markdown file: everything about it in the front matter, its content as the body, to the letter. Pure.

`digest` is a sum over what the file says: a file whose sum does not fit was edited since it was exported.
"""

import hashlib
import json
import uuid
from typing import Any, cast

from tokonoma.core.clock import format_time
from tokonoma.transfer import front
from tokonoma.transfer.names import make_safe_name
from tokonoma.transfer.times import parse_foreign_time

MARK = "tokonoma_item"
FORMAT = 1
_ID_NAMESPACE = uuid.UUID("5f0c6f5e-3a0b-5d5c-9d0e-6974656d7321")
_TEXTS = ("type", "title", "description", "status", "priority", "category", "version")
_TIMES = {
    "start_date": "start_at", "end_date": "end_at", "created": "created_at", "updated": "updated_at",
    "deleted": "deleted_at",
}  # fmt: skip
_WHO = ("namespace", "uid", "created_by", "updated_by")
_NUMBERS = ("id", "revision")
_KNOWN = frozenset({MARK, *_TEXTS, *_TIMES, *_WHO, *_NUMBERS, "tags", "related", "aliases", "digest"})

ItemFields = dict[str, Any]


class ItemPageError(Exception):
    """What is wrong with a file, in words."""


def format_page(item: ItemFields) -> str:
    """The file of an item."""
    told: ItemFields = {MARK: FORMAT, "id": item["id"], "type": item["type"], "title": item["title"]}
    told |= {name: item[name] for name in _TEXTS[2:] if item[name] or name in ("status", "priority")}
    told |= {name: format_time(item[at]) for name, at in _TIMES.items() if item.get(at) is not None}
    if item["tags"]:
        told["tags"] = item["tags"]
    if item["links"]:
        told["related"] = item["links"]
    if item["aliases"]:
        told["aliases"] = item["aliases"]
    told |= {name: item[name] for name in (*_WHO, "revision")}
    return front.format_front_matter({**told, "digest": compute_digest(item)}) + item["content"] + "\n"


def build_file_name(item: ItemFields) -> str:
    """For people, and the same as long as type and title are."""
    return f"{item['type']}/{item['id']} {make_safe_name(item['title'])}.md"


def is_page(text: str) -> bool:
    block, _ = front.split_front_matter(text.replace("\r\n", "\n", 3))
    return block is not None and f"{MARK}:" in block


def parse_page(text: str, inside: str) -> ItemFields:
    """The item of a file; `edited` tells whether it still says what was exported. BadPage says what is wrong."""
    if text.startswith("---\r\n"):  # we never write that: git or an editor has turned every line's end
        text = text.replace("\r\n", "\n")
    block, body = front.split_front_matter(text)
    try:
        about = front.parse_front_matter(block) if block is not None else {}
    except front.FrontMatterError as error:
        raise ItemPageError(str(error)) from None
    if about.get(MARK) != FORMAT:
        raise ItemPageError(f"It has the format {about.get(MARK)!r}; this program reads {FORMAT}.")
    unknown = sorted(about.keys() - _KNOWN)
    if unknown:
        raise ItemPageError(f"It has the unknown key {unknown[0]!r}; there are: {', '.join(sorted(_KNOWN))}.")
    item: ItemFields = {
        "content": body.removesuffix("\n"),
        "links": _parse_links(about),
        "aliases": _parse_list(about, "aliases"),
    }
    item["tags"] = _parse_list(about, "tags")
    item |= {name: _parse_text(about, name) for name in (*_TEXTS, *_WHO) if about.get(name) is not None}
    item |= {name: _parse_number(about, name) for name in _NUMBERS if about.get(name) is not None}
    item |= {at: _parse_moment(about, name) for name, at in _TIMES.items() if about.get(name) is not None}
    for name in ("type", "title"):
        if name not in item:
            raise ItemPageError(f"It has no {name}.")
    item.setdefault("uid", str(uuid.uuid5(_ID_NAMESPACE, inside)))
    item["edited"] = about.get("digest") != compute_digest(item)
    return item


def compute_digest(item: ItemFields) -> str:
    """Of what people may edit. Where an item comes from, and when, is not theirs to say."""
    said = {name: item.get(name) or "" for name in (*_TEXTS, "content")}
    times = {at: item.get(at) for at in ("start_at", "end_at", "deleted_at")}
    links = sorted([link["to"], link.get("uid") or "", link.get("kind") or "related"] for link in item["links"])
    whole = [said, times, item["tags"], links, sorted(item["aliases"])]
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _parse_links(about: ItemFields) -> list[dict[str, str]]:
    """`- docs-12` is enough; `{to, uid, kind}` is what an export writes."""
    found: list[dict[str, str]] = []
    listed: Any = about.get("related") or []
    if not isinstance(listed, list):
        raise ItemPageError("related is not a list.")
    for each in cast("list[Any]", listed):
        if isinstance(each, str):
            found.append({"to": each})
            continue
        link = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        if not isinstance(link.get("to"), str) or not link.keys() <= {"to", "uid", "kind"}:
            raise ItemPageError("An entry of related is neither an address nor {to, uid, kind}.")
        found.append({key: str(value) for key, value in link.items()})
    return found


def _parse_list(about: ItemFields, name: str) -> list[str]:
    listed: Any = about.get(name) or []
    if not isinstance(listed, list):
        raise ItemPageError(f"{name} is not a list.")
    return [each if isinstance(each, str) else json.dumps(each) for each in cast("list[Any]", listed)]


def _parse_text(about: ItemFields, name: str) -> str:
    value = about[name]
    if isinstance(value, dict | list | bool):
        raise ItemPageError(f"{name} is not a text.")
    return str(value)  # version: 1.2 is a number in YAML


def _parse_number(about: ItemFields, name: str) -> int:
    value = about[name]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**62:
        raise ItemPageError(f"{name} is not a whole number above 0.")
    return value


def _parse_moment(about: ItemFields, name: str) -> int:
    value = about[name]
    found = parse_foreign_time(value) if isinstance(value, str) else None
    if found is None:
        raise ItemPageError(f"{name} is not a time like 2027-01-31T09:00:00Z.")
    return found

"""An item as a Markdown file: everything about it in the front matter, its content as the body, to the letter. Pure.

`digest` is a sum over what the file says: a file whose sum does not fit was edited since it was exported.
"""

import hashlib
import json
import uuid
from typing import Any, cast

from tokonoma.core.clock import shown
from tokonoma.transfer import front
from tokonoma.transfer.names import safe
from tokonoma.transfer.times import moment

MARK = "tokonoma_item"
FORMAT = 1
_OURS = uuid.UUID("5f0c6f5e-3a0b-5d5c-9d0e-6974656d7321")
_TEXTS = ("type", "title", "description", "status", "priority", "category", "version")
_TIMES = {
    "start_date": "start_at", "end_date": "end_at", "created": "created_at", "updated": "updated_at",
    "deleted": "deleted_at",
}  # fmt: skip
_WHO = ("namespace", "uid", "created_by", "updated_by")
_NUMBERS = ("id", "revision")
_KNOWN = frozenset({MARK, *_TEXTS, *_TIMES, *_WHO, *_NUMBERS, "tags", "related", "aliases", "digest"})

Carried = dict[str, Any]


class BadPage(Exception):
    """What is wrong with a file, in words."""


def page(item: Carried) -> str:
    """The file of an item."""
    told: Carried = {MARK: FORMAT, "id": item["id"], "type": item["type"], "title": item["title"]}
    told |= {name: item[name] for name in _TEXTS[2:] if item[name] or name in ("status", "priority")}
    told |= {name: shown(item[at]) for name, at in _TIMES.items() if item.get(at) is not None}
    if item["tags"]:
        told["tags"] = item["tags"]
    if item["links"]:
        told["related"] = item["links"]
    if item["aliases"]:
        told["aliases"] = item["aliases"]
    told |= {name: item[name] for name in (*_WHO, "revision")}
    return front.written({**told, "digest": digest(item)}) + item["content"] + "\n"


def file_name(item: Carried) -> str:
    """For people, and the same as long as type and title are."""
    return f"{item['type']}/{item['id']} {safe(item['title'])}.md"


def is_page(text: str) -> bool:
    block, _ = front.split(text.replace("\r\n", "\n", 3))
    return block is not None and f"{MARK}:" in block


def read(text: str, inside: str) -> Carried:
    """The item of a file; `edited` tells whether it still says what was exported. BadPage says what is wrong."""
    if text.startswith("---\r\n"):  # we never write that: git or an editor has turned every line's end
        text = text.replace("\r\n", "\n")
    block, body = front.split(text)
    try:
        about = front.read(block) if block is not None else {}
    except front.BadFront as error:
        raise BadPage(str(error)) from None
    if about.get(MARK) != FORMAT:
        raise BadPage(f"It has the format {about.get(MARK)!r}; this program reads {FORMAT}.")
    unknown = sorted(about.keys() - _KNOWN)
    if unknown:
        raise BadPage(f"It has the unknown key {unknown[0]!r}; there are: {', '.join(sorted(_KNOWN))}.")
    item: Carried = {"content": body.removesuffix("\n"), "links": _links(about), "aliases": _list(about, "aliases")}
    item["tags"] = _list(about, "tags")
    item |= {name: _text(about, name) for name in (*_TEXTS, *_WHO) if about.get(name) is not None}
    item |= {name: _number(about, name) for name in _NUMBERS if about.get(name) is not None}
    item |= {at: _time(about, name) for name, at in _TIMES.items() if about.get(name) is not None}
    for name in ("type", "title"):
        if name not in item:
            raise BadPage(f"It has no {name}.")
    item.setdefault("uid", str(uuid.uuid5(_OURS, inside)))
    item["edited"] = about.get("digest") != digest(item)
    return item


def digest(item: Carried) -> str:
    """Of what people may edit. Where an item comes from, and when, is not theirs to say."""
    said = {name: item.get(name) or "" for name in (*_TEXTS, "content")}
    times = {at: item.get(at) for at in ("start_at", "end_at", "deleted_at")}
    links = sorted([link["to"], link.get("uid") or "", link.get("kind") or "related"] for link in item["links"])
    whole = [said, times, item["tags"], links, sorted(item["aliases"])]
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _links(about: Carried) -> list[dict[str, str]]:
    """`- docs-12` is enough; `{to, uid, kind}` is what an export writes."""
    found: list[dict[str, str]] = []
    listed: Any = about.get("related") or []
    if not isinstance(listed, list):
        raise BadPage("related is not a list.")
    for each in cast("list[Any]", listed):
        if isinstance(each, str):
            found.append({"to": each})
            continue
        link = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        if not isinstance(link.get("to"), str) or not link.keys() <= {"to", "uid", "kind"}:
            raise BadPage("An entry of related is neither an address nor {to, uid, kind}.")
        found.append({key: str(value) for key, value in link.items()})
    return found


def _list(about: Carried, name: str) -> list[str]:
    listed: Any = about.get(name) or []
    if not isinstance(listed, list):
        raise BadPage(f"{name} is not a list.")
    return [each if isinstance(each, str) else json.dumps(each) for each in cast("list[Any]", listed)]


def _text(about: Carried, name: str) -> str:
    value = about[name]
    if isinstance(value, dict | list | bool):
        raise BadPage(f"{name} is not a text.")
    return str(value)  # version: 1.2 is a number in YAML


def _number(about: Carried, name: str) -> int:
    value = about[name]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**62:
        raise BadPage(f"{name} is not a whole number above 0.")
    return value


def _time(about: Carried, name: str) -> int:
    value = about[name]
    found = moment(value) if isinstance(value, str) else None
    if found is None:
        raise BadPage(f"{name} is not a time like 2027-01-31T09:00:00Z.")
    return found

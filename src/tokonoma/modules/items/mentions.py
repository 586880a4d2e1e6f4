"""Links that a text means: `docs-12`, [[docs-12]] and [[the title of an item]] link to that item.

What a text names is kept (as a hash: it is a part of the text), so that an item that comes later is linked, too.
"""

import hashlib
import json
import re
from collections.abc import Iterable

from tokonoma.core.desk import Tx
from tokonoma.modules.items.hints import MAX_HINT_LENGTH, normalize_hint
from tokonoma.modules.items.model import (
    MODULE_NAME,
    OPPOSITE_KIND,
    SHORT_ADDRESS,
    Item,
    format_short_address,
    parse_target,
)

_MOST = 200  # names in one item
_IN_BRACKETS = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
_ADDRESS = re.compile(r"(?<![\w/.:-])[a-z0-9_]++-[1-9][0-9]{0,17}+(?![\w-])")
_BY_NUMBER = "select id, type from item where id in ({numbers}) and state >= 0 and {visible}"
_ALIASES = "select item_id, type from item_alias where item_id in ({numbers})"
_BY_TITLE = """select i.id, i.title from item_hint h join item i on i.id = h.item_id
where h.folded = :folded and h.kind = 'title' and i.state >= 0 and {visible:i} order by i.id"""
_WAITING = """select m.item_id from item_mention m join item i on i.id = m.item_id
where m.name in (:address, :number, :title) and m.item_id <> :id and {visible:i} order by m.item_id"""
_KNOWN = "select other_id from item_link where item_id = :id and kind = 'mentions'"
_LINK = "insert into item_link (item_id, other_id, kind) values (:id, :other, :kind) on conflict do nothing"
_UNLINK = "delete from item_link where item_id = :id and other_id = :other and kind = :kind"


def find_names(item: Item) -> list[str]:
    """The addresses and titles that the texts of an item name, each once."""
    found: dict[str, None] = {}
    for text in (item.description, item.content, *(each["text"] for each in item.comments)):
        for inner in _IN_BRACKETS.findall(text):
            target = parse_target(inner.strip())
            if target is None:
                found[_to_title_name(inner)] = None
            elif target.item is not None:
                found[format_short_address(target.type or MODULE_NAME, target.item)] = None
        found |= dict.fromkeys(_ADDRESS.findall(text))
    return list(found)[:_MOST]


def link_mentions(tx: Tx, item: Item, *, is_new: bool) -> None:
    """Replace the links that the item's texts mean. Links by hand stay, and no revision is counted."""
    names = find_names(item)
    known = set[int]()
    if not is_new:
        tx.run("delete from item_mention where item_id = :id", id=item.id)
        known = {other for (other,) in tx.rows(_KNOWN, id=item.id)}
    if names:
        rows = [{"id": item.id, "name": _hash_name(name)} for name in names]
        tx.run_many("insert into item_mention (item_id, name) values (:id, :name)", rows)
    wanted = _resolve_names(tx, names) - {item.id} if names else set[int]()
    for other in sorted(known - wanted):
        _write_both(tx, _UNLINK, item.id, other)
    for other in sorted(wanted - known):
        _write_both(tx, _LINK, item.id, other)


def link_waiting(tx: Tx, item: Item) -> None:
    """Link the items whose texts have named this one before it had this title or type."""
    names = {
        "address": item.address,
        "number": format_short_address(MODULE_NAME, item.id),
        "title": _to_title_name(item.title),
    }
    waiting = tx.rows(_WAITING, id=item.id, **{key: _hash_name(name) for key, name in names.items()})
    for (other,) in waiting:
        _write_both(tx, _LINK, other, item.id)


def _resolve_names(tx: Tx, names: Iterable[str]) -> set[int]:
    """The living items that the caller sees. Of several with one title, the first."""
    asked: dict[int, set[str]] = {}
    found = set[int]()
    for name in names:
        address = SHORT_ADDRESS.fullmatch(name)
        if address is not None:
            asked.setdefault(int(address[2]), set()).add(address[1])
            continue
        title = name.removeprefix("title:")
        rows = tx.rows(_BY_TITLE, folded=title[:MAX_HINT_LENGTH])
        found |= {next((id for id, written in rows if normalize_hint(written) == title), 0)} - {0}
    if asked:
        numbers = json.dumps(sorted(asked))
        living = tx.rows(_BY_NUMBER, numbers=numbers)
        types: dict[int, set[str]] = {id: {type, MODULE_NAME} for id, type in living}
        for id, type in tx.rows(_ALIASES, numbers=numbers):
            types.get(id, set()).add(type)
        found |= {id for id in types if asked[id] & types[id]}
    return found


def _write_both(tx: Tx, sql: str, id: int, other: int) -> None:
    tx.run(sql, id=id, other=other, kind="mentions")
    tx.run(sql, id=other, other=id, kind=OPPOSITE_KIND["mentions"])


def _to_title_name(title: str) -> str:
    return f"title:{normalize_hint(title)}"


def _hash_name(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]

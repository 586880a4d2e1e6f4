"""get_tags, search_items_by_tag and rename_tag. Tags that differ in case or width are one tag."""

import json
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Row, Tx
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.modules.items import rows
from tokonoma.modules.items.errors import ItemProblems, check_tags
from tokonoma.modules.items.model import MODULE_NAME, Item, PageCursor, fold_tag, to_item, unique_tags
from tokonoma.modules.items.pages import SELECT_TAGS, ItemOrder, ItemPage, ItemQuery, Limit, require_tag
from tokonoma.modules.items.tables import COLUMNS

_MAX_RENAMED = 5000  # items of one call, which is one transaction
_TAGS = """select t.folded, min(t.tag), count(distinct i.id) from item_tag t join item i on i.id = t.item_id
where t.folded > :last and i.state >= 0 and {visible:i} group by t.folded order by t.folded limit :most"""
_ITEMS = f"select {COLUMNS} from item where id in ({{numbers}}) and {{visible}}"  # noqa: S608 - our own columns


class TagCount(TypedDict):
    tag: str
    count: int


class TagPage(TypedDict):
    items: list[TagCount]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class RenamedTag(TypedDict):
    tag: str
    items: int


def search_items_by_tag(
    desk: Desk,
    tag: str,
    types: Annotated[list[str] | None, Field(max_length=50)] = None,
    limit: Limit = 20,
    cursor: PageCursor = None,
) -> ItemPage:
    """List the items with a tag, open or closed."""
    query = ItemQuery(desk, tag=tag)
    query.add_in("type", types or ())
    return query.fetch_page(desk, ItemOrder(), limit, cursor)


def get_tags(desk: Desk, limit: Annotated[int, Field(ge=1, le=1000)] = 200, cursor: PageCursor = None) -> TagPage:
    """List the tags in use, by name."""
    (last,) = desk.open_cursor("tags", cursor) if cursor else ("",)
    found = (
        [row for row in list_masked_tags(desk) if row[0] > last][: limit + 1]
        if desk.call.record_masks.covers(MODULE_NAME)
        else desk.rows(_TAGS, last=last, most=limit + 1)
    )
    page: TagPage = {
        "items": [{"tag": tag, "count": count} for _, tag, count in found[:limit]],
        "has_more": len(found) > limit,
    }
    if len(found) > limit:
        page["next_cursor"] = desk.seal_cursor("tags", found[limit - 1][0])
    return page


def list_masked_tags(desk: Desk) -> list[Row]:
    """All tags as a caller sees them, if some may be masked for it, by their normalized form: that, the tag, and how
    many items have it. The database must not group or sort them."""
    tagged: dict[str, set[int]] = {}
    written: dict[str, str] = {}
    for tag, item_id, state in desk.rows(SELECT_TAGS):
        if state < 0:
            continue
        folded = fold_tag(tag)
        tagged.setdefault(folded, set()).add(item_id)
        written[folded] = min(tag, written.get(folded, tag))
    return [(folded, written[folded], len(tagged[folded])) for folded in sorted(tagged)]


def rename_tag(
    desk: Desk,
    tag: str,
    to: Annotated[str, Field(description="a tag in use: they are merged; empty: remove it")],
) -> RenamedTag:
    """Rename a tag on all items."""
    problems = ItemProblems()
    new = check_tags("to", [to] if to.strip() else [], problems)
    problems.raise_if_any()
    folded, (has_tag, params) = fold_tag(tag), require_tag(desk, tag)
    tagged = f"select id from item where {has_tag} and {{visible}} order by id limit :most {{for_update}}"  # noqa: S608
    with desk.write() as tx:
        ids = [id for (id,) in tx.rows(tagged, most=_MAX_RENAMED + 1, **params)]
        if not ids:
            raise Missing(f"No item has the tag {tag[:80]!r}.", tag=tag[:80])
        if len(ids) > _MAX_RENAMED:
            message = f"More than {_MAX_RENAMED} items have this tag, which one call does not change. Use bulk_update."
            raise Invalid(message, reason="constraint", field="tag", constraint=f"At most {_MAX_RENAMED} items")
        changed = 0
        for old in map(to_item, tx.rows(_ITEMS, numbers=json.dumps(ids))):
            changed += _replace_tag(tx, desk, old, folded, new)
    return {"tag": new[0] if new else "", "items": changed}


def _replace_tag(tx: Tx, desk: Desk, old: Item, folded: str, new: list[str]) -> bool:
    """In its place; a tag that the item then has twice stays once."""
    replaced = [each for tag in old.tags for each in (new if fold_tag(tag) == folded else [tag])]
    tags = unique_tags(replaced)
    if tags == old.tags:
        return False
    change = {"tags": {"from": list(old.tags), "to": list(tags)}}
    item = rows.save_change(tx, desk, old._replace(tags=tags), "updated", change)
    if item.deleted_at is None:
        rows.update_derived(tx, item, old, same_text=True)
    else:
        rows.write_tags(tx, item)
    return True

"""The tools of the guestbook: plain functions. Their signatures are their schemas."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time as time_shown
from tokonoma.core.content import ResourceContent, RichResult
from tokonoma.core.desk import Desk, format_address
from tokonoma.core.ids import uuid7
from tokonoma.core.namespaces import format_namespace as space_shown
from tokonoma.core.namespaces import resolve_namespace
from tokonoma_guestbook.tables import document

# The newest entry has the largest id: UUIDv7 counts the time. {visible} keeps to what this caller may see.
_PAGE = """select id, space, name, words, signed_at from guestbook_entry
where {visible} and id < :before order by id desc limit :most"""
_LAST = "g"  # greater than every hexadecimal id


class Signed(TypedDict):
    id: str
    address: str
    namespace: str
    signed_at: str


class GuestEntry(Signed):
    name: str
    words: str


class GuestEntries(TypedDict):
    items: list[GuestEntry]
    has_more: bool
    next_cursor: NotRequired[str]


def sign(
    desk: Desk,
    name: Annotated[str, Field(min_length=1, max_length=80, description="who signs")],
    words: Annotated[str, Field(min_length=1, max_length=2000, description="what to leave behind")],
    namespace: Annotated[str | None, Field(description="where; by default where this credential starts")] = None,
) -> Signed:
    """Leave an entry in the guestbook. It cannot be changed afterwards."""
    space = resolve_namespace(namespace, desk.principal)
    entry_id, at = uuid7(), desk.now()
    address = format_address("guestbook", entry_id)
    with desk.write() as tx:
        tx.run(
            """insert into guestbook_entry (id, space, label, name, words, signed_at)
            values (:id, :space, 'internal', :name, :words, :at)""",
            id=entry_id,
            space=space,
            name=name,
            words=words,
            at=at,
        )
        tx.put(document(entry_id, space, name, words, at))
    return {
        "id": entry_id,
        "address": address,
        "namespace": space_shown(space, desk.principal),
        "signed_at": time_shown(at),
    }


def entries(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=100, description="how many entries")] = 20,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> GuestEntries:
    """What was written into the guestbook, newest first."""
    (before,) = desk.open_cursor("guestbook", cursor) if cursor else (_LAST,)
    rows = desk.rows(_PAGE, before=before, most=limit + 1)
    for row in rows[:limit]:
        desk.cite(format_address("guestbook", row[0]))  # the answer names who wrote them
    page: GuestEntries = {
        "items": [
            {
                "id": entry_id,
                "address": format_address("guestbook", entry_id),
                "namespace": space_shown(space, desk.principal),
                "signed_at": time_shown(at),
                "name": name,
                "words": words,
            }
            for entry_id, space, name, words, at in rows[:limit]
        ],
        "has_more": len(rows) > limit,
    }
    if page["has_more"]:
        page["next_cursor"] = desk.seal_cursor("guestbook", page["items"][-1]["id"])
    return page


# A tool may be described by a JSON Schema instead of a signature. It then takes all parameters as one mapping.
PAGE_INPUT = {
    "type": "object",
    "properties": {"title": {"type": "string", "description": "heading of the page"}},
    "additionalProperties": False,
}
PAGE_OUTPUT = {"type": "object", "properties": {"entries": {"type": "integer"}}, "required": ["entries"]}


def page(desk: Desk, params: Mapping[str, Any]) -> RichResult[dict[str, Any]]:
    """The newest 100 entries as a Markdown document beside the answer."""
    rows = desk.rows(_PAGE, before=_LAST, most=100)
    for row in rows:
        desk.cite(format_address("guestbook", row[0]))
    lines = [f"- **{name}**, {time_shown(at)}: {words}" for _, _, name, words, at in rows]
    text = "\n".join([f"# {params.get('title', 'Guestbook')}", "", *lines, ""])
    return RichResult({"entries": len(rows)}, [ResourceContent("tokonoma://guestbook/page", text, "text/markdown")])

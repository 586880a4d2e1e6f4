"""The fields of an item that a caller writes: their types, what they do to an item, and how two states differ."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.ids import uuid7
from tokonoma.modules.items import model
from tokonoma.modules.items.errors import MAX_TAGS, ItemProblems
from tokonoma.modules.items.model import Item, StoredComment, Tags, fold_tag, unique_tags

MAX_COMMENTS = 1000  # of an item
_MAX_COMMENT_BYTES = 2**19  # of all comments of an item
_COMMENT_LIMIT = f"An item has at most {MAX_COMMENTS} comments with {_MAX_COMMENT_BYTES // 1024} KB together"

Title = Annotated[str | None, Field(description="up to 200 characters")]
Text = str | None
Markdown = Annotated[str | None, Field(description="Markdown, up to 100 KB")]
Status = Annotated[str | None, Field(json_schema_extra={"enum": list(model.STATUSES)})]
Priority = Annotated[str | None, Field(json_schema_extra={"enum": list(model.PRIORITIES)})]
Time = Annotated[str | None, Field(description="RFC 3339 time or date; empty: none")]
DueTime = Annotated[str | None, Field(description="when it is due")]
Assignee = Annotated[str | None, Field(description="any name; empty: none")]
Comment = Annotated[str | None, Field(description="to add")]
Related = Annotated[
    list[str] | None,
    Field(description="addresses: docs-12, tokonoma://memory/<id>; replaces all"),
]

_COMPARED = (
    "title", "description", "content", "status", "priority", "category", "start_date", "end_date", "version", "tags",
    "assignee",
)  # fmt: skip
_RELATIVE = ("add_tags", "remove_tags", "comment")  # they change a field, and are none


class UpdateFields(TypedDict, total=False):
    title: Title
    description: Text
    content: Markdown
    status: Status
    priority: Priority
    category: str | None
    start_date: Time
    end_date: DueTime
    version: str | None
    related: Related
    tags: Tags
    assignee: Assignee
    add_tags: list[str] | None
    remove_tags: list[str] | None
    comment: Comment


def select_given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def build_blank(desk: Desk, type: str) -> Item:
    """A new item with defaults."""
    who, at = desk.principal, desk.now()
    return Item(
        id=0, uid=uuid7(), namespace=who.default, classification="internal", type=type, title="", description="",
        content="", status="Open", priority=model.PRIORITIES.index("MEDIUM"), state=1, category="", start_at=None,
        end_at=None, version="", tags=(), created_at=at, updated_at=at, deleted_at=None, created_by=who.name,
        updated_by=who.name, revision=1, assignee="", claimed_until=None, comments=(),
    )  # fmt: skip


def apply_columns(desk: Desk, old: Item, columns: Mapping[str, Any]) -> Item:
    """The item with these columns, as errors.parse_fields returns them."""
    plain = {name: value for name, value in columns.items() if name not in _RELATIVE}
    new = old._replace(**{**plain, "tags": apply_tags(old.tags, columns)})
    if new.assignee != old.assignee:
        new = new._replace(claimed_until=None)
    if columns.get("comment"):
        comment: StoredComment = {"at": desk.now(), "by": desk.principal.name, "text": columns["comment"]}
        new = new._replace(comments=(*old.comments, comment))
    return new._replace(state=model.compute_state(new.status))


def apply_tags(old: tuple[str, ...], columns: Mapping[str, Any]) -> tuple[str, ...]:
    removed = {fold_tag(tag) for tag in columns.get("remove_tags", ())}
    tags = unique_tags((*columns.get("tags", old), *columns.get("add_tags", ())))
    return tuple(tag for tag in tags if fold_tag(tag) not in removed)


def check_sums(old: Item, columns: Mapping[str, Any], problems: ItemProblems) -> None:
    """Limits that what is added shares with what is already there."""
    if "add_tags" in columns and len(apply_tags(old.tags, columns)) > MAX_TAGS:
        problems.add("add_tags", columns["add_tags"], f"An item has at most {MAX_TAGS} tags")
    if columns.get("comment"):
        texts = [*(each["text"] for each in old.comments), columns["comment"]]
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        if len(texts) > MAX_COMMENTS or size > _MAX_COMMENT_BYTES:
            problems.add("comment", columns["comment"], _COMMENT_LIMIT, "constraint")


def check_comments(comments: Sequence[Any], problems: ItemProblems) -> tuple[StoredComment, ...]:
    """Imported comments."""
    size = sum(len(each["text"].encode("utf-8", "surrogatepass")) for each in comments)
    if len(comments) > MAX_COMMENTS or size > _MAX_COMMENT_BYTES:
        problems.add("comments", f"{len(comments)} comments", _COMMENT_LIMIT)
    if any("\0" in each["text"] + each["by"] for each in comments):
        problems.add("comments", "", "It contains a NUL character, which cannot be stored")
    return tuple(comments)


def diff_items(desk: Desk, old: Item, new: Item) -> dict[str, Any]:
    """Fields that differ, under the names of the response, each with its old and its new value; and a new comment."""
    before, after = (
        {"assignee": "", **model.to_summary(desk, item), "description": item.description, "content": item.content}
        for item in (old, new)
    )
    changes: dict[str, Any] = {
        name: {"from": before[name], "to": after[name]} for name in _COMPARED if before[name] != after[name]
    }
    if len(new.comments) > len(old.comments):
        changes["comment"] = new.comments[-1]["text"]
    return changes

"""memory.get, memory.list, memory.namespaces: reading without searching."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Document, Record, Rows, parse_address
from tokonoma.core.errors import Missing
from tokonoma.modules.memory.memo import Memo, MemoSummary, to_document, to_memo, to_record, to_summary
from tokonoma.modules.memory.save import Namespace
from tokonoma.modules.memory.tables import ALIVE, COLUMNS

_SHORT = 200  # characters of content in a list


class MemoDetail(MemoSummary):
    content: str
    content_length: int
    content_truncated: NotRequired[bool]


class MemoListEntry(MemoSummary):
    content: str
    content_truncated: NotRequired[bool]


class MemoList(TypedDict):
    items: list[MemoListEntry]
    has_more: bool
    next_cursor: NotRequired[str]


class NamespaceCount(TypedDict):
    namespace: str
    memos: int


class NamespaceList(TypedDict):
    items: list[NamespaceCount]
    has_more: bool
    next_cursor: NotRequired[str]


PageCursor = Annotated[str | None, Field(description="next_cursor of the page before")]


def get_memo(
    desk: Desk,
    memo_id: str,
    namespace: Namespace = None,
    offset: Annotated[int, Field(ge=0, description="character to start at")] = 0,
    max_characters: Annotated[int, Field(ge=1, le=100_000)] = 20_000,
) -> MemoDetail:
    """One memo with its content, from `offset` on; `content_truncated` says that there is more."""
    row = desk.row(f"select {COLUMNS} from memo where id = :id and {ALIVE} and {{visible}}", id=memo_id, now=now())  # noqa: S608
    memo = to_memo(row) if row else None
    if memo is None or (
        namespace and not spaces.is_inside(memo.space, spaces.resolve_namespace(namespace, desk.principal))
    ):
        raise Missing(f"There is no memo {memo_id!r} here.", memo_id=memo_id)
    piece = memo.content[offset : offset + max_characters]
    told: MemoDetail = {**to_summary(memo, desk.principal), "content": piece, "content_length": len(memo.content)}
    if offset + len(piece) < len(memo.content):
        told["content_truncated"] = True
    return told


def list_memos(
    desk: Desk,
    namespace: Namespace = None,
    state: Annotated[Literal["kept", "trash"], Field(description="trash: those that were deleted")] = "kept",
    thread: Annotated[str | None, Field(description="only memos of this thread")] = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: PageCursor = None,
) -> MemoList:
    """Memos of a namespace and those below it, last changed first, with the start of their content."""
    at, last = cursors.decode("memos", cursor) if cursor else (2**62, "")
    space = spaces.resolve_namespace(namespace, desk.principal)
    alive = ALIVE if state == "kept" else "deleted_at is not null and :now = :now"
    rows = desk.rows(
        f"""select {COLUMNS} from memo where {alive} and {{visible}}
            and (:space = '/' or space = :space or substr(space, 1, cast(:length as integer)) = :below)
            and (:thread = '' or thread = :thread)
            and (updated_at < :at or (updated_at = :at and id < :last))
        order by updated_at desc, id desc limit :most""",  # noqa: S608 - the columns are our own
        space=space,
        below=f"{space}/",
        length=len(space) + 1,
        thread=thread or "",
        now=now(),
        at=at,
        last=last,
        most=limit + 1,
    )
    memos = [to_memo(row) for row in rows[:limit]]
    page: MemoList = {"items": [_to_list_entry(memo, desk) for memo in memos], "has_more": len(rows) > limit}
    if len(rows) > limit:
        page["next_cursor"] = cursors.encode("memos", memos[-1].updated_at, memos[-1].id)
    return page


def list_namespaces(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=1000)] = 200,
    cursor: PageCursor = None,
) -> NamespaceList:
    """The namespaces that hold memos, in order of name, with how many each holds itself."""
    (last,) = cursors.decode("namespaces", cursor) if cursor else ("",)
    rows = desk.rows(
        f"""select space, count(*) from memo where {ALIVE} and {{visible}} and space > :last
        group by space order by space limit :most""",  # noqa: S608 - our own text
        now=now(),
        last=last,
        most=limit + 1,
    )
    items: list[NamespaceCount] = [
        {"namespace": spaces.format_namespace(space, desk.principal), "memos": count} for space, count in rows[:limit]
    ]
    page: NamespaceList = {"items": items, "has_more": len(rows) > limit}
    if len(rows) > limit:
        page["next_cursor"] = cursors.encode("namespaces", rows[limit - 1][0])
    return page


def read_record(rows: Rows, address: str) -> Record | None:
    """For the directory: any living memo by its address. The desk guards it."""
    row = rows.row(f"select {COLUMNS} from memo where id = :id and {ALIVE}", id=parse_address(address)[1], now=now())  # noqa: S608
    return to_record(to_memo(row)) if row else None


def list_documents(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: the living memos in order of address, a page at a time."""
    found = rows.rows(
        f"select {COLUMNS} from memo where {ALIVE} and id > :after order by id limit :most",  # noqa: S608 - our own
        now=now(),
        after=parse_address(after)[1] if after else "",
        most=limit,
    )
    return [to_document(to_memo(row)) for row in found]


def _to_list_entry(memo: Memo, desk: Desk) -> MemoListEntry:
    told: MemoListEntry = {**to_summary(memo, desk.principal), "content": memo.content[:_SHORT]}
    if len(memo.content) > _SHORT:
        told["content_truncated"] = True
    return told

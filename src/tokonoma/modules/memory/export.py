"""memory.export: whole memos and relations, page by page, for the owner's `tokonoma export`. It stands in no catalogue:
every page is as large as its memos are, which no agent should be handed.
"""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from tokonoma.core import namespaces as spaces
from tokonoma.core.clock import now
from tokonoma.core.desk import Desk, Row
from tokonoma.modules.memory.memo import Memo, to_memo
from tokonoma.modules.memory.relations import COLUMNS as RELATION
from tokonoma.modules.memory.tables import ALIVE, COLUMNS

_PAGE = 500  # memos
_BYTES = 4 * 1024 * 1024  # characters of content in a page, unless one memo alone has more
_RELATIONS = 1000

_INSIDE = "(:space = '/' or space = :space or substr(space, 1, cast(:length as integer)) = :below)"


class ExportedMemo(TypedDict):
    memo_id: str
    namespace: str
    title: str
    content: str
    metadata: dict[str, Any]
    thread: str
    created_at: int
    updated_at: int
    expires_at: int | None
    deleted_at: int | None
    version: int
    boundary: str


class ExportedRelation(TypedDict):
    namespace: str
    source: str
    target: str
    tag: str
    weight: float
    reason: str
    created_at: int
    updated_at: int
    version: int
    target_title: str


class MemoExportPage(TypedDict):
    memos: list[ExportedMemo]
    next: NotRequired[str]


class RelationExportPage(TypedDict):
    relations: list[ExportedRelation]
    next: NotRequired[list[str]]


def export_memos(desk: Desk, namespace: str | None = None, trash: bool = False, after: str = "") -> MemoExportPage:
    """The memos of a namespace and those below it, whole, in order of id; with `trash` also those that were deleted or
    have expired."""
    where = f"id > :after and {{visible}} and {_INSIDE} and {_build_state_filter(trash)}"
    asked = {"after": after, "now": now(), **_build_namespace_params(desk, namespace)}
    sizes = desk.rows(
        f"select id, length(content) from memo where {where} order by id limit {_PAGE}",  # noqa: S608 - our own text
        **asked,
    )
    if not sizes:
        return {"memos": []}
    last = _find_page_end(sizes)
    rows = desk.rows(
        f"select {COLUMNS} from memo where {where} and id <= :last order by id limit {_PAGE}",  # noqa: S608 - our own
        last=last,
        **asked,
    )
    page: MemoExportPage = {"memos": [_to_exported_memo(to_memo(row), desk) for row in rows]}
    if len(sizes) == _PAGE or last != sizes[-1][0]:
        page["next"] = last
    return page


def export_relations(
    desk: Desk,
    namespace: str | None = None,
    trash: bool = False,
    after: list[str] | None = None,
    sources: list[str] | None = None,
) -> RelationExportPage:
    """The relations whose two memos would be handed out, in order; with `sources` only those that start there."""
    names = {f"id{number}": memo_id for number, memo_id in enumerate(sources or ())}
    started = f"and source in ({', '.join(f':{name}' for name in names)})" if names else ""
    # Asked end by end: a page must not cost a walk over all memos.
    end = f"exists (select 1 from memo m where {{visible:m}} and {_INSIDE} and {_build_state_filter(trash)} and m.id ="  # noqa: S608
    last = after or ["", "", "", ""]
    rows = desk.rows(
        f"""select {RELATION}, (select title from memo t where t.id = r.target and {{visible:t}})
        from memo_relation r where {{visible:r}} {started} and {end} r.source) and {end} r.target)
            and (source, target, tag, space) > (:source, :target, :tag, :last)
        order by source, target, tag, space limit {_RELATIONS + 1}""",  # noqa: S608 - names of parameters, our own text
        now=now(),
        source=last[0],
        target=last[1],
        tag=last[2],
        last=last[3],
        **_build_namespace_params(desk, namespace),
        **names,
    )
    page: RelationExportPage = {"relations": [_to_exported_relation(row, desk) for row in rows[:_RELATIONS]]}
    if len(rows) > _RELATIONS:
        space, *key = rows[_RELATIONS - 1][:4]
        page["next"] = [*key, space]
    return page


def _build_namespace_params(desk: Desk, namespace: str | None) -> dict[str, str | int]:
    space = spaces.resolve_namespace(namespace or "/", desk.principal)
    return {"space": space, "below": f"{space}/", "length": len(space) + 1}


def _build_state_filter(trash: bool) -> str:
    return ":now = :now" if trash else ALIVE


def _find_page_end(sizes: list[Row]) -> str:
    """The last memo up to which a page is not too large; at least one is taken."""
    last, taken = "", 0
    for memo_id, size in sizes:
        taken += size
        if last and taken > _BYTES:
            break
        last = memo_id
    return last


def _to_exported_memo(memo: Memo, desk: Desk) -> ExportedMemo:
    return {
        "memo_id": memo.id, "namespace": spaces.format_namespace(memo.space, desk.principal), "title": memo.title,
        "content": memo.content, "metadata": memo.metadata, "thread": memo.thread, "created_at": memo.created_at,
        "updated_at": memo.updated_at, "expires_at": memo.expires_at, "deleted_at": memo.deleted_at,
        "version": memo.revision, "boundary": memo.label,
    }  # fmt: skip


def _to_exported_relation(row: Row, desk: Desk) -> ExportedRelation:
    space, source, target, tag, weight, reason, created_at, updated_at, revision, title = row
    return {
        "namespace": spaces.format_namespace(space, desk.principal), "source": source, "target": target, "tag": tag,
        "weight": weight, "reason": reason, "created_at": created_at, "updated_at": updated_at, "version": revision,
        "target_title": title or "",
    }  # fmt: skip

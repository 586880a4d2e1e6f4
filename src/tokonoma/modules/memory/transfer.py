"""memory.import, memory.export and memory.export.relations: whole memos and relations, for the owner's commands.

They stand in no catalogue. An agent must not choose ids or set clocks back, nor be given pages of whole memos. The
owner's `tokonoma import` and `tokonoma export` may.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.call import Principal
from tokonoma.core.desk import Desk, Row, Rows, Tx
from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import format_namespace, resolve_namespace
from tokonoma.core.screen_import import ScreenedImport, screen_import
from tokonoma.modules.memory import merge, tables
from tokonoma.modules.memory.merge import MergeOutcome, PortableMemo, PortableRelation
from tokonoma.modules.memory.model import DATES, Memo, RelationRow, to_document, to_memo, to_row
from tokonoma.modules.memory.read import fetch_memos
from tokonoma.modules.memory.relations import find_relation
from tokonoma.modules.memory.versions import keep_version

_MEMO_PAGE = 500
_PAGE_LENGTH = 4 * 1024 * 1024  # characters of content in a page, unless one memo alone has more
_RELATION_PAGE = 1000


class ExportedRelation(PortableRelation):
    target_title: str


class MemoExportPage(TypedDict):
    memos: list[PortableMemo]
    next: NotRequired[str]


class RelationExportPage(TypedDict):
    relations: list[ExportedRelation]
    next: NotRequired[list[str]]


def export_memos(desk: Desk, namespace: str | None = None, trash: bool = False, after: str = "") -> MemoExportPage:
    """Export the memos of a namespace and those below it, by id; with `trash` also deleted and expired ones."""
    where = f"id > :after and {{visible}} and {tables.INSIDE} and {'1 = 1' if trash else tables.ALIVE}"
    params = {"after": after, "now": desk.now(), **_bind_inside(desk, namespace)}
    sizes = desk.rows(f"select id, length(content) from memo where {where} order by id limit {_MEMO_PAGE}", **params)  # noqa: S608
    if not sizes:
        return {"memos": []}
    last = _find_page_end(sizes)
    rows = desk.rows(
        f"select {tables.COLUMNS} from memo where {where} and id <= :last order by id limit {_MEMO_PAGE}",  # noqa: S608
        last=last,
        **params,
    )
    memos = [to_memo(row) for row in rows]
    authors = desk.read_authors([memo.address for memo in memos])
    page: MemoExportPage = {
        "memos": [
            cast("PortableMemo", {**_to_portable(memo, desk.principal), "author": authors.get(memo.address, "")})
            for memo in memos
        ]
    }
    if len(sizes) == _MEMO_PAGE or last != sizes[-1][0]:
        page["next"] = last
    return page


def export_relations(
    desk: Desk,
    namespace: str | None = None,
    trash: bool = False,
    after: list[str] | None = None,
    sources: list[str] | None = None,
) -> RelationExportPage:
    """Export the relations whose two memos would be exported, in order; with `sources` only those that start there."""
    listed, params = tables.bind_ids(sources or ())
    started = f"and source in ({listed})" if listed else ""
    # Each end is looked up by its id: a page must not scan all memos.
    inside = f"{tables.INSIDE} and {'1 = 1' if trash else tables.ALIVE}"
    end = f"exists (select 1 from memo m where {{visible:m}} and {inside} and m.id ="  # noqa: S608
    rows = desk.rows(
        f"""select {tables.RELATION_COLUMNS}, (select title from memo t where t.id = r.target and {{visible:t}})
        from memo_relation r where {{visible:r}} {started} and {end} r.source) and {end} r.target)
            and (source, target, tag, space) > (:source, :target, :tag, :last)
        order by source, target, tag, space limit {_RELATION_PAGE + 1}""",  # noqa: S608 - parameters, our own text
        now=desk.now(),
        **dict(zip(("source", "target", "tag", "last"), after or [""] * 4, strict=True)),
        **_bind_inside(desk, namespace),
        **params,
    )
    relations = [
        {**_to_portable(RelationRow(*row), desk.principal), "target_title": title or ""}
        for *row, title in rows[:_RELATION_PAGE]
    ]
    page: RelationExportPage = {"relations": cast("list[ExportedRelation]", relations)}
    if len(rows) > _RELATION_PAGE:
        space, *key = rows[_RELATION_PAGE - 1][:4]
        page["next"] = [*key, space]
    return page


def import_memos(
    desk: Desk,
    memos: list[PortableMemo],
    relations: list[PortableRelation],
    dry_run: bool = False,
    coming: list[str] | None = None,
    seal: bool = False,
) -> dict[str, list[dict[str, str]]]:
    """Import memos and relations with their own ids, times and versions. Newer stored ones stay. With `dry_run` nothing
    is written; `coming` lists the memos that a real run would have saved before. What the policy refuses is skipped or,
    with `seal`, stored with the class secret."""
    screened = [screen_import(desk.policy, each, ("memo_id", "supersedes"), seal=seal) for each in memos]
    reasons = [screen_import(desk.policy, each, ("source", "target"), seal=seal) for each in relations]
    merged = _merge_all(desk, desk, screened, reasons, coming or ())
    if not dry_run and any(each.result is not None for each in (*merged[0], *merged[1])):
        with desk.write() as tx:
            merged = _merge_all(tx, desk, screened, reasons, (), tx, merged[0])
    memo_outcomes, relation_outcomes = ([each.to_response() for each in outcomes] for outcomes in merged)
    return {"memos": memo_outcomes, "relations": relation_outcomes}


def _merge_all(
    rows: Rows,
    desk: Desk,
    memos: Sequence[ScreenedImport],
    relations: Sequence[ScreenedImport],
    coming: Sequence[str],
    tx: Tx | None = None,
    before: Sequence[MergeOutcome[Memo]] = (),
) -> tuple[list[MergeOutcome[Memo]], list[MergeOutcome[RelationRow]]]:
    """What becomes of each. Written as well if there is a transaction; `before`: what it said without one."""
    stored = fetch_memos(rows, [each.fields["memo_id"] for each in memos], lock=tx is not None)
    merged = _merge_memos(desk, memos, stored, tx, before)
    at, who = desk.now(), desk.principal
    merged_relations: list[MergeOutcome[RelationRow]] = []
    names = [end for each in relations for end in (each.fields["source"], each.fields["target"])]
    ends = {**fetch_memos(rows, names), **stored}
    for screened in relations:
        given = cast("PortableRelation", screened.fields)
        try:
            new = merge.build_relation(given, who, ends, frozenset(coming), at)
        except Invalid as error:
            merged_relations.append(MergeOutcome("skipped", error.message))
            continue
        key = {"space": new.namespace, "source": new.source, "target": new.target, "tag": new.tag}
        merging = merge.merge_relation(new, find_relation(rows, key), at, foreign=given["version"] is None)
        merged_relations.append(merge.apply_screen(merging, screened))
        if tx is not None and (relation := merged_relations[-1].result) is not None:
            label = tx.classify(relation.classification, relation.namespace, relation.reason, relation.tag)
            tx.run(tables.PUT_RELATION, **to_row(replace(relation, classification=label)))
    return merged, merged_relations


def _merge_memos(
    desk: Desk,
    memos: Sequence[ScreenedImport],
    stored: dict[str, Memo],
    tx: Tx | None,
    before: Sequence[MergeOutcome[Memo]],
) -> list[MergeOutcome[Memo]]:
    """`stored` becomes what is stored then. New memos are written together."""
    at, who = desk.now(), desk.principal
    merged: list[MergeOutcome[Memo]] = []
    new: list[tuple[Memo, str | None]] = []
    for place, screened in enumerate(memos):
        sealed = {"boundary": "secret"} if screened.sealed else {}
        given = cast("PortableMemo", screened.fields | sealed)
        old = stored.get(given["memo_id"])
        if old is None and before and before[place].outcome == "saved":
            outcome = before[place]
        else:
            outcome = merge.apply_screen(merge.merge_memo(given, old, who, at), screened)
        merged.append(outcome)
        if outcome.result is None:
            continue
        stored[outcome.result.id] = outcome.result  # the same memo may come again in this call
        if tx is not None:
            # An exported file that was edited since is the text of whoever imports it.
            is_edited = given["version"] not in (None, outcome.result.revision)
            author = None if is_edited else given.get("author", "")
            if old is None and is_alive(outcome.result, at):
                new.append((outcome.result, author))
            else:
                _write_new(tx, desk, new)  # first: the old one may be among them
                write_memo(tx, desk, outcome.result, old, author)
    if tx is not None:
        _write_new(tx, desk, new)
    return merged


def is_alive(memo: Memo, at: int) -> bool:
    return memo.deleted_at is None and (memo.expires_at is None or memo.expires_at > at)


def _write_new(tx: Tx, desk: Desk, new: list[tuple[Memo, str | None]]) -> None:
    """Store memos that are not stored yet, with their authors, and empty the list."""
    if not new:
        return
    at, name = desk.now(), desk.principal.name
    labels = tx.put_all([replace(to_document(memo), author=author) for memo, author in new])
    made = [
        replace(memo, classification=label, version_at=at, author=name if author is None else author, change="imported")
        for (memo, author), label in zip(new, labels, strict=True)
    ]
    tx.run_many(tables.PUT_MEMO, [to_row(memo) for memo in made])
    new.clear()


def write_memo(tx: Tx, desk: Desk, memo: Memo, old: Memo | None, author: str | None) -> Memo:
    """Store it in place of the old one, which becomes an earlier version. Returns it with its class by the policy in
    force."""
    at = desk.now()
    if old is not None:
        keep_version(tx, old)
    made = {"version_at": at, "author": desk.principal.name if author is None else author, "change": "imported"}
    memo = replace(memo, classification=desk.policy.classify_document(to_document(memo)), **made)  # also in the trash
    tx.run(tables.PUT_MEMO, **to_row(memo))
    if is_alive(memo, at):
        tx.put(replace(to_document(memo), author=author))
    else:
        tx.drop(memo.address)
    return memo


def _bind_inside(desk: Desk, namespace: str | None) -> dict[str, str | int]:
    return tables.bind_namespace(resolve_namespace(namespace or "/", desk.principal))


def _find_page_end(sizes: list[Row]) -> str:
    """The last memo up to which a page is not too large; at least one is taken."""
    last, length = "", 0
    for memo_id, size in sizes:
        length += size
        if last and length > _PAGE_LENGTH:
            break
        last = memo_id
    return last


def _to_portable(record: Memo | RelationRow, who: Principal) -> dict[str, Any]:
    names = {field: name for name, field in merge.FIELD_NAMES.items()}
    values = {names.get(each.name, each.name): getattr(record, each.name) for each in fields(record)}
    for name in ("version_at", "change", "detail"):
        values.pop(name, None)  # of the history, which is not exported
    if isinstance(record, Memo):
        # What nobody has said is left out: so records look to other homes as they did before there were these fields.
        values = {name: value for name, value in values.items() if value or name not in (*DATES, "supersedes")}
        if record.supersedes:
            values["supersedes"] = list(record.supersedes)
    if isinstance(record, RelationRow):
        del values["boundary"]  # it follows from the memos
    return {**values, "namespace": format_namespace(record.namespace, who)}

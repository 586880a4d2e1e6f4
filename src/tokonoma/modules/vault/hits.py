"""vault_hits: the places that a vault_find found, and those that it did not search. They are kept for half an hour."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, FoundPlace, note_down
from tokonoma.core.errors import Missing
from tokonoma.core.ids import Opaque, uuid7
from tokonoma.core.recent import RecentResults
from tokonoma.files.index_sync import sync_folder
from tokonoma.files.listing import LeftOut
from tokonoma.files.text import file_address
from tokonoma.files.text_file import cite_file
from tokonoma.modules.vault import account, model
from tokonoma.modules.vault.matching import VaultCandidate, VaultJudgement

_MAX_TRAILS = 100
_recent = RecentResults()
_TRAIL_MS = 30 * 60_000
_SELECT_TRAIL = """select found, unscanned, summary from vault_trail
where id = :id and principal = :principal and at > :since"""
_INSERT_TRAIL = """insert into vault_trail (id, principal, at, found, unscanned, summary)
values (:id, :principal, :at, :found, :unscanned, :summary)"""
_PRUNE_TRAILS = """delete from vault_trail where at <= :old
or id <= (select id from vault_trail order by id desc limit 1 offset :most)"""
CutoffReason = Literal["time_budget", "candidate_cap", "indexing"]


@dataclass(slots=True)
class FindProgress:
    candidates: list[VaultCandidate] = field(default_factory=list[VaultCandidate])
    searched: set[str] = field(default_factory=set[str])  # files
    passages: int = 0
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    unscanned: list[tuple[str, int, CutoffReason]] = field(default_factory=list[tuple[str, int, CutoffReason]])
    warnings: list[str] = field(default_factory=list[str])
    cutoff: CutoffReason | None = None


class VaultRef(TypedDict):
    target: Literal["vault"]
    path: str
    start_line: NotRequired[int]
    version: NotRequired[Annotated[Opaque, Field(description="for expected_version of vault_read")]]


class VaultHit(TypedDict):
    ref: VaultRef
    title: str
    signals: list[str]
    score: float
    end_line: NotRequired[int]
    reason: NotRequired[str]
    files: NotRequired[Annotated[int, Field(description="of a folder that is left out, if not one")]]


class VaultHits(TypedDict):
    items: list[VaultHit]
    total: int
    unindexed: NotRequired[Annotated[int, Field(description="files that are named when they are indexed")]]
    summary: NotRequired[Annotated[dict[str, Any], Field(description="with kind summary: as vault_find returned it")]]


def list_hits(
    desk: Desk,
    trace_id: str,
    kind: Literal["candidates", "unscanned", "summary"] = "candidates",
    offset: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
) -> VaultHits:
    """List the places that a vault_find found, best first, or those that it did not search, with the reason; kept for
    30 minutes."""
    trail = _load_trail(desk, trace_id)
    if trail is None:
        raise Missing("There is no such trace; traces expire after 30 minutes. Search again.", trace_id=trace_id)
    if kind == "summary":
        return {"items": [], "total": len(json.loads(trail[0])), "summary": json.loads(trail[2]) or {}}
    saved: list[VaultHit] = json.loads(trail[0] if kind == "candidates" else trail[1])
    visible = {path for (path,) in desk.rows("select distinct path from vault_part where {visible} order by path")}
    versions: dict[str, str] = dict(desk.rows("select path, version from vault_file"))
    waiting = {each["ref"]["path"] for each in saved if each.get("reason") == "indexing"}.difference(versions)
    waiting = account.list_present(desk, waiting)
    # A file that is not indexed yet is not classified: it is named to the owner, for others it is counted.
    is_owner = desk.principal.kind == "owner"
    visible |= waiting if is_owner else set()
    # Files and policies may have changed since.
    listed = [
        each
        for each in saved
        if each["ref"]["path"] in visible or account.is_left_out(desk, each["ref"]["path"], each.get("reason"))
    ]
    page = listed[offset : offset + limit]
    for path in {each["ref"]["path"] for each in page}:
        cite_file(desk, path, versions.get(path, ""))
    answer: VaultHits = {"items": page, "total": len(listed)}
    if waiting and not is_owner:
        answer["unindexed"] = len(waiting)
    return answer


def list_found(desk: Desk, trace_id: str) -> list[FoundPlace] | None:
    """What a search found, as it is now."""
    trail = _load_trail(desk, trace_id)
    if trail is None:
        return None
    saved: list[VaultHit] = json.loads(trail[0])
    with model.open_vault(desk) as folder:
        versions = {file.path: file.version for file in sync_folder(desk, folder).files}
    found: list[FoundPlace] = []
    for rank, hit in enumerate(saved):
        path, first = hit["ref"]["path"], hit["ref"].get("start_line", 1)
        lines = first, hit.get("end_line", first)
        is_same = versions.get(path, "")[: model.SHORT_VERSION] == hit["ref"].get("version")
        problem = "" if is_same else "changed" if path in versions else "missing"
        place = file_address(path, *lines), file_address(path), lines
        found.append(FoundPlace(*place, tuple(hit["signals"]), hit["score"], rank, problem))
    return found


def _load_trail(desk: Desk, trace_id: str) -> Sequence[str] | None:
    """What was found, what was not searched, and the figures, all as JSON."""
    who, at = desk.principal.name, desk.now()
    kept = _recent.get(who, trace_id, at)
    return json.loads(kept) if kept else desk.row(_SELECT_TRAIL, id=trace_id, principal=who, since=at - _TRAIL_MS)


def save_trail(
    desk: Desk,
    judgement: VaultJudgement,
    progress: FindProgress,
    versions: Mapping[str, str],
    summary: Mapping[str, Any],
) -> str:
    """Save the result for vault_hits in any process, and delete all but the last hundred. The result of a caller that
    may only read stays in this process."""
    trail, at, principal = uuid7(), desk.now(), desk.principal.name
    found: list[VaultHit] = [
        {
            "ref": {
                "target": "vault",
                "path": each.path,
                "start_line": each.start,
                "version": versions[each.path][: model.SHORT_VERSION],
            },
            "title": each.title,
            "signals": list(each.signals),
            "score": each.score,
            "end_line": each.end,
        }
        for each in judgement.ranked
    ]
    places = [(path, reason, 1) for path, _, reason in progress.unscanned]
    places += [(each.path, each.reason, each.files) for each in progress.left_out]
    unscanned: list[dict[str, Any]] = [
        {"ref": {"target": "vault", "path": path}, "title": path, "signals": [], "score": 0.0, "reason": reason}
        | ({} if files == 1 else {"files": files})
        for path, reason, files in places
    ]
    lists = {"found": json.dumps(found, ensure_ascii=False), "unscanned": json.dumps(unscanned, ensure_ascii=False)}
    lists["summary"] = json.dumps(summary, ensure_ascii=False)
    if not desk.may_write:
        _recent.put(principal, trail, json.dumps([*lists.values()]), at + _TRAIL_MS)
        return trail

    def save() -> None:
        with desk.write() as tx:
            tx.run(_INSERT_TRAIL, id=trail, principal=principal, at=at, **lists)
            tx.run(_PRUNE_TRAILS, old=at - _TRAIL_MS, most=_MAX_TRAILS)

    note_down(save)
    return trail

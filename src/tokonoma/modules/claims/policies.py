"""pce.memory.boundary.validate and .policy.*: what the boundary says, and how it is changed."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.core.ids import Opaque
from tokonoma.core.policy import PolicyProposal, PolicyVersion, ReclassifyProgress
from tokonoma.modules.claims.claim import Scope, parse_scope
from tokonoma.modules.claims.recall import Allow


class BoundaryCheckResponse(TypedDict):
    allowed: bool
    reason: NotRequired[str]
    redacted: NotRequired[Opaque]
    policy_version: Opaque


class ReclassifyProgressResponse(TypedDict):
    version: Opaque
    in_force: bool
    done: int
    total: int


class PolicyApplyResponse(TypedDict):
    version: Opaque
    preview: NotRequired[dict[str, Any]]
    relabelling: NotRequired[ReclassifyProgressResponse]


class PolicyResponse(TypedDict):
    version: Opaque
    yaml: Opaque
    applied_at: NotRequired[Opaque]
    applied_by: NotRequired[str]
    approver: NotRequired[str]
    rolled_back_to: NotRequired[Opaque]
    relabelling: NotRequired[ReclassifyProgressResponse]


class PolicyHistoryResponse(TypedDict):
    items: list[PolicyResponse]
    has_more: bool
    next_cursor: NotRequired[Opaque]


def validate(
    desk: Desk,
    payload: Annotated[str, Field(description="what is about to be sent")],
    allow: Allow = None,
    scope: Annotated[Scope | None, Field(description="the scope that it comes from")] = None,
) -> BoundaryCheckResponse:
    """Ask before sending: whether a text may leave for this purpose, and what it looks like with everything masked. If
    allowed is false, send `redacted` or nothing."""
    boundary = desk.policy
    tags = tuple(allow) if allow is not None else boundary.tags
    beyond = boundary.find_tags_not_held(tags)
    if beyond:
        raise Denied(f"This caller does not hold {', '.join(beyond)}.", reason="allow", allow=list(boundary.tags))
    layer = parse_scope(scope) if scope else None
    redacted, counts, label = boundary.redact(payload)
    decision = boundary.decide(tags, label, layer)
    told = ", ".join(f"{count} × {kind}" for kind, count in counts.items())
    return {
        "allowed": decision.verdict == "allow",
        "reason": f"{decision.reason}; found: {told}" if told else decision.reason,
        "redacted": redacted,
        "policy_version": boundary.version,
    }


def policy_apply(
    desk: Desk,
    yaml: Annotated[str, Field(description="the policy, at most 64 KB")],
    dry_run: Annotated[bool, Field(description="tell what would change, and change nothing")] = False,
    validate_only: Annotated[bool, Field(description="only check the text")] = False,
    expected_version: Annotated[str | None, Field(description="refuse if another one is in force")] = None,
    signature: Annotated[str | None, Field(description="Ed25519 over the YAML, in base64, if asked for")] = None,
    approver: Annotated[str | None, Field(max_length=200, description="who approved it")] = None,
) -> PolicyApplyResponse:
    """Put a policy in force, for every module. With very many records it may come into force, or let milder classes
    follow, a little later: `relabelling` tells. Every version is kept; policy.rollback brings one back. Only the owner
    may."""
    boundary = desk.policy
    if desk.principal.kind != "owner":
        raise Denied("Only the owner of the server changes its policy.", reason="owner")
    if validate_only:
        return {"version": boundary.check(yaml)}
    proposal = PolicyProposal(yaml, expected_version, approver or "", signature or "")
    if dry_run:
        seen = boundary.preview(proposal)
        preview = {
            "diff": list(seen.diff), "records": seen.records, "relabelled": dict(seen.relabelled),
            "appear": seen.appear, "vanish": seen.vanish,
        }  # fmt: skip
        return {"version": seen.version, "preview": preview}
    boundary.check(yaml)
    boundary.prepare()
    with desk.write() as tx:
        kept = boundary.apply(tx, proposal)
    return _apply_response(kept, boundary.reclassify_records())


def policy_get(
    desk: Desk, version: Annotated[str | None, Field(max_length=40, description="default: the one in force")] = None
) -> PolicyResponse:
    """A policy as it was written; `relabelling` while records follow a new one."""
    boundary = desk.policy
    if version is not None:
        return _policy_response(boundary.find_version(version))
    told, progress = _policy_response(boundary.current_version()), boundary.progress()
    if progress is not None:
        told["relabelling"] = _progress_response(progress)
    return told


def policy_history(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> PolicyHistoryResponse:
    """Every policy that has been in force, newest first."""
    (before,) = cursors.decode("policies", cursor) if cursor else (None,)
    found = desk.policy.list_versions(limit + 1, before)
    page: PolicyHistoryResponse = {
        "items": [_policy_response(each) for each in found[:limit]],
        "has_more": len(found) > limit,
    }
    if len(found) > limit:
        page["next_cursor"] = cursors.encode("policies", found[limit - 1].number)
    return page


def policy_rollback(
    desk: Desk,
    version: Annotated[str, Field(max_length=40, description="one of policy.history")],
    expected_version: Annotated[str | None, Field(description="refuse if another one is in force")] = None,
) -> PolicyApplyResponse:
    """Put the text of an earlier policy in force again, under a new version. Only the owner may."""
    if desk.principal.kind != "owner":
        raise Denied("Only the owner of the server changes its policy.", reason="owner")
    desk.policy.prepare()
    with desk.write() as tx:
        kept = desk.policy.rollback(tx, version, expected_version)
    return _apply_response(kept, desk.policy.reclassify_records())


def _apply_response(kept: PolicyVersion, progress: ReclassifyProgress | None) -> PolicyApplyResponse:
    told: PolicyApplyResponse = {"version": kept.version}
    if progress is not None:
        told["relabelling"] = _progress_response(progress)
    return told


def _progress_response(progress: ReclassifyProgress) -> ReclassifyProgressResponse:
    return {
        "version": progress.version,
        "in_force": progress.in_force,
        "done": progress.done,
        "total": progress.total,
    }


def _policy_response(kept: PolicyVersion) -> PolicyResponse:
    told: PolicyResponse = {"version": kept.version, "yaml": kept.yaml}
    if kept.number:
        told["applied_at"], told["applied_by"] = format_time(kept.applied_at), kept.applied_by
    if kept.approver:
        told["approver"] = kept.approver
    if kept.rolled_back_to:
        told["rolled_back_to"] = kept.rolled_back_to
    return told

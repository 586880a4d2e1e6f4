"""pce.memory.boundary.validate and .policy.*: what the boundary says, and how it is changed."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core import cursor as cursors
from tokonoma.core.clock import shown
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.core.opaque import Plain
from tokonoma.core.policy_api import PolicyVersion, Progress, Proposal
from tokonoma.modules.claims.claim import Scope, scope_of
from tokonoma.modules.claims.recall import Allow


class Validated(TypedDict):
    allowed: bool
    reason: NotRequired[str]
    redacted: NotRequired[Plain]
    policy_version: Plain


class Relabelling(TypedDict):
    version: Plain
    in_force: bool
    done: int
    total: int


class Applied(TypedDict):
    version: Plain
    preview: NotRequired[dict[str, Any]]
    relabelling: NotRequired[Relabelling]


class PolicyTold(TypedDict):
    version: Plain
    yaml: Plain
    applied_at: NotRequired[Plain]
    applied_by: NotRequired[str]
    approver: NotRequired[str]
    rolled_back_to: NotRequired[Plain]
    relabelling: NotRequired[Relabelling]


class PolicyHistory(TypedDict):
    items: list[PolicyTold]
    has_more: bool
    next_cursor: NotRequired[Plain]


def validate(
    desk: Desk,
    payload: Annotated[str, Field(description="what is about to be sent")],
    allow: Allow = None,
    scope: Annotated[Scope | None, Field(description="the scope that it comes from")] = None,
) -> Validated:
    """Ask before sending: whether a text may leave for this purpose, and what it looks like with everything masked. If
    allowed is false, send `redacted` or nothing."""
    boundary = desk.boundary
    tags = tuple(allow) if allow is not None else boundary.tags
    beyond = boundary.beyond(tags)
    if beyond:
        raise Denied(f"This caller does not hold {', '.join(beyond)}.", reason="allow", allow=list(boundary.tags))
    layer = scope_of(scope) if scope else None
    redacted, counts, label = boundary.redacted(payload)
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
) -> Applied:
    """Put a policy in force, for every module. With very many records it may come into force, or let milder classes
    follow, a little later: `relabelling` tells. Every version is kept; policy.rollback brings one back. Only the owner
    may."""
    boundary = desk.boundary
    if desk.principal.kind != "owner":
        raise Denied("Only the owner of the server changes its policy.", reason="owner")
    if validate_only:
        return {"version": boundary.check(yaml)}
    proposal = Proposal(yaml, expected_version, approver or "", signature or "")
    if dry_run:
        seen = boundary.foreseen(proposal)
        preview = {
            "diff": list(seen.diff), "records": seen.records, "relabelled": dict(seen.relabelled),
            "appear": seen.appear, "vanish": seen.vanish,
        }  # fmt: skip
        return {"version": seen.version, "preview": preview}
    boundary.check(yaml)
    boundary.prepare()
    with desk.write() as tx:
        kept = boundary.apply(tx, proposal)
    return _applied(kept, boundary.settle())


def policy_get(
    desk: Desk, version: Annotated[str | None, Field(max_length=40, description="default: the one in force")] = None
) -> PolicyTold:
    """A policy as it was written; `relabelling` while records follow a new one."""
    boundary = desk.boundary
    if version is not None:
        return _told(boundary.named(version))
    told, progress = _told(boundary.current()), boundary.progress()
    if progress is not None:
        told["relabelling"] = _progress(progress)
    return told


def policy_history(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> PolicyHistory:
    """Every policy that has been in force, newest first."""
    (before,) = cursors.decode("policies", cursor) if cursor else (None,)
    found = desk.boundary.history(limit + 1, before)
    page: PolicyHistory = {"items": [_told(each) for each in found[:limit]], "has_more": len(found) > limit}
    if len(found) > limit:
        page["next_cursor"] = cursors.encode("policies", found[limit - 1].number)
    return page


def policy_rollback(
    desk: Desk,
    version: Annotated[str, Field(max_length=40, description="one of policy.history")],
    expected_version: Annotated[str | None, Field(description="refuse if another one is in force")] = None,
) -> Applied:
    """Put the text of an earlier policy in force again, under a new version. Only the owner may."""
    if desk.principal.kind != "owner":
        raise Denied("Only the owner of the server changes its policy.", reason="owner")
    desk.boundary.prepare()
    with desk.write() as tx:
        kept = desk.boundary.rollback(tx, version, expected_version)
    return _applied(kept, desk.boundary.settle())


def _applied(kept: PolicyVersion, progress: Progress | None) -> Applied:
    told: Applied = {"version": kept.version}
    if progress is not None:
        told["relabelling"] = _progress(progress)
    return told


def _progress(progress: Progress) -> Relabelling:
    return {
        "version": progress.version,
        "in_force": progress.in_force,
        "done": progress.done,
        "total": progress.total,
    }


def _told(kept: PolicyVersion) -> PolicyTold:
    told: PolicyTold = {"version": kept.version, "yaml": kept.yaml}
    if kept.number:
        told["applied_at"], told["applied_by"] = shown(kept.applied_at), kept.applied_by
    if kept.approver:
        told["approver"] = kept.approver
    if kept.rolled_back_to:
        told["rolled_back_to"] = kept.rolled_back_to
    return told

"""pce.memory.boundary.validate and .policy.*: check a text against the policy, read the policy and change it."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Denied
from tokonoma.core.ids import Opaque
from tokonoma.core.policy import DeskPolicy, PendingPolicy, PolicyProposal, PolicyVersion
from tokonoma.modules.claims.model import Allow, PageCursor, Scope, parse_scope, require_tags


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


class PendingPolicyResponse(TypedDict):
    id: Opaque
    loosens: list[str]
    approve: str


class PolicyApplyResponse(TypedDict):
    version: Opaque
    pending: NotRequired[PendingPolicyResponse]
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
    payload: Annotated[str, Field(description="the text to be sent")],
    allow: Allow = None,
    scope: Annotated[Scope | None, Field(description="the scope of the text")] = None,
) -> BoundaryCheckResponse:
    """Check a text before sending it: whether it may be sent for this purpose, and the text with all sensitive data
    masked. If allowed is false, send `redacted` or nothing."""
    policy = desk.policy
    tags = require_tags(policy, allow)
    layer = parse_scope(scope) if scope else None
    redacted, counts, classification = policy.redact(payload)
    decision = policy.decide(tags, classification, layer)
    found = ", ".join(f"{count} × {kind}" for kind, count in counts.items())
    return {
        "allowed": decision.verdict == "allow",
        "reason": f"{decision.reason}; found: {found}" if found else decision.reason,
        "redacted": redacted,
        "policy_version": policy.version,
    }


def policy_apply(
    desk: Desk,
    yaml: Annotated[str, Field(description="the policy, at most 64 KB")],
    dry_run: Annotated[bool, Field(description="return what would change; change nothing")] = False,
    validate_only: Annotated[bool, Field(description="only check the text")] = False,
    expected_version: Annotated[str | None, Field(description="fails if another version is in force")] = None,
    signature: Annotated[str | None, Field(description="Ed25519 signature in base64, if required")] = None,
    approver: Annotated[str | None, Field(max_length=200, description="who approved it")] = None,
) -> PolicyApplyResponse:
    """Put a policy in force for every module. If it loosens the one in force, it is stored as a proposal instead: the
    answer has `pending` with what it loosens, and the owner approves it at the terminal. With very many records a
    change takes a while: `relabelling` shows the progress. Every version stays stored. Only for the owner."""
    policy = _require_owner(desk)
    if validate_only:
        return {"version": policy.check(yaml)}
    proposal = PolicyProposal(yaml, expected_version, approver or "", signature or "")
    if dry_run:
        preview = asdict(policy.preview(proposal))
        return {"version": preview.pop("version"), "preview": preview}
    policy.check(yaml)
    return _change_policy(desk, lambda tx: policy.apply(tx, proposal))


def policy_get(
    desk: Desk, version: Annotated[str | None, Field(max_length=40, description="default: the version in force")] = None
) -> PolicyResponse:
    """Return a policy as it was written, with `relabelling` while records are reclassified for a new one."""
    policy = desk.policy
    if version is not None:
        return _policy_response(policy.find_version(version))
    response, progress = _policy_response(policy.current_version()), policy.progress()
    if progress is not None:
        response["relabelling"] = ReclassifyProgressResponse(**asdict(progress))
    return response


def policy_history(
    desk: Desk,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    cursor: PageCursor = None,
) -> PolicyHistoryResponse:
    """List every policy version, newest first."""
    (before,) = desk.open_cursor("policies", cursor) if cursor else (None,)
    found = desk.policy.list_versions(limit + 1, before)
    items = [_policy_response(each) for each in found[:limit]]
    page: PolicyHistoryResponse = {"items": items, "has_more": len(found) > limit}
    if len(found) > limit:
        page["next_cursor"] = desk.seal_cursor("policies", found[limit - 1].number)
    return page


def policy_rollback(
    desk: Desk,
    version: Annotated[str, Field(max_length=40, description="a version of policy.history")],
    expected_version: Annotated[str | None, Field(description="fails if another version is in force")] = None,
) -> PolicyApplyResponse:
    """Put the text of an earlier policy in force again, under a new version; a looser one becomes a proposal, as with
    policy.apply. Only for the owner."""
    policy = _require_owner(desk)
    return _change_policy(desk, lambda tx: policy.rollback(tx, version, expected_version))


def _require_owner(desk: Desk) -> DeskPolicy:
    if desk.principal.kind != "owner":
        raise Denied("Only the owner of the server can change its policy.", reason="owner")
    return desk.policy


def _change_policy(desk: Desk, change: Callable[[Tx], PolicyVersion | PendingPolicy]) -> PolicyApplyResponse:
    desk.policy.prepare()
    with desk.write() as tx:
        changed = change(tx)
    response: PolicyApplyResponse = {"version": changed.version}
    if isinstance(changed, PendingPolicy):
        approve = f"The owner runs `tokonoma policy approve {changed.id}` at the terminal."
        response["pending"] = {"id": changed.id, "loosens": list(changed.loosens), "approve": approve}
    elif (progress := desk.policy.reclassify_records()) is not None:
        response["relabelling"] = ReclassifyProgressResponse(**asdict(progress))
    return response


def _policy_response(stored: PolicyVersion) -> PolicyResponse:
    values = {**asdict(stored), "applied_at": stored.number and format_time(stored.applied_at)}
    return cast(PolicyResponse, {name: value for name, value in values.items() if value and name != "number"})

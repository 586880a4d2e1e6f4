"""Calls that wait for the owner, for the page that shows and decides them."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from tokonoma.app.approvals import decide_approval, list_approvals, read_approval
from tokonoma.app.masks import find_any_tool
from tokonoma.app.page_calls import build_page_call
from tokonoma.core.call import Caller
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.policy.approvals import Approval
from tokonoma.server.web.access_parts import ApprovalParts, WaitingCall

if TYPE_CHECKING:
    from tokonoma.app import App


def build_approval_parts(app: "App") -> ApprovalParts:
    return ApprovalParts(
        list_waiting=partial(_list_waiting, app),
        list_decided=partial(_list_decided, app),
        decide=partial(_decide, app),
    )


def _list_waiting(app: "App") -> Sequence[WaitingCall]:
    return [_read_waiting(app, each) for each in list_approvals(app)]


def _read_waiting(app: "App", approval: Approval) -> WaitingCall:
    try:
        params = read_approval(app, approval.id).params
    except Unavailable:  # one damaged row must not hide the others
        params = None
    try:
        effect = find_any_tool(app, approval.tool)[1].effect
    except Refusal:  # of the gateway, or of a module that is gone
        effect = ""
    return WaitingCall(approval, params, effect)


def _list_decided(app: "App") -> Sequence[Approval]:
    return [each for each in list_approvals(app, all_states=True) if each.state != "pending"]


def _decide(app: "App", caller: Caller, id: str, verdict: Literal["approved", "denied"]) -> Approval:
    return decide_approval(app, id, verdict, partial(build_page_call, caller))

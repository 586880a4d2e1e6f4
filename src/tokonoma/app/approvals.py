"""Calls that wait for an approval, for the owner's own places: the terminal, and pages. No tool leads here."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from tokonoma.core.call import OWNER, Call
from tokonoma.policy import approvals as store
from tokonoma.policy.approvals import Approval
from tokonoma.policy.versions import read_head

if TYPE_CHECKING:
    from tokonoma.app import App


def list_approvals(app: "App", *, all_states: bool = False) -> list[Approval]:
    """Those that wait, oldest first; or all of the last seven days, newest first."""
    with app.database.reading() as rows:
        return store.list_approvals(rows, app.clock(), all_states=all_states)


def read_approval(app: "App", id: str) -> Approval:
    """One with its parameters, in which is masked what the policy hides from the owner."""
    with app.database.reading() as rows:
        approval = store.find_approval(rows, id, read_head(rows).salt, app.clock())
    policy = app.policies.get_active()
    return replace(approval, params=policy.screen_result(policy.view_for(OWNER), dict(approval.params)).value)


def decide_approval(
    app: "App", id: str, verdict: Literal["approved", "denied"], build_call: Callable[[str], Call] | None = None
) -> Approval:
    """The decision of the owner, which the journal holds as `build_call` says: by default as work at the terminal."""
    from tokonoma.app import build_owner_call

    call = (build_call or build_owner_call)("approvals.approve" if verdict == "approved" else "approvals.deny")
    call.approval = id
    with app.journal.write(call) as statements:
        return store.decide_approval(statements, id, verdict, OWNER.name, read_head(statements).salt, app.clock())

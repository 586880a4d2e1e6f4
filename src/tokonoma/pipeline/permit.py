"""permit and ask: the policy's rules about tools. A call that they refuse goes no further; one that needs an approval
runs when a person has given it, once.

`permit` stands before the parameters are checked, so a refusal is the same whatever they are. `ask` stands after the
guard: what must not be stored is refused before a person is asked, and what is approved is what runs. The terminal is
the owner's place, and no rule binds it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from tokonoma.core.call import Call
from tokonoma.core.clock import format_time
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.module import ToolInfo
from tokonoma.core.policy import Policy, ToolVerdict
from tokonoma.policy.approvals import Approval, ApprovalRequest, make_digest

FindAccount = Callable[[Call, ToolInfo, Mapping[str, Any]], str]
"""The name of the account that a call of this tool uses; empty if it needs none. Raises if it is not certain"""


class AskApprovals(Protocol):
    """For each request the approval that is open for it: asks where there is none. `use`: uses up the given ones."""

    def __call__(self, requests: Sequence[ApprovalRequest], token: CancelToken, *, use: bool) -> Sequence[Approval]: ...


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A step of a batch, before any runs. `params` is None if they contain results of other steps."""

    line: int
    id: str
    tool: ToolInfo
    params: Mapping[str, Any] | None


class ToolGate:
    def __init__(self, policy: Callable[[], Policy], find_account: FindAccount, approvals: AskApprovals) -> None:
        self._policy, self._find_account, self._approvals = policy, find_account, approvals

    def permit(self, call: Call) -> None:
        """The stage before `parse`."""
        policy = self._policy()
        if not policy.judges_tools:
            return
        verdict = self._judge(policy, call, call.chosen_tool, call.params)
        if verdict == "deny":
            raise Denied(_refuse(call, call.chosen_tool), reason="tool_rule", policy_version=policy.version)
        if verdict == "ask" and call.verdict == "declined":
            message = f"{call.chosen_tool.path} needs an approval, and the question was declined. Nothing was run."
            raise Denied(message, reason="approval_declined")
        call.verdict = verdict

    def ask(self, call: Call) -> None:
        """The stage after `guard`."""
        if call.verdict != "ask":
            return
        tool = call.chosen_tool
        request = self._build_request(call, tool, call.params)
        if request.account and "account" in tool.input.get("properties", {}):
            # The account that was approved is the one that is used, whatever the default is by then.
            call.arguments = {**call.arguments, "account": request.account}
        (approval,) = self._approvals([request], call.cancel_token, use=True)
        call.approval = approval.id
        if approval.state == "denied":
            message = f"A person has refused this call of {tool.path}. Nothing was run; do not repeat it."
            raise Denied(message, reason="approval_denied", **_describe(approval))
        if approval.state != "used":
            message = f"{tool.path} needs the approval of a person, and nothing was run. {_advise(approval)}"
            raise Denied(message, reason="approval", **_describe(approval))

    def check_steps(self, parent: Call, steps: Sequence[StepRequest], *, dry_run: bool) -> Mapping[str, ToolVerdict]:
        """The verdict of each step of a batch, by id. Raises before any runs if one is refused, or if an approval is
        missing: then all of them are asked for at once. Each step uses its approval up when it runs."""
        policy = self._policy()
        if not policy.judges_tools:
            return {}
        verdicts: dict[str, ToolVerdict] = {
            step.id: self._judge(policy, parent, step.tool, step.params) for step in steps
        }
        if refused := [step for step in steps if verdicts[step.id] == "deny"]:
            errors = [_name_step(step, _refuse(parent, step.tool)) for step in refused]
            message = f"Nothing was run. Line {refused[0].line}: {errors[0]['message']}"
            raise Denied(message, reason="tool_rule", policy_version=policy.version, errors=errors)
        asked = [step for step in steps if verdicts[step.id] == "ask"]
        requests = self._build_requests(parent, asked)
        if asked and not dry_run:
            self._ask_all(policy, parent, asked, requests)
        return verdicts

    def _judge(self, policy: Policy, call: Call, tool: ToolInfo, params: Mapping[str, Any] | None) -> ToolVerdict:
        if call.caller.is_owner_at_work or not tool.listed:
            return "allow"
        account = None if params is None else partial(self._find_account, call, tool, params)
        return policy.judge_tool(call.principal, tool, account)

    def _build_request(self, call: Call, tool: ToolInfo, params: Mapping[str, Any]) -> ApprovalRequest:
        return ApprovalRequest(call.principal, tool.path, self._find_account(call, tool, params), params)

    def _build_requests(self, parent: Call, asked: Sequence[StepRequest]) -> list[ApprovalRequest]:
        """Invalid if a person could not see what a step does, or if two steps would need the same approval."""
        requests: list[ApprovalRequest] = []
        errors: list[dict[str, Any]] = []
        seen: dict[str, StepRequest] = {}
        for step in asked:
            if step.params is None:
                message = (
                    f"{step.tool.path} needs an approval, so its parameters must be written out: a person must see"
                )
                errors.append(_name_step(step, f"{message} them. Call it after the batch."))
                continue
            request = self._build_request(parent, step.tool, step.params)
            first = seen.setdefault(make_digest(request), step)
            if first is not step:
                message = (
                    f"This is the same call of {step.tool.path} as in line {first.line}, and an approval holds once."
                )
                errors.append(_name_step(step, message))
            requests.append(request)
        if errors:
            first_line = f"Line {errors[0]['line']}: {errors[0]['message']}"
            raise Invalid(f"Nothing was run. {first_line}", reason="plan", errors=errors)
        return requests

    def _ask_all(
        self, policy: Policy, parent: Call, asked: Sequence[StepRequest], requests: Sequence[ApprovalRequest]
    ) -> None:
        for step in asked:  # as the guard does when it runs: what must not be stored is not asked about
            module, writes = step.tool.module, step.tool.effect != "read"
            screened = policy.screen_arguments(parent.granted_view, module, step.params or {}, writes)
            if screened.refusal is not None and not step.tool.raw:
                raise screened.refusal
        approvals = self._approvals(requests, parent.cancel_token, use=False)
        if all(each.state == "approved" for each in approvals):
            return
        parent.approval = " ".join(each.id for each in approvals if each.state != "approved")
        steps = [
            {"line": step.line, "id": step.id, "tool": step.tool.path, "state": each.state, **_describe(each)}
            for step, each in zip(asked, approvals, strict=True)
        ]
        if any(each.state == "denied" for each in approvals):
            message = "A person has refused a step of this batch. Nothing was run; do not repeat it."
            raise Denied(message, reason="approval_denied", approvals=steps)
        waiting = [each for each in approvals if each.state == "pending"]
        count = "A step needs" if len(waiting) == 1 else f"{len(waiting)} steps need"
        advice = f"A person decides with `tokonoma approvals approve ID` in the terminal: {parent.approval}."
        message = f"{count} the approval of a person, and nothing was run. {advice} Then send the same batch again."
        raise Denied(message, reason="approval", approvals=steps)


def _refuse(call: Call, tool: ToolInfo) -> str:
    return f"The policy does not allow {call.principal.name} to use {tool.path}."


def _describe(approval: Approval) -> dict[str, str]:
    return {
        "approval_id": approval.id,
        "expires_at": format_time(approval.expires_at),
        "approve": f"tokonoma approvals approve {approval.id}",
    }


def _advise(approval: Approval) -> str:
    return (
        f"A person reads it with `tokonoma approvals show {approval.id}` in the terminal and approves it with "
        f"`tokonoma approvals approve {approval.id}`. Then send the same call again, before "
        f"{format_time(approval.expires_at)}."
    )


def _name_step(step: StepRequest, message: str) -> dict[str, Any]:
    return {"line": step.line, "id": step.id, "message": message}

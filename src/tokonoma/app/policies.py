"""The policy of a process, opened by the first call: the one in force, who may change it, and the rules about tools."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokonoma import catalogue
from tokonoma.core.call import Call
from tokonoma.core.concurrency import CancelToken
from tokonoma.core.module import ToolInfo
from tokonoma.core.providers import SERVICE_NAMES

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.pipeline.permit import ToolGate
    from tokonoma.policy.approvals import Approval, ApprovalRequest
    from tokonoma.policy.changes import PolicyControl
    from tokonoma.policy.current import CurrentPolicy


def open_policies(app: "App") -> "CurrentPolicy":
    from tokonoma.policy.current import CurrentPolicy
    from tokonoma.policy.reclassify import RecordSource

    index = app.search.index
    records = RecordSource(app.registry, index.put, index.put_all)
    return CurrentPolicy(app.database.reading, records, lambda: app.reclassifier.wake(), build_control(app))


def build_control(app: "App") -> "PolicyControl":
    from tokonoma.policy.changes import PolicyControl

    over_mcp, signers = app.settings.get_text("policy_over_mcp"), app.settings.get_names("policy_signers")
    return PolicyControl(over_mcp, signers, app.registry.list_names, lambda: list_tool_paths(app))


def list_tool_paths(app: "App") -> list[str]:
    """Of all modules, also of services without an account."""
    known = [*app.registry.list_all().values(), *catalogue.read_catalogue(catalogue.SERVICES_FILE)]
    return list(dict.fromkeys(tool.path for info in known for tool in info.entries))


def open_gate(app: "App") -> "ToolGate":
    from tokonoma.pipeline.permit import ToolGate

    def find_account(call: Call, tool: ToolInfo, params: Mapping[str, Any]) -> str:
        return _find_account(app, call, tool, params)

    def ask(requests: "Sequence[ApprovalRequest]", token: CancelToken, *, use: bool) -> "list[Approval]":
        from tokonoma.policy.approvals import find_or_ask, use_or_ask
        from tokonoma.policy.versions import read_head

        act = use_or_ask if use else find_or_ask
        with app.database.writing(token) as statements:
            salt = read_head(statements).salt
            return [act(statements, each, salt, app.clock()) for each in requests]

    return ToolGate(app.policies.get_active, find_account, ask)


def _find_account(app: "App", call: Call, tool: ToolInfo, params: Mapping[str, Any]) -> str:
    if tool.module not in SERVICE_NAMES:
        return ""
    from tokonoma.keyring.choose import choose_account

    given, reach = params.get("account"), call.principal.reach
    named = given if isinstance(given, str) else None
    with app.database.reading(call.cancel_token) as rows:
        return choose_account(rows, tool.module, reach, named, lambda name: reach.sees_tool(tool, name)).name

"""Why a credential may use a tool, or why the tool does not exist for it. Pure.

`visible` decides; this says by which rule. A test compares the two.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.core.namespaces import is_inside
from tokonoma.core.reach import MaskPattern, Reach, names_extra, parse_mask


@dataclass(frozen=True, slots=True)
class AccessVerdict:
    """`rule`: what decided, such as `mask` or `modules`; `value`: the line of it. Both are empty if it is allowed."""

    allowed: bool
    message: str
    rule: str = ""
    value: str = ""


def explain_access(
    info: ModuleInfo,
    tool: ToolInfo,
    reach: Reach,
    *,
    account: str | None = None,
    namespace: str | None = None,
    is_disabled: bool = False,
) -> AccessVerdict:
    """Whether the holder of this reach may call the tool: with this account of a service, in this namespace."""
    if is_disabled:
        return _refuse("modules_off", info.name, f"the module {info.name} is switched off on this server")
    refused = _explain_module(info.name, reach) or _explain_tool(tool, reach, None)
    if refused is None and info.accounts is not None:
        refused = _explain_accounts(info, tool, reach, account)
    elif refused is None and account is not None:
        refused = _refuse("account", account, f"{info.name} has no accounts")
    if refused is None and namespace is not None and not is_inside(namespace, reach.root):
        refused = _refuse("root", reach.root, f"{namespace} lies outside {reach.root}")
    return refused or AccessVerdict(True, "nothing hides it")


def find_rule(tool: ToolInfo, reach: Reach, account: str | None) -> str | None:
    """The first rule of the mask that hides the tool, with this account if one is given."""
    return next((rule for rule in sorted(reach.mask) if parse_mask(rule).matches(tool, account)), None)


def list_usable_accounts(info: ModuleInfo, reach: Reach, tools: Iterable[ToolInfo]) -> list[str]:
    """The accounts of a service that the mask leaves for one of these tools."""
    names = dict.fromkeys(each.name for each in info.accounts or () if reach.uses_account(each.namespace))
    return [name for name in names if any(reach.sees_tool(tool, name) for tool in tools)]


def _explain_module(name: str, reach: Reach) -> AccessVerdict | None:
    if reach.modules is not None and name not in reach.modules:
        listed = ",".join(sorted(reach.modules))
        return _refuse("modules", listed, f"{name} is not one of its modules")
    whole = (MaskPattern("*"), MaskPattern(name))
    rule = next((each for each in sorted(reach.mask) if parse_mask(each) in whole), None)
    return None if rule is None else _refuse("mask", rule, f"the mask hides {name} as a whole")


def _explain_tool(tool: ToolInfo, reach: Reach, account: str | None) -> AccessVerdict | None:
    if tool.extra and not names_extra(reach.extras, tool.path):
        listed = ",".join(sorted(reach.extras))
        return _refuse("extras", listed, f"{tool.path} is an extra tool, which a credential must name")
    rule = find_rule(tool, reach, account)
    return None if rule is None else _refuse("mask", rule, f"the mask hides {tool.path}" + _with_account(account))


def _explain_accounts(info: ModuleInfo, tool: ToolInfo, reach: Reach, named: str | None) -> AccessVerdict | None:
    accounts = [each for each in info.accounts or () if named in (None, each.name)]
    if not accounts:
        called = "" if named is None else f" called {named!r}"
        return _refuse("account", named or "", f"no account of {info.name}{called} is connected")
    served = [each.name for each in accounts if reach.uses_account(each.namespace)]
    if not served:
        places = ",".join(sorted({each.namespace for each in accounts}))
        base = reach.accounts_from or reach.root
        return _refuse("account", places, f"the accounts of {info.name} in {places} do not serve {base}")
    refusals = [_explain_tool(tool, reach, name) for name in served]
    return None if None in refusals else refusals[0]


def _with_account(account: str | None) -> str:
    return "" if account is None else f" with the account {account!r}"


def _refuse(rule: str, value: str, message: str) -> AccessVerdict:
    return AccessVerdict(False, message, rule, value)

"""Which tools a principal may use: by its modules and mask, and of a service by its accounts. Pure."""

from collections.abc import Sequence

from tokonoma.core.call import Principal
from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.core.providers import SERVICE_NAMES


def list_reachable(info: ModuleInfo, principal: Principal) -> Sequence[ToolInfo]:
    """The tools of a module that this principal may use, whether the module is switched on or not."""
    reach = principal.reach
    if not reach.sees_module(info.name):
        return ()
    accounts: Sequence[str | None] = (None,) if info.accounts is None else _list_accounts(info, principal)
    # A tool is there if the mask leaves it for one account at least.
    tools = [tool for tool in info.entries if any(reach.sees_tool(tool, account) for account in accounts)]
    return info.entries if len(tools) == len(info.entries) else tools


def sees_service(name: str, principal: Principal) -> bool:
    """Whether this is a service that the principal may know of, with or without an account."""
    return name in SERVICE_NAMES and principal.reach.sees_module(name)


def _list_accounts(info: ModuleInfo, principal: Principal) -> list[str]:
    """The accounts that serve the whole of this reach, as for a call."""
    return [each.name for each in info.accounts or () if principal.reach.uses_account(each.namespace)]

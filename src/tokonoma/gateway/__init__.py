"""The gateway: a few tools through which a client reaches every module.

This file holds what a client reads before its first call; it imports nothing heavy, because it is needed at start.
"""

from collections.abc import Sequence

from tokonoma.core.module import ModuleInfo

GATEWAY_TOOLS = ("get_module_schema", "call", "batch")
"""Those of specs/002, through which every module is reached."""

META_TOOLS = (*GATEWAY_TOOLS, "search", "fetch", "remember")
"""Those that stand for all modules at once come after them."""

RECENT, NAMESPACES = "recent", "namespaces"
"""What stands in the place of a module in the address of a listing: `tokonoma://recent/memory`."""

_MAX_NAMES = 100  # characters of the names of MCP servers

# The tools that `remember` stores with.
STORING_TOOLS = frozenset({"memory.save", "claims.upsert", "items.create_item"})


def list_meta_tools(modules: Sequence[ModuleInfo], surface: Sequence[str] = META_TOOLS) -> list[str]:
    """Those of the surface that a caller can use who sees these modules with these tools."""
    stores = any(tool.path in STORING_TOOLS for module in modules for tool in module.entries)
    return [name for name in surface if name != "remember" or stores]


def describe_modules(text: str, modules: Sequence[ModuleInfo]) -> str:
    """The description of `get_module_schema` with this caller's modules, which saves the caller a call."""
    lines = [f"- {module.name}: {module.summary}" for module in modules if not module.upstream]
    servers = [module.name for module in modules if module.upstream]
    if servers:
        lines.append(f"- MCP servers: {_list_some(servers)}")
    return "\n".join([text, "Modules:", *lines]) if modules else f"{text}\nThis credential can see no module."


def _list_some(names: Sequence[str]) -> str:
    """As many as fit into a short line: every client pays for it, and "*" lists all of them."""
    shown = list[str]()
    for name in names:
        if sum(map(len, shown)) + len(name) > _MAX_NAMES:
            return f'{", ".join(shown)} and {len(names) - len(shown)} more ("*" lists them)'
        shown.append(name)
    return ", ".join(shown)

"""get_module_schema: what the tools of a module, or single tools, take and return."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.catalogue.registry import to_mcp_tool
from tokonoma.catalogue.shared_parts import share_parts
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Missing, find_nearest
from tokonoma.core.module import ModuleInfo, ToolInfo

_MAX_NAMES = 50
_ALL = "*"
_SEPARATOR = re.compile(r"[._]")


class ModuleSchema(TypedDict):
    name: str
    summary: str
    shared: NotRequired[list[str]]
    tools: list[Any]


class ModuleSchemas(TypedDict):
    modules: list[ModuleSchema]
    not_connected: NotRequired[str]


def get_module_schema(
    desk: Desk,
    module: Annotated[str | list[str], Field(description='a module, a tool (memory.save), a list, or "*"')],
    format: Annotated[Literal["signature", "json"], Field(description="json: JSON Schemas, 3-5x longer")] = (
        "signature"
    ),
) -> ModuleSchemas:
    """Signatures of a module's tools. Read them before you use it. "*" lists all modules and tools."""
    modules = {info.name: info for info in desk.server.visible_modules(desk.principal)}
    names = [module] if isinstance(module, str) else list(dict.fromkeys(module))
    if names == [_ALL]:
        return _list_all(desk, modules.values())
    chosen = _choose_tools(desk, names, modules)
    parts = [replace(modules[name], entries=tools) for name, tools in chosen.items()]
    return {"modules": [_describe_module(info, format, desk) for info in parts]}


def _list_all(desk: Desk, modules: Iterable[ModuleInfo]) -> ModuleSchemas:
    listed: ModuleSchemas = {"modules": [_describe_module(info, "names", desk) for info in modules]}
    if services := desk.server.list_unconnected(desk.principal):
        listed["not_connected"] = f"{', '.join(services)}: the owner connects one with `tokonoma connect SERVICE`"
    return listed


def _choose_tools(
    desk: Desk, names: Sequence[str], modules: Mapping[str, ModuleInfo]
) -> Mapping[str, Sequence[ToolInfo]]:
    """By module, in the order of the names. Missing if one names neither a module nor a tool that the caller sees."""
    there = list(modules)
    if not 0 < len(names) <= _MAX_NAMES:
        raise Invalid(f"Name 1 to {_MAX_NAMES} modules. There are: {', '.join(there) or 'none'}.", modules=there)
    chosen: dict[str, Sequence[ToolInfo]] = {}
    unknown: list[str] = []
    for name in names:
        if name in modules:
            chosen[name] = modules[name].entries
        elif (tool := _find_tool(desk, name, modules)) is not None:
            known = chosen.get(tool.module, ())
            chosen[tool.module] = known if tool in known else [*known, tool]
        else:
            unknown.append(name)
    if not unknown:
        return chosen
    near = list(dict.fromkeys(each for name in unknown for each in find_nearest(name, there)))
    hint = f"Did you mean {' or '.join(map(repr, near[:3]))}?" if near else f"There are: {', '.join(there) or 'none'}."
    called = ", ".join(repr(name[:64]) for name in unknown[:5])
    raise Missing(f"There is no module called {called}. {hint}", reason="module", nearest=near[:3], modules=there)


def _find_tool(desk: Desk, name: str, modules: Mapping[str, ModuleInfo]) -> ToolInfo | None:
    """`memory.save`, `memory_save` or the name that tools/list has. Missing names the nearest tools of a module."""
    try:
        return desk.server.find_tool("", name, desk.principal)
    except Missing:
        module, *rest = _SEPARATOR.split(name, maxsplit=1)
        return desk.server.find_tool(module, rest[0], desk.principal) if rest and module in modules else None


def _describe_module(info: ModuleInfo, format: str, desk: Desk) -> ModuleSchema:
    if format == "json":
        # `call` takes the short name; the listed one is an alias of it.
        tools = [{**to_mcp_tool(tool, desk.principal.reach), "name": tool.name} for tool in info.entries]
        schema: ModuleSchema = {"name": info.name, "summary": info.summary, "tools": tools}
        return {**schema, "shared": list(info.notes)} if info.notes else schema
    if format == "names":
        return {"name": info.name, "summary": info.summary, "tools": [tool.name for tool in info.entries]}
    types, parameters, signatures = share_parts([tool.signature for tool in info.entries], info.types)
    schema = {"name": info.name, "summary": info.summary, "tools": signatures}
    if shared := [*info.notes, *types, *parameters]:
        schema["shared"] = shared
    return schema

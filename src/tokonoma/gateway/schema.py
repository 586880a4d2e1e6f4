"""get_module_schema: the tools of a module, once somebody wants to use them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.catalogue.registry import to_mcp_tool
from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.module import ModuleInfo
from tokonoma.core.suggestions import find_nearest

_MAX_MODULES = 50
_ALL = "*"


class ModuleSchema(TypedDict):
    name: str
    summary: str
    tools: list[Any]


class ModuleSchemas(TypedDict):
    modules: list[ModuleSchema]


def get_module_schema(
    desk: Desk,
    module: Annotated[str | list[str], Field(description='a name, a list of names, or "*"')],
    format: Annotated[Literal["signature", "json"], Field(description="json: full JSON Schemas, 3-5 times longer")] = (
        "signature"
    ),
) -> ModuleSchemas:
    """What the tools of a module take and give, as compact signatures. Read it once before you use a module, and
    remember it. "*" lists all modules with the bare names of their tools."""
    shelves = {shelf.name: shelf for shelf in desk.server.visible_modules(desk.principal)}
    names = [module] if isinstance(module, str) else list(dict.fromkeys(module))
    if names == [_ALL]:
        return {
            "modules": [_build_schema(shelf, [entry.name for entry in shelf.entries]) for shelf in shelves.values()]
        }
    _check_names(names, shelves)
    return {"modules": [_build_schema(shelves[name], _describe_tools(shelves[name], format)) for name in names]}


def _check_names(names: list[str], shelves: Mapping[str, ModuleInfo]) -> None:
    there = list(shelves)
    if not 0 < len(names) <= _MAX_MODULES:
        raise Invalid(f"Name 1 to {_MAX_MODULES} modules. There are: {', '.join(there) or 'none'}.", modules=there)
    unknown = [name for name in names if name not in shelves]
    if not unknown:
        return
    near = list(dict.fromkeys(each for name in unknown for each in find_nearest(name, there)))
    hint = f"Did you mean {' or '.join(map(repr, near[:3]))}?" if near else f"There are: {', '.join(there) or 'none'}."
    called = ", ".join(repr(name[:64]) for name in unknown[:5])
    raise Missing(f"There is no module called {called}. {hint}", reason="module", nearest=near[:3], modules=there)


def _build_schema(shelf: ModuleInfo, tools: list[Any]) -> ModuleSchema:
    return {"name": shelf.name, "summary": shelf.summary, "tools": tools}


def _describe_tools(shelf: ModuleInfo, format: str) -> list[Any]:
    if format == "signature":
        return [entry.signature for entry in shelf.entries]
    # `call` takes the short name; the listed one is an alias of it.
    return [{**to_mcp_tool(entry), "name": entry.name} for entry in shelf.entries]

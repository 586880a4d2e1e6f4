"""A plugin's module is looked at once, when it is enabled: what would fail later is refused here, in words."""

import inspect
import re
from collections.abc import Sequence

from tokonoma import catalogue
from tokonoma.catalogue.plugins.discover import PluginOffer
from tokonoma.core.errors import Conflict, Invalid
from tokonoma.core.module import Module, ModuleInfo, Tool, ToolInfo

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TOOL = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
_LISTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# The house keeps its own tables under these names, as each module does under its own.
_RESERVED = frozenset({"gateway", "journal", "auth", "search"})


def describe_plugin(offer: PluginOffer) -> ModuleInfo:
    """The catalogue of a plugin, made from its code; Invalid names the first thing that is not as it must be."""
    module = _load_plugin(offer)
    if module.name != offer.name:
        raise _invalid_plugin(offer, f"its entry point is called {offer.name!r}, its module {module.name!r}")
    if not _NAME.fullmatch(module.name):
        raise _invalid_plugin(offer, "a module's name is lower-case letters, digits and underscores, a letter first")
    if module.name in _RESERVED:
        raise _invalid_plugin(offer, "the house uses that name itself")
    _check_tools(offer, module.tools)
    try:
        return catalogue.describe_module(module, offer.source)
    except (TypeError, KeyError, NameError) as error:  # no docstring, no return type, a type without a schema
        raise _invalid_plugin(offer, str(error)) from error


def check_unique(shelf: ModuleInfo, others: Sequence[ModuleInfo]) -> None:
    """No name may lead to two tools."""
    if any(other.name == shelf.name for other in others):
        raise Conflict(f"There is already a module called {shelf.name!r}; a plugin cannot take its place.")
    owners = {name: other.name for other in others for entry in other.entries for name in _full_names(entry)}
    for entry in shelf.entries:
        if not _LISTED.fullmatch(entry.listed):
            raise Invalid(
                f"{entry.listed!r}, a tool of {shelf.name}, cannot be listed: clients take 1 to 64 of a-z A-Z 0-9 _ -."
            )
        for name in _full_names(entry):
            if name in owners:
                raise Conflict(f"{name!r}, a tool of {shelf.name}, is already the name of a tool of {owners[name]}.")
            owners[name] = shelf.name


def _full_names(entry: ToolInfo) -> set[str]:
    """Every name that finds a tool without its module; dots and underscores are one."""
    return {name.replace(".", "_") for name in (entry.listed, f"{entry.module}_{entry.name}", *entry.aliases)}


def _load_plugin(offer: PluginOffer) -> Module:
    try:
        module = catalogue.load_module(offer.source)
    except Exception as error:  # anything may happen in somebody else's package
        raise _invalid_plugin(offer, f"loading {offer.source} failed with {type(error).__name__}: {error}") from error
    if not isinstance(module, Module):
        raise _invalid_plugin(offer, f"{offer.source} is not a tokonoma.core.module.Module")
    return module


def _check_tools(offer: PluginOffer, tools: Sequence[Tool]) -> None:
    if not tools:
        raise _invalid_plugin(offer, "it has no tools")
    for tool in tools:
        if not _TOOL.fullmatch(tool.name):
            raise _invalid_plugin(offer, f"{tool.name!r} cannot be a tool's name: write it like save or relation.save")
        if inspect.iscoroutinefunction(tool.run) != tool.outside:
            form = "an `async def`, as it is marked outside" if tool.outside else "a plain `def`, or be marked outside"
            raise _invalid_plugin(offer, f"the tool {tool.name!r} must be {form}")


def _invalid_plugin(offer: PluginOffer, what: str) -> Invalid:
    said = f"The module {offer.name!r} of the package {offer.package!r} cannot be used: {what}"
    return Invalid(said if said.endswith(".") else said + ".", reason="plugin")

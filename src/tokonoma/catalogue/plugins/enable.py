"""Plugins: find them in installed packages, check their modules, and enable or disable them.

Enabling a plugin stores its catalogue in the home; disabling removes it. Its tables and their rows stay.
"""

import inspect
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from tokonoma import catalogue
from tokonoma.catalogue.known_modules import full_names
from tokonoma.catalogue.plugins import plugins_file, read_plugins
from tokonoma.catalogue.plugins.names import find_name_problem, find_table_problem
from tokonoma.core.errors import Conflict, Invalid, Missing, Refusal, find_nearest
from tokonoma.core.module import Module, ModuleInfo, Tool

GROUP = "tokonoma.modules"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TOOL = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
_LISTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class PluginOffer:
    name: str
    source: str  # "package.module:ATTRIBUTE"
    package: str
    version: str


def list_offers() -> list[PluginOffer]:
    """The modules of installed packages, without the built-in ones."""
    points = [
        point for point in metadata.entry_points(group=GROUP) if point.value not in catalogue.BUILT_IN_MODULES.values()
    ]
    # A folder that is on the path twice lists its package twice.
    return sorted({_build_offer(point) for point in points}, key=lambda each: (each.name, each.package))


def find_offer(name: str) -> PluginOffer:
    """The offer with this name; Missing or Conflict unless exactly one package has it."""
    found = [each for each in list_offers() if each.name == name]
    if not found:
        known = [each.name for each in list_offers()]
        meant = find_nearest(name, known)
        hint = f"Did you mean {meant[0]!r}?" if meant else f"Installed: {', '.join(known) or 'none'}."
        raise Missing(f"No installed package offers a module called {name!r}. {hint}", reason="plugin")
    if len(found) > 1:
        packages = ", ".join(each.package for each in found)
        raise Conflict(f"Several packages offer a module called {name!r}: {packages}. Uninstall all but one.")
    return found[0]


def _build_offer(point: metadata.EntryPoint) -> PluginOffer:
    package = point.dist
    return PluginOffer(point.name, point.value, package.name if package else "?", package.version if package else "?")


def enable_plugin(home: Path, name: str) -> ModuleInfo:
    """Load the module, check it against the others, and store its catalogue."""
    others = [module for module in read_plugins(home) if module.name != name]
    module = describe_plugin(find_offer(name), [*catalogue.BUILT_IN_MODULES, *(each.name for each in others)])
    check_unique(module, [*catalogue.read_catalogue(catalogue.CATALOGUE_FILE), *others])
    _save_plugins(home, [*others, module])
    return module


def disable_plugin(home: Path, name: str) -> None:
    modules = read_plugins(home)
    rest = [module for module in modules if module.name != name]
    if len(rest) == len(modules):
        enabled = ", ".join(module.name for module in modules) or "none"
        raise Missing(f"No plugin called {name!r} is enabled. Enabled: {enabled}.", reason="plugin")
    _save_plugins(home, rest)


def find_problem(module: ModuleInfo, offers: Iterable[PluginOffer]) -> tuple[str, str]:
    """What is wrong with an enabled plugin, and how to repair it; both empty if nothing is."""
    drop = f"run `tokonoma plugins disable {module.name}`"
    found = next((each for each in offers if each.name == module.name), None)
    if found is None:
        return "its package is no longer installed", f"Install it again, or {drop}."
    try:
        current = describe_plugin(found)
    except Refusal as error:
        return error.message, f"Update the package {found.package}, or {drop}."
    if catalogue.dump_catalogue([current]) != catalogue.dump_catalogue([module]):
        return "its code has changed since it was enabled", f"Run `tokonoma plugins enable {module.name}` again."
    return "", ""


def _save_plugins(home: Path, modules: Sequence[ModuleInfo]) -> None:
    """Atomic: a server that starts meanwhile reads the old file or the new one."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile(dir=home, prefix=".plugins-", delete=False) as file:
        temporary = Path(file.name)
        try:
            file.write(catalogue.dump_catalogue(modules))
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(plugins_file(home))
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def describe_plugin(offer: PluginOffer, others: Iterable[str] = ()) -> ModuleInfo:
    """The catalogue of a plugin, made from its code; Invalid names the first problem. `others` are other modules."""
    module = _load_plugin(offer)
    if module.name != offer.name:
        raise _invalid_plugin(offer, f"its entry point is called {offer.name!r}, its module {module.name!r}")
    if not _NAME.fullmatch(module.name):
        raise _invalid_plugin(
            offer, "a module's name must be lower-case letters, digits and underscores, and start with a letter"
        )
    if problem := find_name_problem(module.name) or find_table_problem(module, others):
        raise _invalid_plugin(offer, problem)
    if module.reclassify is None and (module.record_tables or module.read or module.documents):
        raise _invalid_plugin(
            offer,
            "it has records (record_tables, read or documents) but no `reclassify`: they could not follow the policy",
        )
    _check_tools(offer, module.tools)
    try:
        return catalogue.describe_module(module, offer.source)
    except (TypeError, KeyError, NameError) as error:  # no docstring, no return type, a type without a schema
        raise _invalid_plugin(offer, str(error)) from error


def check_unique(module: ModuleInfo, others: Sequence[ModuleInfo]) -> None:
    """Refuse a plugin with a name that another tool already has."""
    if any(other.name == module.name for other in others):
        raise Conflict(f"There is already a module called {module.name!r}; a plugin cannot take its place.")
    owners = {name: other.name for other in others for entry in other.entries for name in full_names(entry)}
    taken = {f"{other.name}_{prompt.name}" for other in others for prompt in other.prompts}
    for name in (f"{module.name}_{prompt.name}" for prompt in module.prompts):
        if name in taken or not _LISTED.fullmatch(name):
            raise Invalid(f"The prompt {name!r} of {module.name} cannot be listed: its name is taken or not allowed.")
        taken.add(name)
    for entry in module.entries:
        if not _LISTED.fullmatch(entry.listed):
            rule = "clients take 1 to 64 of a-z A-Z 0-9 _ -"
            raise Invalid(f"{entry.listed!r}, a tool of {module.name}, cannot be listed: {rule}.")
        for name in full_names(entry):
            if name in owners:
                raise Conflict(f"{name!r}, a tool of {module.name}, is already the name of a tool of {owners[name]}.")
            owners[name] = module.name


def _load_plugin(offer: PluginOffer) -> Module:
    try:
        module = catalogue.load_module(offer.source)
    except Exception as error:  # code of another package may raise anything
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
    message = f"The module {offer.name!r} of the package {offer.package!r} cannot be used: {what}"
    return Invalid(message if message.endswith(".") else message + ".", reason="plugin")

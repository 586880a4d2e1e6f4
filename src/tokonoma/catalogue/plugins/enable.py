"""Enabling a plugin keeps its catalogue in the home; disabling forgets it. Its tables and what they hold stay."""

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokonoma import catalogue
from tokonoma.catalogue.plugins import plugins_file, read_plugins
from tokonoma.catalogue.plugins.check import check_unique, describe_plugin
from tokonoma.catalogue.plugins.discover import PluginOffer, find_offer
from tokonoma.core.errors import Missing, Refusal
from tokonoma.core.module import ModuleInfo


def enable_plugin(home: Path, name: str) -> ModuleInfo:
    """Load the module, check it against the house, and keep its catalogue."""
    others = [shelf for shelf in read_plugins(home) if shelf.name != name]
    shelf = describe_plugin(find_offer(name))
    check_unique(shelf, [*catalogue.read_catalogue(catalogue.CATALOGUE_FILE), *others])
    _save_plugins(home, [*others, shelf])
    return shelf


def disable_plugin(home: Path, name: str) -> None:
    shelves = read_plugins(home)
    rest = [shelf for shelf in shelves if shelf.name != name]
    if len(rest) == len(shelves):
        enabled = ", ".join(shelf.name for shelf in shelves) or "none"
        raise Missing(f"No plugin called {name!r} is enabled. Enabled are: {enabled}.", reason="plugin")
    _save_plugins(home, rest)


def find_problem(shelf: ModuleInfo, offers: Iterable[PluginOffer]) -> tuple[str, str]:
    """What is wrong with an enabled plugin, and what repairs it; both empty when all is well."""
    drop = f"run `tokonoma plugins disable {shelf.name}`"
    found = next((each for each in offers if each.name == shelf.name), None)
    if found is None:
        return "its package is no longer installed", f"Install it again, or {drop}."
    try:
        now = describe_plugin(found)
    except Refusal as error:
        return error.message, f"Update the package {found.package}, or {drop}."
    if catalogue.dump_catalogue([now]) != catalogue.dump_catalogue([shelf]):
        return "its code has changed since it was enabled", f"Run `tokonoma plugins enable {shelf.name}` again."
    return "", ""


def _save_plugins(home: Path, shelves: Sequence[ModuleInfo]) -> None:
    """All or nothing: a server that starts in this moment reads the old file or the new one."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile(dir=home, prefix=".plugins-", delete=False) as file:
        made = Path(file.name)
        try:
            file.write(catalogue.dump_catalogue(shelves))
            file.flush()
            os.fsync(file.fileno())
            made.replace(plugins_file(home))
        except BaseException:
            made.unlink(missing_ok=True)
            raise

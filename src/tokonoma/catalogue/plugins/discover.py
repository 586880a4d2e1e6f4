"""Offers: the modules that installed packages have, found by their entry points."""

from dataclasses import dataclass
from importlib import metadata

from tokonoma import catalogue
from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.suggestions import find_nearest

GROUP = "tokonoma.modules"


@dataclass(frozen=True, slots=True)
class PluginOffer:
    name: str
    source: str  # "package.module:ATTRIBUTE"
    package: str
    version: str


def list_offers() -> list[PluginOffer]:
    """What the installed packages offer, besides what is built in."""
    points = [
        point for point in metadata.entry_points(group=GROUP) if point.value not in catalogue.BUILT_IN_MODULES.values()
    ]
    # A folder that stands on the path twice shows its package twice.
    return sorted({_build_offer(point) for point in points}, key=lambda each: (each.name, each.package))


def find_offer(name: str) -> PluginOffer:
    """The one package's offer under this name."""
    found = [each for each in list_offers() if each.name == name]
    if not found:
        known = [each.name for each in list_offers()]
        meant = find_nearest(name, known)
        hint = f"Did you mean {meant[0]!r}?" if meant else f"Installed are: {', '.join(known) or 'none'}."
        raise Missing(f"No installed package offers a module called {name!r}. {hint}", reason="plugin")
    if len(found) > 1:
        packages = ", ".join(each.package for each in found)
        raise Conflict(f"Several packages offer a module called {name!r}: {packages}. Uninstall all but one.")
    return found[0]


def _build_offer(point: metadata.EntryPoint) -> PluginOffer:
    package = point.dist
    return PluginOffer(point.name, point.value, package.name if package else "?", package.version if package else "?")

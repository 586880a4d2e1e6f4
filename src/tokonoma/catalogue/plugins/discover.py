"""Offers: the modules that installed packages have, found by their entry points."""

from dataclasses import dataclass
from importlib import metadata

from tokonoma import catalogue
from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.suggestions import nearest

GROUP = "tokonoma.modules"


@dataclass(frozen=True, slots=True)
class Offer:
    name: str
    source: str  # "package.module:ATTRIBUTE"
    package: str
    version: str


def offers() -> list[Offer]:
    """What the installed packages offer, besides what is built in."""
    points = [point for point in metadata.entry_points(group=GROUP) if point.value not in catalogue.BUILT_IN.values()]
    # A folder that stands on the path twice shows its package twice.
    return sorted({_offer(point) for point in points}, key=lambda each: (each.name, each.package))


def offered(name: str) -> Offer:
    """The one package's offer under this name."""
    found = [each for each in offers() if each.name == name]
    if not found:
        known = [each.name for each in offers()]
        meant = nearest(name, known)
        hint = f"Did you mean {meant[0]!r}?" if meant else f"Installed are: {', '.join(known) or 'none'}."
        raise Missing(f"No installed package offers a module called {name!r}. {hint}", reason="plugin")
    if len(found) > 1:
        packages = ", ".join(each.package for each in found)
        raise Conflict(f"Several packages offer a module called {name!r}: {packages}. Uninstall all but one.")
    return found[0]


def _offer(point: metadata.EntryPoint) -> Offer:
    package = point.dist
    return Offer(point.name, point.value, package.name if package else "?", package.version if package else "?")

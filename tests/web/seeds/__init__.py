"""What stands on the pages while they are tested. Each file of this folder fills one group of pages.

A file has `fill(site, text)`: it stores records whose every text field holds `text`, through the tools that people and
agents use, and returns the paths of the pages that then show it. It can be called many times on one site."""

import importlib
import pkgutil
from collections.abc import Callable

from web.site import Site

Fill = Callable[[Site, str], list[str]]


def list_fillers() -> dict[str, Fill]:
    return {
        each.name: importlib.import_module(f"web.seeds.{each.name}").fill for each in pkgutil.iter_modules(__path__)
    }

"""Plugins: modules of other packages. Enabling one (enable.py) stores its catalogue in the home.

A start reads that file and nothing else: entry points cost 50 ms, and a plugin's code is imported when it is called.
"""

from pathlib import Path

from tokonoma import catalogue
from tokonoma.core.errors import Unready
from tokonoma.core.log import log
from tokonoma.core.module import ModuleInfo


def plugins_file(home: Path) -> Path:
    return home / "plugins.json"


def read_plugins(home: Path) -> list[ModuleInfo]:
    """The enabled plugins; Unready if their file is damaged."""
    file = plugins_file(home)
    try:
        return catalogue.read_catalogue(file)
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        raise Unready(
            f"{file} is damaged. Remove it, then enable each plugin again with `tokonoma plugins enable NAME`.",
            reason="plugins",
        ) from error


def read_usable_plugins(home: Path) -> list[ModuleInfo]:
    """The enabled plugins, at start: the server logs what it cannot use, and starts without it."""
    try:
        modules = read_plugins(home)
    except Unready as error:
        log("error", "plugins", message=error.message)
        return []
    for module in modules:
        if module.name in catalogue.BUILT_IN_MODULES:
            message = f"The plugin {module.name!r} is ignored: a built-in module has that name."
            log("warning", "plugins", message=message)
    return [module for module in modules if module.name not in catalogue.BUILT_IN_MODULES]

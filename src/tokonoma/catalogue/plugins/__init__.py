"""Plugins: modules of other packages. Enabling one (enable.py) stores its catalogue in the home.

A start reads that file and nothing else: entry points cost 50 ms, and a plugin's code is imported when it is called.
"""

from collections.abc import Sequence
from pathlib import Path

from tokonoma import catalogue
from tokonoma.catalogue.plugins.names import find_name_problem
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
    except OSError as error:
        raise Unready(f"This user may not read {file}. Correct its permissions.", reason="plugins") from error
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
    problems = {module.name: _find_problem(module.name) for module in modules}
    for name, problem in problems.items():
        if problem:
            log("warning", "plugins", message=f"The plugin {name!r} is ignored: {problem}.")
    return [module for module in modules if not problems[module.name]]


def _find_problem(name: str) -> str:
    return "a built-in module has that name" if name in catalogue.BUILT_IN_MODULES else find_name_problem(name)


class PluginWatch:
    """All modules, whenever the file of the enabled plugins has changed: other processes enable and disable them."""

    def __init__(self, home: Path, built_in: Sequence[ModuleInfo]) -> None:
        self._home, self._built_in = home, built_in
        self._stamp = self._read_stamp()

    def read_all(self) -> list[ModuleInfo]:
        return [*self._built_in, *read_usable_plugins(self._home)]

    def poll(self) -> list[ModuleInfo] | None:
        """None if nothing has changed since the last call."""
        stamp = self._read_stamp()
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        return self.read_all()

    def _read_stamp(self) -> tuple[int, ...] | None:
        try:
            found = plugins_file(self._home).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

"""The modules of a registry at one moment, and the names by which their tools are found."""

from collections.abc import Iterable, Sequence

from tokonoma.core.errors import Missing, find_nearest
from tokonoma.core.module import ModuleInfo, ToolInfo


class KnownModules:
    """Never changed: a registry that changes gets another one."""

    def __init__(self, infos: Iterable[ModuleInfo]) -> None:
        self.infos = {info.name: info for info in infos}
        self.names = {info.name: _index_names(info) for info in self.infos.values()}
        tools = [tool for info in self.infos.values() for tool in info.entries]
        # The first keeps its name: modules of others come after our own.
        self.by_full_name = {name: tool for tool in reversed(tools) for name in full_names(tool)}


def full_names(tool: ToolInfo) -> set[str]:
    """Every name that finds a tool without its module; dots and underscores are the same."""
    return {normalize_name(name) for name in (f"{tool.module}_{tool.name}", tool.listed, *tool.aliases)}


def normalize_name(name: str) -> str:
    return name.replace(".", "_")


def unknown_name_error(reason: str, kind: str, name: str, known: Sequence[str]) -> Missing:
    meant = find_nearest(name, known)
    hint = f"Did you mean {' or '.join(map(repr, meant))}?" if meant else f"There are: {', '.join(known) or 'none'}."
    message = f"There is no {kind} called {name[:80]!r}. {hint}"
    return Missing(message, reason=reason, nearest=meant, **{f"{reason}s": known})


def _index_names(info: ModuleInfo) -> dict[str, ToolInfo]:
    names: dict[str, ToolInfo] = {}
    for tool in info.entries:
        for name in (normalize_name(tool.name), *full_names(tool)):
            names.setdefault(name, tool)
    return names

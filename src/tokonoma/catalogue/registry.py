"""The registry: which modules there are, which of them a credential can see, and their code once it is needed."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tokonoma.core.addresses import parse_address
from tokonoma.core.call import Principal
from tokonoma.core.desk import Desk, Record, Rows
from tokonoma.core.errors import DEFAULT_CODES, Denied, ErrorCodes, Missing, Refusal, Unready
from tokonoma.core.log import log
from tokonoma.core.module import Module, ModuleInfo, Tool, ToolInfo
from tokonoma.core.suggestions import find_nearest

if TYPE_CHECKING:
    from tokonoma.catalogue.schemas import ParamParser

GATEWAY = "gateway"


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """A tool whose code is loaded."""

    module: Module
    tool: Tool
    parse: "ParamParser"


class Registry:
    """`load` imports a module's value; `prepare` makes its tables ready. Both run once, on the first call."""

    def __init__(
        self,
        shelves: Iterable[ModuleInfo],
        load: Callable[[str], Module],
        prepare: Callable[[Module], None],
        off: frozenset[str] = frozenset(),
    ) -> None:
        self._infos = {shelf.name: shelf for shelf in shelves}
        self._load, self._prepare, self._disabled = load, prepare, off
        self._names = {shelf.name: _index_names(shelf) for shelf in self._infos.values()}
        self._by_full_name = {
            name: entry for names in self._names.values() for name, entry in names.items() if _is_full_name(entry, name)
        }
        self._modules: dict[str, Module] = {}
        self._loaded_tools: dict[str, LoadedTool] = {}
        self._lock = threading.RLock()

    def visible_modules(self, who: Principal) -> list[ModuleInfo]:
        """What this principal sees; the gateway itself is not a module to be called."""
        seen: list[ModuleInfo] = []
        for shelf in self._infos.values():
            entries = self._visible_tools(shelf, who)
            if entries:
                seen.append(shelf if len(entries) == len(shelf.entries) else replace(shelf, entries=entries))
        return seen

    def find_tool(self, module: str, tool: str, who: Principal) -> ToolInfo:
        """The entry for any spelling of a tool's name; what is masked looks as if it did not exist.

        Without a module the name is one of `tools/call`: `memory_save`, `memory.save`, `create_item`.
        """
        if not module:
            return self._find_by_full_name(tool, who)
        if module in self._disabled:
            raise Denied(f"The module {module!r} is switched off on this server.", reason="module", module=module)
        shelf = self._infos.get(module)
        entries = () if shelf is None else self._visible_tools(shelf, who)
        if not entries:
            raise _unknown_name("module", "module", module, [each.name for each in self.visible_modules(who)])
        entry = self._names[module].get(_normalize_name(tool))
        if entry is None or entry not in entries:
            raise _unknown_name("tool", f"tool in {module}", tool, [each.name for each in entries])
        return entry

    def find_meta_tool(self, name: str) -> ToolInfo:
        """One of the gateway's own tools."""
        return self._names[GATEWAY][_normalize_name(name)]

    def find_owner_tool(self, module: str, name: str) -> ToolInfo:
        """One of a module's tools for the owner's own commands; `find` never gives one of these."""
        if module in self._disabled:
            raise Denied(f"The module {module!r} is switched off on this server.", reason="module", module=module)
        if module not in self._infos:
            raise _unknown_name("module", "module", module, list(self._infos))
        tool = next(each for each in self.get_module(module).owner_tools if each.name == name)
        return ToolInfo(
            module, name, "", tool.title, "", tool.effect, False, tool.idempotent, (), {}, {}, name, tool.time_limit
        )

    def _find_by_full_name(self, name: str, who: Principal) -> ToolInfo:
        entry = self._by_full_name.get(_normalize_name(name))
        if entry is None or entry not in self._visible_tools(self._infos[entry.module], who):
            raise _unknown_name(
                "tool", "tool", name, [each.listed for shelf in self.visible_modules(who) for each in shelf.entries]
            )
        return entry

    def _visible_tools(self, shelf: ModuleInfo, who: Principal) -> Sequence[ToolInfo]:
        name = shelf.name
        if name == GATEWAY or name in self._disabled or not who.reach.sees_module(name):
            return ()
        tools = [entry for entry in shelf.entries if who.reach.sees_tool(entry)]
        return shelf.entries if len(tools) == len(shelf.entries) else tools

    def load_tool(self, entry: ToolInfo) -> LoadedTool:
        """The tool's code, loaded on first use."""
        found = self._loaded_tools.get(entry.path)
        if found is None:
            found = self._bind_tool(entry)
        return found

    def parse_params(self, entry: ToolInfo, params: Mapping[str, Any]) -> dict[str, Any]:
        """The checked arguments of a call."""
        return self.load_tool(entry).parse(params)

    def return_type(self, entry: ToolInfo) -> Any:
        """The type of what a tool gives."""
        from typing import get_type_hints

        return get_type_hints(self.load_tool(entry).tool.run, include_extras=True)["return"]

    def get_module(self, name: str) -> Module:
        found = self._modules.get(name)
        if found is None:
            with self._lock:
                found = self._modules.get(name)
                if found is None:
                    found = self._import_module(self._infos[name])
                    self._prepare(found)
                    self._modules[name] = found
        return found

    def find_module(self, name: str) -> Module | None:
        """None for the module of a plugin that is no longer there."""
        return self.get_module(name) if name in self._infos else None

    def load_all(self) -> list[Module]:
        """All of them, loaded; Unready if one cannot be."""
        return [self.get_module(name) for name in self._infos if name != GATEWAY]

    def error_codes(self, name: str) -> ErrorCodes:
        """The error codes of a module; the house's own for one that is not there."""
        if name not in self._infos or name in self._disabled:
            return DEFAULT_CODES
        try:
            return self.get_module(name).codes
        except Refusal:  # it cannot be loaded, or its tables not be made ready: the error to be told is this one
            return DEFAULT_CODES

    def read_record(self, rows: Rows, address: str) -> Record | None:
        """The Directory: any address → its record."""
        module = self._owning_module(address)
        return module.read(rows, address) if module is not None and module.read is not None else None

    def refresh(self, desk: Desk, address: str) -> None:
        module = self._owning_module(address)
        if module is not None and module.refresh is not None:
            module.refresh(desk, address)

    def mark_used(self, desk: Desk, address: str, trace_id: str) -> None:
        module = self._owning_module(address)
        if module is not None and module.on_used is not None:
            module.on_used(desk, address, trace_id)

    def _owning_module(self, address: str) -> Module | None:
        name, _ = parse_address(address)
        return self.get_module(name) if name in self._infos and name != GATEWAY else None

    def record_tables(self) -> frozenset[str]:
        """The record tables of the modules loaded so far."""
        return frozenset(table for module in self._modules.values() for table in module.record_tables)

    def unclassified_tables(self) -> frozenset[str]:
        """Their tables whose rows hold texts without a class."""
        return frozenset(table for module in self._modules.values() for table in module.unclassified_tables)

    def _import_module(self, shelf: ModuleInfo) -> Module:
        try:
            return self._load(shelf.source)
        except Refusal:
            raise
        except Exception as error:  # a plugin's package may be gone or broken
            log("error", "module", module=shelf.name, source=shelf.source, error=type(error).__name__)
            raise Unready(
                f"The module {shelf.name!r} cannot be loaded. `tokonoma doctor` tells why.", reason="module"
            ) from error

    def _bind_tool(self, entry: ToolInfo) -> LoadedTool:
        from tokonoma.catalogue.schemas import build_parser  # pydantic is not needed before the first call

        with self._lock:
            module = self.get_module(entry.module)
            offered = module.tools if entry.listed else module.owner_tools
            tool = next((each for each in offered if each.name == entry.name), None)
            if tool is None:
                raise Missing(
                    f"The module {entry.module!r} has changed and no longer has {entry.name!r}. "
                    f"Run `tokonoma plugins enable {entry.module}` again.",
                    reason="tool",
                )
            return self._loaded_tools.setdefault(
                entry.path, LoadedTool(module, tool, build_parser(tool, entry.signature))
            )


def to_mcp_tool(entry: ToolInfo) -> Mapping[str, Any]:
    """An entry in the shape of MCP's `tools/list`."""
    return {
        "name": entry.listed,
        "title": entry.title,
        "description": entry.description,
        "inputSchema": entry.input,
        "outputSchema": entry.output,
        "annotations": {
            "readOnlyHint": entry.effect == "read",
            "destructiveHint": entry.effect == "destroy",
            "idempotentHint": entry.idempotent or entry.effect == "read",
            "openWorldHint": entry.outside,
        },
    }


def _index_names(shelf: ModuleInfo) -> dict[str, ToolInfo]:
    names: dict[str, ToolInfo] = {}
    for entry in shelf.entries:
        for name in (entry.name, f"{shelf.name}_{entry.name}", entry.listed, *entry.aliases):
            names.setdefault(_normalize_name(name), entry)
    return names


def _is_full_name(entry: ToolInfo, key: str) -> bool:
    """Whether a key names the tool without its module: everything but the short name."""
    return key != _normalize_name(entry.name) or key in {
        _normalize_name(entry.listed),
        *map(_normalize_name, entry.aliases),
    }


def _normalize_name(name: str) -> str:
    return name.replace(".", "_")


def _unknown_name(reason: str, kind: str, name: str, known: Sequence[str]) -> Missing:
    meant = find_nearest(name, known)
    hint = f"Did you mean {' or '.join(map(repr, meant))}?" if meant else f"There are: {', '.join(known) or 'none'}."
    return Missing(
        f"There is no {kind} called {name[:80]!r}. {hint}", reason=reason, nearest=meant, **{f"{reason}s": known}
    )

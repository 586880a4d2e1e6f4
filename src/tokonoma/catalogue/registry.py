"""The registry: which modules exist, which of them a principal can see, and their code once it is needed."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_type_hints

from tokonoma.catalogue import BUILT_IN_MODULES
from tokonoma.catalogue.known_modules import KnownModules, normalize_name, unknown_name_error
from tokonoma.catalogue.plugins.names import find_unclassified
from tokonoma.catalogue.slips import parse_mended
from tokonoma.catalogue.visible import list_reachable, sees_service
from tokonoma.core.call import Principal
from tokonoma.core.desk import Record, Rows, parse_address
from tokonoma.core.errors import DEFAULT_CODES, Denied, ErrorCodes, Missing, Refusal, Unready
from tokonoma.core.log import log
from tokonoma.core.module import Module, ModuleInfo, Tool, ToolInfo
from tokonoma.core.providers import SERVICE_NAMES, not_connected_error
from tokonoma.core.reach import UNLIMITED, Reach

if TYPE_CHECKING:
    from tokonoma.catalogue.schemas import ParamParser

GATEWAY = "gateway"
POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """A tool whose code is loaded."""

    module: Module
    tool: Tool
    parse: "ParamParser"
    returns: Any  # the annotation of what it returns


class Registry:
    """`load` imports a `Module` value; `prepare` creates its tables. Both run once per module, on its first call.

    `poll` returns all modules if they have changed since it was last asked, else None. It is asked at most once per
    second, so that a running server notices what another process has enabled or disabled.
    """

    def __init__(
        self,
        infos: Iterable[ModuleInfo],
        load: Callable[[str], Module],
        prepare: Callable[[Module], None],
        off: frozenset[str] = frozenset(),
        poll: Callable[[], Sequence[ModuleInfo] | None] | None = None,
    ) -> None:
        self._known = KnownModules(infos)
        self._load, self._prepare, self._disabled, self._poll = load, prepare, off, poll
        self._modules: dict[str, Module] = {}
        self._loaded_tools: dict[str, LoadedTool] = {}
        self._lock = threading.RLock()
        self._next_poll = 0.0

    def replace_modules(self, infos: Iterable[ModuleInfo]) -> None:
        """Know these modules from now on. Calls under way finish with the code that they have loaded."""
        with self._lock:
            old, self._known = self._known.infos, KnownModules(infos)
            for name in [name for name in self._modules if self._known.infos.get(name) != old.get(name)]:
                del self._modules[name]
                for path in [path for path in self._loaded_tools if path.startswith(f"{name}.")]:
                    del self._loaded_tools[path]

    def _get_known(self) -> KnownModules:
        if self._poll is not None and time.monotonic() >= self._next_poll:
            self._next_poll = time.monotonic() + POLL_SECONDS
            changed = self._poll()
            if changed is not None:
                self.replace_modules(changed)
        return self._known

    def list_names(self) -> list[str]:
        """The names of all modules, also of those that are switched off, and of services without an account."""
        known = self._get_known().infos
        return [name for name in {**known, **dict.fromkeys(sorted(SERVICE_NAMES))} if name != GATEWAY]

    def list_all(self) -> dict[str, ModuleInfo]:  # with the gateway, and with what is switched off
        return dict(self._get_known().infos)

    def list_unconnected(self, principal: Principal) -> list[str]:
        """The services that this principal could use, and has no account of."""
        known = self._get_known().infos
        usable = [name for name in sorted(SERVICE_NAMES - self._disabled) if sees_service(name, principal)]
        return [name for name in usable if name not in known or not list_reachable(known[name], principal)]

    def visible_modules(self, principal: Principal) -> list[ModuleInfo]:
        """The modules that this principal sees, without the gateway, each with the tools that it sees."""
        seen: list[ModuleInfo] = []
        for info in self._get_known().infos.values():
            entries = self._list_visible(info, principal)
            if entries:
                seen.append(info if len(entries) == len(info.entries) else replace(info, entries=entries))
        return seen

    def find_tool(self, module: str, tool: str, principal: Principal) -> ToolInfo:
        """The tool with this name or alias; a masked tool fails like one that does not exist.

        Without a module the name is one of `tools/call`: `memory_save`, `memory.save`, `create_item`.
        """
        if not module:
            return self._find_by_full_name(tool, principal)
        known = self._get_known()
        info = known.infos.get(module)
        entries = () if info is None or module == GATEWAY else list_reachable(info, principal)
        is_service = sees_service(module, principal)
        if module in self._disabled and (entries or is_service):
            raise Denied(f"The module {module!r} is switched off on this server.", reason="module", module=module)
        if not entries and is_service:
            raise not_connected_error(module)
        if not entries:
            raise unknown_name_error(
                "module", "module", module, [each.name for each in self.visible_modules(principal)]
            )
        entry = known.names[module].get(normalize_name(tool))
        if entry is None or entry not in entries:
            raise unknown_name_error("tool", f"tool in {module}", tool, [each.name for each in entries])
        return entry

    def writes(self, module: str, tool: str) -> bool:
        """Whether the tool of this name may write; False if there is none."""
        known = self._known
        names = known.names.get(module, {}) if module else known.by_full_name
        entry = names.get(normalize_name(tool))
        return entry is not None and entry.effect != "read"

    def find_meta_tool(self, name: str) -> ToolInfo:
        """One of the gateway's own tools."""
        return self._known.names[GATEWAY][normalize_name(name)]

    def find_owner_tool(self, module: str, name: str) -> ToolInfo:
        """A tool for the owner's own commands; `find_tool` never returns one of these."""
        if module in self._disabled:
            raise Denied(f"The module {module!r} is switched off on this server.", reason="module", module=module)
        if module not in self._known.infos:
            raise unknown_name_error("module", "module", module, list(self._known.infos))
        tool = next(each for each in self.get_module(module).owner_tools if each.name == name)
        return ToolInfo(
            module, name, "", tool.title, "", tool.effect, False, tool.idempotent, (), {}, {}, name, tool.time_limit
        )

    def _find_by_full_name(self, name: str, principal: Principal) -> ToolInfo:
        modules = self._get_known()
        entry = modules.by_full_name.get(normalize_name(name))
        if entry is None or entry not in self._list_visible(modules.infos[entry.module], principal):
            known = [each.listed for info in self.visible_modules(principal) for each in info.entries]
            raise unknown_name_error("tool", "tool", name, known)
        return entry

    def _list_visible(self, info: ModuleInfo, principal: Principal) -> Sequence[ToolInfo]:
        return () if info.name == GATEWAY or info.name in self._disabled else list_reachable(info, principal)

    def load_tool(self, entry: ToolInfo) -> LoadedTool:
        """The tool's code, loaded on first use."""
        return self._loaded_tools.get(entry.path) or self._bind_tool(entry)

    def parse_params(self, entry: ToolInfo, params: Mapping[str, Any]) -> dict[str, Any]:
        """The checked arguments of a call, with plain slips corrected."""
        return parse_mended(self.load_tool(entry).parse, entry.input, params)[0]

    def return_type(self, entry: ToolInfo) -> Any:
        return self.load_tool(entry).returns

    def get_module(self, name: str) -> Module:
        if name not in self._modules:
            with self._lock:
                if name not in self._modules:
                    module = self._import_module(self._known.infos[name])
                    if name not in BUILT_IN_MODULES:
                        module = replace(module, unclassified_tables=find_unclassified(module))
                    self._prepare(module)
                    self._modules[name] = module
        return self._modules[name]

    def find_module(self, name: str) -> Module | None:
        """None for the module of a plugin that was removed."""
        return self.get_module(name) if name in self._known.infos else None

    def load_all(self) -> list[Module]:
        """All modules, loaded; Unready if one cannot be."""
        return [self.get_module(name) for name in self._known.infos if name != GATEWAY]

    def error_codes(self, name: str) -> ErrorCodes:
        """The error codes of a module; the defaults if there is no such module."""
        if name not in self._known.infos or name in self._disabled:
            return DEFAULT_CODES
        try:
            return self.get_module(name).codes
        except Refusal:  # it cannot be loaded or prepared: that error is the one to report
            return DEFAULT_CODES

    def is_visible(self, principal: Principal, address: str) -> bool:
        """Whether this principal sees the module of an address."""
        info = self._get_known().infos.get(parse_address(address)[0])
        return info is not None and bool(self._list_visible(info, principal))

    def is_readable(self, principal: Principal, module: str) -> bool:
        """Whether this principal sees a reading tool of the module."""
        info = self._get_known().infos.get(module)
        return info is not None and any(tool.effect == "read" for tool in self._list_visible(info, principal))

    def read_record(self, rows: Rows, address: str) -> Record | None:
        """Any address → its record."""
        module = self.find_owner(address)
        return module.read(rows, address) if module and module.read else None

    def find_owner(self, address: str) -> Module | None:
        """The module that an address belongs to."""
        name, _ = parse_address(address)
        return self.get_module(name) if name in self._known.infos and name != GATEWAY else None

    def record_tables(self) -> frozenset[str]:
        """The record tables of the modules loaded so far."""
        return frozenset(table for module in self._modules.values() for table in module.record_tables)

    def textless_tables(self) -> frozenset[str]:
        """Record tables of the loaded modules that hold no text."""
        return frozenset(table for module in self._modules.values() for table in module.textless_tables)

    def unclassified_tables(self) -> frozenset[str]:
        """The tables of the modules loaded so far whose rows hold texts without a classification."""
        return frozenset(table for module in self._modules.values() for table in module.unclassified_tables)

    def _import_module(self, info: ModuleInfo) -> Module:
        try:
            return self._load(info.source)
        except Refusal:
            raise
        except Exception as error:  # a plugin's package may be gone or broken
            log("error", "module", module=info.name, source=info.source, error=type(error).__name__)
            message = f"The module {info.name!r} cannot be loaded. `tokonoma doctor` shows why."
            raise Unready(message, reason="module") from error

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
            returns = get_type_hints(tool.run, include_extras=True).get("return")
            loaded = LoadedTool(module, tool, build_parser(tool, entry.signature), returns)
            return self._loaded_tools.setdefault(entry.path, loaded)


def to_mcp_tool(entry: ToolInfo, reach: Reach = UNLIMITED) -> Mapping[str, Any]:
    """A tool in the shape of MCP's `tools/list`, as the holder of this reach meets it."""
    only_reads = entry.effect == "read" and not (entry.keeps_log and reach.may_write(entry.module))
    return {
        "name": entry.listed,
        "title": entry.title,
        "description": entry.description,
        "inputSchema": entry.input,
        "outputSchema": entry.output,
        "annotations": {
            "readOnlyHint": only_reads,
            "destructiveHint": entry.effect == "destroy",
            # The hint is about tools that change something, for one caller at least.
            **({"idempotentHint": entry.idempotent or only_reads} if entry.effect != "read" or entry.keeps_log else {}),
            "openWorldHint": entry.outside,
        },
    }

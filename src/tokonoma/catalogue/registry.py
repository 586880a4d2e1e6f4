"""The registry: which modules there are, which of them a credential can see, and their code once it is needed."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tokonoma.core.addresses import parts_of
from tokonoma.core.call import Principal
from tokonoma.core.desk import Desk, Record, Rows
from tokonoma.core.errors import CODES, Codes, Denied, Missing, Refusal, Unready
from tokonoma.core.log import log
from tokonoma.core.module import Entry, Module, Shelf, Tool
from tokonoma.core.suggestions import nearest

if TYPE_CHECKING:
    from tokonoma.catalogue.schemas import Parser

GATEWAY = "gateway"


@dataclass(frozen=True, slots=True)
class Bound:
    """A tool whose code is loaded."""

    module: Module
    tool: Tool
    parse: "Parser"


class Registry:
    """`load` imports a module's value; `prepare` makes its tables ready. Both run once, on the first call."""

    def __init__(
        self,
        shelves: Iterable[Shelf],
        load: Callable[[str], Module],
        prepare: Callable[[Module], None],
        off: frozenset[str] = frozenset(),
    ) -> None:
        self._shelves = {shelf.name: shelf for shelf in shelves}
        self._load, self._prepare, self._off = load, prepare, off
        self._names = {shelf.name: _names(shelf) for shelf in self._shelves.values()}
        self._listed = {
            name: entry for names in self._names.values() for name, entry in names.items() if _full(entry, name)
        }
        self._modules: dict[str, Module] = {}
        self._bound: dict[str, Bound] = {}
        self._lock = threading.RLock()

    def shelves(self, who: Principal) -> list[Shelf]:
        """What this principal sees; the gateway itself is not a module to be called."""
        seen: list[Shelf] = []
        for shelf in self._shelves.values():
            entries = self._visible(shelf, who)
            if entries:
                seen.append(shelf if len(entries) == len(shelf.entries) else replace(shelf, entries=entries))
        return seen

    def find(self, module: str, tool: str, who: Principal) -> Entry:
        """The entry for any spelling of a tool's name; what is masked looks as if it did not exist.

        Without a module the name is one of `tools/call`: `memory_save`, `memory.save`, `create_item`.
        """
        if not module:
            return self._named(tool, who)
        if module in self._off:
            raise Denied(f"The module {module!r} is switched off on this server.", reason="module", module=module)
        shelf = self._shelves.get(module)
        entries = () if shelf is None else self._visible(shelf, who)
        if not entries:
            raise _unknown("module", "module", module, [each.name for each in self.shelves(who)])
        entry = self._names[module].get(_key(tool))
        if entry is None or entry not in entries:
            raise _unknown("tool", f"tool in {module}", tool, [each.name for each in entries])
        return entry

    def meta(self, name: str) -> Entry:
        """One of the gateway's own tools."""
        return self._names[GATEWAY][_key(name)]

    def unlisted(self, module: str, name: str) -> Entry:
        """One of a module's tools for the owner's own commands; `find` never gives one of these."""
        if module in self._off:
            raise Denied(f"The module {module!r} is switched off on this server.", reason="module", module=module)
        if module not in self._shelves:
            raise _unknown("module", "module", module, list(self._shelves))
        tool = next(each for each in self.module(module).unlisted if each.name == name)
        return Entry(
            module, name, "", tool.title, "", tool.effect, False, tool.idempotent, (), {}, {}, name, tool.time_limit
        )

    def _named(self, name: str, who: Principal) -> Entry:
        entry = self._listed.get(_key(name))
        if entry is None or entry not in self._visible(self._shelves[entry.module], who):
            raise _unknown("tool", "tool", name, [each.listed for shelf in self.shelves(who) for each in shelf.entries])
        return entry

    def _visible(self, shelf: Shelf, who: Principal) -> Sequence[Entry]:
        name = shelf.name
        if name == GATEWAY or name in self._off or name in who.mask:
            return ()
        if who.modules is not None and name not in who.modules:
            return ()
        return [entry for entry in shelf.entries if entry.path not in who.mask] if who.mask else shelf.entries

    def bound(self, entry: Entry) -> Bound:
        """The tool's code, loaded on first use."""
        found = self._bound.get(entry.path)
        if found is None:
            found = self._bind(entry)
        return found

    def promised(self, entry: Entry) -> Any:
        """The type of what a tool gives."""
        from typing import get_type_hints

        return get_type_hints(self.bound(entry).tool.run, include_extras=True)["return"]

    def module(self, name: str) -> Module:
        found = self._modules.get(name)
        if found is None:
            with self._lock:
                found = self._modules.get(name)
                if found is None:
                    found = self._loaded(self._shelves[name])
                    self._prepare(found)
                    self._modules[name] = found
        return found

    def known(self, name: str) -> Module | None:
        """None for the module of a plugin that is no longer there."""
        return self.module(name) if name in self._shelves else None

    def modules(self) -> list[Module]:
        """All of them, loaded; Unready if one cannot be."""
        return [self.module(name) for name in self._shelves if name != GATEWAY]

    def codes(self, name: str) -> Codes:
        """The error codes of a module; the house's own for one that is not there."""
        if name not in self._shelves or name in self._off:
            return CODES
        try:
            return self.module(name).codes
        except Refusal:  # it cannot be loaded, or its tables not be made ready: the error to be told is this one
            return CODES

    def record(self, rows: Rows, address: str) -> Record | None:
        """The Directory: any address → its record."""
        module = self._owner(address)
        return module.read(rows, address) if module is not None and module.read is not None else None

    def fresh(self, desk: Desk, address: str) -> None:
        module = self._owner(address)
        if module is not None and module.fresh is not None:
            module.fresh(desk, address)

    def used(self, desk: Desk, address: str, trace_id: str) -> None:
        module = self._owner(address)
        if module is not None and module.used is not None:
            module.used(desk, address, trace_id)

    def _owner(self, address: str) -> Module | None:
        name, _ = parts_of(address)
        return self.module(name) if name in self._shelves and name != GATEWAY else None

    def guarded(self) -> frozenset[str]:
        """The record tables of the modules loaded so far."""
        return frozenset(table for module in self._modules.values() for table in module.records)

    def unlabelled(self) -> frozenset[str]:
        """Their tables whose rows hold texts without a class."""
        return frozenset(table for module in self._modules.values() for table in module.unlabelled)

    def _loaded(self, shelf: Shelf) -> Module:
        try:
            return self._load(shelf.source)
        except Refusal:
            raise
        except Exception as error:  # a plugin's package may be gone or broken
            log("error", "module", module=shelf.name, source=shelf.source, error=type(error).__name__)
            raise Unready(
                f"The module {shelf.name!r} cannot be loaded. `tokonoma doctor` tells why.", reason="module"
            ) from error

    def _bind(self, entry: Entry) -> Bound:
        from tokonoma.catalogue.schemas import parser_of  # pydantic is not needed before the first call

        with self._lock:
            module = self.module(entry.module)
            offered = module.tools if entry.listed else module.unlisted
            tool = next((each for each in offered if each.name == entry.name), None)
            if tool is None:
                raise Missing(
                    f"The module {entry.module!r} has changed and no longer has {entry.name!r}. "
                    f"Run `tokonoma plugins enable {entry.module}` again.",
                    reason="tool",
                )
            return self._bound.setdefault(entry.path, Bound(module, tool, parser_of(tool, entry.signature)))


def listing(entry: Entry) -> Mapping[str, Any]:
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


def _names(shelf: Shelf) -> dict[str, Entry]:
    names: dict[str, Entry] = {}
    for entry in shelf.entries:
        for name in (entry.name, f"{shelf.name}_{entry.name}", entry.listed, *entry.aliases):
            names.setdefault(_key(name), entry)
    return names


def _full(entry: Entry, key: str) -> bool:
    """Whether a key names the tool without its module: everything but the short name."""
    return key != _key(entry.name) or key in {_key(entry.listed), *map(_key, entry.aliases)}


def _key(name: str) -> str:
    return name.replace(".", "_")


def _unknown(reason: str, kind: str, name: str, known: Sequence[str]) -> Missing:
    meant = nearest(name, known)
    hint = f"Did you mean {' or '.join(map(repr, meant))}?" if meant else f"There are: {', '.join(known) or 'none'}."
    return Missing(
        f"There is no {kind} called {name[:80]!r}. {hint}", reason=reason, nearest=meant, **{f"{reason}s": known}
    )

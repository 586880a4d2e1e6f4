"""Records of all modules together: one search over those that a caller may search, and what a record is linked with.

`search`, `fetch`, `system.timeline` and `system.related` stand for a module's own tools (`Module.search_tool`,
`Module.read_tool`): a caller that does not see those gets nothing of the module here either.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from tokonoma.core.clock import parse_time
from tokonoma.core.desk import Desk, Record, RecordLink, parse_address
from tokonoma.core.errors import Denied, Invalid, Missing, Refusal, Unready, find_nearest, is_storage_error
from tokonoma.core.log import log
from tokonoma.core.module import ToolInfo
from tokonoma.core.query import Hit, Query, SearchFilter

_MAX_TITLE = 60
_MAX_BEGINNING = 30
_MAX_COMPARED = 400  # hits that are looked at to fill a page, where many are not for this caller
_DAY_MS = timedelta(days=1) // timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A hit of a search over all modules, with its record as the caller may see it."""

    hit: Hit
    record: Record

    def cite(self, desk: Desk) -> None:
        desk.cite(self.record.address, self.record.author)

    @property
    def title(self) -> str:
        """Its own; else the beginning of the text, which stands beside it in a hit: enough to recognize it."""
        return self.hit.title.strip() or format_title(self.record, _MAX_BEGINNING)


def list_modules(desk: Desk, use: Literal["search", "read"], wanted: Sequence[str] | None = None) -> list[str]:
    """The modules whose records this caller may search or read. Missing for a wanted one that is not among them."""
    known: list[str] = []
    for info in desk.server.visible_modules(desk.principal):
        tool = info.search_tool if use == "search" else info.read_tool
        is_seen = tool and any(entry.name == tool and is_allowed(desk, entry) for entry in info.entries)
        if is_seen and _can_be_loaded(desk, info.name):
            known.append(info.name)
    for name in wanted or ():
        if name not in known:
            near = find_nearest(name, known)
            hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"There are: {', '.join(known)}."
            message = f"There is no module called {name[:64]!r} to {use}. {hint}"
            raise Missing(message, reason="module", nearest=near, modules=known)
    return [name for name in known if wanted is None or name in wanted]


def can_read(desk: Desk, module: str) -> bool:
    """Whether the caller sees a reading tool of this module. Who may only write there is shown nothing of it."""
    if not desk.principal.reach.is_limited:
        return True
    modules = desk.server.visible_modules(desk.principal)
    return any(info.name == module and any(tool.effect == "read" for tool in info.entries) for info in modules)


def is_allowed(desk: Desk, tool: ToolInfo) -> bool:
    """Whether the policy lets the caller use this tool without asking: what shows its records in another way, as
    `search` and `fetch` do, is no way around a rule."""
    return desk.policy.judge_tool(tool) == "allow"


def check_rules(desk: Desk, module: str) -> None:
    """Denied if the policy has a rule about the tool that reads the records of this module."""
    for info in desk.server.visible_modules(desk.principal):
        for tool in info.entries:
            if info.name == module and tool.name == info.read_tool and not is_allowed(desk, tool):
                message = f"The policy has a rule about {tool.path}, so its records are read by that tool alone."
                raise Denied(message, reason="tool_rule", tool=tool.path)


def _can_be_loaded(desk: Desk, name: str) -> bool:
    """A module that cannot be used must not take the others with it; its own tools say what is wrong."""
    try:
        desk.server.load_module(name)
    except Refusal:
        return False
    return True


def find_records(desk: Desk, request: Query, where: SearchFilter) -> Iterator[FoundRecord]:
    """The hits in the modules of `where`, best first. Files are indexed as they are now."""
    stale = sync_files(desk, where.modules)
    where = replace(where, modules=tuple(name for name in where.modules if name in stale))
    left_out = {address for addresses in stale.values() for address in addresses}
    limit, seen = request.limit, set[str]()
    while where.modules:
        hits = _find_hits(desk, replace(request, limit=limit), where)
        new = [hit for hit in hits if hit.address not in seen and hit.address.partition("#")[0] not in left_out]
        seen.update(hit.address for hit in hits)
        records = desk.read_all([hit.address for hit in new])
        yield from (FoundRecord(hit, records[hit.address]) for hit in new if hit.address in records)
        if len(hits) < limit or limit >= _MAX_COMPARED:
            return
        limit *= 4


def sync_files(desk: Desk, modules: Sequence[str]) -> dict[str, Collection[str]]:
    """Index the changed files of these modules. Returns by module the addresses of files that are not indexed yet. A
    module whose folder cannot be read is left out."""
    synced: dict[str, Collection[str]] = {}
    for name in modules:
        module = desk.server.load_module(name)
        try:
            synced[name] = module.sync(desk.as_module(name)) if module.sync is not None else ()
        except Refusal as error:
            if not isinstance(error, Unready) and not is_storage_error(error):
                raise
            log("warning", "not_synced", module=name, reason=error.reason)
    return synced


def _find_hits(desk: Desk, request: Query, where: SearchFilter) -> list[Hit]:
    searches: list[SearchFilter] = []
    together: list[str] = []
    for name in where.modules:
        list_filters = desk.server.load_module(name).search_filters
        own = list_filters(desk.as_module(name)) if list_filters is not None else None
        if own is None:
            together.append(name)
        else:
            asked = {"namespace": where.namespace, "since": where.since, "until": where.until}
            searches += [replace(each, **asked, conditions=(*each.conditions, *where.conditions)) for each in own]
    if together:
        searches.append(replace(where, modules=tuple(together)))
    found = [desk.find(request, each).items for each in searches]
    if len(found) == 1:
        return list(found[0])
    return sorted((hit for items in found for hit in items), key=lambda hit: -hit.score)


def list_links(desk: Desk, address: str, most: int, *, thorough: bool = False) -> list[tuple[RecordLink, Record]]:
    """Where a record leads and what leads to it, as far as the caller may read the other end, each with its record.
    `thorough`: also what is only found by reading many files."""
    known, links = list_modules(desk, "read"), dict[tuple[str, str, bool], RecordLink]()
    for name in known:
        module = desk.server.load_module(name)
        for link in module.list_links(desk.as_module(name), address, thorough) if module.list_links else ():
            links.setdefault((link.kind, link.address, link.incoming), link)
    found: list[tuple[RecordLink, Record]] = []
    for link in links.values():
        if len(found) < most and parse_address(link.address)[0] in known:
            try:
                found.append((link, desk.read(link.address)))
            except Missing:
                continue
    return found


def format_title(record: Record, most_beginning: int = _MAX_TITLE) -> str:
    """`most_beginning`: characters of the text, if it stands for the title."""
    own = record.title.strip()
    text, most = (own, _MAX_TITLE) if own else (record.text.strip().partition("\n")[0].strip(), most_beginning)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def mask_address(desk: Desk, record: Record) -> str:
    """The address as the caller may see it: the name of a file may hold what is hidden from it."""
    module, name = parse_address(record.address)
    return f"tokonoma://{module}/{desk.policy.mask_text(name, record.address, record.namespace)}"


def parse_span(since: str | None, until: str | None) -> tuple[int | None, int | None]:
    """Two times in milliseconds. A day without a time means all of it."""
    end = _parse_moment("until", until)
    return _parse_moment("since", since), end + _DAY_MS - 1 if end is not None and len(until or "") == 10 else end


def _parse_moment(field: str, text: str | None) -> int | None:
    try:
        return None if text is None else parse_time(text)
    except ValueError:
        message = f"{field}: {text!r:.60} is no time. Write 2026-07-28 or 2026-07-28T09:30:00Z."
        raise Invalid(message, field=field) from None

"""system.timeline and system.related: what was changed when, and what a record is connected with, over all modules."""

from collections.abc import Iterator
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Record, Row, parse_address
from tokonoma.core.errors import Missing, Unavailable
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.core.query import Query, SearchFilter
from tokonoma.core.records import (
    FoundRecord,
    find_records,
    format_title,
    list_links,
    list_modules,
    mask_address,
    parse_span,
    sync_files,
)

_CHUNK = 200  # rows of a statement
_NEAREST_QUERY = 500  # characters of a record that has no vector, to search by
_CHANGED = """select id, address, at, changed_at from document where changed_at >= :since and changed_at <= :until
and (changed_at < :at or (changed_at = :at and id < :last)) and module in ({modules})
and (:space = '/' or space = :space or (space >= :low and space < :high))
and (expires_at is null or expires_at > :now) and {{visible}} order by changed_at desc, id desc limit :most"""
_COUNTED = """select (changed_at + :shift) / 86400000, module, count(*) from document
where changed_at >= :since and changed_at <= :until and module in ({modules})
and (:space = '/' or space = :space or (space >= :low and space < :high))
and (expires_at is null or expires_at > :now) and {{visible}} group by 1, 2 order by 1, 2"""
_DAY_MS = 86_400_000

ModuleNames = Annotated[list[str] | None, Field(description="default: all that you see")]


class TimelineEntry(TypedDict):
    at: Opaque
    address: str
    title: str
    created_at: NotRequired[Opaque]


class Timeline(TypedDict):
    items: list[TimelineEntry]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class ChangedDay(TypedDict):
    day: Opaque
    count: int
    modules: dict[str, int]


class ChangedDays(TypedDict):
    items: list[ChangedDay]


class RelatedEntry(TypedDict):
    kind: str
    address: str
    title: str
    incoming: NotRequired[bool]
    score: NotRequired[float]


class RelatedEntries(TypedDict):
    items: list[RelatedEntry]


def list_changes(
    desk: Desk,
    since: Annotated[str, Field(description="2026-07-28 or 2026-07-28T09:30:00Z")],
    until: Annotated[str | None, Field(description="inclusive; default: now")] = None,
    namespace: Annotated[str | None, Field(description="this one and those below it; default: all")] = None,
    modules: ModuleNames = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None,
) -> Timeline:
    """List the records of all modules that were created or changed in a span, newest first. A file comes once, whatever
    parts of it changed; `created_at` is there if the record is older than the change."""
    known = list(sync_files(desk, list_modules(desk, "read", modules)))
    at, last, file = desk.open_cursor("timeline", cursor) if cursor else (2**62, 0, "")
    changes = _read_changes(desk, known, (at, last, file), _build_span(desk, since, until, namespace))
    items: list[TimelineEntry] = []
    for row, record in changes:
        if len(items) == limit:
            return {"items": items, "has_more": True, "next_cursor": desk.seal_cursor("timeline", at, last, file)}
        last, address, created, at = row
        file = _to_file(address)
        entry: TimelineEntry = {
            "at": format_time(at),
            "address": mask_address(desk, record),
            "title": format_title(record),
        }
        if created < at:
            entry["created_at"] = format_time(created)
        items.append(entry)
    return {"items": items, "has_more": False}


def count_days(
    desk: Desk,
    since: Annotated[str, Field(description="2026-07-28 or 2026-07-28T09:30:00Z")],
    until: Annotated[str | None, Field(description="inclusive; default: now")] = None,
    namespace: Annotated[str | None, Field(description="this one and those below it; default: all")] = None,
    modules: ModuleNames = None,
    offset_minutes: Annotated[int, Field(ge=-840, le=840, description="of the time zone, east of UTC")] = 0,
) -> ChangedDays:
    """Count by day how many records, or parts of files, were created or last changed then. Days without any are left
    out."""
    known = list(sync_files(desk, list_modules(desk, "read", modules)))
    if not known:
        return {"items": []}
    names = {f"m{number}": name for number, name in enumerate(known)}
    sql, shift = _COUNTED.format(modules=", ".join(f":{name}" for name in names)), offset_minutes * 60_000
    days: dict[str, ChangedDay] = {}
    for number, module, count in desk.rows(sql, shift=shift, **names, **_build_span(desk, since, until, namespace)):
        day = format_time(number * _DAY_MS)[:10]
        entry = days.setdefault(day, {"day": day, "count": 0, "modules": {}})
        entry["count"] += count
        entry["modules"][module] = count
    return {"items": list(days.values())}


def list_related(
    desk: Desk,
    address: Annotated[str, Field(description="tokonoma://module/name")],
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    near: Annotated[bool, Field(description="also records that are near in meaning")] = True,
) -> RelatedEntries:
    """List what a record of any module is connected with: its links, relations, sources and mentions in both directions
    (`incoming`: the other one leads here), then the records nearest in meaning (kind near, with a score)."""
    known = list_modules(desk, "read")
    if parse_address(address)[0] not in known:
        raise Missing(f"There is no record at {address}.", address=address)
    record = desk.read(address)
    items: list[RelatedEntry] = []
    met = {record.address}
    for link, other in list_links(desk, record.address, limit, thorough=True):
        entry = _describe(desk, link.kind, other, link.title)
        if link.incoming:
            entry["incoming"] = True
        items.append(entry)
        met.add(other.address)
    if not near:
        return {"items": items}
    files = {_to_file(each) for each in met}
    for found in _find_nearest(desk, record, limit + len(met)):
        if len(items) >= limit:
            break
        if _to_file(found.record.address) not in files:
            entry = _describe(desk, "near", found.record, found.title)
            entry["score"] = round(found.hit.score, 3)
            found.cite(desk)
            items.append(entry)
    return {"items": items}


def _build_span(desk: Desk, since: str, until: str | None, namespace: str | None) -> dict[str, object]:
    start, end = parse_span(since, until)
    place = resolve_namespace(namespace, desk.principal) if namespace else "/"
    span = {"since": start, "until": 2**62 if end is None else end, "now": desk.now()}
    return {**span, "space": place, "low": f"{place}/", "high": f"{place}0"}  # "0" follows "/"


def _read_changes(
    desk: Desk, modules: list[str], after: tuple[int, int, str], params: dict[str, object]
) -> Iterator[tuple[Row, Record]]:
    """Newest first, one for each file and moment, with the records that the caller may see. `after` is the time, the
    row and the file of the last one of the page before."""
    at, last, file = after
    names = {f"m{number}": name for number, name in enumerate(modules)}
    sql = _CHANGED.format(modules=", ".join(f":{name}" for name in names))
    met, rows = {(file, at)}, list[Row]()
    while names and (not rows or len(rows) == _CHUNK):
        rows = desk.rows(sql, at=at, last=last, most=_CHUNK, **names, **params)
        if not rows:
            return
        for row in rows:
            last, address, _, at = row
            if (_to_file(address), at) in met:
                continue
            met.add((_to_file(address), at))
            # Of a file of which the caller may not see all, the part that it may see.
            record = _read(desk, _to_file(address)) or _read(desk, address)
            if record is not None:
                yield row, record
        desk.check()


def _read(desk: Desk, address: str) -> Record | None:
    try:
        return desk.read(address)
    except Missing:
        return None


def _find_nearest(desk: Desk, record: Record, limit: int) -> Iterator[FoundRecord]:
    where = SearchFilter(tuple(list_modules(desk, "search")))
    try:
        yield from find_records(desk, Query(pivot=record.address, mode="vector", limit=limit), where)
    except (Missing, Unavailable):  # it is no document of its own, or has no vector
        text = f"{record.title} {record.text}"[:_NEAREST_QUERY]
        yield from find_records(desk, Query(text, limit=limit), where)


def _describe(desk: Desk, kind: str, record: Record, title: str) -> RelatedEntry:
    return {"kind": kind, "address": mask_address(desk, record), "title": title or format_title(record)}


def _to_file(address: str) -> str:
    return address.partition("#")[0]

"""MCP resources as tools of the gateway: which addresses a client may offer its user, what one of them holds, and a
mark of it that changes when it does. Clients reach them by the methods of the protocol, never by `tools/call`.

Everything is read through the caller's desk, so a resource holds what a tool would show, and no more.
"""

import hashlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, NotRequired, cast
from urllib.parse import unquote

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.call import InnerStep
from tokonoma.core.desk import Desk, Record, format_address, parse_address
from tokonoma.core.errors import Denied, Invalid, Missing, Refusal
from tokonoma.core.ids import Opaque
from tokonoma.core.module import ModuleInfo, Tool
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.gateway import NAMESPACES, RECENT
from tokonoma.gateway.listing import (
    START,
    is_collection,
    list_collections,
    list_files,
    list_namespaces,
    list_readable,
    list_recent,
)
from tokonoma.gateway.render import find_media_type, parse_lines, render_record, take_lines
from tokonoma.gateway.resource_entries import (
    MAX_LISTED,
    ResourceEntry,
    describe_listings,
    describe_record,
    format_link,
    format_records,
    name_namespace,
    to_namespace_address,
)
from tokonoma.gateway.upstream_resources import build_step, find_upstream, read_upstream

MAX_WATCHED = 64
"""Addresses of one check."""

_PAGE = 100  # records of one page
_MOST = 500  # records of all pages
_FILES = 1000  # files of a collection


class ResourcePage(TypedDict):
    resources: list[ResourceEntry]
    nextCursor: NotRequired[Opaque]
    mark: NotRequired[Annotated[Opaque, Field(description="of the first page; not sent to clients")]]


class ResourceText(TypedDict):
    uri: str
    mimeType: str
    text: str


class ResourceTexts(TypedDict):
    contents: list[ResourceText]


class ResourceMarks(TypedDict):
    found: dict[str, Opaque]
    list: NotRequired[Opaque]


class CompletedValues(TypedDict):
    values: list[str]
    total: int
    hasMore: bool


class Completion(TypedDict):
    completion: CompletedValues


def list_resources(desk: Desk, cursor: str | None = None) -> ResourcePage:
    """Resources for `resources/list`: listings first, then records, the newest first."""
    at, id, last, count = desk.open_cursor("resources", cursor) if cursor else (*START, 0)
    rows = list_recent(desk, _PAGE + 1, (at, id, last))
    entries = [describe_record(desk, row) for row in rows[:_PAGE]]
    count += len(entries)
    page: ResourcePage = {"resources": entries}
    if len(rows) > _PAGE and count < _MOST:
        end = rows[_PAGE - 1]
        page["nextCursor"] = desk.seal_cursor("resources", end.at, end.id, end.address, count)
    if not cursor:
        page["resources"] = [*describe_listings(desk), *entries]
        page["mark"] = _mark_list(page["resources"])
    return page


def read_resource(desk: Desk, uri: str) -> ResourceTexts:
    """One resource for `resources/read`. What the caller may not see fails like what does not exist."""
    if (info := find_upstream(desk, uri)) is not None:  # it comes later, which the types of a tool need not say
        return cast("ResourceTexts", desk.server.run_calls(desk.call, _read_upstream(info, uri)))
    record = _load(desk, uri)
    return {"contents": [{"uri": uri, "mimeType": find_media_type(record.address), "text": render_record(record)}]}


def _read_upstream(info: ModuleInfo, uri: str) -> Generator[InnerStep, Any, ResourceTexts]:
    try:
        text = yield from read_upstream(info, uri)
    except Missing as error:
        raise Missing("Resource not found", reason="resource", uri=uri) from error
    return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}


def check_resources(
    desk: Desk, uris: Annotated[list[str], Field(max_length=MAX_WATCHED)], lists: bool = False
) -> ResourceMarks:
    """Marks of those resources that exist for this caller, and of the list of resources. A mark changes with what the
    caller would read."""
    marks: ResourceMarks = {"found": {}}
    unwatched: list[tuple[ModuleInfo, str]] = []
    for uri in uris:
        desk.check()
        if (info := find_upstream(desk, uri)) is not None:
            mark = desk.server.find_watch_mark(info, desk.principal, uri)
            if mark is None:
                unwatched.append((info, uri))
            else:
                marks["found"][uri] = mark
            continue
        try:
            record = _load(desk, uri)
        except Missing:
            continue
        marks["found"][uri] = _hash([record.title, record.text])
    if lists:
        records = [describe_record(desk, row) for row in list_recent(desk, _PAGE)]
        marks["list"] = _mark_list([*describe_listings(desk), *records])
    if unwatched:
        steps = _watch_upstream(unwatched, marks, alone=len(uris) == 1)
        return cast("ResourceMarks", desk.server.run_calls(desk.call, steps))
    return marks


def _watch_upstream(
    unwatched: Sequence[tuple[ModuleInfo, str]], marks: ResourceMarks, *, alone: bool
) -> Generator[InnerStep, Any, ResourceMarks]:
    """Begin to watch these. What fails is left out, and is not there for the caller; one alone says why."""
    for info, uri in unwatched:
        try:
            found = yield build_step(info, uri, watches=True)
        except Missing:
            continue
        except Refusal:
            if alone:
                raise
            continue
        marks["found"][uri] = found["mark"]
    return marks


def complete_argument(
    desk: Desk, template: str, argument: str, value: str = "", context: dict[str, str] | None = None
) -> Completion:
    """Values for an argument of a template, for `completion/complete`."""
    found = [each for each in _list_values(desk, template, argument, value, context or {}) if each.startswith(value)]
    return {"completion": {"values": found[:MAX_LISTED], "total": len(found), "hasMore": len(found) > MAX_LISTED}}


RESOURCE_TOOLS = (
    Tool("resources_list", list_resources, "List resources"),
    Tool("resources_read", read_resource, "Read a resource"),
    Tool("resources_check", check_resources, "Check resources for changes"),
    Tool("resources_complete", complete_argument, "Complete an argument"),
)


# Reading


def _load(desk: Desk, uri: str) -> Record:
    """Tools show addresses as they are; in a URI, a client may have encoded them. Both are understood."""
    for address in dict.fromkeys((unquote(uri), uri)):
        try:
            return _load_address(desk, address)
        except (Missing, Invalid, Denied):
            continue
    raise Missing("Resource not found", reason="resource", uri=uri)


def _load_address(desk: Desk, address: str) -> Record:
    kind, _, name = address.removeprefix("tokonoma://").partition("/")
    readable = list_readable(desk)
    if address.startswith("tokonoma://") and kind == RECENT and (not name or name in readable):
        lines = format_records(desk, list_recent(desk, MAX_LISTED, module=name)) or ["There are no records yet."]
        return _to_listing(address, "Recent records", lines)
    if address.startswith("tokonoma://") and kind == NAMESPACES:
        return _load_namespace(desk, address, resolve_namespace(f"/{name}", desk.principal))
    module, name = parse_address(address)
    if module not in readable:
        raise Missing("Resource not found", reason="resource")
    if is_collection(readable[module]) and "/" not in name:
        files = list_files(desk, f"{address}/", "", _FILES)
        return _to_listing(address, name, [format_link(parse_address(each)[1], each) for each in files])
    return _load_record(desk, address)


def _load_record(desk: Desk, address: str) -> Record:
    """A record, or lines of it. A module that knows lines of its own is asked for them first."""
    whole, first, last = parse_lines(address)
    try:
        return replace(desk.read(address), address=address)
    except Missing:
        if first is None or last is None:
            raise
    record = desk.read(whole)
    text = take_lines(record.text, first, last)
    if not text:
        raise Missing("Resource not found", reason="resource")
    return replace(record, address=address, title="", text=text)


def _load_namespace(desk: Desk, address: str, namespace: str) -> Record:
    """The namespaces inside it, then the newest records in it and below."""
    inside = [each for each in list_namespaces(desk, MAX_LISTED, namespace) if each != namespace]
    links = [format_link(name_namespace(desk, each), to_namespace_address(desk, each)) for each in inside]
    records = format_records(desk, list_recent(desk, MAX_LISTED, namespace=namespace))
    space = [""] if links and records else []
    return _to_listing(address, f"Namespace {name_namespace(desk, namespace)}", [*links, *space, *records])


def _to_listing(address: str, title: str, lines: Sequence[str]) -> Record:
    """Missing if it is empty: a namespace that the caller may not see is like one that does not exist."""
    if not lines:
        raise Missing("Resource not found", reason="resource")
    return Record(address, "", "/", "public", title, "\n".join(lines) + "\n")


def _mark_list(entries: Iterable[ResourceEntry]) -> str:
    """Of which resources there are and how they are called, in whatever order."""
    return _hash(sorted(f"{entry['uri']} {entry['name']}" for entry in entries))


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


# Completion


def _list_values(desk: Desk, template: str, argument: str, value: str, context: Mapping[str, str]) -> Sequence[str]:
    if not template:  # of a prompt: its arguments are free texts
        return []
    readable = list_readable(desk)
    kind, _, rest = template.removeprefix("tokonoma://").partition("/")
    if kind == RECENT:
        return [name for name, info in readable.items() if info.address]
    if kind == NAMESPACES:
        return [name_namespace(desk, each).removeprefix("/") for each in list_namespaces(desk, _FILES)]
    if kind not in readable or rest != readable[kind].address:
        raise Invalid("There is no such template. resources/templates/list has all of them.", field="ref")
    if is_collection(readable[kind]) and rest.startswith(f"{{{argument}}}"):
        return [
            parse_address(each)[1] for each in list_collections(desk, _FILES) if each.startswith(f"tokonoma://{kind}/")
        ]
    if f"{{+{argument}}}" in rest:
        before = rest.partition("{+")[0]
        for name, chosen in context.items():
            before = before.replace(f"{{{name}}}", chosen)
        prefix = format_address(kind, before)
        return [each.removeprefix(prefix) for each in list_files(desk, prefix, value, MAX_LISTED + 1)]
    return []

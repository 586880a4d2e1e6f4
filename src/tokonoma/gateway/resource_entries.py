"""Entries of the list of resources, and lines of listings: names and links, as the caller may see them."""

from collections.abc import Sequence
from typing import NotRequired
from urllib.parse import quote

from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.errors import Missing
from tokonoma.core.namespaces import format_namespace
from tokonoma.gateway import NAMESPACES, RECENT
from tokonoma.gateway.listing import (
    ListedRecord,
    is_collection,
    list_collections,
    list_namespaces,
    list_readable,
    mask_name,
)
from tokonoma.gateway.render import find_media_type

MAX_LISTED = 100
"""Lines of a listing, namespaces, collections."""

_NAME = 80  # characters
_SAFE = "/:#@!$&'()*+,;=-._~"  # in a URI; everything else is encoded


class ResourceAnnotations(TypedDict):
    lastModified: str


class ResourceEntry(TypedDict):
    uri: str
    name: str
    description: str
    mimeType: str
    annotations: NotRequired[ResourceAnnotations]


def describe_listings(desk: Desk) -> list[ResourceEntry]:
    readable = list_readable(desk)
    modules = [
        name for name, info in readable.items() if info.address and not info.upstream and not is_collection(info)
    ]  # fmt: skip
    found = [_describe(f"tokonoma://{RECENT}", "recent", "The newest records of all modules")]
    found += [_describe(f"tokonoma://{RECENT}/{name}", f"recent {name}", "The newest records") for name in modules]
    found += [
        _describe(to_namespace_address(desk, each), name_namespace(desk, each), "A namespace and its newest records")
        for each in list_namespaces(desk, MAX_LISTED)
    ]
    for address in list_collections(desk, MAX_LISTED):
        module, name = parse_address(address)
        found.append(_describe(address, name, f"{module}: its files"))
    servers = [name for name, info in readable.items() if info.upstream and info.address]
    return found + [_describe(f"tokonoma://{each}/", each, "Resources of this MCP server") for each in servers]


def describe_record(desk: Desk, row: ListedRecord) -> ResourceEntry:
    place = mask_name(desk, name_namespace(desk, row.namespace), row.module, row.namespace)
    entry = _describe(row.address, _find_name(desk, row), f"{row.module} in {place}")
    entry["mimeType"] = find_media_type(row.address)
    entry["annotations"] = {"lastModified": format_time(row.at)}
    return entry


def _describe(address: str, name: str, description: str) -> ResourceEntry:
    return {"uri": _to_uri(address), "name": name, "description": description, "mimeType": "text/markdown"}


def _find_name(desk: Desk, row: ListedRecord) -> str:
    """Its title, its path, or how its text begins."""
    name = row.title or parse_address(row.address)[1]
    if not row.title and "/" not in name and "." not in name:
        try:
            record = desk.read(row.address)
            name = record.title or record.text.strip().partition("\n")[0] or name
        except Missing:
            return name
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def format_records(desk: Desk, rows: Sequence[ListedRecord]) -> list[str]:
    lines: list[str] = []
    for row in rows:
        place = mask_name(desk, name_namespace(desk, row.namespace), row.module, row.namespace)
        lines.append(f"{format_link(_find_name(desk, row), row.address)} {format_time(row.at)[:10]}, {place}")
    return lines


def format_link(name: str, address: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return f"- [{escaped}]({_to_uri(address)})"


def name_namespace(desk: Desk, namespace: str) -> str:
    return format_namespace(namespace, desk.principal)


def to_namespace_address(desk: Desk, namespace: str) -> str:
    return f"tokonoma://{NAMESPACES}{name_namespace(desk, namespace)}"


def _to_uri(address: str) -> str:
    """RFC 3986: only some signs may stand in a URI as they are."""
    return quote(address, safe=_SAFE)

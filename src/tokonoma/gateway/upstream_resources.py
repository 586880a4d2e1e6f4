"""Resources of MCP servers by their addresses here, `tokonoma://NAME/URI`: read by a call of the server's own module,
so that its mask, policy and journal hold."""

from collections.abc import Generator, Mapping
from typing import Any

from tokonoma.core.call import InnerStep
from tokonoma.core.desk import Desk
from tokonoma.core.module import ModuleInfo
from tokonoma.core.server_addresses import SCHEME, parse_server_address
from tokonoma.gateway.resource_entries import format_link

Steps = Generator[InnerStep, Any, str]


def find_upstream(desk: Desk, address: str) -> ModuleInfo | None:
    """The server that has the resource at an address; None if it is of no server that this caller may read from."""
    if not address.startswith(SCHEME):
        return None
    name, _ = parse_server_address(address)
    modules = desk.server.visible_modules(desk.principal)
    return next((each for each in modules if each.name == name and each.upstream and _can_read(each)), None)


def read_upstream(info: ModuleInfo, address: str) -> Steps:
    """The text of one resource; of an address without a URI, links to all of them."""
    step = build_step(info, address)
    found = yield step
    if step.tool != info.read_tool:
        return "\n".join(_format_entry(info.name, each) for each in found["resources"]) + "\n"
    return "\n".join(each["text"] for each in found["contents"])


def build_step(info: ModuleInfo, address: str, *, watches: bool = False) -> InnerStep:
    """The call that reads a resource; with `watches` it is watched instead, by whoever may read it."""
    _, uri = parse_server_address(address)
    if not uri:
        return InnerStep(info.name, info.read_tool.replace("read_resource", "list_resources"), {}, watches)
    return InnerStep(info.name, info.read_tool, {"uri": uri}, watches)


def _format_entry(server: str, entry: Mapping[str, str]) -> str:
    return format_link(entry.get("name", entry["uri"]), f"{SCHEME}{server}/{entry['uri']}")


def _can_read(info: ModuleInfo) -> bool:
    return bool(info.read_tool) and any(tool.name == info.read_tool for tool in info.entries)

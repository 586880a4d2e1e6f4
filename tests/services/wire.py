"""A plugin with one tool for each way to ask a service: what a connector does, without a service of its own."""

from typing import Any

from tokonoma.core import providers
from tokonoma.core.async_desk import AsyncDesk
from tokonoma.core.module import Module, Tool
from tokonoma.core.providers import SERVICE_CODES
from tokonoma.core.service import ServiceRequest


def serve_wire(provider: str) -> None:
    """Let the module `wire` use accounts of this provider."""
    providers._PROVIDERS["wire"] = provider  # type: ignore[index]


async def ask(desk: AsyncDesk, request: ServiceRequest, account: str | None) -> dict[str, Any]:
    client = await desk.connect(account)
    response = await client.send(request)
    if response.status == 204:
        return {"done": True}
    return {"status": response.status, "value": response.value, "size": len(response.content)}


async def fetch(
    desk: AsyncDesk, path: str = "/thing", account: str | None = None, redirect_hosts: list[str] | None = None
) -> dict[str, Any]:
    """Read something."""
    return await ask(desk, ServiceRequest("GET", path, redirect_hosts=tuple(redirect_hosts or ())), account)


async def create(desk: AsyncDesk, text: str = "x", account: str | None = None) -> dict[str, Any]:
    """Change something."""
    return await ask(desk, ServiceRequest("POST", "/thing", body={"text": text}), account)


async def search(desk: AsyncDesk, text: str = "x", account: str | None = None) -> dict[str, Any]:
    """Ask by a POST that changes nothing."""
    return await ask(desk, ServiceRequest("POST", "/search", body={"text": text}, repeatable=True), account)


async def remove(desk: AsyncDesk, account: str | None = None) -> dict[str, Any]:
    """Remove something."""
    return await ask(desk, ServiceRequest("DELETE", "/thing"), account)


MODULE = Module(
    "wire",
    "Asks a service.",
    (
        Tool("fetch", fetch, "Fetch", outside=True),
        Tool("create", create, "Create", effect="write", outside=True),
        Tool("search", search, "Search", outside=True),
        Tool("remove", remove, "Remove", effect="destroy", outside=True),
    ),
    codes=SERVICE_CODES,
)

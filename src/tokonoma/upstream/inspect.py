"""Looking at a server once, before it is approved: its era, its tools, and what else it offers."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.upstream.client import UpstreamClient
from tokonoma.upstream.describe import pick_prompts
from tokonoma.upstream.stdio import TextRing
from tokonoma.upstream.texts import clean_text
from tokonoma.upstream.tools import list_tools
from tokonoma.upstream.transport import MessageTransport
from tokonoma.upstream.values import to_refusal
from tokonoma.upstream.wire import ConnectionLost, InputRequired, JsonObject, RpcFailure

INSPECT_SECONDS = 120.0

_SETTLE_SECONDS = 0.3  # some servers add tools right after the handshake
_SHOWN_LINES = 12
_MAX_REJECTED = 50


@dataclass(frozen=True, slots=True)
class Inspection:
    tools: list[JsonObject]
    rejected: dict[str, str]
    details: dict[str, Any] = field(default_factory=dict[str, Any])  # era, transport, offers, prompts, left_out
    title: str = ""


async def inspect_server(
    name: str, build: Callable[[str], MessageTransport], transports: tuple[str, ...], text: TextRing
) -> Inspection:
    """Open it with the first transport that it takes. Unavailable says why none works, with its last lines."""
    problem: Exception = ConnectionLost("It was not asked.")
    for transport in transports:
        client = UpstreamClient(build(transport))
        try:
            async with asyncio.timeout(INSPECT_SECONDS):
                return await _look(client, transport)
        except Refusal:
            raise
        except (ConnectionLost, RpcFailure, InputRequired, TimeoutError) as error:
            problem = error
            if not isinstance(error, RpcFailure):
                break
        finally:
            await client.close()
    lines = [clean_text(line, 300) for line in text.list_last(_SHOWN_LINES)]
    why = "It did not answer in time." if isinstance(problem, TimeoutError) else str(problem)
    if isinstance(problem, RpcFailure):
        raise to_refusal(name, why)
    message = f"The MCP server {name} does not answer: {why}"
    raise Unavailable("\n".join([message, *lines]), reason="server", stderr=lines)


async def _look(client: UpstreamClient, transport: str) -> Inspection:
    changed = asyncio.Event()

    def note(method: str, params: JsonObject) -> None:
        if method.endswith("/list_changed"):
            changed.set()

    client.on_notice = note
    facts = await client.open()
    try:
        async with asyncio.timeout(_SETTLE_SECONDS):
            await changed.wait()
    except TimeoutError:
        pass
    listed = await list_tools(client)
    offers = [each for each in ("resources", "prompts") if each in facts.capabilities]
    prompts = pick_prompts(await client.list_all("prompts/list", "prompts")) if "prompts" in offers else []
    details: dict[str, Any] = {
        "era": "modern" if facts.modern else "legacy",
        "offers": offers,
        "prompts": prompts,
        "left_out": _describe_rejected(listed.rejected),
        **({"transport": transport} if transport else {}),
    }
    return Inspection(listed.tools, listed.rejected, details, clean_text(facts.name, 100))


def _describe_rejected(rejected: Mapping[str, str]) -> dict[str, str]:
    """What is stored of the tools that cannot be used: their names and why."""
    return {clean_text(name, 80): clean_text(why, 300) for name, why in list(rejected.items())[:_MAX_REJECTED]}

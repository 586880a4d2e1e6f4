"""What a person copies to connect a client with this server."""

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from tokonoma.core.network import is_loopback


@dataclass(frozen=True, slots=True)
class ConnectLine:
    client: str
    text: str
    code: str = ""


def list_connect_lines(origin: str, *, oauth: bool) -> list[ConnectLine]:
    """`oauth`: clients can sign in at this origin; without it, they start the server on the same machine."""
    endpoint, is_local = f"{origin}/mcp", is_loopback(urlsplit(origin).hostname or "")
    if not oauth:
        return _list_local_lines()
    cursor = {"mcpServers": {"tokonoma": {"url": endpoint}}}
    vscode = {"servers": {"tokonoma": {"type": "http", "url": endpoint}}}
    desktop = ConnectLine(
        "Claude Desktop",
        text="Settings, Connectors, Add custom connector: enter this address.",
        code=endpoint,
    )
    chatgpt = ConnectLine(
        "ChatGPT",
        text="Settings, Apps, Advanced settings, Developer mode. Then create an app with this address and OAuth.",
        code=endpoint,
    )
    if is_local:
        desktop, chatgpt = _list_local_lines()[1], _build_unreachable()
    return [
        ConnectLine(
            "Claude Code",
            text="Run this line, then use /mcp in Claude Code to sign in.",
            code=f"claude mcp add --transport http tokonoma {endpoint}",
        ),
        desktop,
        ConnectLine("Cursor", text="Write this into ~/.cursor/mcp.json, then sign in there.", code=_format(cursor)),
        ConnectLine("VS Code", text="Write this into mcp.json; the editor asks you to sign in.", code=_format(vscode)),
        chatgpt,
    ]


def _list_local_lines() -> list[ConnectLine]:
    names = {"claude-code": "Claude Code", "claude-desktop": "Claude Desktop", "cursor": "Cursor", "vscode": "VS Code"}
    local = [
        ConnectLine(
            shown,
            text="Run this line on the machine of the server. It adds the entry.",
            code=f"tokonoma install {name}",
        )
        for name, shown in names.items()
    ]
    return [*local, _build_unreachable()]


def _build_unreachable() -> ConnectLine:
    return ConnectLine(
        "ChatGPT",
        text="It connects from the internet: publish the server over HTTPS with public_url first.",
        code="tokonoma serve --public-url https://tokonoma.example.com",
    )


def _format(value: object) -> str:
    return json.dumps(value, indent=2)

"""The clients: where each keeps its list of servers, and how it wants one described. Pure.

Sources: code.claude.com/docs/en/mcp, modelcontextprotocol.io/docs/develop/connect-local-servers, cursor.com/docs/mcp,
code.visualstudio.com/docs/copilot/reference/mcp-configuration.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokonoma.core.errors import Invalid

Json = dict[str, Any]

NAME = "tokonoma"
KEY = "TOKONOMA_KEY"  # the variable that holds the API key: a secret is never written into a client's file
_INPUT = "tokonoma-key"


@dataclass(frozen=True, slots=True)
class Machine:
    """Whose machine this is."""

    home: Path
    folder: Path  # the project, for `--scope project`
    platform: str  # as sys.platform says it
    environ: Mapping[str, str] = field(default_factory=dict[str, str])

    def settings_folder(self) -> Path:
        """Where programs of this system keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """How this server is reached: by a program that the client starts, or (`url`) over HTTP."""

    program: Sequence[str]
    environ: Mapping[str, str]
    url: str = ""
    key: bool = False


@dataclass(frozen=True, slots=True)
class McpClient:
    name: str
    title: str
    section: str  # of its file: the object that names the servers
    variable: str  # how its file writes the value of a variable
    next_step: str  # what its user does next


CLIENTS = {
    client.name: client
    for client in (
        McpClient("claude-code", "Claude Code", "mcpServers", f"${{{KEY}}}", "A new session has it; /mcp shows it."),
        McpClient(
            "claude-desktop", "Claude Desktop", "mcpServers", "", "Quit Claude Desktop wholly and start it again."
        ),
        McpClient("cursor", "Cursor", "mcpServers", f"${{env:{KEY}}}", "Cursor's settings show it under MCP."),
        McpClient("vscode", "VS Code", "servers", f"${{input:{_INPUT}}}", "The command `MCP: List Servers` shows it."),
    )
}


def find_config_file(client: McpClient, place: Machine, scope: str) -> Path:
    """The file that the client reads, for all projects (`user`) or for this one (`project`)."""
    project = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json"}
    if scope == "project":
        if client.name not in project:
            raise Invalid(f"{client.title} knows no projects. Leave --scope out.", field="scope")
        return place.folder / project[client.name]
    if client.name == "claude-code":
        return Path(place.environ.get("CLAUDE_CONFIG_DIR") or place.home) / ".claude.json"
    if client.name == "claude-desktop":
        return place.settings_folder() / "Claude" / "claude_desktop_config.json"
    if client.name == "cursor":
        return place.home / ".cursor" / "mcp.json"
    return place.settings_folder() / "Code" / "User" / "mcp.json"


def build_entry(client: McpClient, server: ServerAddress) -> Json:
    """The server as this client wants it described."""
    if server.url:
        return _build_http_entry(client, server)
    told: Json = {} if client.name == "claude-desktop" else {"type": "stdio"}
    told |= {"command": server.program[0], "args": list(server.program[1:])}
    return told | ({"env": dict(server.environ)} if server.environ else {})


def build_inputs(client: McpClient, server: ServerAddress) -> list[Json]:
    """VS Code asks for a secret once and keeps it itself."""
    if client.name != "vscode" or not (server.url and server.key):
        return []
    return [{"type": "promptString", "id": _INPUT, "description": "API key of Tokonoma", "password": True}]


def build_claude_command(server: ServerAddress, scope: str) -> list[str]:
    """`claude mcp add`. Its --env and --header take all words that follow: another option must end them."""
    start = ["claude", "mcp", "add", "--scope", scope]
    if server.url:
        header = ["--header", f"Authorization: Bearer {CLIENTS['claude-code'].variable}"] if server.key else []
        return [*start, *header, "--transport", "http", NAME, server.url]
    environ = [word for name, value in server.environ.items() for word in ("--env", f"{name}={value}")]
    return [*start, *environ, "--transport", "stdio", NAME, "--", *server.program]


def _build_http_entry(client: McpClient, server: ServerAddress) -> Json:
    if client.name == "claude-desktop":
        raise Invalid(
            "Claude Desktop's file takes only programs that it starts itself. Leave --http out: it then starts "
            "tokonoma on the same data, beside the server that runs.",
            field="http",
        )
    told: Json = {} if client.name == "cursor" else {"type": "http"}
    told["url"] = server.url
    return told | ({"headers": {"Authorization": f"Bearer {client.variable}"}} if server.key else {})

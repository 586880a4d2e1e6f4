"""The clients: where each keeps its list of servers, how it describes one, and how one is added to its JSON file.

Nothing else in that file changes. Sources: code.claude.com/docs/en/mcp, cursor.com/docs/mcp,
code.visualstudio.com/docs/copilot/reference/mcp-configuration,
modelcontextprotocol.io/docs/develop/connect-local-servers.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import as_object, replace_file

Json = dict[str, Any]

NAME = "tokonoma"
KEY = "TOKONOMA_KEY"  # the variable with the API key: a secret is never written into the file of a client
_INPUT = "tokonoma-key"
_PROJECT_FILES = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json"}

# A string, a comment, or a comma before a closing bracket: editors allow the last two in JSON.
_JSON_EXTRAS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where a client keeps its file."""

    home: Path
    folder: Path  # the project, for `--scope project`
    platform: str  # the value of sys.platform
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
        McpClient("claude-code", "Claude Code", "mcpServers", f"${{{KEY}}}", "Start a new session; /mcp lists it."),
        McpClient("claude-desktop", "Claude Desktop", "mcpServers", "", "Quit Claude Desktop and start it again."),
        McpClient("cursor", "Cursor", "mcpServers", f"${{env:{KEY}}}", "The settings of Cursor list it under MCP."),
        McpClient("vscode", "VS Code", "servers", f"${{input:{_INPUT}}}", "`MCP: List Servers` lists it."),
    )
}


def find_config_file(client: McpClient, machine: Machine, scope: str) -> Path:
    """The file that the client reads, for all projects (`user`) or for this one (`project`)."""
    if scope == "project":
        if client.name not in _PROJECT_FILES:
            raise Invalid(f"{client.title} has no project configuration. Omit --scope.", field="scope")
        return machine.folder / _PROJECT_FILES[client.name]
    if client.name == "claude-code":
        return Path(machine.environ.get("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json"
    if client.name == "claude-desktop":
        return machine.settings_folder() / "Claude" / "claude_desktop_config.json"
    if client.name == "cursor":
        return machine.home / ".cursor" / "mcp.json"
    return machine.settings_folder() / "Code" / "User" / "mcp.json"


def build_entry(client: McpClient, address: ServerAddress) -> Json:
    """The description of the server that this client expects."""
    if not address.url:
        entry: Json = {} if client.name == "claude-desktop" else {"type": "stdio"}
        entry |= {"command": address.program[0], "args": list(address.program[1:])}
        return entry | ({"env": dict(address.environ)} if address.environ else {})
    if client.name == "claude-desktop":
        raise Invalid(
            "The configuration of Claude Desktop accepts only programs that it starts itself. Omit --http: it then "
            "starts its own tokonoma on the same data.",
            field="http",
        )
    entry = {"url": address.url} if client.name == "cursor" else {"type": "http", "url": address.url}
    return entry | ({"headers": {"Authorization": f"Bearer {client.variable}"}} if address.key else {})


def build_inputs(client: McpClient, address: ServerAddress) -> list[Json]:
    """VS Code asks for a secret once and keeps it itself."""
    if client.name != "vscode" or not (address.url and address.key):
        return []
    return [{"type": "promptString", "id": _INPUT, "description": "API key of Tokonoma", "password": True}]


def build_claude_command(address: ServerAddress, scope: str) -> list[str]:
    """`claude mcp add`. Its --env and --header take all words that follow, so another option must come after them."""
    start = ["claude", "mcp", "add", "--scope", scope]
    if address.url:
        header = ["--header", f"Authorization: Bearer {CLIENTS['claude-code'].variable}"] if address.key else []
        return [*start, *header, "--transport", "http", NAME, address.url]
    environ = [word for name, value in address.environ.items() for word in ("--env", f"{name}={value}")]
    return [*start, *environ, "--transport", "stdio", NAME, "--", *address.program]


def parse_config(text: str, file: Path) -> Json:
    """Parse the JSON object of a file; refuse comments and duplicate keys, which writing it again would lose."""
    if not text.strip():
        return {}
    try:
        value: Any = json.loads(text, object_pairs_hook=_reject_duplicates)
    except json.JSONDecodeError as error:
        if _has_comments(text):
            raise Invalid(
                f"{file} has comments or trailing commas (line {error.lineno}), which rewriting would lose.",
                reason="comments",
            ) from None
        place = f"line {error.lineno}, column {error.colno}"
        raise Invalid(f"{file} is not JSON ({place}: {error.msg}). Correct it first.", reason="not_json") from None
    except _DuplicateKey as error:
        raise Invalid(f"{file} names {error} twice in one object. Correct it first.", reason="not_json") from None
    if not isinstance(value, dict):
        raise Invalid(f"{file} holds no JSON object. Correct it first.", reason="not_json")
    return cast("Json", value)


def add_server(whole: Json, section: str, name: str, entry: Json, inputs: Sequence[Json], file: Path) -> Json:
    """Return the object with this server in its section, and everything else unchanged."""
    servers: Any = whole.get(section, {})
    if not isinstance(servers, Mapping):
        raise Invalid(f"{file}: {section!r} is not an object. Correct it first.", reason="not_json")
    new: Json = {**whole, section: {**servers, name: entry}}
    if inputs:
        kept: Any = whole.get("inputs", [])
        if not isinstance(kept, list):
            raise Invalid(f"{file}: 'inputs' is not a list. Correct it first.", reason="not_json")
        ids = {each["id"] for each in inputs}
        others = [each for each in cast("list[Any]", kept) if as_object(each).get("id") not in ids]
        new["inputs"] = [*others, *inputs]
    return new


def remove_server(whole: Json, section: str, name: str) -> Json:
    """Return the object without this server and its question for a key, and everything else unchanged."""
    servers = as_object(whole.get(section))
    new: Json = {**whole, section: {each: value for each, value in servers.items() if each != name}}
    inputs: Any = whole.get("inputs")
    if isinstance(inputs, list):
        new["inputs"] = [each for each in cast("list[Any]", inputs) if as_object(each).get("id") != _INPUT]
    return new


def format_config(whole: Json, like: str) -> str:
    """Format the object with the indentation of the file before."""
    indent = re.search(r"\n([ \t]+)\"", like)
    format_json = partial(json.dumps, whole, indent=indent[1] if indent else 2)
    text = format_json(ensure_ascii=False)
    has_surrogate = any("\ud800" <= letter <= "\udfff" for letter in text)  # it was an escape, and has to stay one
    return (format_json() if has_surrogate else text) + "\n"


def replace_config(file: Path, text: str) -> Path | None:
    """Write the file atomically. Its old content is kept beside it as `.bak`, whose path is returned."""
    file = file.resolve()  # a link into a folder of dotfiles stays a link
    mode, kept = 0o600, None  # these files may contain secrets of other servers
    if file.exists():
        mode = file.stat().st_mode & 0o777
        kept = file.with_name(file.name + ".bak")
        with replace_file(kept, mode) as out:
            out.write(file.read_bytes())
    with replace_file(file, mode) as out:
        out.write(text.encode())
    return kept


class _DuplicateKey(Exception):
    """A key that occurs twice in one object."""


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> Json:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise _DuplicateKey(next(repr(name) for name in names if names.count(name) > 1))
    return dict(pairs)


def _has_comments(text: str) -> bool:
    plain = _JSON_EXTRAS.sub(lambda found: found[1] or "", text)
    # A comma may be before a comment that is before a bracket: the first round removes only the comment.
    plain = _JSON_EXTRAS.sub(lambda found: found[1] or "", plain)
    try:
        json.loads(plain)
    except json.JSONDecodeError:
        return False
    return True

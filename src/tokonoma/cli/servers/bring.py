"""Servers in the configuration files of clients: Claude Desktop, Claude Code, Cursor and VS Code."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from tokonoma.app.servers import ServerSecrets
from tokonoma.core.errors import Invalid, Missing
from tokonoma.upstream.http import check_server_url
from tokonoma.upstream.names import fold_server_name
from tokonoma.upstream.secret_names import check_header

_KEYS = ("mcpServers", "servers")  # VS Code has `servers`, all others `mcpServers`
_INPUT = re.compile(r"\$\{[a-zA-Z]+[:}]")  # `${input:token}`, `${env:TOKEN}`: a client fills them in, not we
_MAX_FILE = 16 * 2**20
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedServer:
    name: str
    command: tuple[str, ...]
    url: str
    secrets: ServerSecrets = field(repr=False)
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


def import_servers(file: str, names: Sequence[str] = ()) -> list[ImportedServer]:
    """The servers of a file; those with these names, if some are given. Tokonoma itself is passed over."""
    entries = find_entries(_read(Path(file)))
    if not entries:
        raise Missing(f"There are no MCP servers in {file}.", reason="servers")
    if unknown := [name for name in names if name not in entries]:
        raise Missing(f"{file} has no server called {unknown[0]!r}. There are: {', '.join(entries)}.", reason="servers")
    chosen = {name: entry for name, entry in entries.items() if not names or name in names}
    return [parse_entry(name, entry) for name, entry in chosen.items() if not _is_own(entry)]


def find_entries(value: Any, level: int = 0) -> dict[str, Json]:
    """The entries by name. Claude Code keeps those of a project below `projects`; the first of a name counts."""
    found: dict[str, Json] = {}
    if not isinstance(value, dict) or level > 3:
        return found
    members = cast("Json", value)
    for key in _KEYS:
        listed = members.get(key)
        if isinstance(listed, dict):
            entries = cast("Json", listed).items()
            found |= {name: cast("Json", each) for name, each in entries if isinstance(each, dict)}
    for key in ("mcp", "projects"):
        inner = members.get(key)
        if isinstance(inner, dict):
            for part in (cast("Json", inner), *cast("Json", inner).values()):
                found = {**find_entries(part, level + 1), **found}
    return found


def parse_entry(name: str, entry: Json) -> ImportedServer:
    folded = fold_server_name(name)
    if not folded:
        raise Invalid(
            f"Of the name {name[:64]!r} no name of a module can be made: add that server by hand.", field="name"
        )
    env, headers = (_read_texts(name, entry.get(key)) for key in ("env", "headers"))
    secrets = ServerSecrets(env, headers, {}, {})
    if isinstance(entry.get("url"), str):
        for header, value in headers.items():
            check_header(header, value)
        details = {"transport": "sse"} if entry.get("type") == "sse" else {}
        return ImportedServer(folded, (), check_server_url(entry["url"]), secrets, details)
    command, arguments = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not command or not isinstance(arguments, list):
        raise Invalid(f"The server {name[:64]!r} has neither a command nor a url.", field="command")
    folder = {"folder": entry["cwd"]} if isinstance(entry.get("cwd"), str) else {}
    texts = (command, *map(str, cast("list[Any]", arguments)))
    return ImportedServer(folded, texts, "", secrets, folder)


def _read(file: Path) -> Any:
    content = file.read_bytes()[: _MAX_FILE + 1]
    try:
        return orjson.loads(content)
    except ValueError:
        pass
    try:
        return orjson.loads(_drop_comments(content.decode("utf-8-sig")))
    except ValueError as error:
        raise Invalid(f"{file} is not JSON.", field="file") from error


def _drop_comments(text: str) -> str:
    """VS Code allows comments and a comma after the last member."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            found.append(text[at : end + 1])
            at = end + 1
        elif text.startswith("//", at):
            at = text.find("\n", at) % (len(text) + 1)
        elif text.startswith("/*", at):
            at = text.find("*/", at) % (len(text) + 1) + 2
        else:
            found.append(text[at])
            at += 1
    return re.sub(r",(\s*+[}\]])", r"\1", "".join(found))


def _read_texts(name: str, value: Any) -> dict[str, str]:
    texts = {key: str(each) for key, each in cast("Json", value).items()} if isinstance(value, dict) else {}
    if asked := [key for key, each in texts.items() if _INPUT.search(each)]:
        message = f"The client fills in {asked[0]!r} of {name[:64]!r} itself: its value is not in the file."
        raise Invalid(f"{message} Add that server with `tokonoma servers add` and --env or --header.", field="env")
    return texts


def _is_own(entry: Json) -> bool:
    parts = [entry.get("command"), *cast("list[Any]", entry.get("args") or [])]
    return any(isinstance(each, str) and Path(each).name == "tokonoma" for each in parts)

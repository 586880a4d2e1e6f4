"""Which clients are on this machine, and which of them have this server already."""

import shutil
from dataclasses import dataclass

from tokonoma.cli.install.clients import CLIENTS, NAME, Machine, McpClient, find_config_file, parse_config
from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import as_object

_PROGRAMS = {"claude-code": "claude", "claude-desktop": "", "cursor": "cursor", "vscode": "code"}


@dataclass(frozen=True, slots=True)
class FoundClient:
    client: McpClient
    connected: bool


def find_clients(machine: Machine) -> list[FoundClient]:
    """By their programs on PATH, and by the folders in which they keep their settings."""
    return [
        FoundClient(client, _has_server(client, machine))
        for client in CLIENTS.values()
        if _finds_program(client, machine) or _has_settings(client, machine)
    ]


def _finds_program(client: McpClient, machine: Machine) -> bool:
    program = _PROGRAMS[client.name]
    return bool(program) and shutil.which(program, path=machine.environ.get("PATH")) is not None


def _has_settings(client: McpClient, machine: Machine) -> bool:
    file = find_config_file(client, machine, "user")
    if client.name == "claude-code":
        return file.exists()
    return file.parent.is_dir()


def _has_server(client: McpClient, machine: Machine) -> bool:
    file = find_config_file(client, machine, "user")
    try:
        config = parse_config(file.read_text(encoding="utf-8-sig"), file)
    except (OSError, UnicodeDecodeError, Invalid):  # without one, or with one that `install` explains
        return False
    return NAME in as_object(config.get(client.section))

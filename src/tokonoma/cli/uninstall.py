"""`uninstall`: takes back what `install` and `service install` wrote. Data stay, unless they are deleted by name."""

import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import click

from tokonoma.app import App
from tokonoma.app.places import find_places, find_sqlite_file
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.install import clients, run_client
from tokonoma.cli.install import hooks as claude_hooks
from tokonoma.cli.install.clients import CLIENTS, NAME, Json, Machine, McpClient
from tokonoma.cli.installation import find_current_installation
from tokonoma.cli.output import print_line, print_note, stands_at_terminal
from tokonoma.cli.units import find_units, get_machine, take_away
from tokonoma.core.errors import Conflict, Denied, Refusal

# What this program makes in its home. Anything else there is not ours.
_OWN_NAMES = (
    "tokonoma.db", "tokonoma.db-wal", "tokonoma.db-shm", "tokonoma.db-heads", "tokonoma.db-reserve", "tokonoma.toml",
    "journal.heads", "plugins.json", "services.json", "upstreams.json", "keyring.key", "backups", "servers",
    "workspace",
)  # fmt: skip


@command("uninstall", "database_url")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--delete-data", is_flag=True, help="Delete the data in the home too, after a typed confirmation.")
@pass_app
def uninstall(app: App, dry_run: bool, delete_data: bool) -> None:
    """Remove the entries of this server from all clients, its hooks and its units, and say how to remove the program.

    The data stay where they are. With --delete-data, the home is emptied of them: type its path to confirm.
    """
    if delete_data and not dry_run:
        _confirm_deletion(app)
    machine, failed = get_machine(), False
    for what, take in _list_traces(machine):
        if dry_run:
            print_line(f"would remove  {what}")
            continue
        try:
            take()
            print_line(f"removed       {what}")
        except Refusal as error:
            failed = True
            print_line(f"not removed   {what}: {error.message}")
    _report_data(app, dry_run=dry_run, delete_data=delete_data)
    installation = find_current_installation()
    if installation.remove:
        print_line(f"program       to remove it: {shlex.join(installation.remove)}")
    else:
        print_line(f"program       {installation.kind}, in {installation.place}: remove it there")
    sys.exit(1 if failed else 0)


def _list_traces(machine: Machine) -> Iterator[tuple[str, Any]]:
    """What was written outside the home, each with the function that takes it back."""
    for unit in find_units():
        yield f"unit {unit.file}", lambda unit=unit: take_away(unit)
    for client in CLIENTS.values():
        for scope in ("user", "project"):
            if scope == "project" and client.name == "claude-desktop":
                continue
            file = clients.find_config_file(client, machine, scope)
            if (entry := _read_entry(client, file)) is None:
                continue
            if not _is_own(entry):
                print_note(f"{file}: the server {NAME!r} there starts something else, and is left alone.")
                continue
            yield f"{client.title}: {NAME} in {file}", lambda c=client, s=scope, f=file: _remove_entry(c, s, f)
    for scope in ("user", "project"):
        file = claude_hooks.find_settings_file(machine, scope)
        if _has_hooks(file):
            yield f"Claude Code: hooks in {file}", lambda f=file: _remove_hooks(f)


def _read_entry(client: McpClient, file: Path) -> Json | None:
    """The entry of this server; None if there is none. A file that cannot be parsed is looked at by its owner."""
    if not file.exists():
        return None
    text = file.read_text(encoding="utf-8-sig")
    try:
        servers = clients.parse_config(text, file).get(client.section)
    except Refusal as error:
        if NAME in text:
            print_note(f"{error.message} It mentions {NAME}: remove that by hand.")
        return None
    entry: Any = cast("Json", servers).get(NAME) if isinstance(servers, Mapping) else None
    return cast("Json", entry) if isinstance(entry, dict) else None


def _is_own(entry: Json) -> bool:
    """Whether an entry starts this program, or connects to a server over HTTP, as `install` writes it."""
    words = [str(entry.get("command", "")), *map(str, entry.get("args") or [])]
    return str(entry.get("url", "")).endswith("/mcp") or any(Path(word).stem == "tokonoma" for word in words)


def _remove_entry(client: McpClient, scope: str, file: Path) -> None:
    if client.name == "claude-code" and shutil.which("claude"):
        run_client(["claude", "mcp", "remove", "--scope", scope, NAME])
        return
    before = file.read_text(encoding="utf-8-sig")
    new = clients.remove_server(clients.parse_config(before, file), client.section, NAME)
    clients.replace_config(file, clients.format_config(new, before))


def _has_hooks(file: Path) -> bool:
    if not file.exists():
        return False
    try:
        settings = clients.parse_config(file.read_text(encoding="utf-8-sig"), file)
        return claude_hooks.remove_hooks(settings, file) != settings
    except Refusal:
        return False


def _remove_hooks(file: Path) -> None:
    before = file.read_text(encoding="utf-8-sig")
    new = claude_hooks.remove_hooks(clients.parse_config(before, file), file)
    clients.replace_config(file, clients.format_config(new, before))


def _confirm_deletion(app: App) -> None:
    """The path of the home has to be typed: `y` is typed too easily."""
    if not stands_at_terminal():
        raise Denied("Data are deleted only by a person at a terminal. Without --delete-data nothing is deleted.")
    file = find_sqlite_file(app)
    if file is not None and file.exists() and not _is_unused(file):
        raise Conflict(f"Another process uses {file}. Stop servers and clients first.", reason="in_use")
    for path in _list_own_paths(app.home):
        print_note(f"  {path}")
    print_note("These files and folders are deleted for good, with all backups in them.")
    typed = click.prompt(f"To confirm, type {app.home}", default="", show_default=False, err=True)
    if typed != str(app.home):
        raise Denied("The path is not the same. Nothing was removed.", reason="confirm")


def _is_unused(file: Path) -> bool:
    from tokonoma.store.sqlite.convert import is_alone

    return is_alone(file)


def _list_own_paths(home: Path) -> list[Path]:
    return [path for name in _OWN_NAMES if (path := home / name).exists()]


def _report_data(app: App, *, dry_run: bool, delete_data: bool) -> None:
    places = find_places(app)
    if delete_data and not dry_run:
        for path in _list_own_paths(app.home):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if app.home.is_dir() and not any(app.home.iterdir()):
            app.home.rmdir()
        print_line(f"deleted       the data in {app.home}")
        if app.home.exists():
            print_line(f"kept          {app.home}: it contains other files")
    else:
        print_line(f"data          {'would be deleted' if delete_data else 'kept'} in {app.home}")
    outside = [f"{name}: {place}" for name, place in places.items() if not Path(place).is_relative_to(app.home)]
    for place in outside:  # another disk, a database server
        print_line(f"kept          {place}")

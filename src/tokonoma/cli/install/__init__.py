"""`install`: tells a client about this server, in the client's own way."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import click
import orjson

from tokonoma.app import read_environment
from tokonoma.cli import show
from tokonoma.cli.flags import command, get_flags
from tokonoma.cli.install import merge
from tokonoma.cli.install.clients import (
    CLIENTS,
    KEY,
    NAME,
    Json,
    Machine,
    McpClient,
    ServerAddress,
    build_claude_command,
    build_entry,
    build_inputs,
    find_config_file,
)  # fmt: skip
from tokonoma.cli.install.running import build_http_address, build_stdio_address, list_shell_variables
from tokonoma.cli.session import open_app
from tokonoma.core.errors import Invalid, Unavailable


@command("install", "host", "port", "direct")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--dry-run", is_flag=True, help="Print what would be written or run, and do nothing.")
@click.option("--http", is_flag=True, help="Point it at `tokonoma serve` instead of having it start its own process.")
@click.option("--key", is_flag=True, help=f"With --http: send the API key that the variable {KEY} holds.")
@click.option(
    "--scope", type=click.Choice(["user", "project"]), default="user", show_default=True,
    help="For all projects, or for the one in this folder.",
)  # fmt: skip
@click.pass_context
def install(ctx: click.Context, client: str, dry_run: bool, http: bool, key: bool, scope: str) -> None:
    """Tell a client about this server. Its other servers and settings stay as they are.

    Flags such as --direct that are given here are kept in the client's configuration.
    """
    with open_app(ctx) as app:
        server = build_http_address(app, key) if http else build_stdio_address(app, get_flags(ctx))
        lost = [] if http else list_shell_variables(app)
    place = Machine(Path.home(), Path.cwd(), sys.platform, read_environment())
    chosen = CLIENTS[client]
    if client == "claude-code" and shutil.which("claude"):
        _install_with_claude(place, server, scope, dry_run)
    else:
        _install_into_file(chosen, place, server, scope, dry_run)
    if not dry_run:
        show.print_note(chosen.next_step)
    for name in lost:
        show.print_note(
            f"Mind: {name} is set in this shell alone. Put it into tokonoma.toml if {chosen.title} needs it."
        )
    if http:
        show.print_note(
            "Start the server with `tokonoma serve`." + ("" if key else " Once it asks for keys, add --key here.")
        )


def _install_into_file(client: McpClient, place: Machine, server: ServerAddress, scope: str, dry_run: bool) -> None:
    file, entry, inputs = (
        find_config_file(client, place, scope),
        build_entry(client, server),
        build_inputs(client, server),
    )
    added: Json = {client.section: {NAME: entry}} | ({"inputs": inputs} if inputs else {})
    if dry_run:
        show.print_note(f"This would be put into {file}:")
        click.echo(_format_json(added))
        return
    before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    try:
        whole = merge.parse_config(before, file)
        told = merge.add_server(whole, client.section, NAME, entry, inputs, file)
    except Invalid as error:
        raise Invalid(f"{error.message}\n{_format_manual_steps(client, server, added)}", reason=error.reason) from None
    if told == whole:
        show.print_note(f"{file} already has it; nothing was changed.")
        return
    kept = merge.replace_file(file, merge.format_config(told, before))
    show.print_note(f"Written: {file}" + (f" (as it was before: {kept})" if kept else ""))


def _format_manual_steps(client: McpClient, server: ServerAddress, added: Json) -> str:
    told = f"Or add this by hand:\n{_format_json(added)}"
    if client.name == "vscode" and not build_inputs(client, server):
        line = shlex.join(["code", "--add-mcp", orjson.dumps({"name": NAME, **build_entry(client, server)}).decode()])
        told += f"\nOr let VS Code do it:\n{line}"
    return told


def _install_with_claude(place: Machine, server: ServerAddress, scope: str, dry_run: bool) -> None:
    """Claude Code rewrites its own file all the time: it is asked to do this itself."""
    add = build_claude_command(server, scope)
    if dry_run:
        show.print_note("This would be run:")
        click.echo(shlex.join(add))
        return
    known = _read_claude_entry(find_config_file(CLIENTS["claude-code"], place, scope))
    if known is not None and _drop_empty(known) == _drop_empty(build_entry(CLIENTS["claude-code"], server)):
        show.print_note("Claude Code already has it; nothing was changed.")
        return
    if known is not None:
        _run_command(["claude", "mcp", "remove", "--scope", scope, NAME])
    _run_command(add)
    show.print_note(f"Done: {shlex.join(add)}")


def _read_claude_entry(file: Path) -> Json | None:
    if not file.exists():
        return None
    servers: Any = merge.parse_config(file.read_text(encoding="utf-8-sig"), file).get("mcpServers")
    return cast("Json", servers).get(NAME) if isinstance(servers, dict) else None


def _drop_empty(entry: Json) -> Json:
    """Without fields that say nothing: Claude Code adds an empty `env`."""
    return {name: value for name, value in entry.items() if value not in ({}, [])}


def _run_command(words: list[str]) -> None:
    found = shutil.which(words[0])
    assert found is not None, "looked for before"
    ran = subprocess.run([found, *words[1:]], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if ran.returncode != 0:
        said = (ran.stderr or ran.stdout).strip() or f"exit code {ran.returncode}"
        raise Unavailable(f"`{shlex.join(words)}` failed: {said}", reason="client")


def _format_json(told: Json) -> str:
    return orjson.dumps(told, option=orjson.OPT_INDENT_2).decode()

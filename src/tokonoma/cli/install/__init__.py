"""`install`: tells a client about this server, in the client's own way."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import click
import orjson

from tokonoma.app import environment
from tokonoma.cli import show
from tokonoma.cli.flags import command, flags_of
from tokonoma.cli.install import merge
from tokonoma.cli.install.clients import (
    CLIENTS,
    KEY,
    NAME,
    Client,
    Json,
    Place,
    Server,
    claude_command,
    entry_of,
    file_of,
    inputs_of,
)  # fmt: skip
from tokonoma.cli.install.running import left_behind, over_http, over_stdio
from tokonoma.cli.session import entered
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
    with entered(ctx) as app:
        server = over_http(app, key) if http else over_stdio(app, flags_of(ctx))
        lost = [] if http else left_behind(app)
    place = Place(Path.home(), Path.cwd(), sys.platform, environment())
    chosen = CLIENTS[client]
    if client == "claude-code" and shutil.which("claude"):
        _by_claude(place, server, scope, dry_run)
    else:
        _by_file(chosen, place, server, scope, dry_run)
    if not dry_run:
        show.note(chosen.after)
    for name in lost:
        show.note(f"Mind: {name} is set in this shell alone. Put it into tokonoma.toml if {chosen.title} needs it.")
    if http:
        show.note(
            "Start the server with `tokonoma serve`." + ("" if key else " Once it asks for keys, add --key here.")
        )


def _by_file(client: Client, place: Place, server: Server, scope: str, dry_run: bool) -> None:
    file, entry, inputs = file_of(client, place, scope), entry_of(client, server), inputs_of(client, server)
    added: Json = {client.section: {NAME: entry}} | ({"inputs": inputs} if inputs else {})
    if dry_run:
        show.note(f"This would be put into {file}:")
        click.echo(_json(added))
        return
    before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    try:
        whole = merge.parsed(before, file)
        told = merge.merged(whole, client.section, NAME, entry, inputs, file)
    except Invalid as error:
        raise Invalid(f"{error.message}\n{_by_hand(client, server, added)}", reason=error.reason) from None
    if told == whole:
        show.note(f"{file} already has it; nothing was changed.")
        return
    kept = merge.replace(file, merge.written(told, before))
    show.note(f"Written: {file}" + (f" (as it was before: {kept})" if kept else ""))


def _by_hand(client: Client, server: Server, added: Json) -> str:
    told = f"Or add this by hand:\n{_json(added)}"
    if client.name == "vscode" and not inputs_of(client, server):
        line = shlex.join(["code", "--add-mcp", orjson.dumps({"name": NAME, **entry_of(client, server)}).decode()])
        told += f"\nOr let VS Code do it:\n{line}"
    return told


def _by_claude(place: Place, server: Server, scope: str, dry_run: bool) -> None:
    """Claude Code rewrites its own file all the time: it is asked to do this itself."""
    add = claude_command(server, scope)
    if dry_run:
        show.note("This would be run:")
        click.echo(shlex.join(add))
        return
    known = _known_to_claude(file_of(CLIENTS["claude-code"], place, scope))
    if known is not None and _filled(known) == _filled(entry_of(CLIENTS["claude-code"], server)):
        show.note("Claude Code already has it; nothing was changed.")
        return
    if known is not None:
        _run(["claude", "mcp", "remove", "--scope", scope, NAME])
    _run(add)
    show.note(f"Done: {shlex.join(add)}")


def _known_to_claude(file: Path) -> Json | None:
    if not file.exists():
        return None
    servers: Any = merge.parsed(file.read_text(encoding="utf-8-sig"), file).get("mcpServers")
    return cast("Json", servers).get(NAME) if isinstance(servers, dict) else None


def _filled(entry: Json) -> Json:
    """Without fields that say nothing: Claude Code adds an empty `env`."""
    return {name: value for name, value in entry.items() if value not in ({}, [])}


def _run(words: list[str]) -> None:
    found = shutil.which(words[0])
    assert found is not None, "looked for before"
    ran = subprocess.run([found, *words[1:]], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if ran.returncode != 0:
        said = (ran.stderr or ran.stdout).strip() or f"exit code {ran.returncode}"
        raise Unavailable(f"`{shlex.join(words)}` failed: {said}", reason="client")


def _json(told: Json) -> str:
    return orjson.dumps(told, option=orjson.OPT_INDENT_2).decode()

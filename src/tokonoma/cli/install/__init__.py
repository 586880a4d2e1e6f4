"""`install`: adds this server to the configuration of a client, in the way of that client."""

import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import orjson

from tokonoma.app import App, read_environment
from tokonoma.cli.command import command, get_flags, pass_app
from tokonoma.cli.install import clients
from tokonoma.cli.install import hooks as claude_hooks
from tokonoma.cli.install.clients import CLIENTS, KEY, NAME, Json, Machine, McpClient, ServerAddress
from tokonoma.cli.installation import find_current_installation
from tokonoma.cli.output import print_line, print_note
from tokonoma.config.home import find_home
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.transfer.files import as_object


@command("install", "host", "port", "direct")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--dry-run", is_flag=True, help="Print what would be written or run, but change nothing.")
@click.option("--http", is_flag=True, help="Connect to `tokonoma serve` instead of starting a process.")
@click.option("--key", is_flag=True, help=f"With --http: send the API key in the variable {KEY}.")
@click.option(
    "--scope", type=click.Choice(["user", "project"]), default="user", show_default=True,
    help="For all projects, or only for the project in this folder.",
)  # fmt: skip
@click.option("--hooks", is_flag=True, help="Write the hooks of Claude Code instead of the server.")
@click.option("--remove", is_flag=True, help="With --hooks: remove them again.")
@pass_app
def install(app: App, client: str, dry_run: bool, http: bool, key: bool, scope: str, hooks: bool, remove: bool) -> None:
    """Add this server to the configuration of a client. Its other servers and settings do not change.

    Flags such as --direct are written to the configuration of the client.
    """
    if hooks or remove:
        if not hooks or client != "claude-code" or http or key:
            raise click.UsageError("Use `tokonoma install claude-code --hooks`, with --remove to remove them.")
        _install_hooks(app, scope, dry_run, remove)
        return
    address = build_http_address(app, key) if http else build_stdio_address(app, get_flags(click.get_current_context()))
    machine = Machine(Path.home(), Path.cwd(), sys.platform, read_environment())
    chosen = CLIENTS[client]
    if client == "claude-code" and shutil.which("claude"):
        _install_with_claude(machine, address, scope, dry_run)
    else:
        _install_into_file(chosen, machine, address, scope, dry_run)
    if not dry_run:
        print_note(chosen.next_step)
    if http:
        hint = "" if key else " If it requires a key, run this command again with --key."
        print_note(f"Start the server with `tokonoma serve`.{hint}")
        return
    for origin in app.settings.origins.values():  # a client that starts the server does not have these variables
        if origin.startswith("environment "):
            name = origin.removeprefix("environment ")
            print_note(f"Note: {name} is set in this shell only. Put it into tokonoma.toml if {chosen.title} needs it.")


def _install_hooks(app: App, scope: str, dry_run: bool, remove: bool) -> None:
    address = build_stdio_address(app, get_flags(click.get_current_context()))
    program = find_program()
    words = address.program[len(program) + 1 :]  # without `stdio`
    added = claude_hooks.build_hooks(program, words, address.environ)
    machine = Machine(Path.home(), Path.cwd(), sys.platform, read_environment())
    file = claude_hooks.find_settings_file(machine, scope)
    text = orjson.dumps({"hooks": added}, option=orjson.OPT_INDENT_2).decode()
    if dry_run:
        print_note(f"This would be {'removed from' if remove else 'added to'} {file}:")
        print_line(text)
        return
    before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    try:
        old = clients.parse_config(before, file)
        new = claude_hooks.remove_hooks(old, file) if remove else claude_hooks.add_hooks(old, added, file)
    except Invalid as error:
        by_hand = "" if remove else f"\nOr add this by hand:\n{text}"
        raise Invalid(f"{error.message}{by_hand}", reason=error.reason) from None
    if new == old:
        state = "contains no hooks of Tokonoma" if remove else "already contains these hooks"
        print_note(f"{file} {state}; nothing was changed.")
        return
    kept = clients.replace_config(file, clients.format_config(new, before))
    print_note(f"Written: {file}" + (f" (old version: {kept})" if kept else ""))
    if not remove:
        print_note("They take effect in new sessions; /hooks lists them. Run this again if the program moves.")


def build_stdio_address(app: App, flags: Mapping[str, Any]) -> ServerAddress:
    """The program with the flags of this command, and the home if it is not the default."""
    environ = {} if app.home == find_home(None, {}) else {"TOKONOMA_HOME": str(app.home)}
    words: list[str] = []
    for name, value in flags.items():
        flag = name.replace("_", "-")
        if name == "database_url":  # it may contain a password, and every user can see the arguments of a process
            environ["TOKONOMA_DATABASE_URL"] = str(value)
        elif isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif name != "home":
            words += [f"--{flag}", str(value)]
    return ServerAddress([*find_program(), "stdio", *words], environ)


def build_http_address(app: App, key: bool) -> ServerAddress:
    host, port = app.settings.get_text("host"), app.settings.get_int("port")
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "[::]": "[::1]", "::1": "[::1]"}.get(host, host)  # noqa: S104
    scheme = "https" if app.settings.get_text("tls_cert") else "http"
    return ServerAddress(find_program(), {}, url=f"{scheme}://{host}:{port}/mcp", key=key)


def find_program() -> list[str]:
    """`tokonoma` with its full path, because a client may have another PATH. If it runs from a cache, what starts it
    from there: the program itself may be gone tomorrow."""
    if runner := find_current_installation().runner:
        if shutil.which(runner[0]) is None and (pipx := shutil.which("pipx")):  # it uses uv too, and looks like uvx
            return [pipx, "run", *runner[-1:]]
        return [shutil.which(runner[0]) or runner[0], *runner[1:]]
    started = Path(sys.argv[0])
    if started.stem == "tokonoma" and started.exists():
        return [str(started.absolute())]  # not resolved: the link that pipx makes stays valid longer than its target
    script = Path(sysconfig.get_path("scripts")) / ("tokonoma.exe" if sys.platform == "win32" else "tokonoma")
    return [str(script)] if script.exists() else [sys.executable, "-m", "tokonoma"]


def _install_into_file(client: McpClient, machine: Machine, address: ServerAddress, scope: str, dry_run: bool) -> None:
    file = clients.find_config_file(client, machine, scope)
    entry, inputs = clients.build_entry(client, address), clients.build_inputs(client, address)
    added: Json = {client.section: {NAME: entry}} | ({"inputs": inputs} if inputs else {})
    text = orjson.dumps(added, option=orjson.OPT_INDENT_2).decode()
    if dry_run:
        print_note(f"This would be added to {file}:")
        print_line(text)
        return
    before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    try:
        old = clients.parse_config(before, file)
        new = clients.add_server(old, client.section, NAME, entry, inputs, file)
    except Invalid as error:
        message = f"{error.message}\nOr add this by hand:\n{text}"
        if client.name == "vscode" and not inputs:
            line = shlex.join(["code", "--add-mcp", orjson.dumps({"name": NAME, **entry}).decode()])
            message += f"\nOr run:\n{line}"
        raise Invalid(message, reason=error.reason) from None
    if new == old:
        print_note(f"{file} already contains this server; nothing was changed.")
        return
    kept = clients.replace_config(file, clients.format_config(new, before))
    print_note(f"Written: {file}" + (f" (old version: {kept})" if kept else ""))


def _install_with_claude(machine: Machine, address: ServerAddress, scope: str, dry_run: bool) -> None:
    """Run `claude mcp add`, because Claude Code rewrites its own file all the time."""
    add = clients.build_claude_command(address, scope)
    if dry_run:
        print_note("This would be run:")
        print_line(shlex.join(add))
        return
    client = CLIENTS["claude-code"]
    file = clients.find_config_file(client, machine, scope)
    config = clients.parse_config(file.read_text(encoding="utf-8-sig"), file) if file.exists() else {}
    known = as_object(config.get("mcpServers")).get(NAME)
    if known is not None and _drop_empty(known) == _drop_empty(clients.build_entry(client, address)):
        print_note("Claude Code already has this server; nothing was changed.")
        return
    if known is not None:
        run_client(["claude", "mcp", "remove", "--scope", scope, NAME])
    run_client(add)
    print_note(f"Done: {shlex.join(add)}")


def _drop_empty(entry: Json) -> Json:
    """Claude Code adds an empty `env`."""
    return {name: value for name, value in entry.items() if value not in ({}, [])}


def run_client(words: list[str]) -> None:
    program = shutil.which(words[0])
    assert program is not None, "checked before"
    done = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
        raise Unavailable(f"`{shlex.join(words)}` failed: {output}", reason="client")

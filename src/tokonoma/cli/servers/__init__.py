"""`servers`: MCP servers as modules. Added, reviewed, approved, restarted and removed here."""

import sys
from collections.abc import Mapping
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.servers import (
    NO_SECRETS,
    ServerSecrets,
    approve_tools,
    build_server,
    check_name,
    delete_server,
    look_at,
    restart_server,
    review_server,
    store_account,
    store_server,
)
from tokonoma.app.upstreams import read_logs
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.output import confirm, print_json, print_line, print_note, print_table, stands_at_terminal
from tokonoma.cli.servers.ask import read_headers, read_variables
from tokonoma.cli.servers.bring import import_servers
from tokonoma.cli.servers.login import sign_in_to
from tokonoma.cli.servers.show import print_review
from tokonoma.core.errors import Invalid, Missing, Refusal
from tokonoma.core.module import Effect
from tokonoma.core.namespaces import normalize_namespace
from tokonoma.upstream.servers import MAIN_ACCOUNT, NewServer, ServerAccount, UpstreamServer, read_server, read_servers

_EFFECTS: Mapping[str, Effect] = {"read": "read", "write": "write", "destroy": "destroy"}
_ENV_HELP = "Variable for the process: its value is asked for, or read from standard input, a line for each."
_HEADER_HELP = (
    "Header for the requests, like Authorization: its value is asked for, or read from standard input, a line for each."
)


@group("servers")
def servers() -> None:
    """Put MCP servers behind Tokonoma: each becomes a module with the tools that you approve.

    Running servers notice changes within a second. Nothing is started before the first call.
    """


@servers.command("add", settings=("database_url", "public_url", "connect_port"))
@click.argument("name")
@click.argument("target", nargs=-1, required=True, metavar="URL|-- COMMAND ARGS…")
@click.option("--env", "variables", multiple=True, metavar="NAME", help=_ENV_HELP)
@click.option("--header", "headers", multiple=True, metavar="NAME", help=_HEADER_HELP)
@click.option("--namespace", default="/", show_default=True, help="It serves callers in this namespace and below.")
@click.option("--account", default=MAIN_ACCOUNT, show_default=True, help="Name of its account, where it has several.")
@click.option("--folder", metavar="FOLDER", help="The process works in this folder.")
@click.option("--summary", metavar="TEXT", help="What it is for, in your own words.")
@click.option("--yes", is_flag=True, help="Approve all its tools as it describes them now.")
@click.option("--scope", multiple=True, help="Ask for this scope, if it wants a consent; may be given several times.")
@click.option("--client-id", help="Client id at its authorization server, if you have registered one there.")
@click.option("--no-browser", is_flag=True, help="Print the address of a consent, but open no browser.")
@pass_app
def add(app: App, name: str, target: tuple[str, ...], yes: bool, **given: Any) -> None:
    """Add the MCP server NAME: an address (https://…), or a command after `--`.

    It is started or asked once, and its tools are shown. They can be used after you have approved them.
    """
    new = _read_target(check_name(app, name), target, given["folder"], given["summary"])
    secrets = _read_secrets(new, given["variables"], given["headers"])
    found, secrets = sign_in_to(app, new, secrets, given) if new.url else (look_at(app, new, secrets), secrets)
    server = store_server(app, new, secrets, found, normalize_namespace(given["namespace"]), given["account"])
    print_review(server, found.rejected)
    _approve_now(app, server, yes=yes)


@servers.command("account", settings=("database_url", "public_url", "connect_port"))
@click.argument("name")
@click.argument("account")
@click.option("--namespace", default="/", show_default=True, help="It serves callers in this namespace and below.")
@click.option("--env", "variables", multiple=True, metavar="NAME", help=_ENV_HELP)
@click.option("--header", "headers", multiple=True, metavar="NAME", help=_HEADER_HELP)
@click.option("--scope", multiple=True, help="Ask for this scope; may be given several times.")
@click.option("--client-id", help="Client id at its authorization server, if you have registered one there.")
@click.option("--no-browser", is_flag=True, help="Print the address of a consent, but open no browser.")
@pass_app
def account(app: App, name: str, account: str, namespace: str, **given: Any) -> None:
    """Give the server NAME an ACCOUNT of its own for callers in a namespace, or other secrets for one.

    Each account has its own process or session; they are never shared. It also signs in again.
    """
    server = _find(app, name)
    new = NewServer(server.name, server.command, server.url, server.details)
    secrets = _read_secrets(new, given["variables"], given["headers"])
    if new.url:
        _, secrets = sign_in_to(app, new, secrets, given)
    store_account(app, server, ServerAccount(account, normalize_namespace(namespace)), secrets)
    print_note(f"{name} has the account {account!r} in {namespace} now.")


@servers.command("list", settings=("database_url",))
@json_option
@pass_app
def list_all(app: App, as_json: bool) -> None:
    """List the servers. Their secrets are never shown."""
    with app.database.reading() as rows:
        found = read_servers(rows)
    if as_json:
        print_json([each.to_response() for each in found])
    elif not found:
        print_note("There is no MCP server. Add one with `tokonoma servers add`.")
    else:
        print_table(("NAME", "WHERE", "ACCOUNTS", "TOOLS", "STATE"), [_format_row(each) for each in found])


@servers.command("review", settings=("database_url",))
@click.argument("name")
@json_option
@pass_app
def review(app: App, name: str, as_json: bool) -> None:
    """Ask the server NAME what it offers now, and show what is new or has changed since you approved it."""
    server, rejected = review_server(app, name)
    if as_json:
        tools = [{"tool": each.short, "state": each.state, "effect": each.find_effect()} for each in server.tools]
        print_json({**server.to_response(), "tools": tools, "left_out": dict(rejected)})
    else:
        print_review(server, rejected)


@servers.command("approve", settings=("database_url",))
@click.argument("name")
@click.argument("tools", nargs=-1)
@click.option(
    "--effect", "effects", multiple=True, metavar="TOOL=read|write|destroy",
    help="What a tool does, where its own annotations do not say so; may be given several times.",
)  # fmt: skip
@pass_app
def approve(app: App, name: str, tools: tuple[str, ...], effects: tuple[str, ...]) -> None:
    """Approve TOOLS of the server NAME as it describes them now; all of them, if none is named."""
    server = approve_tools(app, name, tools, dict(map(_parse_effect, effects)))
    approved = [each.short for each in server.tools if each.state == "approved"]
    print_note(f"Approved: {', '.join(approved)}." if approved else f"{name} has no tools.")


@servers.command("restart", settings=("database_url",))
@click.argument("name")
@pass_app
def restart(app: App, name: str) -> None:
    """Let running servers start NAME again with the next call, also if it was broken."""
    restart_server(app, name)
    print_note(f"{name} is started again with its next call.")


@servers.command("remove", settings=("database_url",))
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@pass_app
def remove(app: App, name: str, yes: bool) -> None:
    """Remove the server NAME with its secrets and approvals."""
    server = _find(app, name)
    if not yes:
        confirm(f"Remove {name}?", f"This removes the MCP server {server.name} with its secrets.")
    delete_server(app, name)
    print_note(f"Removed {name}. Its processes end with the servers that run them, or when they are idle.")


@servers.command("logs", settings=("database_url",))
@click.argument("name")
@click.option("--account", help="Of this account, if it has several.")
@pass_app
def logs(app: App, name: str, account: str | None) -> None:
    """Show what the process of NAME wrote last to standard error on this machine: 64 KB are kept."""
    texts = read_logs(app, _find(app, name), account)
    if not texts:
        raise Missing(f"There is no log of {name} here: it was not started, or wrote nothing.", reason="log")
    for text in texts.values():
        print_line(text.rstrip("\n"))


@servers.command("import", settings=("database_url",))
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.argument("names", nargs=-1)
@click.option("--yes", is_flag=True, help="Approve all tools as the servers describe them now.")
@pass_app
def take_over(app: App, file: str, names: tuple[str, ...], yes: bool) -> None:
    """Take over the servers in FILE, a configuration of Claude Desktop, Claude Code, Cursor or VS Code.

    All of them, or those called NAMES. Values of `env` and `headers` go into the keyring.
    """
    failed = False
    for entry in import_servers(file, names):
        try:
            new = NewServer(check_name(app, entry.name), entry.command, entry.url, entry.details)
            found = look_at(app, new, entry.secrets)
            server = store_server(app, new, entry.secrets, found)
            print_review(server, found.rejected)
            _approve_now(app, server, yes=yes)
        except Refusal as error:
            failed = True
            print_note(f"{entry.name} was not added: {error.message}")
    sys.exit(1 if failed else 0)


def _find(app: App, name: str) -> UpstreamServer:
    with app.database.reading() as rows:
        return read_server(rows, name)


def _read_target(name: str, target: tuple[str, ...], folder: str | None, summary: str | None) -> NewServer:
    details = {key: value for key, value in (("folder", folder), ("summary", summary)) if value}
    return build_server(name, target, details)


def _read_secrets(new: NewServer, variables: tuple[str, ...], headers: tuple[str, ...]) -> ServerSecrets:
    if (variables and new.url) or (headers and not new.url):
        raise Invalid("A process takes --env, an address --header.", field="env")
    if not variables and not headers:
        return NO_SECRETS
    return ServerSecrets(read_variables(variables), read_headers(headers), {}, {})


def _approve_now(app: App, server: UpstreamServer, *, yes: bool) -> None:
    count = len(server.tools)
    if yes or (stands_at_terminal() and click.confirm(f"Approve these {count} tools?", err=True)):
        approve_tools(app, server.name)
        print_note(f"{server.name} can be used now: {count} tools are approved.")
    else:
        print_note(
            f"Nothing is approved yet. Approve all with `tokonoma servers approve {server.name}`, or name tools."
        )


def _parse_effect(text: str) -> tuple[str, Effect]:
    tool, _, effect = text.partition("=")
    if effect not in _EFFECTS:
        raise Invalid(f"{text!r} is not TOOL=read, TOOL=write or TOOL=destroy.", field="effect")
    return tool, _EFFECTS[effect]


def _format_row(server: UpstreamServer) -> list[str]:
    told = server.to_response()
    counts = ", ".join(f"{count} {state}" for state, count in told["tools"].items() if count) or "none"
    accounts = ", ".join(f"{each.name} ({each.namespace})" for each in server.accounts)
    state = f"{server.state}: {server.problem}" if server.problem else server.state
    return [server.name, server.url or " ".join(server.command), accounts, counts, state]

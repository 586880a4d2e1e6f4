"""Adding, approving and removing MCP servers: stored, and known to all processes within a second."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tokonoma.app.keyring import open_keyring
from tokonoma.app.page_calls import OpenOwnerWrite
from tokonoma.app.upstreams import open_opener
from tokonoma.catalogue import BUILT_IN_MODULES
from tokonoma.catalogue.plugins.names import find_server_name_problem
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.module import Effect
from tokonoma.keyring.accounts import (
    Account,
    AccountKind,
    NewAccount,
    SecretFields,
    add_account,
    disconnect_account,
    get_account,
    list_accounts,
    replace_account,
)
from tokonoma.services.credentials import Credentials
from tokonoma.services.providers import MCP
from tokonoma.upstream.http import check_server_url
from tokonoma.upstream.inspect import Inspection, inspect_server
from tokonoma.upstream.names import check_server_name, fold_tool_names
from tokonoma.upstream.opening import ENV, HEADERS
from tokonoma.upstream.pins import PinnedTool, compare_tools
from tokonoma.upstream.servers import (
    MAIN_ACCOUNT,
    NewServer,
    ServerAccount,
    UpstreamServer,
    add_server,
    approve_server,
    build_keyring_name,
    put_account,
    put_details,
    put_tools,
    read_server,
    read_servers,
    remove_server,
    set_server_state,
    touch_server,
)
from tokonoma.upstream.stdio import TextRing

if TYPE_CHECKING:
    from tokonoma.app import App
    from tokonoma.core.desk import Statements
    from tokonoma.upstream.transport import MessageTransport


@dataclass(frozen=True, slots=True)
class ServerSecrets:
    """What opens a server: variables and headers by name, and the tokens of a consent."""

    env: Mapping[str, str]
    headers: Mapping[str, str]
    tokens: Mapping[str, str]
    details: Mapping[str, Any]  # of the consent: nothing secret
    expires_at: int | None = None

    @property
    def kind(self) -> AccountKind:
        return "oauth" if self.tokens else "token"

    def to_fields(self) -> dict[str, str]:
        pairs = {ENV: self.env, HEADERS: self.headers}
        return {**{name: json.dumps(dict(each)) for name, each in pairs.items() if each}, **self.tokens}


NO_SECRETS = ServerSecrets({}, {}, {}, {})


def check_name(app: "App", name: str) -> str:
    """The name, if no module has it: built-in, of a service, a plugin or another server."""
    if name in BUILT_IN_MODULES:
        taken = {name: "a built-in module"}
    elif find_server_name_problem(name):
        taken = {name: "something that the server reserves"}
    else:
        taken = dict.fromkeys(app.registry.list_names(), "another module")
    with app.database.reading() as rows:
        taken |= {each.name: "another MCP server" for each in read_servers(rows)}
    return check_server_name(name, taken)


def build_server(name: str, target: Sequence[str], details: Mapping[str, Any]) -> NewServer:
    """A server at an address, or the words of a command that starts it."""
    if len(target) == 1 and "://" in target[0]:
        return NewServer(name, (), check_server_url(target[0]), details)
    if any("\0" in each for each in target):
        raise Invalid("The command holds a character that no command can have.", field="command")
    return NewServer(name, tuple(target), "", details)


def look_at(app: "App", new: NewServer, secrets: ServerSecrets) -> Inspection:
    """Start or ask a server once that is not stored yet. Raises what is wrong with it."""
    return _inspect(app, draft_server(new), _draft_credentials(new.name, secrets))


def _inspect(app: "App", server: UpstreamServer, credentials: Credentials | None) -> Inspection:
    text, opener = TextRing(), open_opener(app)
    known = str(server.details.get("transport", ""))
    transports = ("",) if server.kind == "stdio" else (known,) if known else ("http", "sse")

    def build(transport: str) -> "MessageTransport":
        chosen = replace(server, details={**server.details, "transport": transport})
        return opener.build(chosen, credentials, text)

    return asyncio.run(inspect_server(server.name, build, transports, text))


def draft_server(new: NewServer) -> UpstreamServer:
    return UpstreamServer(
        new.name, new.kind, new.command, new.url, new.details, "ready", "", "", 0, 0, 0, None, (), ()
    )  # fmt: skip


def fold_names(app: "App", name: str, found: Inspection) -> dict[str, str]:
    """The names of the tools here. Conflict if one would be that of another tool."""
    taken = [
        tool.listed for info in app.registry.list_all().values() if info.name != name for tool in info.entries
    ]  # fmt: skip
    return fold_tool_names(name, [tool["name"] for tool in found.tools], taken)


def store_server(
    app: "App",
    new: NewServer,
    secrets: ServerSecrets,
    found: Inspection,
    namespace: str = "/",
    account: str = MAIN_ACCOUNT,
    write: OpenOwnerWrite | None = None,
) -> UpstreamServer:
    """Add it with everything still to be approved."""
    shorts = fold_names(app, new.name, found)
    with (write or app.write_as_owner)("servers.add") as statements:
        add_server(statements, replace(new, details={**new.details, **found.details}))
        _store_account(app, statements, new.name, ServerAccount(account, namespace), secrets)
        put_tools(statements, new.name, compare_tools((), found.tools, shorts))
        server = read_server(statements, new.name)
    app.modules.look_now()
    return server


def store_account(
    app: "App",
    server: UpstreamServer,
    account: ServerAccount,
    secrets: ServerSecrets,
    write: OpenOwnerWrite | None = None,
) -> None:
    """Another account of a server, or other secrets for one."""
    with (write or app.write_as_owner)("servers.account") as statements:
        _store_account(app, statements, server.name, account, secrets)
    app.modules.look_now()


def review_server(
    app: "App", name: str, write: OpenOwnerWrite | None = None
) -> tuple[UpstreamServer, Mapping[str, str]]:
    """Ask the server again, with its first account, and store what it offers now. Also returns the tools that cannot be
    used, and why."""
    with app.database.reading() as rows:
        server = read_server(rows, name)
    account = server.accounts[0].account if server.accounts else None
    found = _inspect(app, server, open_opener(app).read(account))
    tools = compare_tools(server.tools, found.tools, fold_names(app, name, found))
    with (write or app.write_as_owner)("servers.review") as statements:
        put_details(statements, name, {**server.details, **found.details})
        put_tools(statements, name, tools)
        server = read_server(statements, name)
    app.modules.look_now()
    return server, found.rejected


def approve_tools(
    app: "App",
    name: str,
    chosen: Sequence[str] = (),
    effects: Mapping[str, Effect] | None = None,
    write: OpenOwnerWrite | None = None,
) -> UpstreamServer:
    """Agree to tools as the server describes them now: those with these names, or all. `effects` says what a tool
    does, where its own annotations do not."""
    given: dict[str, Effect] = dict(effects or {})
    with (write or app.write_as_owner)("servers.approve") as statements:
        server = read_server(statements, name)
        known = {tool.short for tool in server.tools}
        if unknown := [each for each in (*chosen, *given) if each not in known]:
            raise Missing(f"{name} has no tool called {unknown[0]!r}. There are: {', '.join(sorted(known))}.")
        tools = [
            _approve(tool, given) if not chosen or tool.short in chosen else tool
            for tool in server.tools
            if tool.state != "gone" or (chosen and tool.short not in chosen)
        ]
        put_tools(statements, name, tools)
        approve_server(statements, name)
        server = read_server(statements, name)
    app.modules.look_now()
    return server


def restart_server(app: "App", name: str, write: OpenOwnerWrite | None = None) -> None:
    """Running processes and sessions of it end with their next call, and it is no longer broken."""
    with (write or app.write_as_owner)("servers.restart") as statements:
        read_server(statements, name)
        set_server_state(statements, name, "")
        touch_server(statements, name, launch=True)
    app.modules.look_now()


def delete_server(app: "App", name: str, write: OpenOwnerWrite | None = None) -> None:
    with (write or app.write_as_owner)("servers.remove") as statements:
        read_server(statements, name)
        for account_id in remove_server(statements, name):
            disconnect_account(statements, get_account(statements, account_id))
    app.modules.look_now()


def _approve(tool: PinnedTool, effects: Mapping[str, Effect]) -> PinnedTool:
    return replace(tool, state="approved", approved=tool.seen, effect=effects.get(tool.short, tool.effect))


def _store_account(
    app: "App", statements: "Statements", server: str, account: ServerAccount, secrets: ServerSecrets
) -> None:
    fields = secrets.to_fields()
    stored: str | None = None
    if fields:
        new = NewAccount(
            MCP.name, build_keyring_name(server, account.name), account.namespace, secrets.kind,
            details={**secrets.details, "server": server}, expires_at=secrets.expires_at,
        )  # fmt: skip
        names = [(each.name, each.namespace) for each in list_accounts(statements, MCP.name)]
        put = replace_account if (new.name, account.namespace) in names else add_account
        stored = put(statements, open_keyring(app), new, fields).id
    put_account(statements, server, replace(account, account=stored))


def _draft_credentials(server: str, secrets: ServerSecrets) -> Credentials | None:
    fields = secrets.to_fields()
    if not fields:
        return None
    account = Account(
        "", MCP.name, server, "/", secrets.kind, "", secrets.details, (), "ready", "", secrets.expires_at,
        generation=0, created_at=0, refreshed_at=None,
    )  # fmt: skip
    return Credentials(account, SecretFields(fields))

"""The servers that are modules: what starts or reaches each, who may use it, and its tools as they were approved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from tokonoma.core.clock import now
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Invalid, Missing, Unready, find_nearest
from tokonoma.core.module import ConnectedAccount, Effect
from tokonoma.core.namespaces import is_inside, normalize_namespace
from tokonoma.core.reach import Reach
from tokonoma.upstream.pins import PinnedTool, hash_tool

ServerKind = Literal["stdio", "http"]

_MAX_OUTPUT = 4000  # characters of what a process wrote last
MAIN_ACCOUNT = "main"  # unless another name is given
_COLUMNS = "name, kind, command, url, details, state, problem, output, revision, launch, created_at, approved_at"
_INSERT = f"""insert into upstream ({_COLUMNS}) values (:name, :kind, :command, :url, :details, 'ready', '', '', 1, 1,
:at, null)"""  # noqa: S608 - our own columns
_PUT_ACCOUNT = """insert into upstream_account (upstream, name, space, account)
values (:upstream, :name, :space, :account)
on conflict (upstream, name, space) do update set account = excluded.account"""
_PUT_TOOL = """insert into upstream_tool (upstream, name, short, hash, state, effect, entry, seen, seen_at)
values (:upstream, :name, :short, :hash, :state, :effect, :entry, :seen, :at)
on conflict (upstream, name) do update set short = excluded.short, hash = excluded.hash, state = excluded.state,
effect = excluded.effect, entry = excluded.entry, seen = excluded.seen, seen_at = excluded.seen_at"""


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """Who may use a server: callers in this namespace and below, with the secrets of an account of the keyring."""

    name: str
    namespace: str
    account: str | None = None  # its id in the keyring; None: the server needs no secrets


@dataclass(frozen=True, slots=True)
class UpstreamServer:
    name: str
    kind: ServerKind
    command: tuple[str, ...]
    url: str
    details: Mapping[str, Any]  # nothing secret
    state: Literal["ready", "broken"]
    problem: str
    output: str  # the last lines that the process wrote, when it was found broken
    revision: int
    launch: int  # counts what makes a running process or session stale
    created_at: int
    approved_at: int | None
    accounts: tuple[ServerAccount, ...] = ()
    tools: tuple[PinnedTool, ...] = field(default=(), repr=False)

    @property
    def era(self) -> str:
        return str(self.details.get("era", ""))

    def find_tool(self, name: str) -> PinnedTool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    def to_response(self) -> dict[str, Any]:
        states = [tool.state for tool in self.tools]
        return {
            "name": self.name,
            "kind": self.kind,
            "command": list(self.command),
            "url": self.url,
            "accounts": [{"name": each.name, "namespace": each.namespace} for each in self.accounts],
            "state": self.state,
            "problem": self.problem,
            "tools": {state: states.count(state) for state in ("approved", "new", "changed", "gone")},
        }


@dataclass(frozen=True, slots=True)
class NewServer:
    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def kind(self) -> ServerKind:
        return "http" if self.url else "stdio"


def add_server(statements: Statements, new: NewServer) -> None:
    statements.run(
        _INSERT,
        name=new.name,
        kind=new.kind,
        command=_dump(new.command),
        url=new.url,
        details=_dump(new.details),
        at=now(),
    )


def put_account(statements: Statements, server: str, account: ServerAccount) -> None:
    """Add an account, or give one other secrets."""
    space = normalize_namespace(account.namespace)
    statements.run(_PUT_ACCOUNT, upstream=server, name=account.name, space=space, account=account.account)
    touch_server(statements, server, launch=True)


def put_tools(statements: Statements, server: str, tools: Sequence[PinnedTool]) -> None:
    """These are the tools from now on."""
    statements.run("delete from upstream_tool where upstream = :upstream", upstream=server)
    for tool in tools:
        statements.run(
            _PUT_TOOL,
            upstream=server,
            name=tool.name,
            short=tool.short,
            hash=hash_tool(tool.approved) if tool.approved else "",
            state=tool.state,
            effect=tool.effect,
            entry=_dump(tool.approved),
            seen=_dump(tool.seen),
            at=now(),
        )
    touch_server(statements, server)


def approve_server(statements: Statements, server: str) -> None:
    statements.run("update upstream set approved_at = :at where name = :name", at=now(), name=server)
    touch_server(statements, server)


def put_details(statements: Statements, server: str, details: Mapping[str, Any]) -> None:
    statements.run("update upstream set details = :details where name = :name", details=_dump(details), name=server)
    touch_server(statements, server)


def set_server_state(statements: Statements, server: str, problem: str, output: str = "") -> None:
    """Mark a server as broken, or as ready if there is no problem."""
    statements.run(
        "update upstream set state = :state, problem = :problem, output = :output where name = :name",
        state="broken" if problem else "ready",
        problem=problem[:500],
        output=output[-_MAX_OUTPUT:],
        name=server,
    )
    touch_server(statements, server)


def touch_server(statements: Statements, server: str, *, launch: bool = False) -> None:
    """Other processes read it again. With `launch` they also start it again at its next call."""
    more = ", launch = launch + 1" if launch else ""
    statements.run(f"update upstream set revision = revision + 1{more} where name = :name", name=server)  # noqa: S608


def remove_server(statements: Statements, server: str) -> list[str]:
    """The ids of the keyring's accounts that were its own."""
    rows = statements.rows("select account from upstream_account where upstream = :name", name=server)
    for table in ("upstream_tool", "upstream_account"):
        statements.run(f"delete from {table} where upstream = :name", name=server)  # noqa: S608 - our own tables
    statements.run("delete from upstream where name = :name", name=server)
    return [account for (account,) in rows if account is not None]


def read_revisions(rows: Rows) -> dict[str, int]:
    """One small query: it is asked every second."""
    found: list[tuple[str, int]] = rows.rows("select name, revision from upstream order by name")
    return dict(found)


def read_servers(rows: Rows) -> list[UpstreamServer]:
    found = rows.rows(f"select {_COLUMNS} from upstream order by name")  # noqa: S608 - our own columns
    return [_read_rest(rows, row) for row in found]


def read_server(rows: Rows, name: str) -> UpstreamServer:
    row = rows.row(f"select {_COLUMNS} from upstream where name = :name", name=name)  # noqa: S608 - our own columns
    if row is None:
        known = list(read_revisions(rows))
        near = find_nearest(name, known, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known) or 'none'}."
        raise Missing(f"There is no MCP server called {name[:64]!r}. {hint}", reason="server")
    return _read_rest(rows, row)


def choose_server_account(
    server: UpstreamServer, reach: Reach, named: str | None, sees: Callable[[str], bool]
) -> ServerAccount:
    """The account of a call: the one that it names, else the nearest. Those below the caller's root are others'."""
    usable = [each for each in server.accounts if is_inside(reach.root, each.namespace) and sees(each.name)]
    nearest = {each.name: each for each in sorted(usable, key=lambda each: len(each.namespace))}
    if named is not None and named not in nearest:
        message = f"There is no account called {named[:64]!r} for {server.name}. There are: {', '.join(nearest)}."
        raise Missing(message, reason="account", accounts=list(nearest))
    if named is not None:
        return nearest[named]
    if not nearest:
        raise Unready(f"The MCP server {server.name} has no account here.", reason="token_not_configured")
    deepest = max(len(each.namespace) for each in nearest.values())
    best = [each for each in nearest.values() if len(each.namespace) == deepest]
    if len(best) > 1:
        message = f"{server.name} has several accounts here: {', '.join(each.name for each in best)}."
        raise Invalid(f"{message} Name one as `account`.", reason="ambiguous", accounts=[each.name for each in best])
    return best[0]


def to_connected(server: UpstreamServer) -> tuple[ConnectedAccount, ...]:
    return tuple(ConnectedAccount(each.name, each.namespace) for each in server.accounts)


def _read_rest(rows: Rows, row: Row) -> UpstreamServer:
    name, kind, command, url, details, *rest = row
    accounts = rows.rows(
        "select name, space, account from upstream_account where upstream = :name order by space, name", name=name
    )
    tools = rows.rows(
        "select name, short, state, entry, seen, effect from upstream_tool where upstream = :name order by name",
        name=name,
    )
    return UpstreamServer(
        name, kind, tuple(orjson.loads(command)), url, orjson.loads(details), *rest,
        accounts=tuple(ServerAccount(*each) for each in accounts),
        tools=tuple(_to_tool(*each) for each in tools),
    )  # fmt: skip


def _to_tool(name: str, short: str, state: Any, entry: str, seen: str, effect: Effect | None) -> PinnedTool:
    return PinnedTool(name, short, state, orjson.loads(entry), orjson.loads(seen), effect)


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()


def build_keyring_name(server: str, account: str) -> str:
    """Of an account in the keyring, which holds those of all servers."""
    return f"{server}-{account}"


def find_short_name(server: str, name: str) -> str:
    """The account's own name, as the commands take it."""
    return name.removeprefix(build_keyring_name(server, ""))

"""All servers of a process, each with one connection per account; and the module that stands for each server."""

import asyncio
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from tokonoma.core.async_desk import AsyncDesk
from tokonoma.core.call import Principal
from tokonoma.core.content import RichResult
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.core.module import Module, ModuleInfo, Tool
from tokonoma.core.providers import SERVICE_CODES
from tokonoma.core.server_addresses import parse_server_address
from tokonoma.upstream.connection import ConnectionParts, UpstreamConnection
from tokonoma.upstream.describe import ANY_OBJECT, OfferedTool, describe_summary, list_offered
from tokonoma.upstream.pins import PinnedTool
from tokonoma.upstream.servers import (
    UpstreamServer,
    choose_server_account,
    put_tools,
    read_server,
    set_server_state,
)
from tokonoma.upstream.stdio import StdioTransport, end_group
from tokonoma.upstream.subscriptions import LIST
from tokonoma.upstream.texts import clean_text
from tokonoma.upstream.values import read_contents, read_messages, read_resources, read_result
from tokonoma.upstream.wire import JsonObject

if TYPE_CHECKING:
    from tokonoma.store.database import Database
    from tokonoma.upstream.opening import TransportOpener

_MAX_PROGRESS = 300  # characters of what a server says of its progress
Answer = RichResult[dict[str, Any]]


class UpstreamHub:
    """One per process. Its connections live on the event loop of the tools that talk to other services."""

    def __init__(self, database: "Database", opener: "TransportOpener", on_update: Callable[[], None]) -> None:
        self._database, self._on_update = database, on_update
        store = self._store_tools, self._store_problem
        self._parts = ConnectionParts(opener.open, opener.open_ring, *store, on_update=self._note_update)
        self._connections: dict[tuple[str, str, str], UpstreamConnection] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._has_told = False  # of a change, since somebody last looked

    def load_module(self, name: str) -> Module:
        with self._database.reading() as rows:
            server = read_server(rows, name)
        tools = tuple(self._build_tool(server, offered) for offered in list_offered(server))
        return Module(server.name, describe_summary(server), tools, codes=SERVICE_CODES)

    def find_mark(self, info: ModuleInfo, principal: Principal, address: str) -> str | None:
        """The mark of a resource that is watched for this principal already; any thread may ask."""
        uri = parse_server_address(address)[1]
        name = info.read_tool if uri != LIST else info.read_tool.replace("read_resource", "list_resources")
        tool = next((each for each in info.entries if each.name == name), None)
        connections = {key: each for key, each in tuple(self._connections.items()) if key[0] == info.name}
        server = max((each.server for each in connections.values()), key=lambda each: each.revision, default=None)
        if tool is None or server is None or info.source.rpartition("@")[2] != str(server.revision):
            return None  # it was changed since: the next call decides anew
        try:
            account = choose_server_account(server, principal.reach, None, partial(principal.reach.sees_tool, tool))
        except Refusal:
            return None
        found = connections.get((server.name, account.name, account.namespace))
        return None if found is None else found.watcher.find_mark(uri)

    def keep(self, addresses: Collection[str]) -> None:
        """Clients of this process still watch these; any thread may say so."""
        self._has_told = False
        named = [parse_server_address(each) for each in addresses]
        for (server, _, _), connection in tuple(self._connections.items()):
            connection.watcher.keep([uri for name, uri in named if name == server])

    def _note_update(self) -> None:
        """Once for many changes in a row."""
        if not self._has_told:
            self._has_told = True
            self._on_update()

    def kill(self) -> None:
        """End at once what is still running: for the end of this process."""
        for connection in self._connections.values():
            pid = connection.transport.pid if isinstance(connection.transport, StdioTransport) else None
            if pid is not None:
                end_group(pid, signal.SIGKILL)

    def _build_tool(self, server: UpstreamServer, offered: OfferedTool) -> Tool:
        async def run(desk: AsyncDesk, params: Mapping[str, Any]) -> RichResult[dict[str, Any]]:
            return await self._run(server, offered, desk, dict(params))

        return Tool(
            offered.name,
            run,
            offered.title,
            offered.effect,
            outside=True,
            idempotent=offered.idempotent,
            input_schema=offered.input,
            output_schema=ANY_OBJECT,
            description=offered.description,
        )

    async def _run(self, server: UpstreamServer, offered: OfferedTool, desk: AsyncDesk, params: JsonObject) -> Answer:
        connection = self._connect(server, desk, offered, params)
        if desk.call.watches and offered.use in ("list_resources", "read_resource"):
            return RichResult({"mark": await connection.watcher.watch(str(params.get("uri", LIST)))}, ())
        if offered.use == "call":
            assert offered.pinned is not None
            progress = partial(_relay_progress, desk.report) if desk.call.progress is not None else None
            return read_result(server.name, await connection.call(offered.pinned, params, progress))
        if offered.use == "list_resources":
            page = await connection.request("resources/list", params)
            return RichResult(read_resources(page), ())
        if offered.use == "read_resource":
            return read_contents(server.name, await connection.request("resources/read", params))
        return RichResult(read_messages(await connection.request("prompts/get", params)), ())

    def _connect(
        self, server: UpstreamServer, desk: AsyncDesk, offered: OfferedTool, params: JsonObject
    ) -> UpstreamConnection:
        """The connection of the account that this call uses. Its name is not the server's business."""
        if server.state == "broken":
            raise _describe_broken(server)
        tool, reach = desk.call.chosen_tool, desk.principal.reach
        named = params.pop(offered.account_param, None) if offered.account_param else None
        account = choose_server_account(server, reach, named, lambda name: reach.sees_tool(tool, name))
        key = server.name, account.name, account.namespace
        connection = self._connections.get(key)
        if connection is not None and connection.server.launch != server.launch:
            self._close_later(connection)
            connection = None
        if connection is None:
            connection = self._connections[key] = UpstreamConnection(server, account, self._parts)
        elif connection.server.revision != server.revision:
            connection.adopt(server)
        return connection

    def _close_later(self, connection: UpstreamConnection) -> None:
        task = asyncio.get_running_loop().create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _store_tools(self, server: UpstreamServer, tools: Sequence[PinnedTool]) -> None:
        # Approvals that were given meanwhile must not be lost: what was found then is found again with them.
        self._write(server, "revision", lambda statements: put_tools(statements, server.name, tools))

    def _store_problem(self, server: UpstreamServer, problem: str, output: str) -> None:
        self._write(server, "launch", lambda statements: set_server_state(statements, server.name, problem, output))

    def _write(self, server: UpstreamServer, counter: str, change: Callable[[Any], None]) -> None:
        """Unless the server was changed meanwhile, by this counter. What cannot be stored is known to this process all
        the same."""
        with suppress(Refusal), self._database.writing() as statements:
            sql = "select revision, launch from upstream where name = :name {for_update}"
            row = statements.row(sql, name=server.name)
            known = None if row is None else {"revision": row[0], "launch": row[1]}[counter]
            if known == getattr(server, counter):
                change(statements)


def _describe_broken(server: UpstreamServer) -> Unavailable:
    message = f"The MCP server {server.name} is broken: {server.problem}"
    advice = f"The owner corrects it, then runs `tokonoma servers restart {server.name}`."
    lines = server.output.splitlines()
    return Unavailable(
        f"{message} {advice}", reason="server", server=server.name, **({"stderr": lines} if lines else {})
    )


def _relay_progress(
    report: Callable[[float, float | None, str | None], None], progress: float, total: float | None, message: str | None
) -> None:
    report(progress, total, None if message is None else clean_text(message, _MAX_PROGRESS))

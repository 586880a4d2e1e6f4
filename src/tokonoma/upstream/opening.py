"""From a server and an account to what carries its messages: a process, or an address with its credentials."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from tokonoma.core.desk import Rows
from tokonoma.keyring.accounts import get_account
from tokonoma.keyring.data_keys import Keyring, read_snapshot
from tokonoma.services.credentials import Credentials, read_credentials
from tokonoma.upstream.servers import ServerAccount, UpstreamServer
from tokonoma.upstream.stdio import StdioTransport, TextRing, build_environ

if TYPE_CHECKING:
    from tokonoma.services.http import OutgoingHttp
    from tokonoma.services.refresh import TokenRefresher
    from tokonoma.store.database import Database
    from tokonoma.upstream.transport import MessageTransport

ENV, HEADERS = "env", "headers"
"""The secrets of an account of a server: variables and headers by name, as JSON."""


class TransportOpener:
    """`outgoing` gives the HTTP client and what renews tokens; a process needs neither."""

    def __init__(
        self,
        database: "Database",
        keyring: Keyring,
        environ: Mapping[str, str],
        outgoing: "Callable[[], tuple[OutgoingHttp, TokenRefresher]]",
        logs: Path,
    ) -> None:
        self._database, self._keyring, self._environ, self._outgoing = database, keyring, environ, outgoing
        self._logs = logs

    async def open(self, server: UpstreamServer, account: ServerAccount, text: TextRing) -> "MessageTransport":
        credentials = await asyncio.to_thread(self.read, account.account)
        return self.build(server, credentials, text)

    def open_ring(self, server: UpstreamServer, account: ServerAccount) -> TextRing:
        return TextRing(find_log(self._logs, server.name, account.name))

    def build(self, server: UpstreamServer, credentials: Credentials | None, text: TextRing) -> "MessageTransport":
        if server.kind == "stdio":
            environ = build_environ(self._environ, read_pairs(credentials, ENV))
            return StdioTransport(server.command, environ, text, str(server.details.get("folder", "")))
        from tokonoma.upstream.auth import AccountAuth  # httpx: only for servers at an address
        from tokonoma.upstream.http import HttpTransport
        from tokonoma.upstream.old_sse import SseTransport

        outgoing, refresher = self._outgoing()
        auth = AccountAuth(server, credentials, read_pairs(credentials, HEADERS), refresher)
        kind = SseTransport if server.details.get("transport") == "sse" else HttpTransport
        return kind(outgoing.get(), server.url, auth)

    def read(self, account_id: str | None) -> Credentials | None:
        """The secrets of an account. Reads the database: not on the event loop."""
        if account_id is None:
            return None

        def read(rows: Rows) -> Credentials:
            return read_credentials(rows, self._keyring, get_account(rows, account_id))

        return read_snapshot(self._database.reading, read)


def find_log(folder: Path, server: str, account: str) -> Path:
    """The file with what the process of an account wrote last to standard error."""
    return folder / f"{server}-{account}.log"


def read_pairs(credentials: Credentials | None, field: str) -> dict[str, str]:
    stored: Any = orjson.loads(credentials.secrets.get(field, "{}")) if credentials is not None else {}
    return stored

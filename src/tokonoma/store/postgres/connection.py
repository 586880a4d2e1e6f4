"""Connections to PostgreSQL: opening, conversion of values, meaning of errors."""

import logging
import struct
from typing import Any, Literal

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from tokonoma.core.concurrency import CancelToken
from tokonoma.core.desk import Row
from tokonoma.core.errors import Unavailable, Unready
from tokonoma.core.urls import hide_credentials
from tokonoma.store.database import ErrorReason, store_error

Connection = psycopg.Connection[Row]

# The driver logs through the standard library; our own lines on stderr are JSON.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_OLDEST = 140_000
_FLOAT4, _FLOAT4_ARRAY = 700, 1021  # types of PostgreSQL
_ARRAY_HEADER = struct.Struct("!iiIii")  # dimensions, whether there are nulls, type, size, number of the first
_DEFAULTS = {
    "connect_timeout": "3",
    "fallback_application_name": "tokonoma",
    # A dead peer is noticed within a minute; within ten seconds if something was sent to it.
    "tcp_user_timeout": "10000",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}


class _NumberLoader(Loader):
    """sum() and avg() of integers are `numeric` here; SQLite returns an int and a float."""

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


class _BoolLoader(Loader):
    def load(self, data: Any) -> int:
        return 1 if bytes(data) == b"t" else 0


class _BoolDumper(Dumper):
    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _FloatsDumper(Dumper):
    """A vector of numpy's, as the server stores it: as text it would take several times as long, on both sides."""

    format = psycopg.pq.Format.BINARY
    oid = _FLOAT4_ARRAY

    def dump(self, obj: Any) -> bytes:
        cells = obj.astype(">f4").view(">i4")
        sized = obj.__class__((len(cells), 2), ">i4")  # an array like it, without importing numpy
        sized[:, 0], sized[:, 1] = 4, cells
        return _ARRAY_HEADER.pack(1, 0, _FLOAT4, len(cells), 1) + sized.tobytes()


def configure_connection(connection: Connection) -> None:
    """The same values as SQLite: text is text, integers have 64 bits, booleans are 1 or 0."""
    adapters = connection.adapters
    adapters.register_dumper(str, StrDumper)
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _BoolDumper)
    adapters.register_dumper("numpy.ndarray", _FloatsDumper)  # by its name: numpy is loaded by who has vectors
    adapters.register_loader("numeric", _NumberLoader)
    adapters.register_loader("bool", _BoolLoader)


class PostgresAddress:
    """A parsed PostgreSQL URL: the options for the driver, and a form without credentials for messages."""

    def __init__(self, url: str) -> None:
        # URLs of hosted services may have this option for a transaction pooler, which libpq refuses.
        start, _, query = url.partition("?")
        words = query.split("&") if query else []
        pooled = "pgbouncer=true" in words
        words = [word for word in words if not word.startswith("pgbouncer=")]
        try:
            given = conninfo_to_dict("?".join([start, "&".join(words)]) if words else start)
        except psycopg.Error as error:
            raise Unready("The database URL cannot be read as a PostgreSQL URL.", reason="database_url") from error
        self.options: dict[str, Any] = {**_DEFAULTS, **given, "autocommit": True}
        if pooled:
            self.options["prepare_threshold"] = None
        # Not from the parsed parts: of a password that is not escaped, one of them holds the rest.
        self.display = hide_credentials(url)

    def connect(self) -> Connection:
        """A connection outside the pool; its error says why it failed."""
        try:
            connection: Connection = psycopg.connect(**self.options)
        except psycopg.Error as error:
            # The driver has no error code here, only a text. Where the database is, callers need not know.
            raise Unavailable(
                "The database refused the connection, or does not answer. Check that the server is running, that the"
                " database exists, and that user and password of the database URL are correct; `tokonoma where` shows"
                " the address.",
                reason="database",
                retry_after=1,
            ) from error
        configure_connection(connection)
        return connection


def check_server(connection: Connection) -> bool:
    """Refuse an unsuitable server; returns whether a suitable one acknowledges commits before it writes them."""
    version = connection.info.server_version
    if version < _OLDEST:
        message = f"The database server is PostgreSQL {version // 10_000}; 14 or newer is needed."
        raise Unready(message, reason="database_version")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise Unready(f"The database has the encoding {encoding}; create one with UTF8.", reason="encoding")
    found = connection.execute("select current_schema()::text, current_setting('synchronous_commit')").fetchone()
    assert found is not None
    if found[0] is None:
        raise Unready("No schema of the search path exists in the database. Create one first.", reason="schema")
    return found[1] == "off"


_STATES: dict[str, ErrorReason] = {
    "25006": "read_only",
    "XX001": "corrupt",
    "XX002": "corrupt",
    "23505": "exists",
    "23503": "linked",
    "40001": "busy",  # serialization failure
    "40P01": "busy",  # deadlock
    "55P03": "busy",  # lock timeout
    "53100": "disk_full",
    "22003": "number",
    "22021": "text",
    "22P05": "text",
}
_CLASSES: dict[str, ErrorReason] = {"53": "busy", "58": "disk"}  # too little memory or connections; files of the server
_NAME = "the PostgreSQL server"  # in messages: where it is, callers need not know


def is_lost(error: Exception) -> bool:
    """Whether the connection is lost: then nothing sent on it was kept, except perhaps a commit."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    state = error.sqlstate or "08"
    return state.startswith("08") or state in ("57P01", "57P02", "57P03", "57P05", "25P03", "25P04")


def to_refusal(error: Exception, token: CancelToken | None, use: Literal["read", "write"]) -> Exception:
    """What a driver's error means for the caller."""
    if isinstance(error, UnicodeEncodeError):
        return store_error("text")
    state = (error.sqlstate or "") if isinstance(error, psycopg.Error) else ""
    if is_lost(error) or state == "57014":
        return token.to_error() if token is not None and token.reason else store_error("database")
    if state == "25006" and use == "read":
        return RuntimeError("a reading block cannot write")
    reason = _STATES.get(state) or _CLASSES.get(state[:2])
    return error if reason is None else store_error(reason, _NAME)

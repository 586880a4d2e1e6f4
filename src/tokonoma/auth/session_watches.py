"""What sessions over HTTP watch, for all servers of one database: a client subscribes at one of them, has its stream at
another, and opens it at a third after that one was stopped.

A session is stored as a hash of its id and its principal. A mark stands for what the client was told last, so the next
server sees what has changed since.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements

SessionKey = tuple[str, str, str]
"""Session, and kind and name of its principal."""

_KEPT = 86_400_000  # milliseconds after which a session without a stream is forgotten
_RENEWED = 3_600_000  # milliseconds after which the time of a session with a stream is written again
_SAVE = """insert into session_watch (session, uri, mark, expires_at) values (:session, :uri, :mark, :until)
on conflict (session, uri) do update set mark = excluded.mark, expires_at = excluded.expires_at"""
_LOAD = "select session, uri, mark, expires_at from session_watch where session in ({texts}) and expires_at > :at"
_RENEW = "update session_watch set expires_at = :until where session in ({texts})"
_REMOVE = "delete from session_watch where session = :session"


class SessionWatches:
    """Its methods wait for the database."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Rows]],
        writing: Callable[[], AbstractContextManager[Statements]],
    ) -> None:
        self._reading, self._writing = reading, writing

    def save(self, key: SessionKey, marks: Mapping[str, str]) -> None:
        """The session watches these resources too."""
        at, session = now(), _hash(key)
        with self._writing() as statements:
            statements.run("delete from session_watch where expires_at < :at", at=at)
            rows = [{"session": session, "uri": uri, "mark": mark, "until": at + _KEPT} for uri, mark in marks.items()]
            statements.run_many(_SAVE, rows)

    def remove(self, key: SessionKey, uri: str | None = None) -> None:
        """It watches this one no longer; None: nothing."""
        with self._writing() as statements:
            if uri is None:
                statements.run(_REMOVE, session=_hash(key))
            else:
                statements.run(f"{_REMOVE} and uri = :uri", session=_hash(key), uri=uri)

    def load(self, keys: Sequence[SessionKey]) -> dict[SessionKey, dict[str, str]]:
        """What each of these sessions, which have streams, watches: the mark of each resource."""
        names, at = {_hash(key): key for key in keys}, now()
        with self._reading() as rows:
            found = rows.rows(_LOAD, texts=json.dumps(sorted(names)), at=at)
        watched: dict[SessionKey, dict[str, str]] = {key: {} for key in keys}
        for session, uri, mark, _ in found:
            watched[names[session]][uri] = mark
        old = sorted({row[0] for row in found if row[3] < at + _KEPT - _RENEWED})
        if old:
            with self._writing() as statements:
                statements.run(_RENEW, until=at + _KEPT, texts=json.dumps(old))
        return watched


def _hash(key: SessionKey) -> str:
    return hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()

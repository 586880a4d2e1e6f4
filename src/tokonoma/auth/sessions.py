"""Sessions of people in a browser, and the one-time links that begin one. Both are stored as hashes."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any

from tokonoma.auth.people import PERSON_COLUMNS, Person, to_person
from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Expired, Invalid, Unauthenticated

TICKET_SECONDS = 300
_DAY = 86_400_000
_USE_PAUSE = 60_000  # milliseconds between two notes that a session was used
_MAX_AGENT = 200  # characters
_PERSON = ", ".join(f"person.{each.strip()}" for each in PERSON_COLUMNS.split(","))
_SESSIONS = f"""select hash, csrf, web_session.created_at, used_at, expires_at, remote, agent, {_PERSON}
from web_session join person on person.id = web_session.person
where person.revoked_at is null and expires_at > :now"""  # noqa: S608
_TICKET = f"""select leads_to, {_PERSON} from web_ticket join person on person.id = web_ticket.person
where hash = :hash and used_at is null and expires_at > :now and person.revoked_at is null"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class WebSession:
    hash: bytes
    csrf: str  # what forms of this session carry
    created_at: int
    used_at: int
    expires_at: int
    remote: str | None
    agent: str | None
    person: Person

    @property
    def id(self) -> str:
        """Names the session on a page; it is no credential."""
        return self.hash.hex()[:16]

    def to_response(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "person": self.person.name,
            "created_at": format_time(self.created_at),
            "used_at": format_time(self.used_at),
            "expires_at": format_time(self.expires_at),
            "remote": self.remote,
            "agent": self.agent,
        }


@dataclass(frozen=True, slots=True)
class WebTicket:
    """A one-time link that is still good."""

    person: Person
    leads_to: str


@dataclass(frozen=True, slots=True)
class Visitor:
    """Where a session begins: shown to its person, who may not know it."""

    remote: str | None = None
    agent: str | None = None


def create_session(statements: Statements, person: str, days: int, visitor: Visitor) -> str:
    """The token for the cookie. The id must be that of a person who may sign in."""
    at, token = now(), secrets.token_urlsafe(32)
    statements.run("delete from web_session where expires_at <= :now", now=at)
    statements.run(
        """insert into web_session (hash, person, csrf, created_at, used_at, expires_at, remote, agent)
        values (:hash, :person, :csrf, :at, :at, :until, :remote, :agent)""",
        hash=_hash(token),
        person=person,
        csrf=secrets.token_urlsafe(32),
        at=at,
        until=at + days * _DAY,
        remote=visitor.remote,
        agent=None if visitor.agent is None else visitor.agent[:_MAX_AGENT],
    )
    return token


def begin_by_password(statements: Statements, person: str, met: bytes, days: int, visitor: Visitor) -> str:
    """A session for the person whose stored password was met. Unauthenticated if it was changed meanwhile."""
    sql = "select password from person where id = :id and revoked_at is null {for_update}"
    row = statements.row(sql, id=person)
    if row is None or row[0] is None or bytes(row[0]) != met:
        raise Unauthenticated("This name and this password do not belong together.", reason="password")
    return create_session(statements, person, days, visitor)


def find_session(rows: Rows, token: str) -> WebSession | None:
    """The session of a cookie, if it is still good."""
    row = rows.row(f"{_SESSIONS} and hash = :hash", now=now(), hash=_hash(token))
    return None if row is None else _to_session(row)


def is_use_due(session: WebSession) -> bool:
    """Whether `note_use` has something to store: not every page is a transaction."""
    return now() - session.used_at >= _USE_PAUSE


def note_use(statements: Statements, session: WebSession) -> None:
    statements.run("update web_session set used_at = :at where hash = :hash", at=now(), hash=session.hash)


def list_sessions(rows: Rows, person: str = "") -> list[WebSession]:
    """Those of one person, or of all; the last used first."""
    found = [_to_session(row) for row in rows.rows(f"{_SESSIONS} order by used_at desc, hash", now=now())]
    return [each for each in found if person in ("", each.person.id)]


def end_session(statements: Statements, session: WebSession) -> None:
    statements.run("delete from web_session where hash = :hash", hash=session.hash)


def end_other_sessions(statements: Statements, kept: WebSession) -> int:
    sql = "delete from web_session where person = :person and hash <> :hash"
    return statements.run(sql, person=kept.person.id, hash=kept.hash)


def create_ticket(statements: Statements, person: str, leads_to: str = "/") -> str:
    """The secret of a link that is good once, for five minutes."""
    at, secret = now(), secrets.token_urlsafe(32)
    statements.run("delete from web_ticket where expires_at <= :now", now=at)
    statements.run(
        "insert into web_ticket (hash, person, leads_to, expires_at) values (:hash, :person, :leads_to, :until)",
        hash=_hash(secret),
        person=person,
        leads_to=check_path(leads_to),
        until=at + TICKET_SECONDS * 1000,
    )
    return secret


def find_ticket(rows: Rows, secret: str) -> WebTicket | None:
    """Look without using it: a preview of a link must not use it up."""
    row = rows.row(_TICKET, hash=_hash(secret), now=now())
    return None if row is None else WebTicket(to_person(row[1:]), row[0])


def require_ticket(rows: Rows, secret: str) -> WebTicket:
    found = find_ticket(rows, secret)
    if found is None:
        raise Expired("This link was used already, or its five minutes are over.", reason="ticket")
    return found


def use_ticket(statements: Statements, secret: str) -> WebTicket:
    """Use it up. Expired for a second use, also at the same moment."""
    found = require_ticket(statements, secret)
    sql = "update web_ticket set used_at = :at where hash = :hash and used_at is null"
    if statements.run(sql, at=now(), hash=_hash(secret)) != 1:
        raise Expired("This link was used already, or its five minutes are over.", reason="ticket")
    return found


def withdraw_ticket(statements: Statements, secret: str) -> None:
    statements.run("delete from web_ticket where hash = :hash", hash=_hash(secret))


def check_path(path: str) -> str:
    """A path of this server. Invalid for what a browser would take for another place."""
    if not path.startswith("/") or path[1:2] in ("/", "\\") or any(ord(each) < 33 or each == "\\" for each in path):
        raise Invalid("A page is a path like /journal.", field="page")
    return path


def _hash(secret: str) -> bytes:
    # 256 random bits, as with keys: a slow hash would protect nothing.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _to_session(row: Row) -> WebSession:
    digest, csrf, created_at, used_at, expires_at, remote, agent, *person = row
    return WebSession(bytes(digest), csrf, created_at, used_at, expires_at, remote, agent, to_person(person))

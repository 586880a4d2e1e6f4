"""People: the owner and those whom the owner lets in. Each has a reach; a password is optional."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.auth.reaches import REACH_COLUMNS, from_columns, to_columns, to_response
from tokonoma.core.call import OWNER, Principal
from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Conflict, Denied, Missing
from tokonoma.core.reach import UNLIMITED, Reach

OWNER_ID = "owner"
"""The person who may use everything."""

PERSON_COLUMNS = f"id, name, password is not null, created_at, revoked_at, {REACH_COLUMNS}"
_INSERT = f"""insert into person (id, name, {REACH_COLUMNS}, created_at)
values (:id, :name, :root, :start, :modules, :mask, :extras, :at) on conflict (id) do nothing"""  # noqa: S608
_LIST = f"select {PERSON_COLUMNS} from person order by case id when 'owner' then 0 else 1 end, created_at, id"  # noqa: S608
_NAMED = f"select {PERSON_COLUMNS} from person where (name = :name or id = :name) and revoked_at is null"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    name: str
    has_password: bool
    created_at: int
    revoked_at: int | None
    reach: Reach

    @property
    def is_owner(self) -> bool:
        return self.id == OWNER_ID

    @property
    def principal(self) -> Principal:
        """The owner's session is the owner; another person is known to policy and journal by name."""
        return OWNER if self.is_owner else Principal(f"person:{self.name}", "web", self.reach, self.id)

    def to_response(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "password": self.has_password,
            **to_response(self.reach),
            "created_at": format_time(self.created_at),
            "state": "active" if self.revoked_at is None else "revoked",
        }


@dataclass(frozen=True, slots=True)
class Revocation:
    """What ended together with the rights of a person."""

    person: Person
    sessions: int
    grants: int


def to_person(row: Sequence[Any]) -> Person:
    """The person of the values of `PERSON_COLUMNS`, in that order."""
    person_id, name, has_password, created_at, revoked_at, *reach = row
    return Person(person_id, name, bool(has_password), created_at, revoked_at, from_columns(reach))


def ensure_owner(statements: Statements) -> None:
    """Sessions and grants refer to a row; the owner's is made when the first of them is."""
    statements.run(_INSERT, id=OWNER_ID, name=OWNER_ID, at=now(), **to_columns(UNLIMITED))


def add_person(statements: Statements, name: str, reach: Reach) -> Person:
    ensure_owner(statements)  # so that no other person can have its name
    if statements.row(_NAMED, name=name):
        raise Conflict(f"There is already a person called {name!r}. Revoke it first or choose another name.")
    # As with keys: the name is free again after a revocation, and the old row stays under its id.
    statements.run("update person set name = name || ' ' || id where name = :name", name=name)
    statements.run(_INSERT, id=secrets.token_hex(6), name=name, at=now(), **to_columns(reach))
    return find_person(statements, name)


def list_people(rows: Rows) -> list[Person]:
    """The owner, then the others from the oldest on."""
    return [to_person(row) for row in rows.rows(_LIST)]


def find_person(rows: Rows, name: str) -> Person:
    """By name or by id. Missing if unknown or revoked."""
    row = rows.row(_NAMED, name=name)
    if row is None:
        message = f"There is no person called {name!r}. `tokonoma people list` lists them."
        raise Missing(message, reason="unknown_person")
    return to_person(row)


def read_password(rows: Rows, name: str) -> tuple[str, bytes | None]:
    """The id and the stored password; an empty id if there is no such person."""
    row = rows.row("select id, password from person where name = :name and revoked_at is null", name=name)
    return ("", None) if row is None else (row[0], None if row[1] is None else bytes(row[1]))


def set_password(statements: Statements, person: Person, stored: bytes | None) -> int:
    """Store what `hash_password` made, or none. All sessions of the person end; returns how many."""
    statements.run("update person set password = :stored where id = :id", stored=stored, id=person.id)
    statements.run("delete from web_ticket where person = :id", id=person.id)
    return statements.run("delete from web_session where person = :id", id=person.id)


def revoke_person(statements: Statements, name: str) -> Revocation:
    """End what the person may do: sessions, links, codes and the grants that the person gave to clients."""
    person = find_person(statements, name)
    if person.is_owner:
        raise Denied("The owner cannot be revoked. `tokonoma people password owner` changes the password.")
    statements.run("update person set revoked_at = :at, password = null where id = :id", at=now(), id=person.id)
    grants = statements.run(
        "update oauth_grant set revoked_at = :at where person = :id and revoked_at is null", at=now(), id=person.id
    )
    statements.run("delete from oauth_code where person = :id and grant_id is null", id=person.id)
    return Revocation(person, set_password(statements, person, None), grants)

"""Credentials by name: for the owner's own commands, and for local clients that take on the rights of one."""

from collections.abc import Callable, Mapping

from tokonoma.auth import api_keys
from tokonoma.auth.people import find_person
from tokonoma.core.call import OWNER, Principal
from tokonoma.core.desk import Rows
from tokonoma.core.errors import Invalid, Missing, Unauthenticated

_LISTS = "`tokonoma keys list`, `clients list` and `people list` list what there is."


def find_credential(rows: Rows, text: str) -> Principal:
    """The principal of `key:NAME`, `client:NAME`, `person:NAME`, `owner`, or of a name alone if only one has it.
    Missing if there is none, Unauthenticated if it has ended."""
    kind, colon, name = text.partition(":")
    if colon and kind in _KINDS:
        return _KINDS[kind](rows, name)
    found = {f"{kind}:{text}": holder for kind in _KINDS if (holder := _find(kind, rows, text)) is not None}
    if text == OWNER.name:
        found = {name: holder for name, holder in found.items() if holder != OWNER} | {OWNER.name: OWNER}
    if len(found) > 1:
        message = f"Several are called {text!r}: {', '.join(found)}. Name one of them in this way."
        raise Invalid(message, reason="ambiguous")
    if not found:
        raise Missing(f"Nothing is called {text!r}. {_LISTS}", reason="unknown_credential")
    return next(iter(found.values()))


def _find(kind: str, rows: Rows, name: str) -> Principal | None:
    try:
        return _KINDS[kind](rows, name)
    except Missing:
        return None


def _find_client(rows: Rows, name: str) -> Principal:
    if rows.row("select 1 from oauth_grant where name = :name or id = :name", name=name) is None:
        raise Missing(f"There is no client called {name!r}. {_LISTS}", reason="unknown_client")
    from tokonoma.auth.oauth.grants import find_grant  # joserfc: 30 ms that a local client should not wait for

    grant = find_grant(rows, name)
    if grant.state != "active":
        raise Unauthenticated(f"The client {grant.name!r} is {grant.state}.", reason=f"{grant.state}_grant")
    return grant.principal


_KINDS: Mapping[str, Callable[[Rows, str], Principal]] = {
    "key": api_keys.find_active,
    "client": _find_client,
    "person": lambda rows, name: find_person(rows, name).principal,
}

"""Accounts: connections with other services. Their secrets are sealed; everything else about them is readable.

An account lives in a namespace. It serves that namespace and those below it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Conflict, Invalid, Missing, Unavailable
from tokonoma.core.ids import uuid7
from tokonoma.core.namespaces import is_inside, normalize_namespace
from tokonoma.core.providers import PROVIDER_MODULES, find_provider
from tokonoma.keyring.data_keys import Keyring, lock_keys
from tokonoma.keyring.seal import SEE_STATUS, SecretPlace

AccountKind = Literal["token", "basic", "oauth", "app"]
"""A pasted token, user and password, an OAuth grant, or the client id and secret of the owner's own OAuth app"""

MAX_NAME = 64
_NAME = re.compile(r"[\w-]{1,64}")  # as a mask writes it: `github@work`
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MAX_PROBLEM = 500  # characters

_COLUMNS = (
    "id, provider, name, space, kind, who, details, scopes, state, problem, expires_at, generation, created_at,"
    " refreshed_at, used_at"
)
_INSERT = f"""insert into account ({_COLUMNS}) values (:id, :provider, :name, :space, :kind, :who, :details, :scopes,
'ready', '', :expires_at, 1, :at, null, null)"""  # noqa: S608 - our own columns
_REPLACE = """update account set kind = :kind, who = :who, details = :details, scopes = :scopes, state = 'ready',
problem = '', expires_at = :expires_at, generation = generation + 1, lease = null, lease_until = null
where id = :id"""
_PUT_FIELD = """insert into account_secret (account, field, key_id, sealed)
values (:account, :field, :key_id, :sealed)
on conflict (account, field) do update set key_id = excluded.key_id, sealed = excluded.sealed"""
_PUT_DEFAULT = """insert into account_default (space, module, account) values (:space, :module, :account)
on conflict (space, module) do update set account = excluded.account"""


@dataclass(frozen=True, slots=True)
class NewAccount:
    """What is readable of an account that is being connected."""

    provider: str
    name: str
    namespace: str = "/"
    kind: AccountKind = "token"
    who: str = ""  # as the service calls it: a login, an address
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])  # a site, an id: nothing secret
    scopes: tuple[str, ...] = ()
    expires_at: int | None = None  # of the access token, in milliseconds


@dataclass(frozen=True, slots=True)
class Account:
    id: str
    provider: str
    name: str
    namespace: str
    kind: AccountKind
    who: str
    details: Mapping[str, Any]
    scopes: tuple[str, ...]
    state: Literal["ready", "broken"]
    problem: str  # why it is broken
    expires_at: int | None
    generation: int  # counts the secrets that it has had
    created_at: int
    refreshed_at: int | None
    used_at: int | None = None  # to the hour

    @property
    def modules(self) -> tuple[str, ...]:
        return PROVIDER_MODULES.get(self.provider, (self.provider,))

    def serves(self, namespace: str) -> bool:
        return is_inside(namespace, self.namespace)

    def describe(self) -> str:
        return f"{self.provider} account {self.name!r}" + (f" of {self.namespace}" if self.namespace != "/" else "")

    def to_response(self) -> dict[str, Any]:
        return {
            "provider": self.provider,
            "name": self.name,
            "namespace": self.namespace,
            "modules": list(self.modules),
            "kind": self.kind,
            "who": self.who,
            "scopes": list(self.scopes),
            "state": self.state,
            "problem": self.problem,
            "expires_at": _format_time(self.expires_at),
            "created_at": format_time(self.created_at),
            "refreshed_at": _format_time(self.refreshed_at),
            "used_at": _format_time(self.used_at),
        }


class SecretFields(dict[str, str]):
    """The secrets of an account by field. Only the names of the fields are ever printed."""

    def __repr__(self) -> str:
        return f"SecretFields({', '.join(self)})"

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class AccountDefault:
    namespace: str
    module: str
    account: Account


def add_account(statements: Statements, keyring: Keyring, new: NewAccount, secrets: Mapping[str, str]) -> Account:
    """Conflict if there is one with this provider, name and namespace."""
    space = _check_new(new)
    if _find_id(statements, new.provider, space, new.name) is not None:
        message = f"There is already a {new.provider} account called {new.name!r} in {space}."
        raise Conflict(f"{message} Choose another name, or disconnect it first.", reason="exists")
    account_id = uuid7()
    statements.run(
        _INSERT, id=account_id, provider=new.provider, name=new.name, space=space, at=now(), **_fact_columns(new)
    )
    account = get_account(statements, account_id)
    put_secrets(statements, keyring, account, secrets)
    return account


def replace_account(statements: Statements, keyring: Keyring, new: NewAccount, secrets: Mapping[str, str]) -> Account:
    """The account with this provider, name and namespace, connected again: all of its secrets are replaced. Missing if
    there is none. A refresh that is under way elsewhere is not stored any more."""
    space = _check_new(new)
    account_id = _find_id(statements, new.provider, space, new.name)
    if account_id is None:
        raise Missing(f"There is no {new.provider} account called {new.name!r} in {space}.", reason="account")
    statements.run(_REPLACE, id=account_id, **_fact_columns(new))
    account = get_account(statements, account_id)
    kept = {"texts": json.dumps(sorted(secrets))}
    statements.run("delete from account_secret where account = :id and field not in ({texts})", id=account_id, **kept)
    put_secrets(statements, keyring, account, secrets)
    return account


def list_accounts(rows: Rows, provider: str | None = None) -> list[Account]:
    """All accounts, by provider, namespace and name."""
    chosen = "where provider = :provider" if provider else ""
    named = {"provider": provider} if provider else {}
    found = [_to_account(row) for row in rows.rows(f"select {_COLUMNS} from account {chosen}", **named)]  # noqa: S608
    return sorted(found, key=lambda each: (each.provider, each.namespace, each.name))


def get_account(rows: Rows, account_id: str) -> Account:
    """Missing once it is disconnected."""
    row = rows.row(f"select {_COLUMNS} from account where id = :id", id=account_id)  # noqa: S608 - our own columns
    if row is None:
        raise Missing("This account is no longer connected.", reason="account")
    return _to_account(row)


def read_secrets(rows: Rows, keyring: Keyring, account: Account) -> SecretFields:
    """All secrets of an account. Unavailable if one does not open, or none is there: nothing empty is ever returned."""
    found = rows.rows(
        "select field, key_id, sealed from account_secret where account = :id order by field", id=account.id
    )
    if not found:
        account = get_account(rows, account.id)  # Missing, if it was disconnected
        raise Unavailable(f"The secrets of the {account.describe()} are gone. {SEE_STATUS}", reason="damaged")
    return SecretFields(
        (name, keyring.open(rows, place_secret(account, name), key_id, bytes(sealed))) for name, key_id, sealed in found
    )


def put_secrets(statements: Statements, keyring: Keyring, account: Account, secrets: Mapping[str, str]) -> None:
    """Store these fields; other fields of the account stay."""
    if not secrets:
        raise Invalid(f"There is no secret for the {account.describe()}.", field="secrets")
    for name in sorted(secrets):  # in the order in which a rotation locks them
        if not _FIELD.fullmatch(name) or not secrets[name]:
            raise Invalid(f"The secret {name!r} of an account has no value, or its name is not a plain word.")
        key_id, sealed = keyring.seal(statements, place_secret(account, name), secrets[name])
        statements.run(_PUT_FIELD, account=account.id, field=name, key_id=key_id, sealed=sealed)


def place_secret(account: Account, name: str) -> SecretPlace:
    return SecretPlace(account.provider, account.id, name, f"the {account.describe()}")


def disconnect_account(statements: Statements, account: Account) -> None:
    """Remove an account with its secrets and what it was the default of. With the last secret the data keys go, too: a
    keyring whose master key is lost can then begin again with another."""
    lock_keys(statements)
    statements.run("delete from account_default where account = :id", id=account.id)
    statements.run("delete from account_secret where account = :id", id=account.id)
    statements.run("delete from account where id = :id", id=account.id)
    if statements.row("select 1 from account_secret limit 1") is None:
        statements.run("delete from keyring_key")


def set_state(statements: Statements, account: Account, problem: str) -> bool:
    """Mark an account as broken, or as ready if there is no problem. False if its secrets are others by now: what was
    found out about the earlier ones says nothing of these."""
    changed = statements.run(
        "update account set state = :state, problem = :problem where id = :id and generation = :generation",
        state="broken" if problem else "ready",
        problem=problem[:_MAX_PROBLEM],
        id=account.id,
        generation=account.generation,
    )
    return changed == 1


def set_default(statements: Statements, module: str, namespace: str, account: Account) -> None:
    """Let calls of a module in a namespace and below use this account if they name none."""
    space = normalize_namespace(namespace)
    if account.kind == "app" or module not in account.modules:
        raise Invalid(f"The {account.describe()} does not serve the module {module!r}.", reason="account")
    if not account.serves(space):
        raise Invalid(f"The {account.describe()} serves {account.namespace} and below, not {space}.", reason="account")
    statements.run(_PUT_DEFAULT, space=space, module=module, account=account.id)


def clear_default(statements: Statements, module: str, namespace: str) -> bool:
    """False if there was none."""
    find_provider(module)
    space = normalize_namespace(namespace)
    sql = "delete from account_default where space = :space and module = :module"
    return statements.run(sql, space=space, module=module) > 0


def list_defaults(rows: Rows, accounts: Iterable[Account]) -> list[AccountDefault]:
    """The defaults that lead to one of these accounts."""
    known = {account.id: account for account in accounts}
    found = rows.rows("select space, module, account from account_default order by space, module")
    return [AccountDefault(space, module, known[each]) for space, module, each in found if each in known]


def _check_new(new: NewAccount) -> str:
    """The namespace as it is stored."""
    if not _NAME.fullmatch(new.name):
        message = f"An account's name has at most {MAX_NAME} letters, digits, `-` and `_`."
        raise Invalid(message, field="account")
    if not _FIELD.fullmatch(new.provider):
        raise Invalid(f"{new.provider!r} is not the name of a provider.", field="provider")
    return normalize_namespace(new.namespace)


def _find_id(rows: Rows, provider: str, space: str, name: str) -> str | None:
    sql = "select id from account where provider = :provider and space = :space and name = :name"
    row = rows.row(sql, provider=provider, space=space, name=name)
    return None if row is None else row[0]


def _fact_columns(new: NewAccount) -> dict[str, Any]:
    return {
        "kind": new.kind,
        "who": new.who,
        "details": json.dumps(new.details),
        "scopes": json.dumps(new.scopes),
        "expires_at": new.expires_at,
    }


def mark_used(statements: Statements, account_id: str, at: int) -> None:
    """Unless another process has stored a later time."""
    sql = "update account set used_at = :at where id = :id and (used_at is null or used_at < :at)"
    statements.run(sql, id=account_id, at=at)


def _to_account(row: Row) -> Account:
    account_id, provider, name, space, kind, who, details, scopes, *rest = row
    facts = json.loads(details), tuple(json.loads(scopes))
    return Account(account_id, provider, name, space, kind, who, *facts, *rest)


def _format_time(at: int | None) -> str | None:
    return None if at is None else format_time(at)

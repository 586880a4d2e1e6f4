"""Leases of accounts: of all processes on a database, one refreshes a token at a time. Only rows: no HTTP.

    lease = take_lease(…)          one transaction; None: another has it, or the secrets are others by now
    ask the provider               outside any transaction
    store_refreshed(…, lease, …)   one transaction: the new secrets, and the generation counts one up

A process that is killed in between leaves a lease that ends by itself. The generation decides, not the lease: of two
processes that refresh the same generation after all, the first to store wins, and the other uses what it has stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex

from tokonoma.core.clock import now
from tokonoma.core.desk import Statements
from tokonoma.keyring.accounts import Account, get_account, put_secrets
from tokonoma.keyring.data_keys import Keyring

LEASE_SECONDS = 30

# Further ahead than a lease can be: it was written by another clock, and nobody must wait for that one's time.
_SHORTEN = "update account set lease_until = :until where id = :id and lease_until > :until"
_TAKE = """update account set lease = :holder, lease_until = :until
where id = :id and generation = :generation and (lease is null or lease_until < :now)"""
_STORE = """update account set generation = generation + 1, lease = null, lease_until = null, state = 'ready',
problem = '', expires_at = :expires_at, refreshed_at = :now where id = :id and generation = :generation"""
_RELEASE = "update account set lease = null, lease_until = null where id = :id and lease = :holder"


@dataclass(frozen=True, slots=True)
class AccountLease:
    account: str  # its id
    generation: int
    holder: str


def take_lease(
    statements: Statements, account: Account, seconds: float = LEASE_SECONDS, at: int | None = None
) -> AccountLease | None:
    """The right to refresh the secrets that `account` has; None while another holds it, or if they were replaced."""
    at = now() if at is None else at
    lease = AccountLease(account.id, account.generation, token_hex(8))
    until = at + int(seconds * 1000)
    statements.run(_SHORTEN, id=account.id, until=until)
    values = {"id": account.id, "generation": account.generation, "holder": lease.holder}
    return lease if statements.run(_TAKE, until=until, now=at, **values) == 1 else None


def store_refreshed(
    statements: Statements, keyring: Keyring, lease: AccountLease, secrets: Mapping[str, str], expires_at: int | None
) -> Account | None:
    """Store what the provider has given; fields that it has not given stay. None, and nothing is stored, if the account
    has other secrets by now: read them."""
    values = {"id": lease.account, "generation": lease.generation}
    if statements.run(_STORE, expires_at=expires_at, now=now(), **values) != 1:
        return None
    account = get_account(statements, lease.account)
    put_secrets(statements, keyring, account, secrets)
    return account


def release_lease(statements: Statements, lease: AccountLease) -> None:
    """Let others try at once. Does nothing if the lease is another's by now."""
    statements.run(_RELEASE, id=lease.account, holder=lease.holder)

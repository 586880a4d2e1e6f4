"""What state the keyring is in: where its key is, and whether it opens every secret."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tokonoma.core.desk import Rows
from tokonoma.core.errors import Refusal
from tokonoma.keyring.accounts import list_accounts, place_secret
from tokonoma.keyring.data_keys import Keyring, read_fingerprint


@dataclass(frozen=True, slots=True)
class KeyringStatus:
    place: str  # where the master key is
    state: Literal["empty", "open", "sealed"]
    problem: str  # why it is sealed
    fingerprint: str  # of the master key that the database was locked with
    data_keys: int
    retired_keys: int  # more than none: a rotation is not finished
    secrets: int
    unreadable: Mapping[str, str]  # by account and field: why

    def to_response(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "key": self.place,
            "fingerprint": self.fingerprint,
            "problem": self.problem,
            "data_keys": self.data_keys,
            "rotating": self.retired_keys > 0,
            "secrets": self.secrets,
            "unreadable": dict(self.unreadable),
        }


def check_keyring(rows: Rows, keyring: Keyring) -> KeyringStatus:
    """Open every secret, and keep none."""
    fingerprint = read_fingerprint(rows)
    keys, retired = rows.rows("select count(*), count(retired_at) from keyring_key")[0]
    ((total,),) = rows.rows("select count(*) from account_secret")
    problem, unreadable = "", dict[str, str]()
    if fingerprint:
        try:
            keyring.get_master(fingerprint)
            unreadable = _find_unreadable(rows, keyring)
        except Refusal as error:
            problem = error.message
    state = "empty" if not fingerprint else "sealed" if problem else "open"
    return KeyringStatus(keyring.source.place, state, problem, fingerprint, keys, retired, total, unreadable)


def _find_unreadable(rows: Rows, keyring: Keyring) -> dict[str, str]:
    found: dict[str, str] = {}
    sql = "select field, key_id, sealed from account_secret where account = :id order by field"
    for account in list_accounts(rows):
        secrets = rows.rows(sql, id=account.id)
        if not secrets:
            found[f"{account.provider}/{account.name}"] = "missing"
        for name, key_id, sealed in secrets:
            try:
                keyring.open(rows, place_secret(account, name), key_id, bytes(sealed))
            except Refusal as error:
                if error.reason == "sealed":
                    raise
                found[f"{account.provider}/{account.name} {name}"] = error.reason
    return found

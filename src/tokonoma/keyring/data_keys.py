"""The keyring of one process: the master key opens data keys, a data key opens secrets.

Nothing is read before the first secret. While the master key is away or wrong, everything else works.
"""

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Unavailable
from tokonoma.keyring.seal import KEY_SIZE, SEE_STATUS, SecretPlace, open_sealed, seal
from tokonoma.keyring.source import KeySource, MasterKey

ReadT = TypeVar("ReadT")

_RETRIES = 3
_LOCK = "select id from keyring_lock where id = 1 "
_CURRENT = "select id from keyring_key where retired_at is null order by created_at desc, id desc limit 1"


class Keyring:
    """`source` is where the master key is. What was opened is remembered until the process ends."""

    def __init__(self, source: KeySource) -> None:
        self.source = source
        self._master: MasterKey | None = None
        self._data_keys: dict[str, bytes] = {}

    def seal(self, statements: Statements, place: SecretPlace, secret: str) -> tuple[str, bytes]:
        """The id of the data key in use, and the sealed secret. The key stays in use until the transaction ends."""
        key_id = self.use_current_key(statements)
        return key_id, seal(self.open_data_key(statements, key_id), place, key_id, secret.encode())

    def open(self, rows: Rows, place: SecretPlace, key_id: str, sealed: bytes) -> str:
        """Unavailable if it does not open: `sealed` without the right master key, else as `open_sealed`."""
        return open_sealed(self.open_data_key(rows, key_id), place, key_id, sealed).decode()

    def use_current_key(self, statements: Statements) -> str:
        """The id of the data key for new secrets, which no other transaction can retire before this one has ended."""
        if statements.row(_CURRENT) is None:
            self._create_first_key(statements)
        statements.row(_LOCK + "{for_share}")
        row = statements.row(_CURRENT)
        assert row is not None, "a key is retired only when there is another"
        return row[0]

    def open_data_key(self, rows: Rows, key_id: str) -> bytes:
        key = self._data_keys.get(key_id)
        if key is None:
            row = rows.row("select wrapped, master from keyring_key where id = :id", id=key_id)
            if row is None:
                raise Unavailable(f"The data key {key_id} of the keyring is gone. {SEE_STATUS}", reason="damaged")
            key = self._data_keys[key_id] = unwrap_key(self.get_master(row[1]), key_id, bytes(row[0]))
        return key

    def get_master(self, fingerprint: str) -> MasterKey:
        """The master key with this fingerprint. Its source is read again if the remembered one is another."""
        master = self._master
        if master is None or master.fingerprint != fingerprint:
            found = self.source.read()
            master = next((key for key in found if key.fingerprint == fingerprint), None)
            if master is None:
                raise _locked_error(self.source, found, fingerprint)
            self._master = master
        return master

    def add_data_key(self, statements: Statements, master: MasterKey) -> str:
        key_id, key = secrets.token_hex(8), secrets.token_bytes(KEY_SIZE)
        statements.run(
            "insert into keyring_key (id, wrapped, master, created_at) values (:id, :wrapped, :master, :at)",
            id=key_id,
            wrapped=wrap_key(master, key_id, key),
            master=master.fingerprint,
            at=now(),
        )
        return key_id

    def _create_first_key(self, statements: Statements) -> None:
        if lock_keys(statements):  # another process was first
            return
        found = self.source.read()
        self.add_data_key(statements, found[0] if found else self.source.create())


def read_snapshot(reading: Callable[[], AbstractContextManager[Rows]], read: Callable[[Rows], ReadT]) -> ReadT:
    """What `read` returns from a snapshot. If the keyring does not open, it is called again with a newer one: one
    may be older than a change of the master key, and the earlier key is gone."""
    for _ in range(_RETRIES):
        try:
            with reading() as rows:
                return read(rows)
        except Unavailable as error:
            if error.reason != "sealed":
                raise
    with reading() as rows:
        return read(rows)


def read_fingerprint(rows: Rows) -> str:
    """The fingerprint of the master key that the database was locked with; empty before the first secret."""
    row = rows.row("select master from keyring_key order by created_at desc, id desc limit 1")
    return "" if row is None else row[0]


def lock_keys(statements: Statements) -> str:
    """Keep all others from sealing and from changing keys until the transaction ends; the master's fingerprint."""
    statements.row(_LOCK + "{for_update}")
    return read_fingerprint(statements)  # read after the wait: it sees what the others have committed


def wrap_key(master: MasterKey, key_id: str, key: bytes) -> bytes:
    return seal(master.key, _place_key(key_id), master.fingerprint, key)


def unwrap_key(master: MasterKey, key_id: str, wrapped: bytes) -> bytes:
    return open_sealed(master.key, _place_key(key_id), master.fingerprint, wrapped)


def _place_key(key_id: str) -> SecretPlace:
    return SecretPlace("keyring", key_id, "data_key", "the keyring")


def _locked_error(source: KeySource, found: list[MasterKey], fingerprint: str) -> Unavailable:
    if found:
        message = (
            f"The keyring is locked with another master key: the database was locked with {fingerprint}, and"
            f" {source.place} holds {found[0].fingerprint}."
        )
    else:
        message = f"The master key {fingerprint} of the keyring is missing: there is none in {source.place}."
    advice = (
        "Put the right key there. If it is lost, remove all accounts with `tokonoma accounts disconnect` and connect"
        " them again. Modules that use no account work meanwhile."
    )
    return Unavailable(f"{message} {advice}", reason="sealed")

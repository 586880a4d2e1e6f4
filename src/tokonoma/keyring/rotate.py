"""New keys for the keyring, while others read and write: `rotate` replaces the data key, `rekey` the master key.

A rotation makes a new data key and retires the others in one transaction; the rows follow in batches. Each batch is
whole, and every row names the key that it is sealed with: a killed rotation is resumed, and nothing is unreadable
meanwhile. A retired key is removed when no row uses it any more.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from tokonoma.core.clock import now
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Missing, Refusal
from tokonoma.keyring.data_keys import Keyring, lock_keys, read_fingerprint, unwrap_key, wrap_key
from tokonoma.keyring.seal import SecretPlace, seal
from tokonoma.keyring.source import MasterKey, OwnKey

Writing = Callable[[], AbstractContextManager[Statements]]

BATCH = 200  # rows of one transaction

_OLDER = """select account, field, key_id, sealed,
(select provider from account where account.id = account_secret.account) from account_secret
where key_id <> :current and (account, field) > (:account, :field) order by account, field limit :limit {for_update}"""
_MOVE = """update account_secret set key_id = :key_id, sealed = :sealed
where account = :account and field = :field"""
_DROP = """delete from keyring_key where retired_at is not null
and not exists (select 1 from account_secret where key_id = keyring_key.id)"""


class RotationStep(NamedTuple):
    moved: int  # rows that this batch has sealed with the new key
    unreadable: int  # rows that do not open: they stay as they are, and so does their key


def is_rotating(rows: Rows) -> bool:
    """Whether a rotation was interrupted, or is under way."""
    return rows.row("select 1 from keyring_key where retired_at is not null limit 1") is not None


def start_rotation(statements: Statements, keyring: Keyring) -> str:
    """Make a new data key, which is used from the commit on; returns its id."""
    fingerprint = lock_keys(statements)
    if not fingerprint:
        raise _nothing_sealed()
    key_id = keyring.add_data_key(statements, keyring.get_master(fingerprint))
    statements.run(
        "update keyring_key set retired_at = :at where retired_at is null and id <> :id", at=now(), id=key_id
    )
    return key_id


def move_secrets(writing: Writing, keyring: Keyring, *more: Callable[[Statements], None]) -> Generator[RotationStep]:
    """Seal all secrets with the newest data key, a batch at a time, and remove the keys that nothing uses. `more`: each
    does the same, in one transaction, with what another part of the server has sealed."""
    after = ("", "")
    while True:
        with writing() as statements:
            current = keyring.use_current_key(statements)
            found = statements.rows(_OLDER, current=current, account=after[0], field=after[1], limit=BATCH)
            step = _move_rows(statements, keyring, current, found)
            if len(found) < BATCH:
                for reseal in more:
                    reseal(statements)
                statements.run(_DROP)
        yield step
        if len(found) < BATCH:
            return
        after = found[-1][:2]


def _move_rows(statements: Statements, keyring: Keyring, current: str, found: Sequence[Row]) -> RotationStep:
    new_key, moved = keyring.open_data_key(statements, current), list[dict[str, Any]]()
    for account, name, key_id, sealed, provider in found:
        place = SecretPlace(provider, account, name)
        try:
            secret = keyring.open(statements, place, key_id, bytes(sealed))
        except Refusal as error:
            if error.reason == "sealed":  # the master key is away: no row would open
                raise
            continue
        value = seal(new_key, place, current, secret.encode())
        moved.append({"key_id": current, "sealed": value, "account": account, "field": name})
    statements.run_many(_MOVE, moved)
    return RotationStep(len(moved), len(found) - len(moved))


def rekey(writing: Writing, keyring: Keyring, new: MasterKey) -> int:
    """Wrap all data keys with a new master key, in one transaction; how many. Secrets stay as they are.

    If Tokonoma keeps the master key itself, the new one is stored beside the old before the transaction, and takes its
    place after it: at any moment one of the two opens the database, and `Keyring` finds it.
    """
    source = keyring.source
    if not isinstance(source, OwnKey):
        with writing() as statements:
            return _wrap_all(statements, keyring, new, lock_keys(statements))
    with source.lock():
        with writing() as statements:
            fingerprint = lock_keys(statements)
            keys = source.read()
            if fingerprint and keys and keys[0].fingerprint != fingerprint == keys[-1].fingerprint:
                source.promote()  # an earlier change was interrupted after its transaction
            source.stage(new)
            count = _wrap_all(statements, keyring, new, fingerprint)
        source.promote()
    return count


def read_master(rows: Rows, keyring: Keyring) -> MasterKey:
    """The master key in use."""
    fingerprint = read_fingerprint(rows)
    if not fingerprint:
        raise _nothing_sealed()
    return keyring.get_master(fingerprint)


def _wrap_all(statements: Statements, keyring: Keyring, new: MasterKey, fingerprint: str) -> int:
    if not fingerprint:
        raise _nothing_sealed()
    found = statements.rows("select id, wrapped, master from keyring_key")
    for key_id, wrapped, master in found:
        key = unwrap_key(keyring.get_master(master), key_id, bytes(wrapped))
        statements.run(
            "update keyring_key set wrapped = :wrapped, master = :master where id = :id",
            wrapped=wrap_key(new, key_id, key),
            master=new.fingerprint,
            id=key_id,
        )
    return len(found)


def _nothing_sealed() -> Missing:
    message = "The keyring is empty: its key is made when the first account is connected with `tokonoma connect`."
    return Missing(message, reason="empty_keyring")

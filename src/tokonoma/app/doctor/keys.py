"""Checks of the API keys, and of the keyring: where its key is, and whether it opens every secret."""

from collections.abc import Iterator

from tokonoma.app import App
from tokonoma.app.doctor.machine import Finding
from tokonoma.app.keyring import open_keyring
from tokonoma.auth import api_keys
from tokonoma.core.printable import pluralize
from tokonoma.keyring.status import check_keyring as check_status
from tokonoma.keyring.tables import TABLES
from tokonoma.store.database import Database
from tokonoma.store.migrate import read_applied

_KEEP = "Backups do not contain this key: keep a copy in a safe place with `tokonoma keyring export-key`."
_CONNECT = "`tokonoma keyring status` lists them. Connect these accounts again, or restore a backup."


def check_keys(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        if not read_applied(database, rows).get("auth"):  # an older store: the next start adds its tables
            return
        listed = api_keys.list_keys(rows)
    expired = [key.name for key in listed if key.state == "expired"]
    active = sum(key.state == "active" for key in listed)
    if expired:
        remedy = "; ".join(f"tokonoma keys revoke {name!r}" for name in expired[:3])
        yield Finding(
            "keys", "warn", f"{active} active; expired: {', '.join(expired)}.", f"Create new ones, then: {remedy}"
        )
    else:
        yield Finding("keys", "ok", f"{active} active" if listed else "none")


def check_keyring(app: App, database: Database) -> Iterator[Finding]:
    """Nothing is said of a keyring that was never used."""
    with database.reading() as rows:
        if TABLES[0].name not in read_applied(database, rows).get("keyring", ()):
            return
        found = check_status(rows, open_keyring(app))
    if found.state == "empty":
        return
    where = f"the master key is in {found.place}"
    if found.state == "sealed":
        yield Finding("keyring", "fail", found.problem, "`tokonoma keyring status` shows this again.")
    elif found.unreadable:
        count = f"{len(found.unreadable)} of {pluralize(found.secrets, 'secret')}"
        yield Finding("keyring", "fail", f"{where}, and {count} cannot be read", _CONNECT)
    else:
        yield Finding("keyring", "ok", f"{where} and opens {pluralize(found.secrets, 'secret')}", _KEEP)
    if found.retired_keys:
        yield Finding("keyring", "warn", "a rotation is not finished", "`tokonoma keyring rotate` continues it.")

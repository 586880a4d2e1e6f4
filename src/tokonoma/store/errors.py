"""The refusals that both databases give, in the same words. A driver's own text never leaves the store."""

from collections.abc import Mapping
from typing import Any

from tokonoma.core.errors import Conflict, Invalid, Unavailable


def busy_error() -> Unavailable:
    return Unavailable(
        "The database was busy with other writers for too long; nothing was changed. Try again.", reason="busy"
    )


def disk_full_error() -> Unavailable:
    return Unavailable(
        "The disk of the database is full; nothing was changed. Free some space and try again.", reason="disk_full"
    )


def closed_error() -> Unavailable:
    return Unavailable("The database was closed; nothing was changed.", reason="closed")


def read_only_error(where: str) -> Unavailable:
    return Unavailable(
        f"The database at {where} can be read but not written; nothing was changed."
        " Check the permissions of the file and its folder, or connect to the primary server.",
        reason="read_only",
    )


def corrupt_error(where: str) -> Unavailable:
    return Unavailable(
        f"The database at {where} is damaged. Stop all processes that use it, keep a copy of it, run `tokonoma doctor`,"
        " and restore a backup with `tokonoma restore BACKUP`.",
        reason="corrupt",
    )


def disk_error(where: str) -> Unavailable:
    return Unavailable(
        f"The disk under {where} does not read or write as it should; nothing was changed. Check the disk,"
        " then run `tokonoma doctor`.",
        reason="disk",
    )


def connection_lost_error(where: str) -> Unavailable:
    return Unavailable(
        f"The connection to the database at {where} was lost; nothing was changed. Try again.", reason="database"
    )


def unknown_outcome_error(where: str) -> Unavailable:
    return Unavailable(
        f"The connection to the database at {where} was lost during the commit: it is not known whether the change was"
        " kept. Read before you repeat it.",
        reason="database",
        outcome="unknown",
    )


def already_exists_error() -> Conflict:
    return Conflict("There is already one with this key; nothing was changed.", reason="exists")


def reference_error() -> Conflict:
    return Conflict(
        "Another record refers to this one, or the one referred to is not there; nothing was changed.", reason="linked"
    )


def unstorable_text_error() -> Invalid:
    return Invalid(
        "A text holds a character that the database cannot store (NUL, or half of a surrogate pair)."
        " Take it out and try again.",
        reason="text",
    )


def unstorable_number_error() -> Invalid:
    return Invalid("A number is too large: whole numbers must fit into 64 bits.", reason="number")


def contains_nul(params: Mapping[str, Any]) -> bool:
    """PostgreSQL stores no NUL, and what is refused by one database is refused by the other."""
    for value in params.values():  # noqa: SIM110 - a loop, since this stands before every statement
        if type(value) is str and "\0" in value:
            return True
    return False

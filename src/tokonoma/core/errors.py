"""The error tree. Inside the house there are nine words; each module maps them to its specification's codes.

    Refusal
    ├── Invalid          the caller sent something that cannot be right
    ├── Unauthenticated  nobody knows who calls
    ├── Denied           known, and not allowed
    ├── Missing          there is no such thing, or none that this caller may see
    ├── Conflict         the thing has changed since the caller looked
    ├── Expired          it was there, and its time is over
    ├── Limited          too much, too often; try later
    ├── Unready          a part of the house is not set up
    └── Unavailable      a part of the house, or an outside service, does not answer

A bare exception is none of these: it becomes "internal", and its text never leaves the process.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


class Refusal(Exception):
    """A refusal says what is wrong (`message`), why in one word (`reason`), and what would help (`details`)."""

    word: ClassVar[str] = "invalid"

    def __init__(self, message: str, *, reason: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.details = details


class Invalid(Refusal):
    word = "invalid"


class Unauthenticated(Refusal):
    word = "unauthenticated"


class Denied(Refusal):
    word = "denied"


class Missing(Refusal):
    word = "missing"


class Conflict(Refusal):
    word = "conflict"


class Expired(Refusal):
    word = "expired"


class Limited(Refusal):
    word = "limited"


class Unready(Refusal):
    word = "unready"


class Unavailable(Refusal):
    word = "unavailable"


@dataclass(frozen=True, slots=True)
class Numbered:
    """A code of a specification that counts its errors: told with `data {type, details, timestamp}`, not `details`."""

    number: int
    type: str

    def __str__(self) -> str:
        return f"{self.number} {self.type}"


Codes = Mapping[str, str | int | Numbered]
"""A module's table from `word` or `word.reason` to the code that its specification names."""

CODES: Codes = {
    "invalid": "INVALID_ARGUMENT",
    "unauthenticated": "UNAUTHENTICATED",
    "denied": "PERMISSION_DENIED",
    "denied.module": "MODULE_NOT_ALLOWED",
    "missing": "NOT_FOUND",
    "conflict": "CONFLICT",
    "expired": "EXPIRED",
    "limited": "RATE_LIMITED",
    "unready": "NOT_READY",
    "unavailable": "UNAVAILABLE",
    "unavailable.timeout": "TIMEOUT",
    "unavailable.cancelled": "CANCELLED",
    "internal": "INTERNAL",
}


def code_of(error: BaseException, codes: Codes) -> str | int | Numbered:
    """The outer code of an error: the module's own word first, then the house's."""
    if not isinstance(error, Refusal):
        return codes.get("internal", CODES["internal"])
    exact = f"{error.word}.{error.reason}"
    for key in (exact, error.word):
        for table in (codes, CODES):
            if key in table:
                return table[key]
    return CODES["internal"]

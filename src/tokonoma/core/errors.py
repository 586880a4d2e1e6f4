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

    kind: ClassVar[str] = "invalid"

    def __init__(self, message: str, *, reason: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.details = details


class Invalid(Refusal):
    kind = "invalid"


class Unauthenticated(Refusal):
    kind = "unauthenticated"


class Denied(Refusal):
    kind = "denied"


class Missing(Refusal):
    kind = "missing"


class Conflict(Refusal):
    kind = "conflict"


class Expired(Refusal):
    kind = "expired"


class Limited(Refusal):
    kind = "limited"


class Unready(Refusal):
    kind = "unready"


class Unavailable(Refusal):
    kind = "unavailable"


@dataclass(frozen=True, slots=True)
class NumberedCode:
    """A code of a specification that counts its errors: told with `data {type, details, timestamp}`, not `details`."""

    number: int
    type: str

    def __str__(self) -> str:
        return f"{self.number} {self.type}"


ErrorCodes = Mapping[str, str | int | NumberedCode]
"""A module's table from `word` or `word.reason` to the code that its specification names."""

DEFAULT_CODES: ErrorCodes = {
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


def find_error_code(error: BaseException, codes: ErrorCodes) -> str | int | NumberedCode:
    """The outer code of an error: the module's own word first, then the house's."""
    if not isinstance(error, Refusal):
        return codes.get("internal", DEFAULT_CODES["internal"])
    exact = f"{error.kind}.{error.reason}"
    for key in (exact, error.kind):
        for table in (codes, DEFAULT_CODES):
            if key in table:
                return table[key]
    return DEFAULT_CODES["internal"]

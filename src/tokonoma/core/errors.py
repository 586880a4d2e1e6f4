"""The error tree. The server knows nine kinds of errors; each module maps them to the codes of its specification.

    Refusal
    ├── Invalid          the caller sent something that cannot be right
    ├── Unauthenticated  the caller is not known
    ├── Denied           the caller is known but not allowed to do this
    ├── Missing          there is no such thing, or none that this caller may see
    ├── Conflict         the thing has changed since the caller looked
    ├── Expired          it was there, and its time is over
    ├── Limited          too much, too often; try later
    ├── Unready          a part of the server is not set up
    └── Unavailable      a part of the server, or an outside service, does not answer

Any other exception becomes "internal", and its text never leaves the process.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, cast

_MAX_COMPARED = 200  # characters of a misspelt name

MAX_ECHO = 4000
"""Characters of one text in an error."""

MAX_ECHO_MEMBERS = 200
"""Members of one list or object in an error."""


class Refusal(Exception):
    """A refusal says what is wrong (`message`), why in one word (`reason`), and what would help (`details`)."""

    kind: ClassVar[str] = "invalid"

    def __init__(self, message: str, *, reason: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message, self.reason, self.details = message, reason, details


def format_refusal(error: Refusal) -> str:
    """Kind and reason in one word, as the journal writes it: `denied.host`."""
    return f"{error.kind}.{error.reason}" if error.reason else error.kind


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
    """A code of a specification with numbered errors: sent with `data {type, details, timestamp}`, not `details`."""

    number: int
    type: str

    def __str__(self) -> str:
        return f"{self.number} {self.type}"


ErrorCodes = Mapping[str, str | int | NumberedCode]
"""A module's table from `kind` or `kind.reason` to the code in its specification"""

DEFAULT_CODES: ErrorCodes = {
    "invalid": "INVALID_ARGUMENT",
    "unauthenticated": "UNAUTHENTICATED",
    "denied": "PERMISSION_DENIED",
    "denied.module": "MODULE_NOT_ALLOWED",
    "denied.approval": "APPROVAL_REQUIRED",
    "missing": "NOT_FOUND",
    "conflict": "CONFLICT",
    "expired": "EXPIRED",
    "limited": "RATE_LIMITED",
    "unready": "NOT_READY",
    "unready.policy": "POLICY_MISSING",
    "unready.token_not_configured": "TOKEN_NOT_CONFIGURED",
    "unavailable": "UNAVAILABLE",
    "unavailable.timeout": "TIMEOUT",
    "unavailable.cancelled": "CANCELLED",
    "internal": "INTERNAL",
}


def find_error_code(error: BaseException, codes: ErrorCodes) -> str | int | NumberedCode:
    """The code that a client sees: from the module's table if it has one, else the default."""
    if not isinstance(error, Refusal):
        return codes.get("internal", DEFAULT_CODES["internal"])
    for key in (f"{error.kind}.{error.reason}", error.kind):
        for table in (codes, DEFAULT_CODES):
            if key in table:
                return table[key]
    return DEFAULT_CODES["internal"]


def is_storage_error(error: BaseException) -> bool:
    """Whether something could not be stored because the disk is full or read-only. Reads go on without it."""
    return isinstance(error, Unavailable) and error.reason in ("disk_full", "read_only")


def limit_refusal(error: Refusal) -> None:
    """Cut what an error repeats of the caller's input: long texts, long lists, large objects."""
    error.message, error.details = _limit_value(error.message), _limit_value(error.details)


def _limit_value(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MAX_ECHO else f"{value[:MAX_ECHO]}…"
    if isinstance(value, Mapping):
        members = islice(cast("Mapping[str, Any]", value).items(), MAX_ECHO_MEMBERS)
        return {_limit_value(key): _limit_value(each) for key, each in members}
    if isinstance(value, list | tuple):
        return [_limit_value(each) for each in cast("list[Any]", value)[:MAX_ECHO_MEMBERS]]
    return value


def find_nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that a misspelt one may mean, best first."""
    import difflib  # 10 ms to import, and only a mistake needs it

    name = name[:_MAX_COMPARED]
    normalized = {each.lower().replace("_", ".").replace("-", "."): each for each in known}
    wanted = name.lower().replace("_", ".").replace("-", ".")
    close = difflib.get_close_matches(wanted, normalized, n=most, cutoff=0.5)
    inside = [each for each in normalized if wanted and (wanted in each or each in wanted) and each not in close]
    return [normalized[each] for each in (close + sorted(inside))[:most]]

"""What an item's fields may hold. Pure: a caller's values go in, faults are gathered, clean values come out."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.clock import parsed
from tokonoma.core.suggestions import nearest
from tokonoma.modules.items.constants import (  # fmt: skip
    MOST_CATEGORY,
    MOST_RELATED,
    MOST_TAG,
    MOST_TAGS,
    MOST_TEXT,
    MOST_TITLE,
    MOST_TYPE,
    MOST_VERSION,
    PRIORITIES,
    STATUSES,
)
from tokonoma.modules.items.problems import Faults

_TYPE = re.compile(r"[a-z0-9_]+")
EARLIEST, LATEST = -30_610_224_000_000, 253_402_300_799_999  # the years 1000 and 9999

Fields = Mapping[str, Any]
"""As a caller names them; what was not given is not there."""


def checked(fields: Fields, faults: Faults) -> dict[str, Any]:
    """The columns that these fields mean. `related` is looked at where the database can be asked."""
    made: dict[str, Any] = {}
    for field, value in fields.items():
        if field in _CHECKS:
            column, check = _CHECKS[field]
            made[column] = check(field, value, faults)
    return made


def check_dates(start: int | None, end: int | None, written: str | None, faults: Faults) -> None:
    if start is not None and end is not None and end < start:
        faults.value("end_date", written, "It lies before start_date")


def check_type(field: str, value: str, faults: Faults) -> str:
    if not _TYPE.fullmatch(value):
        faults.value(field, value, "A type is made of a-z, 0-9 and _")
    elif len(value) > MOST_TYPE:
        faults.value(field, value, f"A type has at most {MOST_TYPE} characters")
    return value


def check_status(field: str, value: str, faults: Faults) -> str:
    if value not in STATUSES:
        meant = nearest(value, STATUSES, 1)
        hint = f" Did you mean {meant[0]!r}?" if meant else ""
        faults.constraint(field, value, f"There is no such status.{hint}", allowed=list(STATUSES))
    return value


def check_priority(field: str, value: str, faults: Faults) -> int:
    if value not in PRIORITIES:
        faults.value(field, value, "There is no such priority", allowed=list(PRIORITIES))
        return 0
    return PRIORITIES.index(value)


def check_time(field: str, value: str, faults: Faults) -> int | None:
    """A time, or a date as its midnight in UTC; an empty text takes it away."""
    if not value:
        return None
    try:
        at = parsed(value)
    except (ValueError, OverflowError):
        faults.value(field, value, "It must be a time like 2027-01-31T09:00:00Z, or a date")
        return None
    if not EARLIEST <= at <= LATEST:
        faults.value(field, value, "Its year must lie between 1000 and 9999")
        return None
    return at


def check_tags(field: str, value: Sequence[str], faults: Faults) -> list[str]:
    """Each once, in their order."""
    tags = list(dict.fromkeys(tag.strip() for tag in value))
    if len(tags) > MOST_TAGS:
        faults.value(field, f"{len(tags)} tags", f"An item has at most {MOST_TAGS} tags")
    for number, tag in enumerate(tags):
        if not tag:
            faults.value(f"{field}[{number}]", tag, "A tag cannot be empty")
        elif len(tag) > MOST_TAG:
            faults.value(f"{field}[{number}]", tag, f"A tag has at most {MOST_TAG} characters")
        else:
            _storable(f"{field}[{number}]", tag, faults)
    return tags


def check_related(field: str, value: Sequence[str], faults: Faults) -> list[str]:
    found = list(dict.fromkeys(value))
    if len(found) > MOST_RELATED:
        faults.value(field, f"{len(found)} addresses", f"A call names at most {MOST_RELATED}")
    return found[:MOST_RELATED]


def _title(field: str, value: str, faults: Faults) -> str:
    if not value.strip():
        faults.value(field, value, "Title is required and must not be empty")
    elif len(value) > MOST_TITLE:
        faults.value(field, value, f"Title has {len(value)} characters; at most {MOST_TITLE} are allowed")
    return _storable(field, value, faults)


def check_text(field: str, value: str, faults: Faults) -> str:
    size = len(value.encode("utf-8", "surrogatepass"))
    if size > MOST_TEXT:
        faults.value(field, value, f"It has {size} bytes; at most {MOST_TEXT} are allowed")
    return _storable(field, value, faults)


def _line(most: int) -> Any:
    def check(field: str, value: str, faults: Faults) -> str:
        if len(value) > most:
            faults.value(field, value, f"It has {len(value)} characters; at most {most} are allowed")
        return _storable(field, value, faults)

    return check


def _storable(field: str, value: str, faults: Faults) -> str:
    if "\0" in value:
        faults.value(field, value, "It holds a NUL character, which no database stores")
    return value


# field → its column, and how it is checked
_CHECKS: dict[str, tuple[str, Any]] = {
    "title": ("title", _title),
    "description": ("description", check_text),
    "content": ("content", check_text),
    "status": ("status", check_status),
    "priority": ("priority", check_priority),
    "category": ("category", _line(MOST_CATEGORY)),
    "start_date": ("start_at", check_time),
    "end_date": ("end_at", check_time),
    "version": ("version", _line(MOST_VERSION)),
    "tags": ("tags", check_tags),
}

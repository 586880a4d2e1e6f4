"""What an item's fields may hold. Pure: a caller's values go in, faults are gathered, clean values come out."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.clock import parse_time
from tokonoma.core.errors import find_nearest
from tokonoma.modules.items.constants import (  # fmt: skip
    MAX_CATEGORY,
    MAX_RELATED,
    MAX_TAG,
    MAX_TAGS,
    MAX_TEXT,
    MAX_TITLE,
    MAX_TYPE,
    MAX_VERSION,
    PRIORITIES,
    STATUSES,
)
from tokonoma.modules.items.problems import ItemProblems

_TYPE = re.compile(r"[a-z0-9_]+")
EARLIEST, LATEST = -30_610_224_000_000, 253_402_300_799_999  # the years 1000 and 9999

FieldValues = Mapping[str, Any]
"""As a caller names them; what was not given is not there."""


def parse_fields(fields: FieldValues, faults: ItemProblems) -> dict[str, Any]:
    """The columns that these fields mean. `related` is looked at where the database can be asked."""
    made: dict[str, Any] = {}
    for field, value in fields.items():
        if field in _CHECKS:
            column, check = _CHECKS[field]
            made[column] = check(field, value, faults)
    return made


def check_dates(start: int | None, end: int | None, written: str | None, faults: ItemProblems) -> None:
    if start is not None and end is not None and end < start:
        faults.add_value("end_date", written, "It lies before start_date")


def check_type(field: str, value: str, faults: ItemProblems) -> str:
    if not _TYPE.fullmatch(value):
        faults.add_value(field, value, "A type is made of a-z, 0-9 and _")
    elif len(value) > MAX_TYPE:
        faults.add_value(field, value, f"A type has at most {MAX_TYPE} characters")
    return value


def check_status(field: str, value: str, faults: ItemProblems) -> str:
    if value not in STATUSES:
        meant = find_nearest(value, STATUSES, 1)
        hint = f" Did you mean {meant[0]!r}?" if meant else ""
        faults.add_constraint(field, value, f"There is no such status.{hint}", allowed=list(STATUSES))
    return value


def check_priority(field: str, value: str, faults: ItemProblems) -> int:
    if value not in PRIORITIES:
        faults.add_value(field, value, "There is no such priority", allowed=list(PRIORITIES))
        return 0
    return PRIORITIES.index(value)


def check_time(field: str, value: str, faults: ItemProblems) -> int | None:
    """A time, or a date as its midnight in UTC; an empty text takes it away."""
    if not value:
        return None
    try:
        at = parse_time(value)
    except (ValueError, OverflowError):
        faults.add_value(field, value, "It must be a time like 2027-01-31T09:00:00Z, or a date")
        return None
    if not EARLIEST <= at <= LATEST:
        faults.add_value(field, value, "Its year must lie between 1000 and 9999")
        return None
    return at


def check_tags(field: str, value: Sequence[str], faults: ItemProblems) -> list[str]:
    """Each once, in their order."""
    tags = list(dict.fromkeys(tag.strip() for tag in value))
    if len(tags) > MAX_TAGS:
        faults.add_value(field, f"{len(tags)} tags", f"An item has at most {MAX_TAGS} tags")
    for number, tag in enumerate(tags):
        if not tag:
            faults.add_value(f"{field}[{number}]", tag, "A tag cannot be empty")
        elif len(tag) > MAX_TAG:
            faults.add_value(f"{field}[{number}]", tag, f"A tag has at most {MAX_TAG} characters")
        else:
            _check_storable(f"{field}[{number}]", tag, faults)
    return tags


def check_related(field: str, value: Sequence[str], faults: ItemProblems) -> list[str]:
    found = list(dict.fromkeys(value))
    if len(found) > MAX_RELATED:
        faults.add_value(field, f"{len(found)} addresses", f"A call names at most {MAX_RELATED}")
    return found[:MAX_RELATED]


def _check_title(field: str, value: str, faults: ItemProblems) -> str:
    if not value.strip():
        faults.add_value(field, value, "Title is required and must not be empty")
    elif len(value) > MAX_TITLE:
        faults.add_value(field, value, f"Title has {len(value)} characters; at most {MAX_TITLE} are allowed")
    return _check_storable(field, value, faults)


def check_text(field: str, value: str, faults: ItemProblems) -> str:
    size = len(value.encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT:
        faults.add_value(field, value, f"It has {size} bytes; at most {MAX_TEXT} are allowed")
    return _check_storable(field, value, faults)


def _make_length_check(most: int) -> Any:
    def check(field: str, value: str, faults: ItemProblems) -> str:
        if len(value) > most:
            faults.add_value(field, value, f"It has {len(value)} characters; at most {most} are allowed")
        return _check_storable(field, value, faults)

    return check


def _check_storable(field: str, value: str, faults: ItemProblems) -> str:
    if "\0" in value:
        faults.add_value(field, value, "It holds a NUL character, which no database stores")
    return value


# field → its column, and how it is checked
_CHECKS: dict[str, tuple[str, Any]] = {
    "title": ("title", _check_title),
    "description": ("description", check_text),
    "content": ("content", check_text),
    "status": ("status", check_status),
    "priority": ("priority", check_priority),
    "category": ("category", _make_length_check(MAX_CATEGORY)),
    "start_date": ("start_at", check_time),
    "end_date": ("end_at", check_time),
    "version": ("version", _make_length_check(MAX_VERSION)),
    "tags": ("tags", check_tags),
}

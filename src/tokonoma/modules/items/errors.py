"""Errors of items: the codes of specs/004, a collector of all problems of one call, and the checks that fill it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tokonoma.core.clock import parse_time
from tokonoma.core.errors import Conflict, ErrorCodes, Invalid, Missing, NumberedCode, find_nearest
from tokonoma.modules.items.model import (
    LINK_KINDS,
    PRIORITIES,
    STATUSES,
    Item,
    LinkTarget,
    parse_target,
    unique_tags,
)

CODES: ErrorCodes = {
    "missing": NumberedCode(1001, "ItemNotFoundError"),
    "missing.tool": NumberedCode(-32601, "MethodNotFoundError"),
    "invalid": NumberedCode(-32602, "InvalidParamsError"),
    "invalid.value": NumberedCode(1002, "ValidationError"),
    "invalid.constraint": NumberedCode(1004, "ConstraintViolationError"),
    "conflict": NumberedCode(1004, "ConstraintViolationError"),
    "denied": NumberedCode(1005, "PermissionDeniedError"),
    "denied.approval": NumberedCode(1005, "APPROVAL_REQUIRED"),
    "unavailable": NumberedCode(1003, "DatabaseError"),
    "unready": NumberedCode(1003, "DatabaseError"),
    "unready.policy": NumberedCode(1005, "POLICY_MISSING"),
    "internal": NumberedCode(-32603, "InternalError"),
}

MAX_TEXT = 102_400  # bytes
_MAX_CHARACTERS = {"title": 200, "category": 100, "version": 50, "assignee": 100}
MAX_TYPE = 50
MAX_TAG = 100
MAX_TAGS = 50  # of an item
MAX_RELATED = 500  # addresses that one call names
EARLIEST, LATEST = -30_610_224_000_000, 253_402_300_799_999  # the years 1000 and 9999

_KINDS = {
    "value": (1002, "Validation failed"),
    "constraint": (1004, "Constraint violation"),
    "missing": (1001, "Item not found"),
}
_MAX_SHOWN = 80  # characters of a value that is shown back
_TYPE = re.compile(r"[a-z0-9_]+")


class ItemProblems:
    """Collected while a call is checked. `place` stands before every field: `updates[3].data.` in a bulk update."""

    def __init__(self, place: str = "") -> None:
        self._place = place
        self._found: list[dict[str, Any]] = []

    def at_place(self, place: str) -> "ItemProblems":
        """The same collection, for fields of this place."""
        inner = ItemProblems(place)
        inner._found = self._found
        return inner

    def add(self, field: str, value: Any, constraint: str, kind: str = "value", **more: Any) -> None:
        """`kind` is one of value, constraint and missing."""
        if isinstance(value, str) and len(value) > _MAX_SHOWN:
            value = f"{value[:_MAX_SHOWN]}…"
        code, place = _KINDS[kind][0], f"{self._place}{field}"
        self._found.append(
            {"kind": kind, "code": code, "field": place, "value": value, "constraint": constraint, **more}
        )

    def find_indexes(self, field: str) -> set[int]:
        """The indexes of the members of a list that have problems."""
        found = (re.fullmatch(rf"{field}\[(\d+)\]", each["field"]) for each in self._found)
        return {int(each[1]) for each in found if each}

    def raise_if_any(self) -> None:
        """Raise one error for all problems. The first one decides its kind."""
        if not self._found:
            return
        kind = self._found[0]["kind"]
        errors = [{key: each[key] for key in each if key != "kind"} for each in self._found]
        listed = "; ".join(f"{each['field']}: {each['constraint']}" for each in errors[:5])
        more = f"; and {len(errors) - 5} more" if len(errors) > 5 else ""
        message = f"{_KINDS[kind][1]}: {listed}{more}. Nothing was changed."
        details = {key: value for key, value in errors[0].items() if key != "code"}
        if len(errors) > 1 or kind == "missing":
            details["errors"] = errors
        if kind == "missing":
            raise Missing(message, **details)
        raise Invalid(message, reason=kind, **details)


def check_revision(item: Item, expected: int | None) -> None:
    """Conflict, if the caller expects another revision."""
    if expected is not None and expected != item.revision:
        current = {"title": item.title, "status": item.status, "updated_by": item.updated_by}
        raise build_stale_error(item.address, item.revision, expected, current=current, id=item.id, type=item.type)


def build_stale_error(what: str, current: int, expected: int, /, **more: Any) -> Conflict:
    message = f"{what} is at revision {current}, not {expected}. Read it again. Nothing was changed."
    return Conflict(message, constraint="revision", field="expected_revision", current_revision=current, **more)


def parse_fields(values: Mapping[str, Any], problems: ItemProblems) -> dict[str, Any]:
    """The columns that these fields mean. `related` is checked where the database can be asked."""
    return {
        _COLUMNS.get(field, field): _CHECKS[field](field, value, problems)
        for field, value in values.items()
        if field in _CHECKS
    }


def check_dates(start: int | None, end: int | None, written: str | None, problems: ItemProblems) -> None:
    if start is not None and end is not None and end < start:
        problems.add("end_date", written, "It is before start_date")


def check_type(field: str, value: str, problems: ItemProblems) -> str:
    if not _TYPE.fullmatch(value):
        problems.add(field, value, "A type consists of a-z, 0-9 and _")
    elif len(value) > MAX_TYPE:
        problems.add(field, value, f"A type has at most {MAX_TYPE} characters")
    return value


def check_status(field: str, value: str, problems: ItemProblems) -> str:
    if value not in STATUSES:
        nearest = find_nearest(value, STATUSES, 1)
        hint = f", did you mean {nearest[0]!r}?" if nearest else ""
        problems.add(field, value, f"Unknown status{hint}", "constraint", allowed=list(STATUSES))
    return value


def check_priority(field: str, value: str, problems: ItemProblems) -> int:
    if value not in PRIORITIES:
        problems.add(field, value, "Unknown priority", allowed=list(PRIORITIES))
        return 0
    return PRIORITIES.index(value)


def check_kind(kind: str | None, problems: ItemProblems) -> str:
    """The kind of a link."""
    word = kind or "related"
    if word not in LINK_KINDS:
        problems.add("kind", kind, "Unknown kind of link", allowed=list(LINK_KINDS))
    return word


def check_target(field: str, address: str, problems: ItemProblems) -> LinkTarget | None:
    target = parse_target(address)
    if target is None:
        problems.add(field, address, "Not an address. Addresses look like docs-12 or tokonoma://memory/<id>")
    return target


def check_time(field: str, value: str, problems: ItemProblems) -> int | None:
    """A time, or a date as its midnight in UTC; an empty text clears it."""
    try:
        at = parse_time(value) if value else None
    except (ValueError, OverflowError):
        problems.add(field, value, "It must be a time like 2027-01-31T09:00:00Z, or a date")
        return None
    if at is not None and not EARLIEST <= at <= LATEST:
        problems.add(field, value, "The year must be between 1000 and 9999")
        return None
    return at


def check_tags(field: str, value: Sequence[str], problems: ItemProblems) -> list[str]:
    """Each tag once, whatever its case, in order."""
    tags = list(unique_tags(tag.strip() for tag in value))
    if len(tags) > MAX_TAGS:
        problems.add(field, f"{len(tags)} tags", f"An item has at most {MAX_TAGS} tags")
    for number, tag in enumerate(tags):
        if not tag:
            problems.add(f"{field}[{number}]", tag, "A tag cannot be empty")
        elif len(tag) > MAX_TAG:
            problems.add(f"{field}[{number}]", tag, f"A tag has at most {MAX_TAG} characters")
        else:
            _check_storable(f"{field}[{number}]", tag, problems)
    return tags


def check_related(field: str, value: Sequence[str], problems: ItemProblems) -> list[str]:
    addresses = list(dict.fromkeys(value))
    if len(addresses) > MAX_RELATED:
        problems.add(field, f"{len(addresses)} addresses", f"At most {MAX_RELATED} addresses per call")
    return addresses[:MAX_RELATED]


def check_text(field: str, value: str, problems: ItemProblems) -> str:
    """Title, category and version are limited in characters, other texts in bytes."""
    limit = _MAX_CHARACTERS.get(field)
    size = len(value) if limit else len(value.encode("utf-8", "surrogatepass"))
    if field == "title" and not value.strip():
        problems.add(field, value, "Title is required and must not be empty")
    elif size > (limit or MAX_TEXT):
        subject, unit = "Title" if field == "title" else "It", "characters" if limit else "bytes"
        problems.add(field, value, f"{subject} has {size} {unit}; at most {limit or MAX_TEXT} are allowed")
    return _check_storable(field, value, problems)


def _check_storable(field: str, value: str, problems: ItemProblems) -> str:
    if "\0" in value:
        problems.add(field, value, "It contains a NUL character, which cannot be stored")
    return value


_COLUMNS = {"start_date": "start_at", "end_date": "end_at"}  # of fields with other names
_CHECKS: dict[str, Any] = {
    **dict.fromkeys(("title", "description", "content", "category", "version", "assignee", "comment"), check_text),
    **dict.fromkeys(_COLUMNS, check_time),
    "status": check_status,
    "priority": check_priority,
    **dict.fromkeys(("tags", "add_tags", "remove_tags"), check_tags),
}

"""The CSV that Linear exports: a row for each issue, dates as JavaScript writes them."""

import csv
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import as_time, decode_text
from tokonoma.transfer.items import ItemFields
from tokonoma.transfer.model import Remark, SourceError
from tokonoma.transfer.trackers import SourcePage, build_item, build_link, choose_status, make_uid, split_labels

_REQUIRED = ("ID", "Title", "Status")
_STATUSES = {
    "triage": "Open", "backlog": "Open", "todo": "Ready", "unstarted": "Ready", "in progress": "In Progress",
    "started": "In Progress", "in review": "Review", "review": "Review", "testing": "Testing", "qa": "Testing",
    "blocked": "Waiting", "done": "Completed", "completed": "Completed", "released": "Completed",
    "canceled": "Canceled", "cancelled": "Canceled", "duplicate": "Rejected", "won't do": "Rejected",
}  # fmt: skip
_PRIORITIES = {
    "urgent": "CRITICAL", "high": "HIGH", "medium": "MEDIUM", "normal": "MEDIUM", "low": "LOW", "no priority": "MEDIUM",
    "": "MEDIUM", "1": "CRITICAL", "2": "HIGH", "3": "MEDIUM", "4": "LOW", "0": "MEDIUM",
}  # fmt: skip
_LINKS = (("Parent issue", "child_of"), ("Blocked by", "blocked_by"), ("Blocks", "blocks"),
          ("Related to", "related"), ("Duplicate of", "related"))  # fmt: skip
_DATE = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} [0-9]{2} [0-9]{4} [0-9:]{8} GMT[+-][0-9]{4})")
_MAX_FIELD = 2**20


def read_linear(path: Path) -> Iterator[SourcePage]:
    rows = _read_rows(path)
    known = {row["ID"] for row in rows}
    if len(known) < len(rows):
        yield Remark(path.name, "Several rows have the same ID; the first one of each is imported.", lost=True)
    seen: set[str] = set()
    for number, row in enumerate(rows, 2):
        if row["ID"] and row["ID"] not in seen:
            seen.add(row["ID"])
            yield from _build_issue(f"{path.name}: {row['ID']}", row)
        elif not row["ID"]:
            yield Remark(f"{path.name}: row {number}", "It has no ID.")


def _read_rows(path: Path) -> list[dict[str, str]]:
    try:
        text, _ = decode_text(path.read_bytes())
        csv.field_size_limit(_MAX_FIELD)
        rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
    except (SourceError, csv.Error) as error:
        raise Invalid(f"{path} cannot be read as CSV: {error}") from None
    missing = [name for name in _REQUIRED if rows and name not in rows[0]]
    if missing:
        raise Invalid(f"{path} is no export of Linear: it has no column {', '.join(missing)}.")
    return [{key: value or "" for key, value in row.items() if isinstance(key, str)} for row in rows]


def _build_issue(place: str, row: dict[str, str]) -> Iterator[SourcePage]:
    default = "Completed" if row.get("Completed") else "Canceled" if row.get("Canceled") else "Open"
    status, remarks = choose_status(place, row["Status"], _STATUSES, default)
    yield from remarks
    extra = [f"{name}: {row[name]}" for name in ("Team", "Estimate", "Cycle Name", "Initiatives") if row.get(name)]
    fields: ItemFields = {
        "type": "issue",
        "status": status,
        "priority": _PRIORITIES.get(row.get("Priority", "").strip().lower(), "MEDIUM"),
        "description": "; ".join([f"Linear {row['ID']}", *extra]),
        "category": row.get("Project", "")[:100],
        "version": row.get("Project Milestone", "")[:50],
        "assignee": row.get("Assignee", "")[:100],
        "tags": split_labels(row.get("Labels", "")),
        "start_at": _parse_date(row.get("Started", "")),
        "end_at": _parse_date(row.get("Due Date", "")),
        "created_at": _parse_date(row.get("Created", "")),
        "updated_at": _parse_date(row.get("Updated", "")),
        "created_by": row.get("Creator", ""),
        "updated_by": row.get("Creator", ""),
        "links": [
            build_link(make_uid("linear", other), other, kind)
            for name, kind in _LINKS
            for other in split_labels(row.get(name, ""))
        ],
    }
    if fields["start_at"] and fields["end_at"] and fields["end_at"] < fields["start_at"]:
        yield Remark(place, "It was started after its due date: the start is left out.", lost=False)
        fields["start_at"] = None
    yield from build_item(place, make_uid("linear", row["ID"]), row["Title"], row.get("Description", ""), **fields)


def _parse_date(text: str) -> int | None:
    """`Wed May 13 2026 11:21:41 GMT+0000 (GMT+00:00)`, or a time of ISO 8601."""
    found = _DATE.match(text)
    if found is None:
        return as_time(text) if text else None
    try:
        return round(datetime.strptime(found[1], "%b %d %Y %H:%M:%S GMT%z").timestamp() * 1000)
    except ValueError:
        return None

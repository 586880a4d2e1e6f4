"""Issues of beads (`bd`): its JSON lines (`.beads/issues.jsonl`, `bd export`) or its SQLite file `.beads/beads.db`."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tokonoma.core.errors import Invalid, Missing
from tokonoma.transfer.files import as_list, as_object, as_text, as_time, read_objects
from tokonoma.transfer.items import ItemFields
from tokonoma.transfer.model import Metadata, Remark
from tokonoma.transfer.trackers import SourcePage, build_item, build_link, choose_status, make_uid, split_labels

_FILES = ("issues.jsonl", "beads.jsonl", "beads.db")
_STATUSES = {
    "open": "Open", "in progress": "In Progress", "hooked": "In Progress", "blocked": "Waiting", "deferred": "Pending",
    "pinned": "Open", "closed": "Completed",
}  # fmt: skip
_PRIORITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "MINIMAL")
# What an issue is to the one that it depends on.
_KINDS = {
    "blocks": "blocked_by", "conditional-blocks": "blocked_by", "waits-for": "blocked_by", "parent-child": "child_of",
}  # fmt: skip
_SECTIONS = (("design", "Design"), ("acceptance_criteria", "Acceptance criteria"), ("notes", "Notes"))
_PARTS = {
    "dependencies": "issue_id, depends_on_id, type",
    "labels": "issue_id, label",
    "comments": "issue_id, author, text, created_at",
}


def find_beads_file(folder: Path) -> Path | None:
    """In `.beads`, or in a project that has one. The lines are what `bd` keeps in git."""
    places = [inside / name for inside in (folder, folder / ".beads") for name in _FILES]
    return next((each for each in places if each.is_file()), None)


def read_beads(path: Path) -> Iterator[SourcePage]:
    file = find_beads_file(path) if path.is_dir() else path
    if file is None:
        raise Missing(f"There is no {' or '.join(_FILES)} in {path}.")
    seen: set[str] = set()
    for each in _read_database(file) if file.suffix.lower() in (".db", ".sqlite", ".sqlite3") else read_objects(file):
        if isinstance(each, Remark):
            yield each
            continue
        number, issue = each
        id, place = as_text(issue.get("id")), f"{file.name}:{number}"
        if not id or not isinstance(issue.get("title"), str):
            yield Remark(
                place, "It is no issue: it has no id or no title.", lost=issue.get("_type", "issue") == "issue"
            )
        elif id in seen:
            yield Remark(place, f"{id} is already there; this one was skipped.")
        elif issue.get("status") == "tombstone" or issue.get("deleted_at"):
            yield Remark(place, f"{id} was deleted.", lost=False)
        else:
            seen.add(id)
            yield from _build_issue(f"{file.name}: {id}", id, issue)


def _build_issue(place: str, id: str, issue: Metadata) -> Iterator[SourcePage]:
    status, remarks = choose_status(place, as_text(issue.get("status")) or "open", _STATUSES, "Open")
    yield from remarks
    priority = issue.get("priority")
    sections = [f"## {heading}\n\n{text}" for name, heading in _SECTIONS if (text := as_text(issue.get(name)))]
    extra = [as_text(issue.get("external_ref")), as_text(issue.get("close_reason"))]
    author = as_text(issue.get("created_by")) or as_text(issue.get("owner"))
    fields: ItemFields = {
        "type": _build_type(as_text(issue.get("issue_type"))),
        "status": status,
        "priority": _PRIORITIES[priority] if isinstance(priority, int) and 0 <= priority < 5 else "MEDIUM",
        "description": "; ".join([f"beads {id}", *filter(None, extra)]),
        "assignee": as_text(issue.get("assignee"))[:100],
        "tags": split_labels(as_list(issue.get("labels"))),
        "start_at": as_time(issue.get("defer_until")),
        "end_at": as_time(issue.get("due_at")),
        "created_at": as_time(issue.get("created_at")),
        "updated_at": as_time(issue.get("updated_at")),
        "created_by": author,
        "updated_by": author,
        "comments": [
            {"at": as_time(each.get("created_at")) or 0, "by": as_text(each.get("author")), "text": text}
            for each in map(as_object, as_list(issue.get("comments")))
            if (text := as_text(each.get("text")))
        ],
        "links": [
            build_link(make_uid("beads", other), other, _KINDS.get(as_text(each.get("type")), "related"))
            for each in map(as_object, as_list(issue.get("dependencies")))
            if (other := as_text(each.get("depends_on_id"))) and other != id
        ],
    }
    content = "\n\n".join(filter(None, (as_text(issue.get("description")), *sections)))
    yield from build_item(place, make_uid("beads", id), as_text(issue.get("title")), content, **fields)


def _build_type(word: str) -> str:
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in word.lower()).strip("_")
    return kept[:50] or "task"


def _read_database(path: Path) -> Iterator[tuple[int, Metadata]]:
    """The issues as the JSON lines have them. The file is only read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            parts: dict[str, dict[str, list[Metadata]]] = {}
            for table, columns in _PARTS.items():
                rows = connection.execute(f"select {columns} from {table} order by rowid")  # noqa: S608 - our own names
                for row in map(dict, rows):
                    parts.setdefault(row["issue_id"], {}).setdefault(table, []).append(row)
            for number, row in enumerate(connection.execute("select * from issues order by created_at, id"), 1):
                issue = dict(row)
                found = parts.get(issue["id"], {})
                labels = [each["label"] for each in found.get("labels", ())]
                yield number, {**issue, **found, "labels": labels}
    except sqlite3.Error as error:
        raise Invalid(f"{path} cannot be read as a database of beads: {error}.") from None

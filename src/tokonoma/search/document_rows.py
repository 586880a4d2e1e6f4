"""Rows of the table `document`, and the numbers of new ones."""

import hashlib
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Document, Row, Statements, parse_address
from tokonoma.core.policy import DocumentScan
from tokonoma.search.text.term_index import TermEntry, build_location_tags, to_title_tag
from tokonoma.search.text.tokenize import TermCounts
from tokonoma.store.dialect import DatabaseKind

COMPARED = (
    "module", "space", "label", "title", "thread", "at", "expires_at", "declared", "kinds", "detectors", "author",
    "masked", "changed_at", "valid_from", "valid_until",
)  # fmt: skip
HELD = f"select id, digest, form, length, {', '.join(COMPARED)}, address from document"  # noqa: S608 - our own names
DIGEST, LABEL, AT, DECLARED, AUTHOR, MASKED = 1, 6, 9, 11, 14, 15
"""Where HELD has them."""

_NEXT = "select coalesce(max(seq), 0) from sqlite_sequence where name = 'document'"
_RESERVE = """select nextval(pg_get_serial_sequence('document', 'id'))
from generate_series(1, cast(:count as integer))"""


def reserve_numbers(kind: DatabaseKind, statements: Statements, count: int) -> list[int]:
    """Numbers for so many new documents. On SQLite nobody else writes until the transaction ends."""
    if kind == "sqlite":
        last: int = statements.rows(_NEXT)[0][0]
        return list(range(last + 1, last + count + 1))
    return [row[0] for row in statements.rows(_RESERVE, count=count)]


def build_entry(number: int, row: dict[str, Any], terms: TermCounts, *, new: bool) -> TermEntry:
    tags = [*build_location_tags(row["module"], row["space"]), *map(to_title_tag, terms.title)]
    return TermEntry(number, terms.counts, tags, new)


def build_row(
    document: Document, mark: Classification | DocumentScan, old: Row | None, author: str | None
) -> dict[str, Any]:
    at = now()
    # A module that stores the class it was given repeats it with the next change: that declares nothing new.
    repeated = old is not None and old[DECLARED] and old[LABEL] == document.classification
    declared = old[DECLARED] if old is not None and repeated else document.classification
    is_scan = isinstance(mark, DocumentScan)
    content = f"{document.title}\0{document.text}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(content).hexdigest()
    if author is None:
        author = old[AUTHOR] if old is not None and old[DIGEST] == digest else ""
    return {
        "address": document.address,
        "module": parse_address(document.address)[0],
        "space": document.namespace,
        "label": mark.classify(declared) if is_scan else mark,
        "title": document.title,
        "digest": digest,
        "changed_at": document.changed_at or document.at or at,
        "at": document.at or at,
        "expires_at": document.expires_at,
        "thread": document.thread,
        "declared": declared if is_scan else "",
        "kinds": mark.kinds if is_scan else "",
        "detectors": mark.detectors_version if is_scan else "",
        "author": author,
        "masked": mark.masked if is_scan else "",
        "valid_from": document.valid_from,
        "valid_until": document.valid_until,
    }

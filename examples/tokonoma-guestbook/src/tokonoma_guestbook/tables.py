"""What the guestbook stores, how an address leads to one entry of it, and how all of them are listed."""

from collections.abc import Mapping, Sequence

from tokonoma.core.desk import (
    Classification,
    Document,
    Record,
    Row,
    Rows,
    Statements,
    format_address,
    parse_address,
)
from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_entry",
        (
            """create table guestbook_entry (
                id {text} not null primary key,
                space text not null,
                label text not null,
                name text not null,
                words text not null,
                signed_at {big} not null
            )""",
            "create index guestbook_entry_space on guestbook_entry (space, id)",
        ),
    ),
    Migration(
        "002_label",
        # Entries from before there was a `reclassify` take the class that the index has for them.
        (
            """update guestbook_entry set label = coalesce(
                (select label from document where address = 'tokonoma://guestbook/' || guestbook_entry.id), label
            )""",
        ),
        rewrites=True,
    ),
)

RECORDS = frozenset({"guestbook_entry"})


def read(rows: Rows, address: str) -> Record | None:
    """The entry at `tokonoma://guestbook/<id>`; the desk decides afterwards whether the caller may see it."""
    _, name = parse_address(address)
    row = rows.row("select space, label, name, words from guestbook_entry where id = :id", id=name)
    if row is None:
        return None
    space, label, signed_by, words = row
    return Record(address, "guestbook", space, label, title=f"{signed_by} in the guestbook", text=words)


def reclassify(statements: Statements, classifications: Mapping[str, Classification]) -> None:
    """The policy has given these entries, by address, another class: at once when they are signed, or later."""
    entries = [{"id": parse_address(address)[1], "label": label} for address, label in classifications.items()]
    statements.run_many("update guestbook_entry set label = :label where id = :id", entries)


def document(entry_id: str, space: str, name: str, words: str, signed_at: int) -> Document:
    """An entry as the shared index knows it: signing puts it there, and so does rebuilding the index."""
    return Document(format_address("guestbook", entry_id), space, words, title=f"{name} in the guestbook", at=signed_at)


def documents(rows: Rows, after: str | None, most: int) -> Sequence[Document]:
    """A page of all entries for `tokonoma reindex`, by address, after the one named."""
    last = parse_address(after)[1] if after is not None else ""
    found: list[Row] = rows.rows(
        """select id, space, name, words, signed_at from guestbook_entry
        where id > :last order by id limit :most""",
        last=last,
        most=most,
    )
    return [document(*row) for row in found]

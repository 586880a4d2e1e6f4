"""What the guestbook stores, and how an address leads to one entry of it."""

from tokonoma.core.desk import Record, Rows
from tokonoma.core.directory import parts_of
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
)

RECORDS = frozenset({"guestbook_entry"})


def read(rows: Rows, address: str) -> Record | None:
    """The entry at `tokonoma://guestbook/<id>`; the desk decides afterwards whether the caller may see it."""
    _, name = parts_of(address)
    row = rows.row("select space, label, name, words from guestbook_entry where id = :id", id=name)
    if row is None:
        return None
    space, label, signed_by, words = row
    return Record(address, "guestbook", space, label, title=f"{signed_by} in the guestbook", text=words)

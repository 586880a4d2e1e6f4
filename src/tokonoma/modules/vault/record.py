"""Files as records of the house: by their address, for a reindex, and with the class that the policy gives them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice

from tokonoma.core.addresses import parts_of
from tokonoma.core.desk import LABELS, Desk, Document, Label, Record, Rows, Statements
from tokonoma.core.errors import Refusal
from tokonoma.core.paths import file_parts, joined
from tokonoma.core.server_info import House
from tokonoma.files.folder import opened_root
from tokonoma.files.index_sync import documents, labels_of, sheet, text_at
from tokonoma.files.rules import settled
from tokonoma.files.text import MODULE, address, placed, space_of
from tokonoma.modules.vault.paths import vault


def record(house: House, rows: Rows, asked: str) -> Record | None:
    """For the directory: a file, or lines of it. The desk guards it."""
    path, start, end = placed(parts_of(asked)[1])
    try:
        with opened_root(house.places()["vault"]) as folder:
            parts = folder.real(settled(file_parts(path)))
            text, version = text_at(folder, parts, start, end)
    except Refusal:
        return None
    # A file that nobody has looked at yet is as closed as can be: its class is not known.
    unknown: Label = "secret" if text.strip() else "internal"
    labels = labels_of(rows, joined(parts), version) or frozenset({unknown})
    if start is not None and not text:
        return None
    where = address(joined(parts), start, end if end != start else None) if start else address(joined(parts))
    strictest = max(labels, key=LABELS.index)
    return Record(where, MODULE, space_of(parts), strictest, joined(parts), text, version, labels)


def listing(house: House, _rows: Rows, after: str | None, limit: int) -> Sequence[Document]:
    """For a reindex: what the index should hold, in order of address."""
    with opened_root(house.places()["vault"]) as folder:
        files = sorted(folder.files(), key=lambda each: f"{each.path}#")  # as their addresses sort
        first = placed(parts_of(after)[1])[0] if after else ""
        rest = [each for each in files if f"{each.path}#" >= f"{first}#"]
        found = (each for each in documents(folder, rest) if after is None or each.address > after)
        return list(islice(found, limit))


def relabel(statements: Statements, labels: Mapping[str, Label]) -> None:
    """Address → the class that it has from now on."""
    statements.many(
        "update vault_part set label = :label where address = :address",
        [{"address": where, "label": label} for where, label in labels.items()],
    )


def fresh(desk: Desk, asked: str) -> None:
    """A file that was changed behind our back has its class before it is read."""
    with suppress(Refusal), vault(desk) as folder:  # what may not be read, or is not there, is told by `record`
        sheet(desk, folder, folder.real(settled(file_parts(placed(parts_of(asked)[1])[0]))))

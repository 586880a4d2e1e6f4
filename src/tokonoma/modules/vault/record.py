"""Files as records of the house: by their address, for a reindex, and with the class that the policy gives them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, Document, Record, Rows, Statements, parse_address
from tokonoma.core.errors import Refusal
from tokonoma.core.module import ServerInfo
from tokonoma.core.paths import join_path, split_file_path
from tokonoma.files.folder import open_root
from tokonoma.files.index_sync import classifications_of, list_documents, read_lines, read_text_file
from tokonoma.files.rules import canonicalize_path
from tokonoma.files.text import MODULE, file_address, namespace_of, parse_location
from tokonoma.modules.vault.paths import open_vault


def read_record(house: ServerInfo, rows: Rows, asked: str) -> Record | None:
    """For the directory: a file, or lines of it. The desk guards it."""
    path, start, end = parse_location(parse_address(asked)[1])
    try:
        with open_root(house.locations()["vault"]) as folder:
            parts = folder.resolve_names(canonicalize_path(split_file_path(path)))
            text, version = read_lines(folder, parts, start, end)
    except Refusal:
        return None
    # A file that nobody has looked at yet is as closed as can be: its class is not known.
    unknown: Classification = "secret" if text.strip() else "internal"
    labels = classifications_of(rows, join_path(parts), version) or frozenset({unknown})
    if start is not None and not text:
        return None
    where = (
        file_address(join_path(parts), start, end if end != start else None)
        if start
        else file_address(join_path(parts))
    )
    strictest = max(labels, key=CLASSIFICATIONS.index)
    return Record(where, MODULE, namespace_of(parts), strictest, join_path(parts), text, version, labels)


def list_vault_documents(house: ServerInfo, _rows: Rows, after: str | None, limit: int) -> Sequence[Document]:
    """For a reindex: what the index should hold, in order of address."""
    with open_root(house.locations()["vault"]) as folder:
        files = sorted(folder.list_files(), key=lambda each: f"{each.path}#")  # as their addresses sort
        first = parse_location(parse_address(after)[1])[0] if after else ""
        rest = [each for each in files if f"{each.path}#" >= f"{first}#"]
        found = (each for each in list_documents(folder, rest) if after is None or each.address > after)
        return list(islice(found, limit))


def reclassify(statements: Statements, labels: Mapping[str, Classification]) -> None:
    """Address → the class that it has from now on."""
    statements.run_many(
        "update vault_part set label = :label where address = :address",
        [{"address": where, "label": label} for where, label in labels.items()],
    )


def refresh_record(desk: Desk, asked: str) -> None:
    """A file that was changed behind our back has its class before it is read."""
    with suppress(Refusal), open_vault(desk) as folder:  # what may not be read, or is not there, is told by `record`
        read_text_file(
            desk,
            folder,
            folder.resolve_names(canonicalize_path(split_file_path(parse_location(parse_address(asked)[1])[0]))),
        )

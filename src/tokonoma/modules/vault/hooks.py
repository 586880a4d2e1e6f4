"""Files as records: read by their address, listed for a reindex, reclassified by the policy; old contents purged."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice

from typing_extensions import TypedDict

from tokonoma.core.desk import (
    CLASSIFICATIONS,
    Classification,
    Desk,
    Document,
    Record,
    Rows,
    SourceText,
    Statements,
    parse_address,
)
from tokonoma.core.errors import Refusal
from tokonoma.core.module import ServerInfo
from tokonoma.core.paths import join_path, split_file_path
from tokonoma.files.atomic import write_lock
from tokonoma.files.folder import FileEntry, open_root
from tokonoma.files.index_sync import sync_folder
from tokonoma.files.indexed_file import find_writer, list_documents
from tokonoma.files.listing import list_folder
from tokonoma.files.rules import canonicalize_path
from tokonoma.files.text import (
    MODULE,
    decode_text,
    file_address,
    find_line_starts,
    namespace_of,
    parse_location,
    split_lines,
    version_of,
)
from tokonoma.files.text_file import read_text_file
from tokonoma.files.versions import delete_versions, has_version
from tokonoma.modules.vault.model import open_vault

_SELECT_CLASSIFICATIONS = """select p.label from vault_part p join vault_file f on f.path = p.path
where p.path = :path and f.version = :version"""
_VERSIONS_PER_CALL = 500  # no file can be changed meanwhile
_DAY_MS = 86_400_000

# A content is stored once for all files that had it. It can be deleted when it is old for each of them; the last
# content before the present one stays, and so does the history.
_SELECT_OLD = """select distinct c.before from vault_change c where c.before <> '' and c.at <= :limit
and not exists (select 1 from vault_change n where n.before = c.before and (n.at > :limit or n.id =
    (select max(m.id) from vault_change m where m.path = n.path and m.state <> 'undone')))
order by c.before"""


class VaultPurge(TypedDict):
    replaced: int


def read_record(server: ServerInfo, rows: Rows, address: str) -> Record | None:
    """A file, or lines of it. The desk checks the caller's access."""
    path, start, end = parse_location(parse_address(address)[1])
    try:
        with open_root(server.locations()["vault"]) as folder:
            parts = folder.resolve_names(canonicalize_path(split_file_path(path)))
            data = folder.read(parts).data
        text, version = decode_text(data, parts), version_of(data)
    except Refusal:
        return None
    source, offset = SourceText(text), 0
    if start is not None:
        starts = find_line_starts(text)
        offset = starts[min(start, len(starts)) - 1]
        text = "".join(split_lines(text)[start - 1 : end])
        if not text:
            return None
    # A version that is not indexed yet has no known classification, so the strictest applies.
    unknown: Classification = "secret" if text.strip() else "internal"
    stored = rows.rows(_SELECT_CLASSIFICATIONS, path=join_path(parts), version=version)
    classifications: frozenset[Classification] = frozenset(row[0] for row in stored) or frozenset({unknown})
    where = file_address(join_path(parts), start, end if start and end != start else None)
    strictest = max(classifications, key=CLASSIFICATIONS.index)
    return Record(
        where,
        MODULE,
        namespace_of(parts),
        strictest,
        join_path(parts),
        text,
        version,
        classifications,
        source,
        offset,
        find_writer(rows, join_path(parts), version),
    )


def read_stamp(server: ServerInfo, address: str) -> object:
    """What changes when the file does."""
    path = parse_location(parse_address(address)[1])[0]
    with suppress(Refusal), open_root(server.locations()["vault"]) as folder:
        return folder.read_stamp(folder.resolve_names(canonicalize_path(split_file_path(path))))


def read_document(server: ServerInfo, rows: Rows, address: str) -> Document | None:
    """One passage of a file, as it is indexed."""
    parts = tuple(parse_location(parse_address(address)[1])[0].split("/"))
    with open_root(server.locations()["vault"]) as folder:
        stamp = folder.read_stamp(parts)
        documents = list_documents(rows, folder, [FileEntry(parts, stamp)] if stamp is not None else [])
        return next((each for each in documents if each.address == address), None)


def list_vault_documents(server: ServerInfo, rows: Rows, after: str | None, limit: int) -> Sequence[Document]:
    """For a reindex: what the index should hold, in order of address."""
    with open_root(server.locations()["vault"]) as folder:
        files = sorted(list_folder(folder).files, key=lambda entry: f"{entry.path}#")  # as their addresses sort
        first = parse_location(parse_address(after)[1])[0] if after else ""
        rest = [entry for entry in files if f"{entry.path}#" >= f"{first}#"]
        documents = (each for each in list_documents(rows, folder, rest) if after is None or each.address > after)
        return list(islice(documents, limit))


def reclassify(statements: Statements, classifications: Mapping[str, Classification]) -> None:
    """Store the new classification of each address."""
    statements.run_many(
        "update vault_part set label = :label where address = :address",
        [{"address": address, "label": label} for address, label in classifications.items()],
    )


def refresh_record(desk: Desk, address: str) -> None:
    """Index a file before it is read, so that a file changed by another program has its classification."""
    with suppress(Refusal), open_vault(desk) as folder:  # read_record reports a missing or unreadable file
        path = parse_location(parse_address(address)[1])[0]
        read_text_file(desk, folder, folder.resolve_names(canonicalize_path(split_file_path(path))))


def sync_index(desk: Desk) -> list[str]:
    """Index the files that have changed. Returns the addresses of those that are not indexed yet."""
    with open_vault(desk) as folder:
        return [file_address(path) for path in sync_folder(desk, folder).pending]


def purge(desk: Desk, days: int, dry_run: bool = False) -> VaultPurge:
    """Delete a page of the contents that were replaced so many days ago. With `dry_run`, count them instead."""
    limit = desk.now() - days * _DAY_MS
    with open_vault(desk) as folder, write_lock(folder, desk.check):
        old = [version for (version,) in desk.rows(_SELECT_OLD, limit=limit) if has_version(desk, folder, version)]
        page = [] if dry_run else old[:_VERSIONS_PER_CALL]
        delete_versions(desk, folder, page)
    return {"replaced": len(old if dry_run else page)}

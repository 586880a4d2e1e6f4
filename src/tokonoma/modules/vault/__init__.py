"""vault: files that agents and people write together: read, searched, audited, and kept in versions (specs/001)."""

import dataclasses
from functools import partial

from tokonoma.core.module import Module, ServerInfo, Tool
from tokonoma.files import FILE_ERROR_CODES
from tokonoma.files.tables import RECORDS
from tokonoma.modules.vault.audit import audit
from tokonoma.modules.vault.backlinks import list_backlinks
from tokonoma.modules.vault.coverage import check_coverage, list_lines, list_vault_readers, scan
from tokonoma.modules.vault.delete import delete
from tokonoma.modules.vault.find import find
from tokonoma.modules.vault.hits import list_found, list_hits
from tokonoma.modules.vault.hooks import (
    list_vault_documents,
    purge,
    read_document,
    read_record,
    read_stamp,
    reclassify,
    refresh_record,
    sync_index,
)
from tokonoma.modules.vault.links import list_links
from tokonoma.modules.vault.past import list_history
from tokonoma.modules.vault.read import list_files, list_files_long, read, search
from tokonoma.modules.vault.tables import TABLES
from tokonoma.modules.vault.write import create, move, replace, restore, write

_TIME_LIMIT = 660.0  # seconds: on the command line, the first call indexes thousands of new files


def bind(server: ServerInfo) -> Module:
    """The module with hooks that know where the files are."""
    return dataclasses.replace(
        MODULE,
        read=partial(read_record, server),
        read_stamp=partial(read_stamp, server),
        read_document=partial(read_document, server),
        documents=partial(list_vault_documents, server),
        bind=None,
    )


MODULE = Module(
    name="vault",
    summary="Whole files in a shared folder: write, find, audit.",
    tools=(
        Tool("ls", list_files, "List files", time_limit=_TIME_LIMIT),
        Tool("read", read, "Read lines of a file", keeps_log=True),
        Tool("find", find, "Find everything about a topic", keeps_log=True, time_limit=_TIME_LIMIT),
        Tool("hits", list_hits, "List hits of a search"),
        Tool("scan", scan, "Read a file in steps", keeps_log=True),
        Tool("coverage", check_coverage, "Check which lines are cited", keeps_log=True),
        Tool(
            "audit",
            audit,
            "Audit an artifact against its source",
            keeps_log=True,
            listed="artifact_audit",
            aliases=("artifact.audit",),
        ),
        Tool("create", create, "Create a file", effect="write"),
        Tool("write", write, "Overwrite or append", effect="write"),
        Tool("replace", replace, "Replace text or a section", effect="write"),
        Tool("search", search, "Search lines", keeps_log=True, time_limit=_TIME_LIMIT),
        Tool("backlinks", list_backlinks, "List links to a file", time_limit=_TIME_LIMIT),
        Tool("history", list_history, "List a file's versions"),
        Tool("restore", restore, "Restore a version", effect="write"),
        Tool("move", move, "Move a file", effect="write"),
        Tool("delete", delete, "Delete a file", effect="destroy"),
    ),
    tables=TABLES,
    address="{+path}",
    record_tables=RECORDS,
    textless_tables=RECORDS,  # what a caller may not see is masked when a file is read, and in what is indexed of it
    reclassify=reclassify,
    codes=FILE_ERROR_CODES,
    owner_tools=(
        Tool("purge", purge, "Delete earlier contents permanently", effect="destroy", time_limit=600),
        Tool("lines", list_lines, "Lines read and cited"),
        Tool("readers", list_vault_readers, "Callers that have read files"),
        Tool("files", list_files_long, "List files in long pages", time_limit=_TIME_LIMIT),
    ),
    bind=bind,
    refresh=refresh_record,
    list_found=list_found,
    search_tool="search",
    read_tool="read",
    sync=sync_index,
    list_links=list_links,
)

"""vault: the files that agents and people write together, found, walked through, audited and kept (specs/001)."""

from dataclasses import replace as changed
from functools import partial

from tokonoma.core.module import Module, ServerInfo, Tool
from tokonoma.files.codes import FILE_ERROR_CODES
from tokonoma.files.tables import RECORDS
from tokonoma.modules.vault.audit import audit
from tokonoma.modules.vault.coverage import check_coverage, list_lines
from tokonoma.modules.vault.find import find, list_hits
from tokonoma.modules.vault.history import list_history, restore
from tokonoma.modules.vault.purge import purge
from tokonoma.modules.vault.read import list_files, list_files_long, read
from tokonoma.modules.vault.record import list_vault_documents, read_record, reclassify, refresh_record
from tokonoma.modules.vault.scan import scan
from tokonoma.modules.vault.search import search
from tokonoma.modules.vault.tables import TABLES
from tokonoma.modules.vault.write import create, move, replace, write

_TIME_LIMIT = 660.0  # seconds: who sits at the terminal waits for thousands of new files to be read


def bind(house: ServerInfo) -> Module:
    return changed(MODULE, read=partial(read_record, house), documents=partial(list_vault_documents, house), bind=None)


MODULE = Module(
    name="vault",
    summary="Write, find and audit files of a shared folder.",
    tools=(
        Tool("ls", list_files, "List files", time_limit=_TIME_LIMIT),
        Tool("read", read, "Read lines of a file"),
        Tool("find", find, "Find everything about a topic", time_limit=_TIME_LIMIT),
        Tool("hits", list_hits, "List what a find has found"),
        Tool("scan", scan, "Walk through a file"),
        Tool("coverage", check_coverage, "Check which lines are cited"),
        Tool(
            "audit", audit, "Audit an artifact against its source", listed="artifact_audit", aliases=("artifact.audit",)
        ),
        Tool("create", create, "Make a file", effect="write"),
        Tool("write", write, "Overwrite or append", effect="write"),
        Tool("replace", replace, "Replace text or a section", effect="write"),
        Tool("search", search, "Search lines", time_limit=_TIME_LIMIT),
        Tool("history", list_history, "List a file's versions"),
        Tool("restore", restore, "Restore a version", effect="write"),
        Tool("move", move, "Move a file", effect="write"),
    ),
    tables=TABLES,
    record_tables=RECORDS,
    reclassify=reclassify,
    codes=FILE_ERROR_CODES,
    owner_tools=(
        Tool("purge", purge, "Forget earlier contents for good", effect="destroy", time_limit=600),
        Tool("lines", list_lines, "Lines read and cited"),
        Tool("files", list_files_long, "List files in long pages", time_limit=_TIME_LIMIT),
    ),
    bind=bind,
    refresh=refresh_record,
)

"""vault: the files that agents and people write together, found, walked through, audited and kept (specs/001)."""

from dataclasses import replace as changed
from functools import partial

from tokonoma.core.module import Module, Tool
from tokonoma.core.server_info import House
from tokonoma.files.codes import LIBRARY
from tokonoma.files.tables import RECORDS
from tokonoma.modules.vault.audit import audit
from tokonoma.modules.vault.coverage import coverage, lines
from tokonoma.modules.vault.find import find, hits
from tokonoma.modules.vault.history import history, restore
from tokonoma.modules.vault.purge import purge
from tokonoma.modules.vault.read import files, ls, read
from tokonoma.modules.vault.record import fresh, listing, record, relabel
from tokonoma.modules.vault.scan import scan
from tokonoma.modules.vault.search import search
from tokonoma.modules.vault.tables import TABLES
from tokonoma.modules.vault.write import create, move, replace, write

_LAST = 660.0  # seconds: who sits at the terminal waits for thousands of new files to be read


def housed(house: House) -> Module:
    return changed(MODULE, read=partial(record, house), documents=partial(listing, house), housed=None)


MODULE = Module(
    name="vault",
    summary="Write, find and audit files of a shared folder.",
    tools=(
        Tool("ls", ls, "List files", time_limit=_LAST),
        Tool("read", read, "Read lines of a file"),
        Tool("find", find, "Find everything about a topic", time_limit=_LAST),
        Tool("hits", hits, "List what a find has found"),
        Tool("scan", scan, "Walk through a file"),
        Tool("coverage", coverage, "Check which lines are cited"),
        Tool(
            "audit", audit, "Audit an artifact against its source", listed="artifact_audit", aliases=("artifact.audit",)
        ),
        Tool("create", create, "Make a file", effect="write"),
        Tool("write", write, "Overwrite or append", effect="write"),
        Tool("replace", replace, "Replace text or a section", effect="write"),
        Tool("search", search, "Search lines", time_limit=_LAST),
        Tool("history", history, "List a file's versions"),
        Tool("restore", restore, "Restore a version", effect="write"),
        Tool("move", move, "Move a file", effect="write"),
    ),
    tables=TABLES,
    records=RECORDS,
    relabel=relabel,
    codes=LIBRARY,
    unlisted=(
        Tool("purge", purge, "Forget earlier contents for good", effect="destroy", time_limit=600),
        Tool("lines", lines, "Lines read and cited"),
        Tool("files", files, "List files in long pages", time_limit=_LAST),
    ),
    housed=housed,
    fresh=fresh,
)

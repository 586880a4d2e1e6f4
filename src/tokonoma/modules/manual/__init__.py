"""manual: folders of Markdown and JSON that are searched exhaustively and read in small pieces (specs/001)."""

from dataclasses import replace
from functools import partial

from tokonoma.core.module import Module, Tool
from tokonoma.core.server_info import House
from tokonoma.files.codes import LIBRARY
from tokonoma.modules.manual.excepts import excepts
from tokonoma.modules.manual.find import find
from tokonoma.modules.manual.hits import hits
from tokonoma.modules.manual.listing import list_manuals, ls, toc
from tokonoma.modules.manual.read import documents, fresh, read, record, relabel, used
from tokonoma.modules.manual.tables import NAME, RECORDS, TABLES

_LAST = 660.0  # seconds: the first call after thousands of new files reads them all


def _housed(house: House) -> Module:
    """A record's text is in a file, and the house knows where the files are."""
    return replace(MODULE, read=partial(record, house), documents=partial(documents, house), housed=None)


MODULE = Module(
    name=NAME,
    summary="Manuals as files: find everything on a topic, read it in pieces.",
    tools=(
        Tool("list", list_manuals, "List manuals", time_limit=_LAST),
        Tool("ls", ls, "List a manual's files", time_limit=_LAST),
        Tool("toc", toc, "Table of contents", time_limit=_LAST),
        Tool("find", find, "Find everything on a topic", time_limit=_LAST),
        Tool("hits", hits, "List what was found", time_limit=_LAST),
        Tool("read", read, "Read a place", time_limit=_LAST),
        Tool("excepts", excepts, "List exceptions", time_limit=_LAST),
    ),
    tables=TABLES,
    records=RECORDS,
    codes=LIBRARY,
    relabel=relabel,
    housed=_housed,
    fresh=fresh,
    used=used,
)

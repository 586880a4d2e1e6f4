"""manual: folders of Markdown and JSON that are searched exhaustively and read in small pieces (specs/001)."""

from dataclasses import replace
from functools import partial

from tokonoma.core.module import Module, ServerInfo, Tool
from tokonoma.files.codes import FILE_ERROR_CODES
from tokonoma.modules.manual.excepts import list_exceptions
from tokonoma.modules.manual.find import find
from tokonoma.modules.manual.hits import list_hits
from tokonoma.modules.manual.listing import list_contents, list_manual_files, list_manuals
from tokonoma.modules.manual.read import list_documents, on_record_used, read, read_record, reclassify, refresh_record
from tokonoma.modules.manual.tables import NAME, RECORDS, TABLES

_TIME_LIMIT = 660.0  # seconds: the first call after thousands of new files reads them all


def _bind(house: ServerInfo) -> Module:
    """A record's text is in a file, and the house knows where the files are."""
    return replace(MODULE, read=partial(read_record, house), documents=partial(list_documents, house), bind=None)


MODULE = Module(
    name=NAME,
    summary="Manuals as files: find everything on a topic, read it in pieces.",
    tools=(
        Tool("list", list_manuals, "List manuals", time_limit=_TIME_LIMIT),
        Tool("ls", list_manual_files, "List a manual's files", time_limit=_TIME_LIMIT),
        Tool("toc", list_contents, "Table of contents", time_limit=_TIME_LIMIT),
        Tool("find", find, "Find everything on a topic", time_limit=_TIME_LIMIT),
        Tool("hits", list_hits, "List what was found", time_limit=_TIME_LIMIT),
        Tool("read", read, "Read a place", time_limit=_TIME_LIMIT),
        Tool("excepts", list_exceptions, "List exceptions", time_limit=_TIME_LIMIT),
    ),
    tables=TABLES,
    record_tables=RECORDS,
    codes=FILE_ERROR_CODES,
    reclassify=reclassify,
    bind=_bind,
    refresh=refresh_record,
    on_used=on_record_used,
)

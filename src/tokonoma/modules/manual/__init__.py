"""manual: folders of Markdown and JSON files, searched exhaustively and read in small parts (specs/001)."""

from dataclasses import replace
from functools import partial

from tokonoma.core.module import Module, ServerInfo, Tool
from tokonoma.files import FILE_ERROR_CODES
from tokonoma.modules.manual.backlinks import list_backlinks
from tokonoma.modules.manual.contents import list_contents
from tokonoma.modules.manual.coverage import check_manual_coverage, list_manual_lines, list_manual_readers
from tokonoma.modules.manual.exceptions import list_exceptions
from tokonoma.modules.manual.find import find
from tokonoma.modules.manual.found import list_found
from tokonoma.modules.manual.hits import list_hits
from tokonoma.modules.manual.hooks import list_documents, read_document, read_record, read_stamp, reclassify
from tokonoma.modules.manual.links import list_links
from tokonoma.modules.manual.read import list_manual_files, list_manuals, read
from tokonoma.modules.manual.refs import refresh_section
from tokonoma.modules.manual.search import search
from tokonoma.modules.manual.sync import sync_index
from tokonoma.modules.manual.tables import NAME, RECORDS, TABLES
from tokonoma.modules.manual.traces import on_record_used

_TIME_LIMIT = 660.0  # seconds: the first call after thousands of new files indexes them all


def bind(server: ServerInfo) -> Module:
    """The module with hooks that know where the files are."""
    return replace(
        MODULE,
        read=partial(read_record, server),
        read_stamp=partial(read_stamp, server),
        read_document=partial(read_document, server),
        documents=partial(list_documents, server),
        bind=None,
    )


MODULE = Module(
    name=NAME,
    summary="Manuals as files: find everything on a topic, read it in parts.",
    tools=(
        Tool("list", list_manuals, "List manuals", time_limit=_TIME_LIMIT),
        Tool("ls", list_manual_files, "List a manual's files", time_limit=_TIME_LIMIT),
        Tool("toc", list_contents, "Table of contents", time_limit=_TIME_LIMIT),
        Tool("find", find, "Find everything on a topic", keeps_log=True, time_limit=_TIME_LIMIT),
        Tool("hits", list_hits, "List hits of a search", time_limit=_TIME_LIMIT),
        Tool("search", search, "Search lines", time_limit=_TIME_LIMIT),
        Tool("read", read, "Read a part", keeps_log=True, time_limit=_TIME_LIMIT),
        Tool("coverage", check_manual_coverage, "Check which lines are cited", keeps_log=True, time_limit=_TIME_LIMIT),
        Tool("backlinks", list_backlinks, "List links to a page", time_limit=_TIME_LIMIT),
        Tool("excepts", list_exceptions, "List exceptions", time_limit=_TIME_LIMIT),
    ),
    tables=TABLES,
    address="{manual_id}/{+path}",
    record_tables=RECORDS,
    textless_tables=RECORDS,  # what a caller may not see is masked when a file is read, and in what is indexed of it
    codes=FILE_ERROR_CODES,
    reclassify=reclassify,
    owner_tools=(
        Tool("lines", list_manual_lines, "Lines read and cited", time_limit=_TIME_LIMIT),
        Tool("readers", list_manual_readers, "Callers that have read manuals"),
    ),
    bind=bind,
    refresh=refresh_section,
    on_used=on_record_used,
    list_found=list_found,
    search_tool="search",
    read_tool="read",
    sync=sync_index,
    list_links=list_links,
)

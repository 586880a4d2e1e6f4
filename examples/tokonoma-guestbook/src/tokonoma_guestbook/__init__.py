"""guestbook: visitors leave a line, newest first."""

from tokonoma.core.module import Module, Tool
from tokonoma_guestbook.tables import RECORDS, TABLES, documents, read, reclassify
from tokonoma_guestbook.tools import PAGE_INPUT, PAGE_OUTPUT, entries, page, sign

MODULE = Module(
    name="guestbook",
    summary="A guestbook: sign it, read what others wrote.",
    tools=(
        Tool("sign", sign, "Sign the guestbook", effect="write"),
        Tool("entries", entries, "Read the guestbook"),
        Tool("page", page, "The guestbook as a page", input_schema=PAGE_INPUT, output_schema=PAGE_OUTPUT),
    ),
    tables=TABLES,
    record_tables=RECORDS,
    read=read,
    documents=documents,
    reclassify=reclassify,
)

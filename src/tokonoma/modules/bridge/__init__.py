"""bridge: copies into the vault from any address of the house, without showing the text to anybody (specs/001)."""

from tokonoma.core.module import Migration, Module, Tool
from tokonoma.files.codes import LIBRARY
from tokonoma.modules.bridge.copy import copy_file, copy_section

MODULE = Module(
    name="bridge",
    summary="Copy records into the vault, unread.",
    tools=(
        Tool("copy_section", copy_section, "Copy a section or a record", effect="write"),
        Tool("copy_file", copy_file, "Copy a whole file of a manual", effect="write"),
    ),
    tables=(
        Migration(
            "001_bridge",
            (
                # Which finds of a search were used: figures for its recall, no texts.
                """create table bridge_use (
                    trace_id {text} not null,
                    address {text} not null,
                    at {big} not null,
                    primary key (trace_id, address)
                )""",
            ),
        ),
    ),
    codes=LIBRARY,
)

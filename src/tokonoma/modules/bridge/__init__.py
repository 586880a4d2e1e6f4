"""bridge: copies records of any module into the vault without returning their text (specs/001)."""

from tokonoma.core.module import Module, Tool
from tokonoma.files import FILE_ERROR_CODES
from tokonoma.modules.bridge.copy import copy_file, copy_section

MODULE = Module(
    name="bridge",
    summary="Copy records into the vault, unread.",
    tools=(
        Tool("copy_section", copy_section, "Copy a section or a record", effect="write"),
        Tool("copy_file", copy_file, "Copy a whole file of a manual", effect="write"),
    ),
    codes=FILE_ERROR_CODES,
)

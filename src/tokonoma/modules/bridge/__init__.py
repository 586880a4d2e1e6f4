"""bridge: copies records of any module, and of services, without returning their text (specs/001)."""

from tokonoma.core.module import Module, Tool
from tokonoma.core.providers import SERVICE_CODES
from tokonoma.files import FILE_ERROR_CODES
from tokonoma.modules.bridge.copy import copy_file, copy_section
from tokonoma.modules.bridge.service import copy
from tokonoma.modules.bridge.trace import copy_trace

MODULE = Module(
    name="bridge",
    summary="Copy records into the vault, unread.",
    tools=(
        Tool("copy_section", copy_section, "Copy sections, lines or records", effect="write"),
        Tool("copy_file", copy_file, "Copy a whole file of a manual", effect="write"),
        Tool("copy", copy, "Copy from a service", effect="write", time_limit=300.0),
        Tool("copy_trace", copy_trace, "Copy all hits of a search", effect="write", time_limit=660.0),
    ),
    codes={**SERVICE_CODES, **FILE_ERROR_CODES},
)

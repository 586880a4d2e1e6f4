"""system: information about the server itself, and about the records of all modules."""

from tokonoma.core.module import Module, Tool
from tokonoma.modules.system.records import count_days, list_changes, list_related
from tokonoma.modules.system.sync import sync_read, sync_write
from tokonoma.modules.system.tools import recent, status, where

_TIME_LIMIT = 660.0  # seconds: on the command line, the first call indexes thousands of new files

MODULE = Module(
    name="system",
    summary="The server: health, sizes, files, latest calls; over all modules: changes by time, related records.",
    tools=(
        Tool("status", status, "Status of the server"),
        Tool("where", where, "Locations of files"),
        Tool("recent", recent, "Recent calls"),
        Tool("timeline", list_changes, "Changes in a span of time", time_limit=_TIME_LIMIT),
        Tool("days", count_days, "Changes by day", time_limit=_TIME_LIMIT),
        Tool("related", list_related, "What a record is connected with", time_limit=_TIME_LIMIT),
        Tool("sync_read", sync_read, "Read records for a sync", extra=True, time_limit=600),
        Tool(
            "sync_write",
            sync_write,
            "Merge records of another home",
            effect="write",
            extra=True,
            sees_secrets=True,
            time_limit=600,
        ),
    ),
)

"""system: information about the server itself."""

from tokonoma.core.module import Module, Tool
from tokonoma.modules.system.tools import recent, status, where

MODULE = Module(
    name="system",
    summary="The server itself: version, health, sizes, locations of its files, your latest calls.",
    tools=(
        Tool("status", status, "Status of the server"),
        Tool("where", where, "Locations of files"),
        Tool("recent", recent, "Recent calls"),
    ),
)

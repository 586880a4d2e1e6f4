"""system: the house about itself."""

from tokonoma.core.module import Module, Tool
from tokonoma.modules.system.tools import recent, status, where

MODULE = Module(
    name="system",
    summary="The server itself: version, health, sizes, where things lie, what was called lately.",
    tools=(
        Tool("status", status, "Status of the server"),
        Tool("where", where, "Where things lie"),
        Tool("recent", recent, "Recent calls"),
    ),
)

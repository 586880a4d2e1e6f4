"""What a module may know of the house around it, without importing any of it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tokonoma.core.call import Principal
from tokonoma.core.module import ModuleInfo, ToolInfo


class ServerInfo(Protocol):
    """Handed to desks by the composition root."""

    @property
    def version(self) -> str: ...
    @property
    def started_at(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def visible_modules(self, principal: Principal) -> Sequence[ModuleInfo]:
        """The modules that this principal can see, each with the entries that it can see."""
        ...

    def find_tool(self, module: str, tool: str, principal: Principal) -> ToolInfo:
        """One tool by any of its names; Missing names the nearest ones."""
        ...

    def health(self) -> Mapping[str, Any]:
        """Each part of the house with `ok` and a word on what to do if it is not."""
        ...

    def locations(self) -> Mapping[str, str]:
        """Where things lie: home, database, settings, workspace. Credentials are taken out."""
        ...

    def sizes(self) -> Mapping[str, int]:
        """Bytes and rows of what is stored."""
        ...

    def recent_entries(
        self, principal: Principal, limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """The newest journal entries of this principal, and the cursor of the next page."""
        ...

"""Whether something has changed that clients watch: by any process through the journal, by other programs in files."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tokonoma.catalogue.registry import Registry
from tokonoma.core.errors import Refusal
from tokonoma.journal.changes import WriteWatch
from tokonoma.store.database import Database

if TYPE_CHECKING:
    from tokonoma.upstream.hub import UpstreamHub


class ChangeDetector:
    """Asked once a second, while a resource is watched."""

    def __init__(
        self, database: Database, registry: Registry, hub: "Callable[[], UpstreamHub | None]" = lambda: None
    ) -> None:
        """`hub`: the MCP servers, if one was used. It learns here which of their resources are still watched."""
        self._writes, self._registry, self._hub = WriteWatch(database.reading), registry, hub
        self._stamps: dict[str, object] = {}

    def has_changed(self, uris: Collection[str]) -> bool:
        """Since it was last asked."""
        if (hub := self._hub()) is not None:
            hub.keep(uris)
        stamps = {uri: self._read_stamp(unquote(uri)) for uri in uris}
        edited = any(stamp != self._stamps.get(uri, stamp) for uri, stamp in stamps.items())
        self._stamps = stamps
        return self._writes.has_changed() or edited

    def _read_stamp(self, address: str) -> object:
        try:
            module = self._registry.find_owner(address)
            return None if module is None or module.read_stamp is None else module.read_stamp(address)
        except Refusal:  # it is no address of a record
            return None

"""Whether something has changed that clients watch: by any process through the journal, by other programs in files."""

from collections.abc import Collection
from urllib.parse import unquote

from tokonoma.catalogue.registry import Registry
from tokonoma.core.errors import Refusal
from tokonoma.journal.changes import WriteWatch
from tokonoma.store.database import Database


class ChangeDetector:
    """Asked once a second, while a resource is watched."""

    def __init__(self, database: Database, registry: Registry) -> None:
        self._writes, self._registry = WriteWatch(database.reading), registry
        self._stamps: dict[str, object] = {}

    def has_changed(self, uris: Collection[str]) -> bool:
        """Since it was last asked."""
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

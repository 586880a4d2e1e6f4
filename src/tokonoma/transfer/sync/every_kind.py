"""All kinds of records that homes exchange."""

from collections.abc import Collection

from tokonoma.transfer.sync.claims import CLAIM
from tokonoma.transfer.sync.items import ITEM
from tokonoma.transfer.sync.kinds import MEMO, RELATION, RecordKind


def list_kinds(modules_off: Collection[str]) -> list[RecordKind]:
    """Those of modules that are switched on, each after the kinds that it refers to."""
    return [kind for kind in (MEMO, RELATION, ITEM, CLAIM) if kind.module not in modules_off]

"""system.sync_read and system.sync_write: the records of this home for `tokonoma sync URL` of another one.

They exist only for a key that was made for it: it reads and writes everything, as the owner does, and what it reads is
not masked. A masked text would come back as an edit.
"""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied
from tokonoma.core.ids import Opaque

Packed = Annotated[str, Field(description="lines of JSON, compressed with zlib, as Base64")]


class SyncPage(TypedDict):
    home: Opaque
    records: Opaque
    next: NotRequired[Opaque]


class SkippedRecord(TypedDict):
    record: Opaque
    why: str


class SyncReceipt(TypedDict):
    stored: int
    conflicts: int
    moved: int
    skipped: list[SkippedRecord]


def sync_read(desk: Desk, after: str = "") -> SyncPage:
    """Read a page of all records with their versions, for a sync with another home."""
    _check_reach(desk)
    home, records, following = desk.server.read_for_sync(after)
    page: SyncPage = {"home": home, "records": records}
    if following:
        page["next"] = following
    return page


def sync_write(desk: Desk, records: Packed) -> SyncReceipt:
    """Merge records of another home into this one. What was edited here since it was read is not overwritten."""
    _check_reach(desk)
    receipt = desk.server.write_from_sync(records)
    skipped: list[SkippedRecord] = [{"record": name, "why": why} for name, why in receipt["skipped"]]
    return {**{name: receipt[name] for name in ("stored", "conflicts", "moved")}, "skipped": skipped}  # type: ignore[typeddict-item]


def _check_reach(desk: Desk) -> None:
    """A key that sees a part only would publish this part as the whole."""
    reach = desk.principal.reach
    if reach.root != "/" or reach.is_limited:
        message = "A sync needs a key that sees everything: with the root /, all modules and no mask."
        raise Denied(message, reason="reach")

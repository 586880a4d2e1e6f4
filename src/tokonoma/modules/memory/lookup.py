"""memory.ids: the memos whose id begins with what a person typed, for the owner's commands."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.modules.memory.tables import ALIVE

_FOUND = 10  # enough to choose from


class FoundId(TypedDict):
    memo_id: str
    title: str
    state: Literal["kept", "trash", "expired"]


def find_ids(desk: Desk, prefix: Annotated[str, Field(min_length=1, max_length=100)]) -> list[FoundId]:
    """Living memos first."""
    rows = desk.rows(
        f"""select id, title, case when {ALIVE} then 'kept' when deleted_at is null then 'expired' else 'trash' end
            as state from memo where {{visible}} and id {{by_code_point}} >= :prefix and id {{by_code_point}} < :beyond
        order by case when {ALIVE} then 0 else 1 end, id {{by_code_point}} limit {_FOUND}""",  # noqa: S608 - our own
        now=desk.now(),
        prefix=prefix,
        beyond=f"{prefix}\U0010ffff",
    )
    return [{"memo_id": memo_id, "title": title, "state": state} for memo_id, title, state in rows]

"""What memory.save says of earlier memos that the new one probably corrects or repeats. It only proposes: the caller
knows whether one is outdated."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, parse_address
from tokonoma.core.ids import Opaque
from tokonoma.core.likeness import Likeness, judge_pair
from tokonoma.core.query import LikeRecord, SearchFilter
from tokonoma.core.records import can_read
from tokonoma.modules.memory.model import MODULE_NAME, Memo
from tokonoma.modules.memory.read import fetch_memos
from tokonoma.modules.memory.tables import ALIVE

MAX_COMPARED_SAVES = 20  # memos of one call: an import of many is not compared
_LISTED = 3
_LEAST = 0.35  # cosine and shared words: ADR 0058
_JUDGED = 0.6  # cosine from which words are compared
_SHOWN = 120  # characters
_READ = 2_000  # characters of a content that are compared


class SimilarMemo(TypedDict):
    """An earlier memo that says the same (`same`, `duplicate`), something else about the same (`contradicted`), or
    something that is `near` in meaning: whether that is outdated, the caller must see."""

    memo_id: Opaque
    relation: Likeness | Literal["near"]
    date: Opaque
    similarity: float
    text: str
    call: NotRequired[dict[str, Any]]  # marks the earlier one as replaced; left out of those that are only `near`


def find_similar(desk: Desk, memo: Memo) -> list[SimilarMemo]:
    """Up to three, the nearest first, without those that are replaced already."""
    if not can_read(desk, MODULE_NAME):  # who may only write must not get texts by guessing at them
        return []
    text = memo.content[:_READ]
    where = SearchFilter((MODULE_NAME,), memo.namespace)
    found = desk.find_like(memo.address, text, where, _LEAST, _LISTED + len(memo.supersedes))
    like = {number: each for each in found if (number := parse_address(each.address)[1]) not in memo.supersedes}
    memos = fetch_memos(desk, list(like)[:_LISTED], ALIVE, now=desk.now()) if like else {}
    near = [(memos[number], each) for number, each in like.items() if number in memos]
    return [_to_response(desk, memo, other, each, _judge(text, other, each.cosine)) for other, each in near]


def _judge(text: str, other: Memo, cosine: float) -> tuple[Likeness, float] | None:
    """None: not sure. Below `_JUDGED` words hardly ever are, and to compare them takes as long as all the rest."""
    return judge_pair(text, other.content[:_READ], cosine) if cosine >= _JUDGED else None


def _to_response(
    desk: Desk, memo: Memo, other: Memo, like: LikeRecord, judged: tuple[Likeness, float] | None
) -> SimilarMemo:
    desk.cite(other.address, like.author)
    relation, similarity = judged or ("near", like.cosine)
    similar: SimilarMemo = {
        "memo_id": other.id,
        "relation": relation,
        "date": (other.date or format_time(other.created_at))[:10],
        "similarity": round(min(1.0, similarity), 3),
        "text": other.content[:_SHOWN],
    }
    if judged:
        params = {"memo_id": memo.id, "supersedes": other.id}
        similar["call"] = {"module": MODULE_NAME, "tool_name": "save", "params": params}
    return similar

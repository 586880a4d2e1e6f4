"""Which memos replace which, as their caller may see it."""

from collections.abc import Collection, Mapping

from tokonoma.core.desk import Desk, parse_address
from tokonoma.modules.memory import model
from tokonoma.modules.memory.model import Memo, MemoSummary
from tokonoma.modules.memory.tables import bind_ids

_PAGE = 500


def describe_memos(desk: Desk, memos: Collection[Memo]) -> list[MemoSummary]:
    """Their summaries, with what replaces them and what they replace, as far as the caller may see it."""
    superseded = read_superseded(desk, memos)
    successors = desk.find_successors([memo.address for memo in memos])
    summaries: list[MemoSummary] = []
    for memo in memos:
        summary = model.to_summary(memo, desk)
        if ids := superseded.get(memo.id):
            summary["supersedes"] = ids
        if newer := successors.get(memo.address):
            summary["superseded_by"] = parse_address(newer)[1]
        summaries.append(summary)
    return summaries


def read_superseded(desk: Desk, memos: Collection[Memo]) -> Mapping[str, list[str]]:
    """By memo, those that it replaces: what the caller may see of them, also in the trash."""
    wanted = sorted({each for memo in memos for each in memo.supersedes})
    seen: set[str] = set()
    for start in range(0, len(wanted), _PAGE):
        listed, params = bind_ids(wanted[start : start + _PAGE])
        seen |= {row[0] for row in desk.rows(f"select id from memo where id in ({listed}) and {{visible}}", **params)}  # noqa: S608
    return {memo.id: ids for memo in memos if (ids := [each for each in memo.supersedes if each in seen])}

"""memory.restore: a memo from the trash, or an earlier version of one."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Missing
from tokonoma.modules.memory import model
from tokonoma.modules.memory.combine import undo_relations
from tokonoma.modules.memory.marks import describe_memos
from tokonoma.modules.memory.model import MemoSummary, Namespace, Version
from tokonoma.modules.memory.read import require_memo
from tokonoma.modules.memory.supersede import find_circle
from tokonoma.modules.memory.versions import check_version, fetch_version, get_text_author, write_version


def restore_memo(
    desk: Desk,
    memo_id: str,
    namespace: Namespace = None,
    version: Annotated[int | None, Field(ge=1, description="an earlier one, from memory.history")] = None,
    expected_version: Version = None,
) -> MemoSummary:
    """Restore a memo from the trash, with its relations; also one that has expired. With `version`: make a new version
    with the content, title, metadata, thread, dates, `supersedes` and expiry of an earlier one."""
    at = desk.now()
    with desk.write() as tx:
        old = require_memo(tx, desk, memo_id, namespace, lock=True, state="any")
        check_version(old, expected_version, "Nothing was restored.")
        is_gone = old.deleted_at is not None or (old.expires_at is not None and old.expires_at <= at)
        if version is None and not is_gone:
            raise Missing(f"Memo {memo_id!r} is not in the trash.", memo_id=memo_id)
        source = old if version is None else fetch_version(tx, old, version)
        # An expired memo would disappear again at once: a restored one stays.
        expires_at = source.expires_at if source.expires_at is None or source.expires_at > at else None
        memo = replace(old, deleted_at=None, expires_at=expires_at)
        if version is not None:
            fields = {name: getattr(source, name) for name in ("title", "content", "metadata", "thread", *model.DATES)}
            # What was replaced then may have replaced this memo since.
            replaced = tuple(each for each in source.supersedes if not find_circle(tx, old.id, [each]))
            memo = replace(memo, updated_at=max(at, old.updated_at), supersedes=replaced, **fields)
        if old.deleted_at is not None and old.change == "merged":
            undo_relations(tx, old)
        memo = write_version(tx, desk, old, memo, "restored", str(version or ""))
        author = None if version is None else get_text_author(source)
        tx.put(replace(model.to_document(memo), author=author), same_text=True)
    return describe_memos(desk, [memo])[0]

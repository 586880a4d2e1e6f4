"""The kinds of records that homes exchange: how each is read, merged and stored."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.transfer.sync.merge import Body, FieldRules

CallTool = Callable[[str, str, Mapping[str, Any]], Any]
"""module, tool, parameters → the value of a tool that only the owner can call"""

CONFLICT_TAG = "conflicts_with"
_CONFLICT_KEY = "sync_conflict"
COPIES = uuid.UUID("5f0c6f5e-3a0b-5d5c-9d0e-73796e632121")


@dataclass(frozen=True, slots=True)
class StoredRecord:
    name: str
    body: Body
    revision: int


@dataclass(frozen=True, slots=True)
class RecordChange:
    """`body` is None if the record is removed; `expected` is the revision here that was merged, 0 if there was none."""

    name: str
    body: Body | None
    expected: int
    before: Body | None = None


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """`written`; `moved`: it was changed here meanwhile; `skipped`: it cannot be stored. `body`: what is stored."""

    outcome: str
    revision: int = 0
    why: str = ""
    body: Body | None = None
    boundary: str = ""  # its class here, if the policy decides it


@dataclass(frozen=True, slots=True)
class RecordKind:
    """`keep_copy` builds the records that keep the text of the other side; None: the list of conflicts keeps it."""

    name: str
    module: str
    rules: FieldRules
    read: Callable[[CallTool], Iterator[StoredRecord]]
    write: Callable[[CallTool, Sequence[RecordChange], Mapping[str, bool]], list[ChangeOutcome]]
    keep_copy: Callable[[str, Body, Body, str], list[tuple[str, str, Body]]] | None = None
    needs: Callable[[str], Sequence[tuple[str, str]]] = lambda _: ()  # other records without which it cannot be stored
    find_original: Callable[[Body], str | None] = lambda _: None  # the record of which this one keeps another text
    has_trash: bool = True
    together: bool = False  # its records refer to each other, so all of them are stored at once


def _read_memos(call: CallTool) -> Iterator[StoredRecord]:
    after: str | None = ""
    while after is not None:
        page = call("memory", "export", {"trash": True, "after": after})
        for memo in page["memos"]:
            revision = memo.pop("version")
            yield StoredRecord(memo["memo_id"], memo, revision)
        after = page.get("next")


def _read_relations(call: CallTool) -> Iterator[StoredRecord]:
    after: list[str] | None = ["", "", "", ""]
    while after is not None:
        page = call("memory", "export.relations", {"trash": True, "after": after})
        for relation in page["relations"]:
            del relation["target_title"]
            revision = relation.pop("version")
            yield StoredRecord(name_relation(relation), relation, revision)
        after = page.get("next")


def name_relation(relation: Body) -> str:
    return json.dumps([relation[name] for name in ("source", "target", "tag", "namespace")], ensure_ascii=False)


def _write_memos(call: CallTool, changes: Sequence[RecordChange], options: Mapping[str, bool]) -> list[ChangeOutcome]:
    memos = [
        {"memo": {**(each.body or {}), "version": each.expected + 1}, "expected": each.expected} for each in changes
    ]
    told = call("memory", "sync", {"memos": memos, "relations": [], **options})
    return [ChangeOutcome(**each) for each in told["memos"]]


def _write_relations(
    call: CallTool, changes: Sequence[RecordChange], options: Mapping[str, bool]
) -> list[ChangeOutcome]:
    relations: list[dict[str, Any]] = []
    for each in changes:
        body = each.body if each.body is not None else each.before
        relation = {**(body or {}), "version": each.expected + 1}
        relations.append({"relation": relation, "expected": each.expected, "deleted": each.body is None})
    told = call("memory", "sync", {"memos": [], "relations": relations, **options})
    return [ChangeOutcome(**each) for each in told["relations"]]


def _keep_memo(name: str, lost: Body, kept: Body, digest: str) -> list[tuple[str, str, Body]]:
    """A second memo with the other side's text, and a relation that leads from it to the first one."""
    copy_id = str(uuid.uuid5(COPIES, f"{name}\n{digest}"))
    memo: dict[str, Any] = {**lost, "memo_id": copy_id, "namespace": kept["namespace"], "supersedes": []}
    memo["metadata"] = {**lost["metadata"], _CONFLICT_KEY: name}
    times = {"created_at": lost["updated_at"], "updated_at": lost["updated_at"]}
    relation = {"namespace": kept["namespace"], "source": copy_id, "target": name, "tag": CONFLICT_TAG, "weight": 1.0}
    relation |= {"reason": "", **times}
    return [("memo", copy_id, memo), ("relation", name_relation(relation), relation)]


def _find_original(body: Body) -> str | None:
    metadata = body.get("metadata")
    return metadata.get(_CONFLICT_KEY) if isinstance(metadata, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


def _list_ends(name: str) -> list[tuple[str, str]]:
    source, target, *_ = json.loads(name)
    return [("memo", source), ("memo", target)]


MEMO = RecordKind(
    "memo",
    "memory",
    FieldRules(
        plain=("namespace", "title", "thread", "expires_at", "date", "valid_from", "valid_until"),
        texts=("content",),
        maps=("metadata",),
        lists={"supersedes": ()},
        later=frozenset({"date", "valid_from", "valid_until", "supersedes"}),
    ),
    _read_memos,
    _write_memos,
    _keep_memo,
    find_original=_find_original,
)
RELATION = RecordKind(
    "relation",
    "memory",
    FieldRules(plain=("weight", "reason")),
    _read_relations,
    _write_relations,
    needs=_list_ends,
    has_trash=False,
)

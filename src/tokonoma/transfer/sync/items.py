"""Items as records of a sync. Their numbers may differ from home to home: links lead to the uid of an item."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tokonoma.transfer.sync.kinds import COPIES, CallTool, ChangeOutcome, RecordChange, RecordKind, StoredRecord
from tokonoma.transfer.sync.merge import Body, FieldRules

CONFLICT_TAG = "sync-conflict"
_BATCH = 100

Link = dict[str, str]


def _read_items(call: CallTool) -> Iterator[StoredRecord]:
    after: int | None = 0
    while after is not None:
        page = call("items", "export", {"after": after, "classes": True})
        for item in page["items"]:
            yield _to_record(item)
        after = page.get("next")


def _to_record(item: dict[str, Any]) -> StoredRecord:
    body = {name: value for name, value in item.items() if name not in ("revision", "edited", "foreign")}
    body["links"] = [_to_link(link) for link in item["links"]]
    return StoredRecord(item["uid"], body, item["revision"])


def _to_link(link: Link) -> Link:
    """The number in its address is another one in another home."""
    named = "uid" if link.get("uid") else "to"
    return {named: link[named], "kind": link.get("kind", "related")}


def _write_items(call: CallTool, changes: Sequence[RecordChange], options: Mapping[str, bool]) -> list[ChangeOutcome]:
    outcomes: list[ChangeOutcome] = []
    for part in _split(changes):
        items = [{"item": _to_portable(each.body or {}), "expected": each.expected} for each in part]
        outcomes += [ChangeOutcome(**each) for each in call("items", "sync", {"items": items, **options})]
    if options.get("dry_run"):
        return outcomes
    written = [each for each, outcome in zip(changes, outcomes, strict=True) if outcome.outcome == "written"]
    stored: dict[str, StoredRecord] = {}
    lost: dict[str, str] = {}
    for part in _split(written):
        told = call("items", "sync.links", {"items": [_compare_links(each) for each in part]})
        stored |= {item["uid"]: _to_record(item) for item in told["items"]}
        lost |= {each["uid"]: each["why"] for each in told["lost"]}
    return [_complete(each, outcome, stored, lost) for each, outcome in zip(changes, outcomes, strict=True)]


def _complete(
    change: RecordChange, outcome: ChangeOutcome, stored: Mapping[str, StoredRecord], lost: Mapping[str, str]
) -> ChangeOutcome:
    """A link that could not be stored stays with the home that has it: what is noted here is what is stored here."""
    if outcome.outcome != "written" or change.name not in stored:
        return outcome
    now = stored[change.name]
    return ChangeOutcome("written", now.revision, lost.get(change.name, ""), now.body)


def _to_portable(body: Body) -> dict[str, Any]:
    comments = sorted(body["comments"], key=lambda each: each["at"])
    return {**body, "comments": comments, "links": []}


def _compare_links(change: RecordChange) -> dict[str, Any]:
    after, before = (list(body["links"]) if body else [] for body in (change.body, change.before))
    add, remove = [each for each in after if each not in before], [each for each in before if each not in after]
    return {"uid": change.name, "add": list(map(_to_address, add)), "remove": list(map(_to_address, remove))}


def _to_address(link: Link) -> Link:
    return {"to": link.get("uid", ""), **link}


def _split(changes: Sequence[RecordChange]) -> Iterator[Sequence[RecordChange]]:
    return (changes[start : start + _BATCH] for start in range(0, len(changes), _BATCH))


def _keep_item(name: str, lost: Body, kept: Body, digest: str) -> list[tuple[str, str, Body]]:
    """A second item with the other side's text, linked to the first one. It gets a number of its own."""
    uid = str(uuid.uuid5(COPIES, f"{name}\n{digest}"))
    copy: dict[str, Any] = {**lost, "uid": uid, "id": 0, "aliases": [], "namespace": kept["namespace"]}
    copy |= {"links": [{"uid": name, "kind": "related"}], "tags": [*lost["tags"], CONFLICT_TAG]}
    return [("item", uid, copy)]


def _find_original(body: Body) -> str | None:
    links: list[Link] = body.get("links") or []
    return next((link["uid"] for link in links if "uid" in link), None) if CONFLICT_TAG in body["tags"] else None


ITEM = RecordKind(
    "item",
    "items",
    FieldRules(
        plain=("type", "title", "status", "priority", "category", "start_at", "end_at", "version", "assignee"),
        texts=("description", "content"),
        lists={"tags": (), "comments": (), "links": (), "aliases": ()},
    ),
    _read_items,
    _write_items,
    _keep_item,
    find_original=_find_original,
    together=True,
)

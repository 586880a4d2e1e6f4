"""Claims as records of a sync. What a claim says never changes: sources and relations are added, its rank is judged."""

from collections.abc import Iterator, Mapping, Sequence

from tokonoma.core.clock import parse_time
from tokonoma.transfer.sync.kinds import CallTool, ChangeOutcome, RecordChange, RecordKind, StoredRecord
from tokonoma.transfer.sync.merge import FieldRules

_BATCH = 100
_NOT_CARRIED = ("version", "superseded_by")


def _read_claims(call: CallTool) -> Iterator[StoredRecord]:
    after: str | None = ""
    while after is not None:
        page = call("claims", "sync.read", {"after": after})
        for each in page["claims"]:
            claim = each["claim"]
            body = {name: value for name, value in claim.items() if name not in _NOT_CARRIED}
            body |= {"successor": each["successor"], "updated_at": parse_time(claim["updated_at"])}
            yield StoredRecord(each["key"], {**body, "changed_at": claim["updated_at"]}, claim["version"])
        after = page.get("next")


def _write_claims(call: CallTool, changes: Sequence[RecordChange], options: Mapping[str, bool]) -> list[ChangeOutcome]:
    outcomes: list[ChangeOutcome] = []
    for start in range(0, len(changes), _BATCH):
        claims = [_to_synced(each) for each in changes[start : start + _BATCH]]
        told = call("claims", "sync", {"claims": claims, "dry_run": bool(options.get("dry_run"))})
        outcomes += [ChangeOutcome(**each) for each in told]
    if options.get("dry_run"):
        return outcomes
    linked = [
        number
        for number, (each, outcome) in enumerate(zip(changes, outcomes, strict=True))
        if each.body is not None and outcome.outcome == "written"
    ]
    for start in range(0, len(linked), _BATCH):
        part = linked[start : start + _BATCH]
        bodies = [(changes[number].name, changes[number].body or {}) for number in part]
        links = [{"key": name, "relations": body["relations"], "successor": body["successor"]} for name, body in bodies]
        for number, told in zip(part, call("claims", "sync.links", {"claims": links}), strict=True):
            outcomes[number] = ChangeOutcome(**told)
    return outcomes


def _to_synced(change: RecordChange) -> dict[str, object]:
    synced: dict[str, object] = {"key": change.name, "expected": change.expected, "claim": None}
    if change.body is not None:
        body = {name: value for name, value in change.body.items() if name not in ("successor", "changed_at")}
        synced["claim"] = {**body, "updated_at": change.body["changed_at"], "version": change.expected + 1}
    return synced


CLAIM = RecordKind(
    "claim",
    "claims",
    FieldRules(
        judged=("utility", "confidence", "anchor_at", "successor"),
        lists={"evidences": ("source_type", "source_id"), "entities": ("id",), "relations": ("id",)},
    ),
    _read_claims,
    _write_claims,
    has_trash=False,
    together=True,
)

"""What the server asks of the module (read, index, reclassify, purge), and the rows that all its tools use."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import TypedDict

from tokonoma.core import desk as api
from tokonoma.core.call import Principal
from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Classification, Desk, Document, Record, Rows, Statements, Tx, parse_address
from tokonoma.core.errors import Conflict, Missing
from tokonoma.modules.claims.model import MODULE_NAME, Claim, EvidenceResponse, to_document, to_record
from tokonoma.modules.claims.ranking import describe_doubts
from tokonoma.modules.claims.tables import ALIVE, COLUMNS

_PURGE_BATCH = 500  # claims per transaction: other writers wait for it
_DAY = 86_400_000
_PURGEABLE = "(forgotten_at <= :before or (forgotten_at is null and expires_at <= :before)) and {visible}"
_INDEXED = f"{ALIVE} and superseded_by is null"
_CHANGEABLE = ("utility", "confidence", "anchor_at", "updated_at", "superseded_by", "revision")


class ClaimPurge(TypedDict):
    forgotten: int
    expired: int


def read(rows: Rows, address: str) -> Record | None:
    """Any claim that is alive, by its address. The desk checks whether the caller may see it."""
    claim = _read_claim(rows, address)
    return claim and to_record(claim)


def read_document(rows: Rows, address: str) -> Document | None:
    claim = _read_claim(rows, address)
    return claim and to_document(claim)


def _read_claim(rows: Rows, address: str) -> Claim | None:
    row = rows.row(f"select {COLUMNS} from claim where id = :id and {ALIVE}", id=parse_address(address)[1], now=now())  # noqa: S608
    return Claim(*row) if row else None


def list_documents(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: the claims that are alive and not superseded, in order of address."""
    return _list_documents(rows, _INDEXED, after, limit, now=now())


def count_documents(rows: Rows) -> int:
    return rows.rows(f"select count(*) from claim where {_INDEXED}", now=now())[0][0]  # noqa: S608 - our own


def list_unindexed(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """The claims that the index does not hold: those that are superseded."""
    return _list_documents(rows, "superseded_by is not null and forgotten_at is null", after, limit)


def _list_documents(rows: Rows, condition: str, after: str | None, limit: int, **params: Any) -> list[Document]:
    page = rows.rows(
        f"select {COLUMNS} from claim where {condition} and id > :after order by id limit :most",  # noqa: S608
        after=parse_address(after)[1] if after else "",
        most=limit,
        **params,
    )
    return [to_document(Claim(*row)) for row in page]


def reclassify(statements: Statements, labels: Mapping[str, Classification]) -> None:
    """Address → class. What belongs to a claim gets the same class."""
    rows = [{"id": parse_address(address)[1], "label": label} for address, label in labels.items()]
    statements.run_many("update claim set label = :label where id = :id", rows)
    for table in ("claim_evidence", "claim_entity", "claim_relation", "claim_event"):
        statements.run_many(f"update {table} set label = :label where claim = :id", rows)  # noqa: S608 - our own names


def require_claim(rows: Rows, claim_id: str, expected: int | None = None, *, lock: bool = False) -> Claim:
    """The claim with this id, if it is alive and visible to the caller, else Missing; Conflict if it has another
    version than expected."""
    row = rows.row(
        f"select {COLUMNS} from claim where id = :id and {ALIVE} and {{visible}} {'{for_update}' if lock else ''}",  # noqa: S608
        id=claim_id,
        now=now(),
    )
    if row is None:
        raise unknown_claim(claim_id)
    claim = Claim(*row)
    if expected is not None and expected != claim.revision:
        raise Conflict(
            f"The claim is at version {claim.revision}, not {expected}. Read it, then try again. Nothing was changed.",
            reason="version",
            claim_id=claim.id,
            current_version=claim.revision,
        )
    return claim


def unknown_claim(claim_id: str) -> Missing:
    return Missing(f"There is no claim {claim_id!r} here. Search again.", claim_id=claim_id)


def save_claim(tx: Tx, claim: Claim, at: int, *, stated: bool = False) -> Claim:
    """Store a changed claim under its next revision, also in the index. `stated`: its caller says it, and does not only
    judge it."""
    changed = replace(claim, updated_at=max(at, claim.updated_at), revision=claim.revision + 1)
    tx.run(
        """update claim set utility = :utility, confidence = :confidence, anchor_at = :anchor_at,
        updated_at = :updated_at, superseded_by = :superseded_by, revision = :revision where id = :id and {visible}""",
        **{name: getattr(changed, name) for name in _CHANGEABLE},
        id=changed.id,
    )
    if changed.superseded_by is None:
        tx.put(to_document(changed), same_text=not stated)
    else:
        tx.drop(changed.address)  # it stays stored, but is no longer recalled
    return changed


def add_event(
    tx: Tx, claim: Claim, what: str, who: Principal, label: Classification | None = None, **details: Any
) -> None:
    """Record what happened, at the revision that the claim has now. `details` must not hold text of a user."""
    tx.run(
        """insert into claim_event (claim, revision, space, label, at, what, by, details)
        values (:claim, :revision, :space, :label, :at, :what, :by, :details)""",
        claim=claim.id,
        revision=claim.revision,
        space=claim.namespace,
        label=label or claim.classification,
        at=now(),
        what=what,
        by=who.name,
        details=json.dumps(details),
    )


def load_claims(desk: Desk, ids: Sequence[str], at: int) -> list[Claim]:
    """Those that are alive and visible to the caller."""
    listed, params = bind_list(ids)
    sql = f"select {COLUMNS} from claim where id in ({listed}) and {ALIVE} and {{visible}}"  # noqa: S608 - parameters
    return [Claim(*row) for row in desk.rows(sql, now=at, **params)] if ids else []


def load_evidence(desk: Desk, ids: Sequence[str]) -> dict[str, list[EvidenceResponse]]:
    """By claim id, oldest first."""
    if not ids:
        return {}
    listed, params = bind_list(ids)
    rows = desk.rows(
        f"""select claim, id, source_type, source_id, at, snippet from claim_evidence
        where claim in ({listed}) and {{visible}} order by claim, at, id""",  # noqa: S608 - parameters
        **params,
    )
    evidence: dict[str, list[EvidenceResponse]] = {}
    for claim_id, evidence_id, source_type, source_id, at, snippet in rows:
        one = EvidenceResponse(id=evidence_id, source_type=source_type, source_id=source_id, at=format_time(at))
        if snippet:
            one["snippet"] = snippet
        evidence.setdefault(claim_id, []).append(one)
    return evidence


def load_warnings(desk: Desk, ids: Sequence[str]) -> dict[str, str]:
    """By claim id: what to say of a claim that was often called harmful or outdated."""
    if not ids:
        return {}
    listed, params = bind_list(ids)
    rows = desk.rows(
        f"""select c.id, f.signal, sum(f.score) from claim_feedback f join claim c on c.id = f.claim
        where c.id in ({listed}) and {{visible:c}} group by c.id, f.signal""",  # noqa: S608 - parameters
        **params,
    )
    given: dict[str, dict[str, float]] = {}
    for claim_id, signal, score in rows:
        given.setdefault(claim_id, {})[signal] = score
    return {claim_id: text for claim_id, scores in given.items() if (text := describe_doubts(scores))}


def count_feedback(desk: Desk, claim_id: str) -> dict[str, int]:
    """By signal: how often it was given."""
    rows = desk.rows(
        """select f.signal, count(*) from claim_feedback f join claim c on c.id = f.claim
        where c.id = :id and {visible:c} group by f.signal order by f.signal""",
        id=claim_id,
    )
    counts: dict[str, int] = dict(rows)
    return counts


def bind_list(values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The SQL of a list of parameters, and their values."""
    params = {f"id{number}": each for number, each in enumerate(values)}
    return ", ".join(f":{name}" for name in params), params


def purge(desk: Desk, days: int, dry_run: bool = False) -> ClaimPurge:
    """Delete a batch of the claims that were forgotten or had expired so many days ago, with their sources, entities,
    relations and events. With `dry_run` only count all of them."""
    before = desk.now() - days * _DAY
    if dry_run:
        counting = f"select count(forgotten_at), count(*) - count(forgotten_at) from claim where {_PURGEABLE}"  # noqa: S608
        ((forgotten, expired),) = desk.rows(counting, before=before)
        return {"forgotten": forgotten, "expired": expired}
    with desk.write() as tx:
        found = tx.rows(
            f"select id, forgotten_at from claim where {_PURGEABLE} order by id limit {_PURGE_BATCH} {{for_update}}",  # noqa: S608
            before=before,
        )
        for claim_id, _ in found:
            tx.drop(api.format_address(MODULE_NAME, claim_id))
            tx.run("delete from claim where id = :id and {visible}", id=claim_id)
    forgotten = sum(at is not None for _, at in found)
    return {"forgotten": forgotten, "expired": len(found) - forgotten}

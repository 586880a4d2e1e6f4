"""Claims as rows: found, changed, handed to the directory and the index."""

from collections.abc import Mapping
from dataclasses import replace

from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Document, Record, Rows, Statements, Tx, parse_address
from tokonoma.core.errors import Conflict, Missing
from tokonoma.modules.claims.claim import Claim, row_to_claim, to_document, to_record
from tokonoma.modules.claims.tables import ALIVE, COLUMNS


def require_claim(rows: Rows, claim_id: str, *, lock: bool = False) -> Claim:
    """The living claim with this id that the caller can see."""
    row = rows.row(
        f"select {COLUMNS} from claim where id = :id and {ALIVE} and {{visible}} {'{for_update}' if lock else ''}",  # noqa: S608
        id=claim_id,
        now=now(),
    )
    if row is None:
        raise unknown_claim(claim_id)
    return row_to_claim(row)


def save_claim(tx: Tx, claim: Claim, at: int) -> Claim:
    """What was changed of a claim, under its next revision, in the index too."""
    changed = replace(claim, updated_at=max(at, claim.updated_at), revision=claim.revision + 1)
    tx.run(
        """update claim set utility = :utility, confidence = :confidence, anchor_at = :anchor_at,
        updated_at = :updated_at, superseded_by = :superseded_by, revision = :revision where id = :id and {visible}""",
        utility=changed.utility,
        confidence=changed.confidence,
        anchor_at=changed.anchor_at,
        updated_at=changed.updated_at,
        superseded_by=changed.superseded_by,
        revision=changed.revision,
        id=changed.id,
    )
    if changed.superseded_by is None:
        tx.put(to_document(changed))
    else:
        tx.drop(changed.address)  # it is kept, and not recalled
    return changed


def check_version(claim: Claim, expected: int | None) -> None:
    if expected is not None and expected != claim.revision:
        raise Conflict(
            f"The claim is at version {claim.revision}, not {expected}. Read it, then try again. Nothing was changed.",
            reason="version",
            claim_id=claim.id,
            current_version=claim.revision,
        )


def read(rows: Rows, address: str) -> Record | None:
    """For the directory: any living claim by its address. The desk guards it."""
    row = rows.row(f"select {COLUMNS} from claim where id = :id and {ALIVE}", id=parse_address(address)[1], now=now())  # noqa: S608
    return to_record(row_to_claim(row)) if row else None


def list_documents(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """For a reindex: the living claims in order of address, a page at a time."""
    found_rows = rows.rows(
        f"""select {COLUMNS} from claim where {ALIVE} and superseded_by is null and id > :after
        order by id limit :most""",  # noqa: S608
        now=now(),
        after=parse_address(after)[1] if after else "",
        most=limit,
    )
    return [to_document(row_to_claim(row)) for row in found_rows]


def list_unindexed(rows: Rows, after: str | None, limit: int) -> list[Document]:
    """What the index does not hold: claims that a newer one shadows."""
    found_rows = rows.rows(
        f"""select {COLUMNS} from claim where superseded_by is not null and forgotten_at is null and id > :after
        order by id limit :most""",  # noqa: S608
        after=parse_address(after)[1] if after else "",
        most=limit,
    )
    return [to_document(row_to_claim(row)) for row in found_rows]


def reclassify(statements: Statements, labels: Mapping[str, Classification]) -> None:
    """Address → class; what belongs to a claim is at least as strict."""
    rows = [{"id": parse_address(address)[1], "label": label} for address, label in labels.items()]
    statements.run_many("update claim set label = :label where id = :id", rows)
    for table in ("claim_evidence", "claim_entity", "claim_relation", "claim_event"):
        statements.run_many(f"update {table} set label = :label where claim = :id", rows)  # noqa: S608 - our own names


def unknown_claim(claim_id: str) -> Missing:
    return Missing(f"There is no claim {claim_id!r} here. Search again.", claim_id=claim_id)

"""Where claims are known from."""

from collections.abc import Sequence

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk
from tokonoma.modules.claims.claim import EvidenceResponse


def load_evidence(desk: Desk, ids: Sequence[str]) -> dict[str, list[EvidenceResponse]]:
    """By claim, oldest first."""
    if not ids:
        return {}
    names = {f"id{number}": each for number, each in enumerate(ids)}
    rows = desk.rows(
        f"""select claim, id, source_type, source_id, snippet, at from claim_evidence
        where claim in ({", ".join(f":{name}" for name in names)}) and {{visible}} order by claim, at, id""",  # noqa: S608
        **names,
    )
    found: dict[str, list[EvidenceResponse]] = {}
    for claim, evidence_id, source_type, source_id, snippet, at in rows:
        one: EvidenceResponse = {
            "id": evidence_id,
            "source_type": source_type,
            "source_id": source_id,
            "at": format_time(at),
        }
        if snippet:
            one["snippet"] = snippet
        found.setdefault(claim, []).append(one)
    return found

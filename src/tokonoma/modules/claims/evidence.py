"""Where claims are known from."""

from collections.abc import Sequence

from tokonoma.core.clock import shown
from tokonoma.core.desk import Desk
from tokonoma.modules.claims.claim import Evidence


def evidence_of(desk: Desk, ids: Sequence[str]) -> dict[str, list[Evidence]]:
    """By claim, oldest first."""
    if not ids:
        return {}
    names = {f"id{number}": each for number, each in enumerate(ids)}
    rows = desk.rows(
        f"""select claim, id, source_type, source_id, snippet, at from claim_evidence
        where claim in ({", ".join(f":{name}" for name in names)}) and {{visible}} order by claim, at, id""",  # noqa: S608
        **names,
    )
    found: dict[str, list[Evidence]] = {}
    for claim, evidence_id, source_type, source_id, snippet, at in rows:
        one: Evidence = {"id": evidence_id, "source_type": source_type, "source_id": source_id, "at": shown(at)}
        if snippet:
            one["snippet"] = snippet
        found.setdefault(claim, []).append(one)
    return found

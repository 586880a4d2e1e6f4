"""pce.memory.feedback: whether a claim helped. It moves what the claim is worth, once per caller and ten minutes."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk
from tokonoma.core.opaque import Plain
from tokonoma.modules.claims.claim import ClaimId
from tokonoma.modules.claims.events import noted
from tokonoma.modules.claims.ranking import with_signal
from tokonoma.modules.claims.rows import found, stored

BUCKET = 600_000  # milliseconds


class Heard(TypedDict):
    ok: bool
    policy_version: Plain


def feedback(
    desk: Desk,
    claim_id: ClaimId,
    signal: Annotated[
        Literal["helpful", "harmful", "outdated", "duplicate"], Field(description="what the claim turned out to be")
    ],
    score: Annotated[float | None, Field(ge=-1, le=1, description="how much; default 1")] = None,
) -> Heard:
    """Say whether a claim helped. helpful raises it and makes it young again; harmful and outdated lower it."""
    at = now()
    with desk.write() as tx:
        claim = found(tx, claim_id, lock=True)
        new = tx.run(
            """insert into claim_feedback (claim, caller, signal, bucket) values (:claim, :caller, :signal, :bucket)
            on conflict (claim, caller, signal, bucket) do nothing""",
            claim=claim.id,
            caller=desk.principal.name,
            signal=signal,
            bucket=at // BUCKET,
        )
        if new:
            weight = 1.0 if score is None else score
            changed = stored(tx, with_signal(claim, signal, weight, at), at)
            noted(tx, changed, "feedback", desk.principal, signal=signal, score=weight)
    return {"ok": True, "policy_version": desk.boundary.version}

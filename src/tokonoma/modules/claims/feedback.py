"""pce.memory.feedback: whether a claim helped. It moves what the claim is worth, once per caller and ten minutes."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import now
from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.modules.claims.claim import ClaimId
from tokonoma.modules.claims.events import add_event
from tokonoma.modules.claims.ranking import apply_signal
from tokonoma.modules.claims.rows import require_claim, save_claim

BUCKET = 600_000  # milliseconds


class ClaimFeedbackResponse(TypedDict):
    ok: bool
    policy_version: Opaque


def feedback(
    desk: Desk,
    claim_id: ClaimId,
    signal: Annotated[
        Literal["helpful", "harmful", "outdated", "duplicate"], Field(description="what the claim turned out to be")
    ],
    score: Annotated[float | None, Field(ge=-1, le=1, description="how much; default 1")] = None,
) -> ClaimFeedbackResponse:
    """Say whether a claim helped. helpful raises it and makes it young again; harmful and outdated lower it."""
    at = now()
    with desk.write() as tx:
        claim = require_claim(tx, claim_id, lock=True)
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
            changed = save_claim(tx, apply_signal(claim, signal, weight, at), at)
            add_event(tx, changed, "feedback", desk.principal, signal=signal, score=weight)
    return {"ok": True, "policy_version": desk.policy.version}

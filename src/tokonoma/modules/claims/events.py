"""What happened to a claim, one entry a revision."""

import json
from typing import Any

from tokonoma.core.call import Principal
from tokonoma.core.clock import now
from tokonoma.core.desk import Classification, Tx
from tokonoma.modules.claims.claim import Claim


def add_event(
    tx: Tx, claim: Claim, what: str, who: Principal, label: Classification | None = None, **details: Any
) -> None:
    """The revision that the claim has now. `details` hold words of ours and numbers, no text of anybody's."""
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

"""pce.memory.upsert and .feedback: store a claim with its sources, and say whether it helped."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time, now, parse_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Invalid
from tokonoma.core.ids import Opaque, uuid7
from tokonoma.core.policy import Layer
from tokonoma.modules.claims import model
from tokonoma.modules.claims.hooks import add_event, require_claim, save_claim
from tokonoma.modules.claims.model import Claim, ClaimEntity, ClaimRelation
from tokonoma.modules.claims.parts import add_evidence, put_entities, put_relations
from tokonoma.modules.claims.ranking import apply_signal, compute_quality
from tokonoma.modules.claims.tables import ALIVE, COLUMNS

MAX_TEXT_BYTES = 60_000  # the whole call may have 64 KB
FEEDBACK_INTERVAL = 600_000  # milliseconds; a caller's signal counts once in it
_MAX_PARTS = 100
SAME_CONTENT = "hash = :hash and space = :space and scope = :scope and class = :class"


class ClaimUpsertResponse(TypedDict):
    id: Opaque
    policy_version: Opaque
    superseded_by: NotRequired[Opaque]


class ClaimFeedbackResponse(TypedDict):
    ok: bool
    policy_version: Opaque


def upsert(
    desk: Desk,
    text: Annotated[str, Field(min_length=1, description="one fact, preference, task or hint")],
    provenance: Annotated[model.Provenance, Field(description="its source; `at` is required except in scope session")],
    kind: model.Kind = "fact",
    scope: Annotated[model.Scope, Field(description="session expires; project and principle do not")] = "session",
    boundary_class: Annotated[
        model.BoundaryClass, Field(description="who may see it; personal data raises it")
    ] = "internal",
    entities: Annotated[list[ClaimEntity] | None, Field(max_length=_MAX_PARTS)] = None,
    relations: Annotated[list[ClaimRelation] | None, Field(max_length=_MAX_PARTS)] = None,
    content_hash: Annotated[str | None, Field(pattern=r"^sha256:[0-9a-f]{64}$", description="checked if given")] = None,
) -> ClaimUpsertResponse:
    """Store one fact or preference with its source. The same text in the same scope and class is the same claim: its
    id is returned, and the new source is added to its evidence. A claim that was superseded is recalled again if the
    source is new; else superseded_by names its successor. Secrets are refused; personal data makes its class
    stricter."""
    policy = desk.policy
    layer, declared = model.parse_scope(scope), model.parse_class(boundary_class)
    digest = check_text(text, content_hash)
    decision = policy.decide(policy.tags, declared, layer, "write")
    if decision.verdict == "deny":
        message = f"A claim of class {declared} cannot be stored in {layer}: {decision.reason}."
        raise Invalid(message, reason="boundary", field="boundary_class")
    complete = _complete_provenance(provenance, layer)
    at, ttl = desk.now(), policy.layer_rule(layer).ttl
    claim = Claim(
        id="clm_" + uuid7().replace("-", ""),
        namespace=desk.principal.default,
        classification=declared,
        declared=declared,
        scope=layer,
        kind=kind,
        text=text,
        hash=digest,
        provenance_json=json.dumps(complete),
        created_at=at,
        updated_at=at,
        anchor_at=min(parse_time(complete["at"]), at),
        expires_at=at + ttl if layer == "session" and ttl is not None else None,
        quality=compute_quality(complete),
    )
    with desk.write() as tx:
        stored = _store_claim(desk, tx, claim, entities or (), relations or ())
    response: ClaimUpsertResponse = {"id": stored.id, "policy_version": policy.version}
    if stored.superseded_by is not None:
        response["superseded_by"] = stored.superseded_by
    return response


def feedback(
    desk: Desk,
    claim_id: model.ClaimId,
    signal: Annotated[
        Literal["helpful", "harmful", "outdated", "duplicate"], Field(description="your experience with the claim")
    ],
    score: Annotated[float | None, Field(ge=-1, le=1, description="weight; default 1")] = None,
) -> ClaimFeedbackResponse:
    """Give feedback on a claim. helpful raises its rank and takes a quarter of its age; harmful and outdated lower its
    rank, and after several of them the claim is returned with a warning."""
    at, weight = desk.now(), 1.0 if score is None else score
    with desk.write() as tx:
        claim = require_claim(tx, claim_id, lock=True)
        counts = tx.run(
            """insert into claim_feedback (claim, caller, signal, bucket, score)
            values (:claim, :caller, :signal, :bucket, :score)
            on conflict (claim, caller, signal, bucket) do nothing""",
            claim=claim.id,
            caller=desk.principal.name,
            signal=signal,
            bucket=at // FEEDBACK_INTERVAL,
            score=weight,
        )
        if counts:
            changed = save_claim(tx, apply_signal(claim, signal, weight, at), at)
            add_event(tx, changed, "feedback", desk.principal, signal=signal, score=weight)
    return {"ok": True, "policy_version": desk.policy.version}


def check_text(text: str, given_hash: str | None) -> str:
    """The hash of the text."""
    if not text.strip():
        raise Invalid("text is empty.", field="text")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        message = f"text has more than {MAX_TEXT_BYTES} bytes. Shorten it, or split it into several claims."
        raise Invalid(message, field="text", limit=MAX_TEXT_BYTES)
    digest = model.compute_hash(text)
    if given_hash is not None and given_hash != digest:
        raise Invalid(
            "content_hash does not match text in its normal form (NFC, LF, trimmed, runs of white space as one).",
            field="content_hash",
            expected=digest,
        )
    return digest


def _complete_provenance(given: model.Provenance, layer: Layer) -> dict[str, Any]:
    """With its time, which defaults to now in a session."""
    at = given.get("at")
    if at is None:
        if layer != "session":
            raise Invalid(f"provenance.at is required in {layer}: when this was known.", field="provenance.at")
        return {"at": format_time(now()), **given}
    try:
        return {**given, "at": format_time(parse_time(at))}
    except (ValueError, OverflowError):
        raise Invalid("provenance.at must be a time such as 2027-01-31T09:00:00Z.", field="provenance.at") from None


def _store_claim(
    desk: Desk, tx: Tx, new: Claim, entities: Sequence[ClaimEntity], relations: Sequence[ClaimRelation]
) -> Claim:
    """Insert the claim, or add its sources to the one with the same content; returns the stored one."""
    claim = _find_same(tx, new)
    if claim is None:
        inserted_id = insert_claim(tx, new)
        if inserted_id == new.id:
            claim = replace(new, classification=tx.put(model.to_document(new)))
            add_event(tx, claim, "made", desk.principal)
        else:  # another caller has stored it a moment ago
            claim = _find_same(tx, new)
            if claim is None:
                return replace(new, id=inserted_id)  # it is not visible to this caller: nothing of it is changed
    texts = (json.dumps(each, ensure_ascii=False) for each in (new.provenance, *entities, *relations))
    strict = tx.classify(claim.classification, claim.namespace, *texts)
    place = {"claim": claim.id, "space": claim.namespace, "label": strict}
    is_news = add_evidence(tx, place, new.provenance)
    put_entities(tx, place, entities)
    put_relations(tx, place, relations, entities)
    return claim if claim.id == new.id else _restate_claim(desk, tx, claim, new, is_news)


def _find_same(tx: Tx, new: Claim) -> Claim | None:
    """The claim with the same content, locked; None if there is none that the caller can see."""
    row = tx.row(
        f"select {COLUMNS} from claim where {SAME_CONTENT} and {ALIVE} and {{visible}} {{for_update}}",  # noqa: S608
        **content_key(new),
        now=new.created_at,
    )
    return Claim(*row) if row else None


def _restate_claim(desk: Desk, tx: Tx, claim: Claim, new: Claim, is_news: bool) -> Claim:
    """A claim that was stated again: a session claim lives longer. If the source is new, the claim counts from the time
    of that source, and is recalled again if it was superseded."""
    stated = replace(claim, expires_at=new.expires_at)
    if is_news:
        stated = replace(stated, anchor_at=max(claim.anchor_at, new.anchor_at), superseded_by=None)
    if stated == claim:
        return claim
    tx.run(
        "update claim set expires_at = :expires, anchor_at = :anchor where id = :id and {visible}",
        expires=stated.expires_at,
        anchor=stated.anchor_at,
        id=claim.id,
    )
    if claim.superseded_by is not None and stated.superseded_by is None:
        stated = save_claim(tx, stated, desk.now(), stated=True)
        add_event(tx, stated, "restored", desk.principal, after=claim.superseded_by)
    elif stated.superseded_by is None and stated.expires_at != claim.expires_at:
        tx.put(model.to_document(stated))
    return stated


def content_key(claim: Claim) -> dict[str, str]:
    return {"hash": claim.hash, "space": claim.namespace, "scope": claim.scope, "class": claim.declared}


def insert_claim(tx: Tx, claim: Claim) -> str:
    """Its id, or that of the claim with the same content that exists already."""
    # A claim that has expired does not prevent that it is stated anew.
    tx.run(
        f"""update claim set forgotten_at = :at where {SAME_CONTENT} and forgotten_at is null
        and expires_at <= :at and {{visible}}""",  # noqa: S608 - our own text
        at=claim.created_at,
        **content_key(claim),
    )
    values = dict(zip(COLUMNS.split(", "), asdict(claim).values(), strict=True))
    ((claim_id,),) = tx.rows(
        f"""insert into claim ({COLUMNS}) values ({", ".join(f":{name}" for name in values)})
        on conflict (hash, space, scope, class) where forgotten_at is null do update set revision = claim.revision
        returning id""",  # noqa: S608
        **values,
    )
    return claim_id

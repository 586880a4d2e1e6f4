"""pce.memory.upsert and .feedback: store a claim with its sources, and say whether it helped."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time, now, parse_time
from tokonoma.core.desk import Desk, Tx
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque, uuid7
from tokonoma.core.policy import Layer
from tokonoma.modules.claims import model
from tokonoma.modules.claims.hooks import add_event, require_claim, save_claim
from tokonoma.modules.claims.model import Claim, ClaimEntity, ClaimRelation
from tokonoma.modules.claims.ranking import apply_signal, compute_quality
from tokonoma.modules.claims.tables import ALIVE, COLUMNS

MAX_TEXT_BYTES = 60_000  # the whole call may have 64 KB
FEEDBACK_INTERVAL = 600_000  # milliseconds; a caller's signal counts once in it
_MAX_PARTS = 100
_SAME_CONTENT = "hash = :hash and space = :space and scope = :scope and class = :class"


class ClaimUpsertResponse(TypedDict):
    id: Opaque
    policy_version: Opaque


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
    """Store a claim. The same text in the same scope and class is the same claim: its id is returned, and the new
    source is added to its evidence. Secrets are refused; personal data makes its class stricter."""
    policy = desk.policy
    layer, declared = model.parse_scope(scope), model.parse_class(boundary_class)
    digest = _check_text(text, content_hash)
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
        anchor_at=at,
        expires_at=at + ttl if layer == "session" and ttl is not None else None,
        quality=compute_quality(complete),
    )
    with desk.write() as tx:
        claim_id = _store_claim(desk, tx, claim, entities or (), relations or ())
    return {"id": claim_id, "policy_version": policy.version}


def feedback(
    desk: Desk,
    claim_id: model.ClaimId,
    signal: Annotated[
        Literal["helpful", "harmful", "outdated", "duplicate"], Field(description="your experience with the claim")
    ],
    score: Annotated[float | None, Field(ge=-1, le=1, description="weight; default 1")] = None,
) -> ClaimFeedbackResponse:
    """Give feedback on a claim. helpful raises its rank and resets its age; harmful and outdated lower its rank."""
    at = desk.now()
    with desk.write() as tx:
        claim = require_claim(tx, claim_id, lock=True)
        counts = tx.run(
            """insert into claim_feedback (claim, caller, signal, bucket) values (:claim, :caller, :signal, :bucket)
            on conflict (claim, caller, signal, bucket) do nothing""",
            claim=claim.id,
            caller=desk.principal.name,
            signal=signal,
            bucket=at // FEEDBACK_INTERVAL,
        )
        if counts:
            weight = 1.0 if score is None else score
            changed = save_claim(tx, apply_signal(claim, signal, weight, at), at)
            add_event(tx, changed, "feedback", desk.principal, signal=signal, score=weight)
    return {"ok": True, "policy_version": desk.policy.version}


def _check_text(text: str, given_hash: str | None) -> str:
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
) -> str:
    """Insert the claim, or add its sources to the one with the same content; returns the id."""
    row = tx.row(
        f"select {COLUMNS} from claim where {_SAME_CONTENT} and {ALIVE} and {{visible}} {{for_update}}",  # noqa: S608
        **_content_key(new),
        now=new.created_at,
    )
    if row is None:
        claim, inserted_id = new, _insert_claim(tx, new)
        if inserted_id != new.id:
            return inserted_id  # it exists and is not visible to this caller: nothing of it is changed
        classification = tx.put(model.to_document(claim))
        add_event(tx, claim, "made", desk.principal, classification)
    else:
        claim = Claim(*row)
        classification, expires = claim.classification, new.expires_at
        if expires != claim.expires_at:  # stated again, a session claim lives longer
            tx.run("update claim set expires_at = :expires where id = :id and {visible}", expires=expires, id=claim.id)
        if claim.superseded_by is None:  # else it is not recalled
            tx.put(model.to_document(replace(claim, expires_at=expires)))  # who adds to it is its author now
    texts = (json.dumps(each, ensure_ascii=False) for each in (new.provenance, *entities, *relations))
    strict = tx.classify(classification, claim.namespace, *texts)
    place = {"claim": claim.id, "space": claim.namespace, "label": strict}
    _add_evidence(tx, place, new.provenance)
    for entity in entities:
        _put_part(tx, "claim_entity", ClaimEntity, "attrs", place, entity)
    for relation in relations:
        evidence = relation.get("evidence_claim_id", "")
        if evidence and tx.row("select 1 from claim where id = :id and {visible}", id=evidence) is None:
            message = f"There is no claim {evidence[:64]!r} that could be the evidence of a relation."
            raise Missing(message, field="evidence_claim_id")
        _put_part(tx, "claim_relation", ClaimRelation, "props", place, relation)
    return claim.id


def _content_key(claim: Claim) -> dict[str, str]:
    return {"hash": claim.hash, "space": claim.namespace, "scope": claim.scope, "class": claim.declared}


def _insert_claim(tx: Tx, claim: Claim) -> str:
    """Its id, or that of the claim with the same content that exists already."""
    # A claim that has expired does not prevent that it is stated anew.
    tx.run(
        f"""update claim set forgotten_at = :at where {_SAME_CONTENT} and forgotten_at is null
        and expires_at <= :at and {{visible}}""",  # noqa: S608 - our own text
        at=claim.created_at,
        **_content_key(claim),
    )
    values = dict(zip(COLUMNS.split(", "), asdict(claim).values(), strict=True))
    ((claim_id,),) = tx.rows(
        f"""insert into claim ({COLUMNS}) values ({", ".join(f":{name}" for name in values)})
        on conflict (hash, space, scope, class) where forgotten_at is null do update set revision = claim.revision
        returning id""",  # noqa: S608
        **values,
    )
    return claim_id


def _add_evidence(tx: Tx, place: Mapping[str, str], provenance: Mapping[str, Any]) -> None:
    """Each source once: a commit, a URL, or the actor."""
    git: Mapping[str, Any] = provenance.get("git") or {}
    sources = [("git", git["commit"] if "commit" in git else git.get("url", ""))] if git else []
    sources += [("url", provenance["url"])] if provenance.get("url") else []
    for source_type, source_id in sources or [("actor", str(provenance.get("actor") or "unknown"))]:
        tx.run(
            """insert into claim_evidence (claim, id, space, label, source_type, source_id, snippet, at)
            values (:claim, :id, :space, :label, :source_type, :source_id, :snippet, :at)
            on conflict (claim, source_type, source_id) do nothing""",
            id="evd_" + uuid7().replace("-", ""),
            **place,
            source_type=source_type,
            source_id=source_id,
            snippet=str(provenance.get("note") or "")[:500],
            at=parse_time(provenance["at"]),
        )


def _put_part(
    tx: Tx, table: str, members: type, json_column: str, place: Mapping[str, str], part: Mapping[str, Any]
) -> None:
    """Store an entity or a relation, or replace the claim's part with the same id."""
    values = {**place, **{name: part.get(name, "") for name in members.__annotations__}}
    values[json_column] = json.dumps(part.get(json_column, {}))
    changes = ", ".join(f"{name} = excluded.{name}" for name in values if name not in ("claim", "id", "space"))
    tx.run(
        f"""insert into {table} ({", ".join(values)}) values ({", ".join(f":{name}" for name in values)})
        on conflict (claim, id) do update set {changes}""",  # noqa: S608 - the names of our own types
        **values,
    )

"""claims.sync.read, claims.sync and claims.sync.links: claims that `tokonoma sync` merges with those of another home.

They stand in no catalogue. The same claim may have another id in another home: its key is what it says, where, in which
scope and class. Claims of a session are not exchanged. What was changed here since it was merged is merged again.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Rows, Tx
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import uuid7
from tokonoma.core.screen_import import ScreenedImport, screen_import
from tokonoma.modules.claims.hooks import bind_list
from tokonoma.modules.claims.manage import forget_claim
from tokonoma.modules.claims.model import Claim, ClaimRelation
from tokonoma.modules.claims.parts import load_parts, put_relations
from tokonoma.modules.claims.portable import PortableClaim, to_portable
from tokonoma.modules.claims.tables import ALIVE, COLUMNS
from tokonoma.modules.claims.transfer import build_claim, find_missing_parts, update_claim, write_claim, write_parts
from tokonoma.modules.claims.upsert import SAME_CONTENT

_PAGE = 200
_KEY = ("hash", "space", "scope", "class")


class KeyedClaim(TypedDict):
    key: str
    claim: PortableClaim
    successor: str  # the key of the claim that supersedes it; empty: none


class KeyedClaims(TypedDict):
    claims: list[KeyedClaim]
    next: NotRequired[str]


class SyncedClaim(TypedDict):
    key: str
    claim: NotRequired[PortableClaim | None]  # None: it was forgotten
    expected: int  # the version here that was merged; 0: there was none


class SyncedClaimLinks(TypedDict):
    key: str
    relations: list[ClaimRelation]
    successor: str


class ClaimSyncOutcome(TypedDict):
    """`moved`: it was changed here meanwhile. `skipped`: it cannot be stored."""

    outcome: str
    revision: NotRequired[int]
    why: NotRequired[str]


def read_for_sync(desk: Desk, after: str = "") -> KeyedClaims:
    """A page of the claims that homes exchange, by id."""
    sql = f"""select {COLUMNS} from claim where id > :after and scope <> 'session' and {ALIVE} and {{visible}}
    order by id limit {_PAGE}"""  # noqa: S608 - our own columns
    claims = [Claim(*row) for row in desk.rows(sql, after=after, now=desk.now())]
    successors = _read_keys(desk, [claim.superseded_by for claim in claims if claim.superseded_by])
    page: KeyedClaims = {
        "claims": [
            {"key": _build_key(claim), "claim": portable, "successor": successors.get(claim.superseded_by or "", "")}
            for claim, portable in zip(claims, to_portable(desk, desk, claims), strict=True)
        ]
    }
    if len(claims) == _PAGE:
        page["next"] = claims[-1].id
    return page


def sync_claims(desk: Desk, claims: list[SyncedClaim], dry_run: bool = False) -> list[ClaimSyncOutcome]:
    """Store merged claims without their relations; returns the outcome of each, in their order. With `dry_run` nothing
    is written. What the policy refuses is skipped: with another class it would be another claim."""
    if dry_run:
        return [_store_claim(desk, desk, each, None) for each in claims]
    with desk.write() as tx:
        return [_store_claim(tx, desk, each, tx) for each in claims]


def sync_links(desk: Desk, claims: list[SyncedClaimLinks]) -> list[ClaimSyncOutcome]:
    """Store relations and successors, after all claims: they may lead to any of them."""
    outcomes: list[ClaimSyncOutcome] = []
    with desk.write() as tx:
        for each in claims:
            claim = _find_claim(tx, desk, each["key"])
            if claim is None:
                outcomes.append({"outcome": "skipped", "why": "It is not here."})
                continue
            lost = _add_relations(tx, claim, each["relations"])
            successor = _find_claim(tx, desk, each["successor"]) if each["successor"] else None
            wanted = successor.id if successor is not None else None
            if claim.superseded_by != wanted:
                claim = update_claim(tx, claim, replace(claim, superseded_by=wanted))
            outcomes.append({"outcome": "written", "revision": claim.revision, "why": lost})
    return outcomes


def _store_claim(rows: Rows, desk: Desk, synced: SyncedClaim, tx: Tx | None) -> ClaimSyncOutcome:
    stored, given = _find_claim(rows, desk, synced["key"]), synced.get("claim")
    if synced["expected"] != (stored.revision if stored is not None else 0):
        return {"outcome": "moved"}
    if given is None:
        if tx is not None and stored is not None:
            forget_claim(tx, desk, stored)
        return {"outcome": "written", "revision": 0}
    screened = screen_import(desk.policy, given, ("claim_id",), seal=False)
    try:
        new = _build_checked(desk, screened)
    except Invalid as error:
        return {"outcome": "skipped", "why": error.message}
    portable = cast("PortableClaim", screened.fields)
    if stored is None:
        if tx is not None:
            write_claim(tx, _free_id(tx, replace(new, superseded_by=None, revision=1)), portable)
        return {"outcome": "written", "revision": 1}
    changed = replace(new, revision=stored.revision + 1, superseded_by=stored.superseded_by)
    if tx is not None:
        missing = find_missing_parts(to_portable(rows, desk, [stored])[0], portable, ("evidences", "entities"))
        write_parts(tx, update_claim(tx, stored, changed), missing)
    return {"outcome": "written", "revision": changed.revision}


def _build_checked(desk: Desk, screened: ScreenedImport) -> Claim:
    """The claim as it would be stored; Invalid says why it may not. A text that the policy here would change is not
    stored: the change would go back to the home that it came from."""
    if screened.refusal or screened.note:
        raise Invalid(screened.refusal or f"The policy here does not store it as it is. {screened.note}")
    new = build_claim(desk, cast("PortableClaim", screened.fields))
    decision = desk.policy.decide(desk.policy.tags, new.declared, new.scope, "write")
    if decision.verdict == "deny":
        raise Invalid(f"The policy does not let it be stored: {decision.reason}.")
    return new


def _free_id(tx: Tx, claim: Claim) -> Claim:
    """A claim that was forgotten here keeps its id."""
    taken = tx.row("select 1 from claim where id = :id and {visible}", id=claim.id) is not None
    return replace(claim, id="clm_" + uuid7().replace("-", "")) if taken else claim


def _add_relations(tx: Tx, claim: Claim, relations: Sequence[ClaimRelation]) -> str:
    """Add what is missing; returns why something could not be added."""
    stored = {part["id"] for part in load_parts(tx, "claim_relation", ClaimRelation, "props", claim.id)}
    lost = ""
    for relation in relations:
        if relation["id"] in stored:
            continue
        strict = tx.classify(claim.classification, claim.namespace, json.dumps(relation, ensure_ascii=False))
        try:
            put_relations(tx, {"claim": claim.id, "space": claim.namespace, "label": strict}, [relation], ())
        except (Invalid, Missing) as error:
            lost = error.message
    return lost


def _build_key(claim: Claim) -> str:
    return json.dumps([claim.hash, claim.namespace, claim.scope, claim.declared], ensure_ascii=False)


def _find_claim(rows: Rows, desk: Desk, key: str) -> Claim | None:
    """The living claim with this key, by which all homes know it."""
    params: dict[str, Any] = dict(zip(_KEY, json.loads(key), strict=True))
    sql = f"select {COLUMNS} from claim where {SAME_CONTENT} and {ALIVE} and {{visible}}"  # noqa: S608 - our own text
    row = rows.row(sql, **params, now=desk.now())
    return Claim(*row) if row else None


def _read_keys(desk: Desk, ids: Sequence[str]) -> dict[str, str]:
    if not ids:
        return {}
    listed, params = bind_list(ids)
    sql = f"select {COLUMNS} from claim where id in ({listed}) and forgotten_at is null and {{visible}}"  # noqa: S608
    return {claim.id: _build_key(claim) for claim in (Claim(*row) for row in desk.rows(sql, **params))}

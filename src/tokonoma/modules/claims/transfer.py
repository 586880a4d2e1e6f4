"""claims.export, claims.import and claims.import.links: whole claims, for the owner's commands `tokonoma claims …`.

They stand in no catalogue: an agent must not choose ids, set clocks back or write feedback of others. An import never
discards what is stored here. It adds the parts that are missing, and the newer version of a claim wins.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from tokonoma.core.clock import format_time, parse_time
from tokonoma.core.desk import Classification, Desk, Rows, Tx
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.namespaces import resolve_namespace
from tokonoma.core.screen_import import ScreenedImport, screen_import
from tokonoma.modules.claims import model
from tokonoma.modules.claims.hooks import add_event, save_claim
from tokonoma.modules.claims.model import Claim, ClaimEntity, ClaimRelation
from tokonoma.modules.claims.parts import load_parts, put_entities, put_relations
from tokonoma.modules.claims.portable import LISTS, Part, PortableClaim, to_portable
from tokonoma.modules.claims.tables import ALIVE, COLUMNS
from tokonoma.modules.claims.upsert import SAME_CONTENT, check_text, content_key, insert_claim

_PAGE = 200
_FIELDS = ("utility", "confidence", "anchor_at", "updated_at", "expires_at", "superseded_by", "revision", "quality")


class ClaimLinks(TypedDict):
    claim_id: str
    relations: list[ClaimRelation]


class ClaimExportPage(TypedDict):
    claims: list[PortableClaim]
    next: NotRequired[str]


class ClaimImportOutcome(TypedDict):
    outcome: Literal["saved", "changed", "unchanged", "kept", "skipped"]
    why: NotRequired[str]
    claim_id: NotRequired[str]  # under which it is stored


class ClaimLinksOutcome(TypedDict):
    saved: int
    unchanged: int
    lost: list[dict[str, str]]


def export_claims(desk: Desk, after: str = "") -> ClaimExportPage:
    """Export the claims that are neither forgotten nor expired, by id."""
    rows = desk.rows(
        f"select {COLUMNS} from claim where id > :after and {ALIVE} and {{visible}} order by id limit {_PAGE}",  # noqa: S608
        after=after,
        now=desk.now(),
    )
    claims = [Claim(*row) for row in rows]
    page: ClaimExportPage = {"claims": to_portable(desk, desk, claims)}
    if len(claims) == _PAGE:
        page["next"] = claims[-1].id
    return page


def import_claims(
    desk: Desk, claims: list[PortableClaim], dry_run: bool = False, seal: bool = False
) -> list[ClaimImportOutcome]:
    """Import claims with their own ids, times and versions, but without relations. With `dry_run` write nothing. What
    the policy refuses is skipped or, with `seal`, stored with the class secret."""
    screened = [screen_import(desk.policy, each, ("claim_id",), seal=seal) for each in claims]
    if dry_run:
        return [_import_claim(desk, desk, each) for each in screened]
    with desk.write() as tx:
        return [_import_claim(tx, desk, each, tx) for each in screened]


def import_links(desk: Desk, claims: list[ClaimLinks]) -> ClaimLinksOutcome:
    """Import relations, after all claims: their ends may be in any of them. A claim whose successor did not come is
    recalled again."""
    outcome: ClaimLinksOutcome = {"saved": 0, "unchanged": 0, "lost": []}
    with desk.write() as tx:
        for given in claims:
            claim = _load_claim(tx, given["claim_id"])
            if claim is None:
                continue
            if claim.superseded_by is not None and _load_claim(tx, claim.superseded_by) is None:
                why = f"Its successor {claim.superseded_by} is not here, so it is recalled again."
                outcome["lost"].append({"claim_id": claim.id, "why": why})
                restored = save_claim(tx, replace(claim, superseded_by=None), desk.now())
                add_event(tx, restored, "restored", desk.principal, after=claim.superseded_by)
            _import_relations(tx, claim, given["relations"], outcome)
    return outcome


def _import_relations(tx: Tx, claim: Claim, relations: Sequence[ClaimRelation], outcome: ClaimLinksOutcome) -> None:
    stored = {part["id"] for part in load_parts(tx, "claim_relation", ClaimRelation, "props", claim.id)}
    for relation in relations:
        if relation["id"] in stored:
            outcome["unchanged"] += 1
            continue
        strict = tx.classify(claim.classification, claim.namespace, json.dumps(relation, ensure_ascii=False))
        try:
            put_relations(tx, {"claim": claim.id, "space": claim.namespace, "label": strict}, [relation], ())
            outcome["saved"] += 1
        except (Invalid, Missing) as error:
            outcome["lost"].append({"claim_id": claim.id, "why": error.message})


def _import_claim(rows: Rows, desk: Desk, screened: ScreenedImport, tx: Tx | None = None) -> ClaimImportOutcome:
    """What becomes of it. Written as well if there is a transaction."""
    if screened.refusal:
        return {"outcome": "skipped", "why": screened.refusal}
    given = cast("PortableClaim", screened.fields)
    try:
        new = build_claim(desk, given)
        new = replace(new, declared="secret", classification="secret") if screened.sealed else new
    except Invalid as error:
        return {"outcome": "skipped", "why": error.message}
    decision = desk.policy.decide(desk.policy.tags, new.declared, new.scope, "write")
    if decision.verdict == "deny":
        return {"outcome": "skipped", "why": f"The policy does not let it be stored: {decision.reason}."}
    stored = _load_claim(rows, new.id) or _find_same_content(rows, new, desk.now())
    if stored is None:
        if tx is not None:
            write_claim(tx, new, given)
        outcome: ClaimImportOutcome = {"outcome": "saved", "claim_id": new.id}
        if screened.note:
            outcome["why"] = screened.note
        return outcome
    if stored.forgotten_at is not None:
        return {"outcome": "kept", "why": "It was forgotten here."}
    return _merge_claim(rows, desk, stored, new, given, tx)


def build_claim(desk: Desk, given: PortableClaim) -> Claim:
    """The claim as it would be stored; Invalid says what is wrong with it."""
    digest, expires = check_text(given["text"], None), given.get("expires_at")
    try:
        created, updated, anchor = (parse_time(given[name]) for name in ("created_at", "updated_at", "anchor_at"))
        source = {**given["provenance"], "at": format_time(parse_time(given["provenance"].get("at", "")))}
        expires_at = parse_time(expires) if expires else None
        for part in (*given["evidences"], *given["events"]):
            parse_time(part["at"])
    except (ValueError, OverflowError, KeyError, TypeError):
        raise Invalid("One of its times is missing, or is not a time such as 2027-01-31T09:00:00Z.") from None
    return Claim(
        given["claim_id"],
        resolve_namespace(given["namespace"], desk.principal),
        given["boundary_class"], given["boundary_class"], given["scope"], given["kind"], given["text"], digest,
        json.dumps(source), created, updated, anchor, expires_at, given["utility"], given["confidence"],
        given["quality"], given.get("superseded_by"), None, given["version"],
    )  # fmt: skip


def write_claim(tx: Tx, new: Claim, given: PortableClaim) -> Classification:
    """Insert it with all parts but its relations; returns its classification by the policy in force here."""
    insert_claim(tx, new)
    if new.superseded_by is None:
        label = tx.put(model.to_document(new))
    else:  # it is stored, but not in the index
        label = tx.classify(new.declared, new.namespace, new.text)
        tx.run("update claim set label = :label where id = :id and {visible}", label=label, id=new.id)
    parts: dict[str, Sequence[Part]] = {name: given[name] for name in (*LISTS, "entities")}
    write_parts(tx, replace(new, classification=label), parts)
    return label


def _merge_claim(
    rows: Rows, desk: Desk, stored: Claim, new: Claim, given: PortableClaim, tx: Tx | None
) -> ClaimImportOutcome:
    """Add what the stored claim lacks. The feedback and the history of another id are not its own."""
    known, same = to_portable(rows, desk, [stored])[0], stored.id == new.id
    names = ("evidences", "entities", "events", "feedback") if same else ("evidences", "entities")
    missing = find_missing_parts(known, given, names)
    newer = same and new.revision > stored.revision
    result: ClaimImportOutcome = {"outcome": "unchanged", "claim_id": stored.id}
    if newer or any(missing.values()):
        result["outcome"] = "changed"
        if tx is not None:
            claim = update_claim(tx, stored, new) if newer else stored
            write_parts(tx, claim, missing)
    elif same and any(getattr(new, name) != getattr(stored, name) for name in _FIELDS):
        result |= {"outcome": "kept", "why": f"The stored version {stored.revision} is newer than {new.revision}."}
    if not same:
        result["why"] = f"The same claim is stored as {stored.id}."
    return result


def find_missing_parts(known: PortableClaim, given: PortableClaim, names: Sequence[str]) -> dict[str, list[Part]]:
    """What the stored claim lacks of these lists."""
    missing: dict[str, list[Part]] = {}
    for name in names:
        key = LISTS[name][2] if name in LISTS else ("id",)
        there = {tuple(part[each] for each in key) for part in cast("list[Part]", known[name])}
        given_parts = cast("list[Part]", given[name])
        missing[name] = [part for part in given_parts if tuple(part.get(each) for each in key) not in there]
    return missing


def update_claim(tx: Tx, stored: Claim, new: Claim) -> Claim:
    changed = replace(stored, **{name: getattr(new, name) for name in _FIELDS})
    assignments = ", ".join(f"{name} = :{name}" for name in _FIELDS)
    tx.run(
        f"update claim set {assignments} where id = :id and {{visible}}",  # noqa: S608 - our own names
        **{name: getattr(changed, name) for name in _FIELDS},
        id=stored.id,
    )
    if changed.superseded_by is None:
        tx.put(model.to_document(changed))
    else:
        tx.drop(changed.address)
    return changed


def write_parts(tx: Tx, claim: Claim, parts: Mapping[str, Sequence[Part]]) -> None:
    entities = cast("Sequence[ClaimEntity]", parts.get("entities", ()))
    texts = (json.dumps(each, ensure_ascii=False) for each in (claim.provenance, *entities, *parts["evidences"]))
    strict = tx.classify(claim.classification, claim.namespace, *texts)
    place = {"claim": claim.id, "space": claim.namespace, "label": strict}
    put_entities(tx, place, entities)
    for name, (table, columns, _) in LISTS.items():
        kept = {"claim": claim.id} if name == "feedback" else place
        for part in parts.get(name, ()):
            values = {**kept, **{column: _to_column(column, part) for column in columns}}
            tx.run(
                f"""insert into {table} ({", ".join(values)}) values ({", ".join(f":{each}" for each in values)})
                on conflict do nothing""",  # noqa: S608 - our own names
                **values,
            )


def _to_column(column: str, part: Part) -> Any:
    value = part.get(column, "")
    if column == "at":
        return parse_time(value)
    return json.dumps(value) if column == "details" else value


def _load_claim(rows: Rows, claim_id: str) -> Claim | None:
    row = rows.row(f"select {COLUMNS} from claim where id = :id and {{visible}}", id=claim_id)  # noqa: S608
    return Claim(*row) if row else None


def _find_same_content(rows: Rows, new: Claim, at: int) -> Claim | None:
    sql = f"select {COLUMNS} from claim where {SAME_CONTENT} and {ALIVE} and {{visible}}"  # noqa: S608 - our own text
    row = rows.row(sql, **content_key(new), now=at)
    return Claim(*row) if row else None

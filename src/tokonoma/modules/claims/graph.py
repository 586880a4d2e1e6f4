"""pce.memory.entities and .related: the things that claims name, and how they are related.

Claims name the same entity if they give it the same canonical key or, without one, the same type and name. That is its
`key`.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.normalize import normalize
from tokonoma.modules.claims.hooks import bind_list
from tokonoma.modules.claims.model import MODULE_NAME, EntityType, PageCursor, PartName
from tokonoma.modules.claims.parts import name_node
from tokonoma.modules.claims.tables import ALIVE

_CHUNK = 500  # rows of a statement
_CLAIMS_SHOWN = 20
_MAX_WORDS = 10
_TYPES = ("Actor", "Artifact", "Event", "Concept")

# What superseded claims name is not recalled either.
_MENTIONS = f"""select e.node, c.id, e.id, e.type, e.name, e.canonical_key, e.attrs, e.label, c.scope
from claim_entity e join claim c on c.id = e.claim
where {{visible:e}} and {{visible:c}} and {ALIVE} and c.superseded_by is null"""  # noqa: S608 - our own text
_ORDER = "order by e.node, c.id, e.id"


def _match_end(alias: str, column: str) -> str:
    """An end of a relation: the entity of its own claim with this id, or else of another claim of its namespace."""
    return f"""{alias}.space = r.space and {alias}.id = r.{column} and {{visible:{alias}}}
    and ({alias}.claim = r.claim or not exists (select 1 from claim_entity own_{alias}
        where own_{alias}.claim = r.claim and own_{alias}.id = r.{column} and {{everyone:own_{alias}}}))"""  # noqa: S608


_RELATED = f"""select distinct r.claim, r.id, r.type, r.props, r.evidence_claim_id, r.label, c.scope, s.node, d.node
from claim_relation r join claim c on c.id = r.claim
    join claim_entity s on {_match_end("s", "src_id")} join claim_entity d on {_match_end("d", "dst_id")}
where {{visible:r}} and {{visible:c}} and {ALIVE} and c.superseded_by is null and (:type = '' or r.type = :type)"""  # noqa: S608


class EntityItem(TypedDict):
    key: str
    id: str
    type: EntityType
    name: str
    canonical_key: NotRequired[str]
    attrs: NotRequired[dict[str, Any]]
    claims: list[Opaque]
    claims_count: int


class EntityListResponse(TypedDict):
    items: list[EntityItem]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class EntityRelationItem(TypedDict):
    id: str
    type: str
    src: str
    dst: str
    depth: int
    claim_id: Opaque
    props: NotRequired[dict[str, Any]]
    evidence_claim_id: NotRequired[Opaque]


class RelatedResponse(TypedDict):
    entity: EntityItem
    items: list[EntityRelationItem]
    entities: list[EntityItem]
    has_more: bool


class _Mention(NamedTuple):
    """An entity as one claim names it."""

    node: str
    claim: str
    id: str
    type: EntityType
    name: str
    canonical_key: str
    attrs: str
    label: str
    scope: Any


def search_entities(
    desk: Desk,
    query: Annotated[
        str | None, Field(max_length=500, description="words of its name, key or id; default: all")
    ] = None,
    type: EntityType | None = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    cursor: PageCursor = None,
) -> EntityListResponse:
    """Search the entities that claims name. Each comes once, with the claims that name it."""
    after = desk.open_cursor("claim_entities", cursor)[0] if cursor else ""
    found = _Grouped(limit)
    for mention in _find_mentions(desk, normalize(query or "").split()[:_MAX_WORDS], type or "", after):
        if not found.add(mention):
            break
    response: EntityListResponse = {"items": found.items, "has_more": found.has_more}
    if found.has_more:
        response["next_cursor"] = desk.seal_cursor("claim_entities", found.items[-1]["key"])
    return response


def walk_relations(
    desk: Desk,
    entity: Annotated[str, Field(min_length=1, max_length=500, description="its key, canonical key, name or id")],
    depth: Annotated[int, Field(ge=1, le=5, description="the most relations in a row")] = 1,
    type: Annotated[PartName | None, Field(description="only relations of this type")] = None,
    limit: Annotated[int, Field(ge=1, le=500, description="the most relations")] = 100,
) -> RelatedResponse:
    """Follow the relations of an entity in both directions, nearest first. `src` and `dst` are keys of entities."""
    start = _find_start(desk, entity)
    seen, frontier = {start}, {start}
    items: dict[tuple[str, str, str, str], EntityRelationItem] = {}
    for step in range(1, depth + 1):
        ends: set[str] = set()
        for row in _find_relations(desk, sorted(frontier), type or "", limit + len(items) + 1):
            claim, relation_id, relation_type, props, evidence, _, _, src, dst = row
            item: EntityRelationItem = {
                "id": relation_id, "type": relation_type, "src": src, "dst": dst, "depth": step, "claim_id": claim,
            }  # fmt: skip
            if props != "{}":
                item["props"] = json.loads(props)
            if evidence:
                item["evidence_claim_id"] = evidence
            if items.setdefault((claim, relation_id, src, dst), item) is item:
                ends |= {src, dst}
        frontier = ends - seen
        seen |= ends
        if not frontier or len(items) > limit:
            break
    kept = list(items.values())[:limit]
    shown = {start} | {end for item in kept for end in (item["src"], item["dst"])}
    named = {item["key"]: item for item in _load_entities(desk, sorted(shown))}
    response: RelatedResponse = {
        "entity": named.pop(start),
        "items": kept,
        "entities": list(named.values()),
        "has_more": len(items) > limit,
    }
    return response


class _Grouped:
    """Mentions in the order of their keys, as entities: at most `limit`."""

    def __init__(self, limit: int) -> None:
        self.items: list[EntityItem] = []
        self.has_more = False
        self._limit = limit

    def add(self, mention: _Mention) -> bool:
        """False if there is no room for it."""
        last = self.items[-1] if self.items else None
        if last is None or last["key"] != mention.node:
            if len(self.items) == self._limit:
                self.has_more = True
                return False
            last = _to_item(mention)
            self.items.append(last)
        last["claims_count"] += 1
        if len(last["claims"]) < _CLAIMS_SHOWN:
            last["claims"].append(mention.claim)
        return True


def _to_item(mention: _Mention) -> EntityItem:
    item: EntityItem = {
        "key": mention.node, "id": mention.id, "type": mention.type, "name": mention.name, "claims": [],
        "claims_count": 0,
    }  # fmt: skip
    if mention.canonical_key:
        item["canonical_key"] = mention.canonical_key
    if mention.attrs != "{}":
        item["attrs"] = json.loads(mention.attrs)
    return item


def _find_mentions(desk: Desk, words: Sequence[str], type: str, after: str) -> Iterator[_Mention]:
    """In the order of their keys, after one of them: those that hold every word."""
    if _is_masked(desk):
        yield from _find_masked_mentions(desk, words, type, after)
        return
    named = {f"word{number}": f"%{_escape(word)}%" for number, word in enumerate(words)}
    holds = "".join(f" and e.folded like :{name} escape '!'" for name in named)
    last = (after, "", "")
    while True:
        rows = desk.rows(
            f"""{_MENTIONS} and (:type = '' or e.type = :type){holds} and e.node >= :node
            and (e.node > :node or (:claim <> '' and (c.id > :claim or (c.id = :claim and e.id > :last))))
            {_ORDER} limit {_CHUNK}""",
            now=desk.now(), type=type, node=last[0], claim=last[1], last=last[2], **named,
        )  # fmt: skip
        yield from (mention for mention in map(_Mention._make, rows) if _is_allowed(desk, mention))
        if len(rows) < _CHUNK:
            return
        last = rows[-1][:3]
        desk.check()


def _is_masked(desk: Desk) -> bool:
    """Whether names may be masked for this caller. Then the database must not compare them: everything is read, and
    compared as the caller sees it."""
    return desk.call.record_masks.covers(MODULE_NAME)


def _find_masked_mentions(desk: Desk, words: Sequence[str], type: str, after: str) -> Iterator[_Mention]:
    mentions = map(_Mention._make, desk.rows(f"{_MENTIONS} {_ORDER}", now=desk.now()))
    for mention in sorted(mentions, key=lambda each: (each.node, each.claim, each.id)):
        seen = normalize(f"{mention.name} {mention.canonical_key} {mention.id}")
        is_asked = mention.node > after and type in ("", mention.type) and all(word in seen for word in words)
        if is_asked and _is_allowed(desk, mention):
            yield mention


def _is_allowed(desk: Desk, mention: _Mention) -> bool:
    return desk.policy.decide(desk.policy.tags, mention.label, mention.scope).verdict != "deny"


def _escape(word: str) -> str:
    return word.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _find_start(desk: Desk, entity: str) -> str:
    """The key of the entity that is meant: by its key, its name, or its id."""
    seen = list(_find_masked_mentions(desk, (), "", "") if _is_masked(desk) else _find_named(desk, entity))
    wanted = normalize(entity)
    for nodes in (
        {each.node for each in seen if each.node == entity},
        {each.node for each in seen if normalize(each.name) == wanted},
        {each.node for each in seen if each.id == entity},
    ):
        if len(nodes) == 1:
            return nodes.pop()
        if nodes:
            keys = ", ".join(map(repr, sorted(nodes)[:5]))
            message = f"{entity!r} names several entities: {keys}. Give one of these keys."
            raise Invalid(message, field="entity", keys=sorted(nodes)[:20])
    raise Missing(f"There is no entity {entity!r} here. Search with entities.", reason="entity", field="entity")


def _find_named(desk: Desk, entity: str) -> Iterator[_Mention]:
    names = {f"name{number}": name_node(each, entity) for number, each in enumerate(_TYPES)}
    rows = desk.rows(
        f"""{_MENTIONS} and (e.node = :entity or e.id = :entity or e.node in ({", ".join(f":{name}" for name in names)})
            or e.folded like :named escape '!') {_ORDER} limit {_CHUNK}""",
        now=desk.now(), entity=entity, named=f"{_escape(normalize(entity))} %", **names,
    )  # fmt: skip
    return (mention for mention in map(_Mention._make, rows) if _is_allowed(desk, mention))


def _find_relations(desk: Desk, nodes: Sequence[str], type: str, most: int) -> list[Sequence[Any]]:
    """Those that start or end at one of these entities."""
    listed, params = bind_list(nodes)
    found: dict[Sequence[Any], None] = {}
    for end in ("s", "d") if not _is_masked(desk) else ():  # each by an index of its own
        sql = f"{_RELATED} and {end}.node in ({listed}) order by r.claim, r.id limit :most"
        found |= dict.fromkeys(desk.rows(sql, now=desk.now(), type=type, most=most, **params))
    if _is_masked(desk):
        rows = desk.rows(f"{_RELATED} order by r.claim, r.id", now=desk.now(), type=type)
        found |= dict.fromkeys(row for row in rows if row[7] in nodes or row[8] in nodes)
    policy = desk.policy
    return [row for row in found if policy.decide(policy.tags, row[5], row[6]).verdict != "deny"]


def _load_entities(desk: Desk, nodes: Sequence[str]) -> list[EntityItem]:
    """In the order of their keys."""
    listed, params = bind_list(nodes)
    found = _Grouped(len(nodes))
    if _is_masked(desk):
        mentions = [each for each in _find_masked_mentions(desk, (), "", "") if each.node in nodes]
    else:
        rows = desk.rows(f"{_MENTIONS} and e.node in ({listed}) {_ORDER}", now=desk.now(), **params)
        mentions = [_Mention._make(row) for row in rows]
    for mention in mentions:
        found.add(mention)
    return found.items

"""What a claim replaces, rests on and shares, and the claims that rest on a record of any module, for `fetch` and
`system.related`."""

from tokonoma.core.desk import Classification, Desk, RecordLink, format_address, parse_address
from tokonoma.core.policy import LAYERS
from tokonoma.core.query import Condition, SearchFilter
from tokonoma.modules.claims.model import MODULE_NAME
from tokonoma.modules.claims.recall import group_readable
from tokonoma.modules.claims.tables import ALIVE

_MOST = 50
_NEWER = f"select superseded_by from claim where id = :id and superseded_by is not null and {ALIVE} and {{visible}}"  # noqa: S608
_OLDER = f"select id from claim where superseded_by = :id and {ALIVE} and {{visible}} order by id limit :most"  # noqa: S608
_SOURCES = """select source_id from claim_evidence where claim = :id and source_type = 'url' and {visible}
and source_id >= 'tokonoma://' and source_id < 'tokonoma:0' order by source_id limit :most"""
_RESTING = f"""select c.id, c.label, c.scope from claim_evidence e join claim c on c.id = e.claim
where e.source_type = 'url' and e.source_id in (:address, :file) and c.superseded_by is null
and {{visible:e}} and {{visible:c}} and {ALIVE} order by c.id limit :most"""  # noqa: S608 - our own text
_SHARING = f"""select distinct c.id, c.label, c.scope from claim_entity e
join claim_entity o on o.node = e.node and o.claim <> e.claim join claim c on c.id = o.claim
where e.claim = :id and c.superseded_by is null and {{visible:e}} and {{visible:o}} and {{visible:c}} and {ALIVE}
order by c.id limit :most"""  # noqa: S608 - our own text


def list_links(desk: Desk, address: str, thorough: bool) -> list[RecordLink]:
    (module, name), params = parse_address(address), {"now": desk.now(), "most": _MOST}
    links: list[RecordLink] = []
    if module == MODULE_NAME:
        newer, older = desk.rows(_NEWER, id=name, now=desk.now()), desk.rows(_OLDER, id=name, **params)
        links += [RecordLink("superseded_by", format_address(MODULE_NAME, other)) for (other,) in newer]
        links += [RecordLink("supersedes", format_address(MODULE_NAME, other)) for (other,) in older]
        links += [RecordLink("source", other) for (other,) in desk.rows(_SOURCES, id=name, most=_MOST)]
        if not desk.call.record_masks.covers(MODULE_NAME):  # the database must not compare names that may be hidden
            sharing = desk.rows(_SHARING, id=name, **params)
            links += [_link("same_entity", *row) for row in sharing if _is_allowed(desk, *row[1:])]
    resting = desk.rows(_RESTING, address=address, file=address.partition("#")[0], **params)
    links += [_link("source", *row, incoming=True) for row in resting if _is_allowed(desk, *row[1:])]
    return links


def list_search_filters(desk: Desk) -> list[SearchFilter] | None:
    """An invariant of the policy may let a class be read in one scope only."""
    groups = group_readable(desk.policy, LAYERS, desk.policy.tags)
    if list(groups.values()) == [list(LAYERS)]:
        return None
    return [
        SearchFilter((MODULE_NAME,), conditions=(Condition("scope", "in", tuple(layers)),), classifications=classes)
        for classes, layers in groups.items()
    ]


def _link(kind: str, claim: str, label: Classification, scope: object, incoming: bool = False) -> RecordLink:
    return RecordLink(kind, format_address(MODULE_NAME, claim), incoming=incoming)


def _is_allowed(desk: Desk, label: Classification, scope: object) -> bool:
    return any(
        label in classes and scope in layers
        for classes, layers in group_readable(desk.policy, LAYERS, desk.policy.tags).items()
    )

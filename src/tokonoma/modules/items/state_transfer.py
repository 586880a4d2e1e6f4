"""items.export.states and items.import.states: every version of the current state, for the owner's commands."""

import json
from typing import Any

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.namespaces import format_namespace, resolve_namespace
from tokonoma.core.screen_import import screen_import

_ALL = """select space, revision, content, updated_by, related, tags, at from current_state
where {visible} order by space, revision"""
_KNOWN = "select 1 from current_state where space = :space and revision = :revision and {visible}"
_INSERT = """insert into current_state (space, label, revision, content, updated_by, related, tags, at)
values (:space, :label, :revision, :content, :updated_by, :related, :tags, :at) on conflict do nothing"""


class PortableState(TypedDict):
    namespace: str
    revision: int
    content: str
    updated_by: str
    related: list[str]
    tags: list[str]
    at: int


def export_states(desk: Desk) -> list[PortableState]:
    """Export every version of the current state of every namespace."""
    return [
        {
            "namespace": format_namespace(space, desk.principal),
            "revision": revision,
            "content": content,
            "updated_by": updated_by,
            "related": json.loads(related),
            "tags": json.loads(tags),
            "at": at,
        }
        for space, revision, content, updated_by, related, tags, at in desk.rows(_ALL)
    ]


def import_states(
    desk: Desk, states: list[PortableState], dry_run: bool = False, seal: bool = False
) -> list[dict[str, str]]:
    """Import versions of the current state; those that are here already stay. What the policy refuses is skipped or,
    with `seal`, stored with the class secret."""
    outcomes: list[dict[str, str]] = []
    screened = [screen_import(desk.policy, each, ("namespace",), seal=seal) for each in states]
    for each in screened:
        space = resolve_namespace(each.fields["namespace"], desk.principal)
        if desk.row(_KNOWN, space=space, revision=each.fields["revision"]) is not None:
            outcomes.append({"outcome": "unchanged"})
        elif each.refusal:
            outcomes.append({"outcome": "skipped", "why": each.refusal})
        else:
            outcomes.append({"outcome": "saved", **({"note": each.note} if each.note else {})})
    if dry_run:
        return outcomes
    with desk.write() as tx:
        for each, outcome in zip(screened, outcomes, strict=True):
            if outcome["outcome"] != "saved":
                continue
            fields: dict[str, Any] = {**each.fields}
            space, texts = resolve_namespace(fields.pop("namespace"), desk.principal), [*fields["tags"]]
            label = tx.classify("internal", space, fields["content"], fields["updated_by"], *texts)
            fields |= {name: json.dumps(fields[name], ensure_ascii=False) for name in ("related", "tags")}
            tx.run(_INSERT, **fields, space=space, label="secret" if each.sealed else label)
    return outcomes

"""get_current_state and update_current_state: one text for what is going on. Every version of it is kept."""

import json
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.clock import format_time
from tokonoma.core.desk import Desk, Row
from tokonoma.core.errors import Missing
from tokonoma.modules.items.errors import ItemProblems, build_stale_error, check_related, check_tags, check_text
from tokonoma.modules.items.model import Revision, Tags
from tokonoma.modules.items.relations import check_references, resolve_links

_COLUMNS = "revision, content, updated_by, related, tags, at"
_ONE = f"""select {_COLUMNS} from current_state where space = :space and (:revision = 0 or revision = :revision)
and {{visible}} order by revision desc limit 1"""  # noqa: S608 - revision 0 is the newest
_HISTORY = """select revision, updated_by, at from current_state
where space = :space and {visible} order by revision desc limit :most"""
_INSERT = """insert into current_state (space, label, revision, content, updated_by, related, tags, at)
values (:space, :label, :revision, :content, :updated_by, :related, :tags, :at) on conflict do nothing"""


class StateMetadata(TypedDict):
    updated_by: str
    updated_at: str | None
    related: list[str]
    tags: list[str]
    vanished: NotRequired[list[str]]


class StateVersion(TypedDict):
    revision: int
    updated_by: str
    updated_at: str


class CurrentState(TypedDict):
    content: str
    metadata: StateMetadata
    revision: int
    history: NotRequired[list[StateVersion]]


def get_current_state(
    desk: Desk,
    revision: Annotated[int | None, Field(ge=1)] = None,
    history: Annotated[int, Field(ge=0, le=50, description="latest revisions to list")] = 0,
) -> CurrentState:
    """Read the current state of the project."""
    space = desk.principal.default
    row = desk.row(_ONE, space=space, revision=revision or 0)
    if row is None and revision is not None:
        raise Missing(f"The current state has no revision {revision}.", revision=revision)
    state = _to_state(row)
    if row is not None:
        desk.cite("current_state", "")  # `updated_by` is what its writer has called itself
    problems, addresses = ItemProblems(), state["metadata"]["related"]
    check_references(desk, addresses, problems)
    resolve_links(desk, addresses, problems)
    if vanished := sorted(problems.find_indexes("related")):
        state["metadata"]["vanished"] = [addresses[number] for number in vanished]
    if history:
        rows = desk.rows(_HISTORY, space=space, most=history)
        state["history"] = [
            {"revision": number, "updated_by": by, "updated_at": format_time(at)} for number, by, at in rows
        ]
    return state


def update_current_state(
    desk: Desk,
    content: Annotated[str, Field(description="Markdown, up to 100 KB")],
    updated_by: Annotated[str | None, Field(max_length=100, description="default: the caller")] = None,
    related: list[str] | None = None,
    tags: Tags = None,
    expected_revision: Revision = None,
) -> CurrentState:
    """Replace the current state; related and tags stay unless given."""
    problems, space = ItemProblems(), desk.principal.default
    check_text("content", content, problems)
    new_tags = check_tags("tags", tags, problems) if tags is not None else None
    addresses = check_related("related", related or (), problems)
    check_references(desk, addresses, problems)
    with desk.write() as tx:
        resolve_links(tx, addresses, problems)
        problems.raise_if_any()
        old = _to_state(tx.row(_ONE, space=space, revision=0))
        if expected_revision is not None and expected_revision != old["revision"]:
            raise build_stale_error("The current state", old["revision"], expected_revision)
        written = tx.run(
            _INSERT,
            space=space,
            label=tx.classify("internal", space, content, updated_by or "", *(new_tags or ())),
            revision=old["revision"] + 1,
            content=content,
            updated_by=updated_by or desk.principal.name,
            related=json.dumps(addresses if related is not None else old["metadata"]["related"], ensure_ascii=False),
            tags=json.dumps(new_tags if new_tags is not None else old["metadata"]["tags"], ensure_ascii=False),
            at=desk.now(),
        )
        if not written:  # another call wrote at the same moment
            raise build_stale_error("The current state", old["revision"] + 1, old["revision"])
        desk.cite("current_state", desk.principal.name)
        return _to_state(tx.row(_ONE, space=space, revision=0))


def _to_state(row: Row | None) -> CurrentState:
    revision, content, by, related, tags, at = row or (0, "", "", "[]", "[]", None)
    metadata: StateMetadata = {
        "updated_by": by,
        "updated_at": None if at is None else format_time(at),
        "related": json.loads(related),
        "tags": json.loads(tags),
    }
    return {"content": content, "metadata": metadata, "revision": revision}

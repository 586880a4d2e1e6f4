"""Policies that wait for the owner: proposed over MCP, and looser than the one they would replace."""

import hashlib
import json
from dataclasses import asdict, replace
from typing import Any

from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.module import Migration
from tokonoma.core.policy import PendingPolicy

MAX_PROPOSALS = 20
TABLE = Migration(
    "003_proposals",
    (
        """create table policy_proposal (
            id {text} not null primary key,
            version text not null,
            yaml text not null,
            follows text not null,
            proposed_at {big} not null,
            proposed_by text not null,
            rolled_back_to text not null,
            loosens text not null
        )""",
    ),
)
_COLUMNS = "id, version, yaml, follows, proposed_at, proposed_by, rolled_back_to, loosens"


def make_id(yaml: str, follows: str) -> str:
    """From what it proposes: a proposal with this id can never become another one."""
    return hashlib.sha256(f"{follows}\n{yaml}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def save_proposal(statements: Statements, pending: PendingPolicy) -> PendingPolicy:
    """The same proposal again is stored once. Those that another policy has overtaken make room for new ones."""
    statements.run("delete from policy_proposal where id = :id", id=pending.id)
    ((count,),) = statements.rows("select count(*) from policy_proposal")
    if count >= MAX_PROPOSALS:
        count -= statements.run("delete from policy_proposal where follows <> :follows", follows=pending.follows)
    if count >= MAX_PROPOSALS:
        raise Conflict(
            f"{count} proposed policies wait for the owner already: `tokonoma policy pending` lists them, "
            "`tokonoma policy reject ID` removes one. Nothing was stored.",
            reason="proposals",
        )
    values: dict[str, Any] = {**asdict(pending), "loosens": json.dumps(pending.loosens)}
    statements.run(
        f"insert into policy_proposal ({_COLUMNS}) values (:id, :version, :yaml, :follows, :proposed_at,"  # noqa: S608
        " :proposed_by, :rolled_back_to, :loosens)",
        **values,
    )
    return pending


def list_proposals(rows: Rows) -> list[PendingPolicy]:
    """Oldest first."""
    return [_to_pending(row) for row in rows.rows(f"select {_COLUMNS} from policy_proposal order by proposed_at, id")]  # noqa: S608


def find_proposal(rows: Rows, id: str) -> PendingPolicy:
    row = rows.row(f"select {_COLUMNS} from policy_proposal where id = :id", id=id)  # noqa: S608
    if row is None:
        known = [each.id for each in list_proposals(rows)]
        listed = f"There are: {', '.join(known)}." if known else "None is waiting."
        raise Missing(f"There is no proposed policy {id[:40]!r}. {listed}", reason="policy_proposal", proposals=known)
    return _to_pending(row)


def drop_proposal(statements: Statements, id: str) -> None:
    statements.run("delete from policy_proposal where id = :id", id=id)


def _to_pending(row: Row) -> PendingPolicy:
    return replace(PendingPolicy(*row), loosens=tuple(json.loads(row[-1])))

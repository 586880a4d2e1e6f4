"""The durable queue: a row for every document whose vector is still to be made, written with the document."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_queue",
        (
            """create table embedding_queue (
                document_id {big} primary key references document (id) on delete cascade,
                ticket {big} not null,
                rank {big} not null,
                due {big} not null,
                lease {big} not null,
                tries {big} not null,
                problem {text} not null
            )""",
            "create index embedding_queue_next on embedding_queue (rank, due)",
        ),
    ),
)

_SAVED, _LATER, _BACKLOG = 0, 1, 2
"""Ranks. Parts of files and records that are masked anew come by the hundred: what a caller has saved goes before."""

# `ticket` stands for the present text of the document: a vector that was made for another ticket is that of an older
# text. `lease` is the time until which a worker holds it.
_INSERT = """insert into embedding_queue (document_id, ticket, rank, due, lease, tries, problem)
values (:document_id, :ticket, :rank, :due, 0, 0, '') on conflict (document_id) do """
_ENQUEUE = f"""{_INSERT} update set ticket = excluded.ticket, rank = excluded.rank, due = excluded.due, lease = 0,
    tries = 0, problem = ''"""
# A text that was never refused is due at any time: `due` only orders it. Times that lie further ahead than they can
# were written by another clock, and nothing waits for that one's time.
LATEST_DUE, LONGEST_LEASE = 6 * 3_600_000, 120_000
"""Milliseconds that a text which fails waits at most, and for which a worker holds one at most without renewing it."""

_DUE = f"(tries = 0 or due <= :now or due > :now + {LATEST_DUE})"
_FREE_LEASE = f"(lease <= :now or lease > :now + {LONGEST_LEASE})"
_NEXT = f"""select document_id, ticket, tries from embedding_queue where {_DUE} and {_FREE_LEASE} and rank <= :last
order by rank, due limit :limit {{for_update_free}}"""  # noqa: S608 - our own words
_FREE = "select document_id, ticket from embedding_queue where document_id in ({numbers}) {for_update_free}"

_WITHDRAW = """delete from embedding_queue
where document_id in (select id from document where address in ({texts})) returning document_id"""
_POSTPONE = """update embedding_queue set due = :due, lease = 0, tries = :tries, problem = :problem
where document_id = :document_id and ticket = :ticket"""


@dataclass(frozen=True, slots=True)
class QueueClaim:
    document_id: int
    ticket: int
    tries: int


def enqueue(statements: Statements, document_ids: Sequence[int], *, later: bool = False) -> None:
    """The documents are new, or their texts have changed. A vector that is being made of an old text will not be
    stored. `later`: behind what callers save."""
    row = {"rank": _LATER if later else _SAVED, "due": now()}
    statements.run_many(_ENQUEUE, [{**row, "document_id": each, "ticket": _new_ticket()} for each in document_ids])


def enqueue_backlog(statements: Statements, document_ids: Sequence[int]) -> None:
    """Documents that another model has embedded: behind all others."""
    row = {"rank": _BACKLOG, "due": now()}
    rows = [{**row, "document_id": each, "ticket": _new_ticket()} for each in document_ids]
    statements.run_many(f"{_INSERT} nothing", rows)


def withdraw(statements: Statements, addresses: Sequence[str]) -> list[int]:
    """Take documents out of the queue whose texts cannot be read yet; returns those that were in it."""
    return [row[0] for row in statements.rows(_WITHDRAW, texts=json.dumps(list(addresses)))]


def claim(statements: Statements, until: int, limit: int, *, saved: bool = False) -> list[QueueClaim]:
    """Take what is due; `saved`: of what callers have saved alone. No other worker gets it until the lease ends, even
    if this process is killed."""
    last = _SAVED if saved else _BACKLOG
    found = [QueueClaim(*row) for row in statements.rows(_NEXT, now=now(), last=last, limit=limit)]
    # At once, because writers of these documents wait for it.
    sql = "update embedding_queue set lease = :until where document_id in ({numbers})"
    statements.run(sql, until=until, numbers=json.dumps([each.document_id for each in found]))
    return found


def lock_claims(statements: Statements, claims: Sequence[QueueClaim]) -> list[QueueClaim]:
    """Lock the rows that no other transaction is changing, and return those of them that still stand for the same
    text: the others were changed, deleted, or finished by another worker. It does not wait: a writer that has changed
    some of these documents may want to change others, too, which could end in a deadlock."""
    listed = json.dumps([each.document_id for each in claims])
    locked: dict[int, int] = dict(statements.rows(_FREE, numbers=listed))
    return [each for each in claims if locked.get(each.document_id) == each.ticket]


def renew(statements: Statements, claims: Sequence[QueueClaim], until: int) -> None:
    """Hold claims until then; 0 gives them back."""
    claims = lock_claims(statements, claims)
    if claims:
        statements.run_many(
            "update embedding_queue set lease = :until where document_id = :document_id and ticket = :ticket",
            [{"until": until, "document_id": each.document_id, "ticket": each.ticket} for each in claims],
        )


def finish(statements: Statements, claims: Sequence[QueueClaim]) -> None:
    """Remove claims that are locked in this transaction."""
    sql = "delete from embedding_queue where document_id in ({numbers})"
    statements.run(sql, numbers=json.dumps([each.document_id for each in claims]))


def postpone(statements: Statements, claim: QueueClaim, due: int, tries: int, problem: str) -> None:
    """Not before `due`, and after those that are due earlier."""
    statements.run(_POSTPONE, due=due, tries=tries, problem=problem, document_id=claim.document_id, ticket=claim.ticket)


def has_ready(rows: Rows, least: int = 1, *, claimed: bool = False, saved: bool = False) -> bool:
    """Whether so much can be claimed, or is already `claimed`; `saved`: as in `claim`. Called before anything is
    written."""
    free = "" if claimed else f"and {_FREE_LEASE}"
    sql = f"select 1 from embedding_queue where rank <= :last and {_DUE} {free} limit 1 offset :before"  # noqa: S608
    return rows.row(sql, now=now(), last=_SAVED if saved else _BACKLOG, before=least - 1) is not None


def count_waiting(rows: Rows) -> int:
    return rows.rows("select count(*) from embedding_queue")[0][0]


def count_failed(rows: Rows) -> int:
    """Those of them that the model has refused; they are tried again much later."""
    return rows.rows("select count(*) from embedding_queue where tries > 0")[0][0]


def get_problem(rows: Rows, document_id: int) -> str | None:
    """Why it is still in the queue; empty if it simply waits. None: it is not in the queue."""
    row = rows.row("select problem from embedding_queue where document_id = :id", id=document_id)
    return None if row is None else str(row[0])


def _new_ticket() -> int:
    # At random, not counted: a row may be finished and inserted again while an old ticket is still in use.
    return secrets.randbits(62)

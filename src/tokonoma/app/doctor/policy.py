"""Checks of the policy: whether it can be read, what waits for the owner, and what is hidden."""

from collections.abc import Iterator

from tokonoma.app.doctor.machine import Finding
from tokonoma.core.errors import Refusal
from tokonoma.core.printable import pluralize
from tokonoma.policy import versions
from tokonoma.policy.changes import build_policy
from tokonoma.policy.hidden import count_hidden_from_owner
from tokonoma.policy.proposals import TABLE, list_proposals
from tokonoma.store.database import Database
from tokonoma.store.migrate import read_applied

_REPLACE = (
    "Nothing but `tokonoma policy` works meanwhile. `tokonoma policy show --history` lists the versions. Return to one"
    " with `tokonoma policy rollback VERSION`, or apply another policy with `tokonoma policy apply FILE`."
)


def check_policy(database: Database) -> Iterator[Finding]:
    with database.reading() as rows:
        done = read_applied(database, rows).get("policy", ())
        if versions.TABLES[1].name not in done:  # an older store: the next start adds its tables
            return
        waiting = list_proposals(rows) if TABLE.name in done else []
        try:
            head = versions.read_head(rows)
            numbers = [head.number] if head.other is None else [head.number, head.other]
            policy, *_ = [build_policy(versions.read_version(rows, each), head.salt) for each in numbers]
        except Refusal as error:
            yield Finding("policy", "fail", f"the policy cannot be read: {error.message}", _REPLACE)
            return
        hidden = count_hidden_from_owner(rows, policy)
    if waiting:
        says = f"proposed policies that wait for you: {', '.join(each.id for each in waiting)}"
        yield Finding("policy", "warn", says, "`tokonoma policy pending` says what they would loosen.")
    says = f"{policy.version} is in force"
    if hidden:
        listing = "`tokonoma policy records` lists them without their text."
        yield Finding("policy", "ok", f"{says}; it hides {pluralize(hidden, 'record')} from you", listing)
    else:
        yield Finding("policy", "ok", says)

"""The stored versions of the policy (none is ever deleted), the one in force, and the state of a transition."""

from dataclasses import asdict, dataclass, replace
from typing import Literal

from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.module import Migration
from tokonoma.core.policy import PolicyVersion
from tokonoma.policy.approvals import TABLE as APPROVAL_TABLE
from tokonoma.policy.proposals import TABLE as PROPOSAL_TABLE
from tokonoma.policy.rules import DEFAULT_RULES, DEFAULT_TEXT

TABLES = (
    Migration(
        "001_policy",
        (
            """create table policy_version (
                number {big} not null primary key,
                version {text} not null unique,
                yaml text not null,
                applied_at {big} not null,
                applied_by text not null,
                approver text not null,
                rolled_back_to text not null
            )""",
            "create table policy_head (id integer not null primary key, number {big} not null, salt {blob} not null)",
        ),
        sqlite=("insert into policy_head (id, number, salt) values (1, 0, randomblob(16))",),
        postgresql=("insert into policy_head (id, number, salt) values (1, 0, uuid_send(gen_random_uuid()))",),
    ),
    Migration(
        "002_relabel",
        (
            "alter table policy_head add column coming {big}",  # accepted; in force once no record is too open for it
            "alter table policy_head add column leaving {big}",  # was in force; some records still have its class
            # One row during a transition: which records have been reclassified.
            """create table policy_relabel (
                id integer not null primary key,
                phase text not null,
                stage text not null,
                after text not null,
                done {big} not null
            )""",
        ),
    ),
    PROPOSAL_TABLE,
    # The `masks_key` that the records were scanned with. Another one, after an update of the program: they are again.
    Migration("004_scan", ("create table policy_scan (id integer not null primary key, masks text not null)",)),
    APPROVAL_TABLE,
)

_HEAD = """select number, salt, coming, leaving, (select masks from policy_scan where id = 1)
from policy_head where id = 1"""
_STATE = "select phase, stage, after, done from policy_relabel where id = 1"
_COLUMNS = "number, version, yaml, applied_at, applied_by, approver, rolled_back_to"


SHIPPED = PolicyVersion(0, DEFAULT_RULES.version, DEFAULT_TEXT, 0, "", "", "")


@dataclass(frozen=True, slots=True)
class PolicyHead:
    """The number of the policy in force. During a transition there are two: one is coming, or the old one leaving."""

    number: int
    salt: bytes
    coming: int | None = None
    leaving: int | None = None
    masks: str | None = None  # None: no record was scanned yet, or they were by an earlier program

    @property
    def newest(self) -> int:
        """The one that was accepted last."""
        return self.number if self.coming is None else self.coming

    @property
    def other(self) -> int | None:
        """The second policy of a transition."""
        return self.leaving if self.coming is None else self.coming


ReclassifyPhase = Literal["tighten", "turn", "loosen"]


@dataclass(frozen=True, slots=True)
class ReclassifyState:
    """The position of a transition: `stage` is the module whose unindexed records come next; empty for the index."""

    phase: ReclassifyPhase
    stage: str = ""
    after: str = ""
    done: int = 0


def read_head(rows: Rows, lock: Literal["", "{for_share}", "{for_update}"] = "") -> PolicyHead:
    """A shared lock keeps the head as it is until the transaction ends (on SQLite that needs no lock). An exclusive one
    also lets transactions that write records wait."""
    row = rows.row(f"{_HEAD} {lock}")
    if row is None:
        raise Missing("The database does not say which policy is in force.", reason="policy")
    return PolicyHead(row[0], bytes(row[1]), *row[2:])


def read_state(rows: Rows, *, lock: bool = False) -> ReclassifyState | None:
    """None if every record has its class. `lock` keeps other processes from going on with it meanwhile."""
    row = rows.row(_STATE + " {for_update}" if lock else _STATE)
    return None if row is None else ReclassifyState(*row)


def save_state(statements: Statements, state: ReclassifyState) -> None:
    statements.run(
        """insert into policy_relabel (id, phase, stage, after, done) values (1, :phase, :stage, :after, :done)
        on conflict (id) do update set phase = excluded.phase, stage = excluded.stage, after = excluded.after,
            done = excluded.done""",
        **asdict(state),
    )


def activate_coming(statements: Statements) -> None:
    """Put the coming policy in force: no record is too open for it."""
    read_head(statements, "{for_update}")
    statements.run(
        "update policy_head set leaving = number, number = coming, coming = null where id = 1 and coming is not null"
    )
    save_state(statements, ReclassifyState("loosen"))


def finish_transition(statements: Statements, masks: str) -> None:
    statements.run("update policy_head set leaving = null where id = 1")
    statements.run("delete from policy_relabel where id = 1")
    statements.run("delete from policy_scan where id = 1")
    statements.run("insert into policy_scan (id, masks) values (1, :masks)", masks=masks)


def begin_rescan(statements: Statements) -> None:
    """Begin a transition to the policy that is in force already: another version of the program finds other things."""
    statements.run("update policy_head set coming = number where id = 1")
    save_state(statements, ReclassifyState("tighten"))


def needs_rescan(rows: Rows, head: PolicyHead, masks: str) -> bool:
    """Whether the records were scanned with other detectors or masks. A store without records needs none."""
    return head.masks != masks and rows.row("select 1 from document limit 1") is not None


def note_masks(statements: Statements, masks: str) -> None:
    """Before the first record is stored. A row of its own: many writers hold the head's at once."""
    if statements.row("select 1 from document limit 1") is None:
        statements.run(
            "insert into policy_scan (id, masks) values (1, :masks) on conflict (id) do nothing", masks=masks
        )


def read_version(rows: Rows, number: int) -> PolicyVersion:
    if number == 0:
        return SHIPPED
    row = rows.row(f"select {_COLUMNS} from policy_version where number = :number", number=number)  # noqa: S608
    if row is None:
        raise Missing("The policy in force is not in the database.", reason="policy")
    return PolicyVersion(*row)


def find_version(rows: Rows, name: str) -> PolicyVersion:
    """By its version; Missing lists the newest ones."""
    row = rows.row(f"select {_COLUMNS} from policy_version where version = :name", name=name)  # noqa: S608
    if row is not None:
        return PolicyVersion(*row)
    if name == SHIPPED.version:
        return SHIPPED
    known = [each.version for each in list_versions(rows, 10, None)]
    raise Missing(f"There is no policy version {name[:40]!r}.", reason="policy_version", versions=known)


def list_versions(rows: Rows, limit: int, before: int | None) -> list[PolicyVersion]:
    """Newest first; the last one is the default that the program brings."""
    found = rows.rows(
        f"select {_COLUMNS} from policy_version where number < :before order by number desc limit :most",  # noqa: S608
        before=2**62 if before is None else before,
        most=limit,
    )
    listed = [PolicyVersion(*row) for row in found]
    if len(listed) < limit and (before is None or before > 0):
        listed.append(SHIPPED)
    return listed


def save_version(statements: Statements, wanted: PolicyVersion) -> PolicyVersion:
    """Store a policy under its version, or under the next free one, and begin the transition to it. The head must be
    locked. Returns it with its number and version."""
    ((number,),) = statements.rows("select coalesce(max(number), 0) + 1 from policy_version")
    saved = replace(wanted, number=number, version=next_free_version(statements, wanted.version))
    statements.run(
        f"insert into policy_version ({_COLUMNS}) values (:number, :version, :yaml, :applied_at, :applied_by,"  # noqa: S608
        " :approver, :rolled_back_to)",
        **asdict(saved),
    )
    statements.run("update policy_head set coming = :number, leaving = null where id = 1", number=number)
    save_state(statements, ReclassifyState("tighten"))
    return saved


def find_newest_name(rows: Rows, head: PolicyHead) -> str:
    """The version that was accepted last; `none` if its row is lost, so that another can still replace it."""
    try:
        return read_version(rows, head.newest).version
    except Missing:
        return "none"


def check_expected(rows: Rows, head: PolicyHead, expected: str | None) -> None:
    """Conflict if the newest policy is not the expected one."""
    current = find_newest_name(rows, head)
    if expected is not None and expected != current:
        raise Conflict(
            f"The policy in force is {current}, not {expected}. Read it, then try again. Nothing was changed.",
            reason="policy_version",
            current_version=current,
        )


def next_free_version(rows: Rows, asked: str) -> str:
    """0.1.0, or 0.1.1 if there has been a 0.1.0: a version names one text for ever."""
    major, minor, patch = (int(part) for part in asked.split("."))
    taken = {row[0] for row in rows.rows("select version from policy_version")} | {SHIPPED.version}
    while (name := f"{major}.{minor}.{patch}") in taken:
        patch += 1
    return name

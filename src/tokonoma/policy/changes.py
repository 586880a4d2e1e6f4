"""How one policy replaces another: who may do it, what is compared, and what waits for the owner."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.errors import Conflict, Denied, Refusal
from tokonoma.core.policy import PendingPolicy, PolicyProposal, PolicyVersion
from tokonoma.policy import proposals
from tokonoma.policy import versions as store
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.rules import DEFAULT_RULES, PolicyRules


@dataclass(frozen=True, slots=True)
class PolicyControl:
    """Who may change the policy: `over_mcp` is tighten, all or none; `signers` are the names and keys of those who must
    approve it, if any; `modules` are the names that a policy may use, and `tools` the paths (`memory.save`)."""

    over_mcp: str = "tighten"
    signers: Sequence[str] = ()
    modules: Callable[[], Collection[str]] = tuple
    tools: Callable[[], Collection[str]] = tuple


def build_policy(stored: PolicyVersion, salt: bytes) -> ActivePolicy:
    """Raises Invalid if this program cannot read the stored text: then nothing is allowed."""
    if stored.number == 0:
        return ActivePolicy(salt=salt)
    from tokonoma.policy.parse import parse_policy  # loads YAML: not needed for the default policy

    return ActivePolicy(replace(parse_policy(stored.yaml), version=stored.version), stored.number, salt)


def parse_proposed(control: PolicyControl, yaml: str) -> PolicyRules:
    """The rules of a policy that is to be applied; Invalid lists every problem."""
    from tokonoma.policy.parse import parse_policy

    return parse_policy(yaml, proposed=True, modules=control.modules(), tools=control.tools())


def apply_policy(
    statements: Statements, control: PolicyControl, proposal: PolicyProposal, by: str, may_loosen: bool
) -> PolicyVersion | PendingPolicy:
    rules, head = parse_proposed(control, proposal.yaml), store.read_head(statements, "{for_update}")
    store.check_expected(statements, head, proposal.expected_version)
    if control.signers:
        check_signed(statements, head, control, proposal, rules.version)
        may_loosen = True
    wanted = PolicyVersion(-1, rules.version, proposal.yaml, now(), by, proposal.approver, "")
    return _accept(statements, head, rules, wanted, may_loosen)


def roll_back(
    statements: Statements, control: PolicyControl, version: str, expected: str | None, by: str, may_loosen: bool
) -> PolicyVersion | PendingPolicy:
    if control.signers:
        raise Denied(
            "Policies must be signed on this server, and a signature holds once. To return to an earlier policy, save "
            f"its text (`tokonoma policy show {version[:40]}`), give it a new version, and have it signed. Nothing was "
            "changed.",
            reason="signature",
        )
    head = store.read_head(statements, "{for_update}")
    store.check_expected(statements, head, expected)
    target = store.find_version(statements, version)
    rules = parse_proposed(control, target.yaml) if target.number else DEFAULT_RULES
    wanted = PolicyVersion(-1, target.version, target.yaml, now(), by, "", target.version)
    return _accept(statements, head, rules, wanted, may_loosen)


def _accept(
    statements: Statements, head: store.PolicyHead, rules: PolicyRules, wanted: PolicyVersion, may_loosen: bool
) -> PolicyVersion | PendingPolicy:
    if may_loosen or not (loosens := compare(statements, head, rules)):
        return store.save_version(statements, wanted)
    follows, version = store.find_newest_name(statements, head), store.next_free_version(statements, wanted.version)
    parts = (wanted.yaml, follows, wanted.applied_at, wanted.applied_by, wanted.rolled_back_to, loosens)
    pending = PendingPolicy(proposals.make_id(wanted.yaml, follows), version, *parts)
    return proposals.save_proposal(statements, pending)


def approve(statements: Statements, control: PolicyControl, id: str, by: str) -> PolicyVersion:
    """Conflict if another policy was accepted since: against that one the proposal may loosen something else."""
    head, pending = store.read_head(statements, "{for_update}"), proposals.find_proposal(statements, id)
    if control.signers:
        raise Denied(
            f"Policies must be signed on this server. Save the text (`tokonoma policy show {id}`), have it signed, and "
            "apply it with `tokonoma policy apply FILE --approver NAME --signature …`. Nothing was changed.",
            reason="signature",
        )
    rules, current = parse_proposed(control, pending.yaml), store.find_newest_name(statements, head)
    if pending.follows != current:
        raise Conflict(
            f"The proposal {id} was made against {pending.follows}, but {current} was applied since. Read it with "
            f"`tokonoma policy show {id}`. If you still want it, apply that text with `tokonoma policy apply FILE`; "
            f"else remove it with `tokonoma policy reject {id}`. Nothing was changed.",
            reason="policy_version",
            current_version=current,
        )
    proposals.drop_proposal(statements, id)
    wanted = PolicyVersion(-1, rules.version, pending.yaml, now(), pending.proposed_by, by, pending.rolled_back_to)
    return store.save_version(statements, wanted)


def check_signed(
    rows: Rows, head: store.PolicyHead, control: PolicyControl, proposal: PolicyProposal, version: str
) -> None:
    from tokonoma.policy.signatures import check_signature

    _check_free(rows, version)
    check_signature(control.signers, proposal, version, store.find_newest_name(rows, head))


def build_payload(rows: Rows, control: PolicyControl, yaml: str) -> bytes:
    """What a signer signs, so that this text can replace the newest policy."""
    from tokonoma.policy.signatures import build_signed_bytes

    version = parse_proposed(control, yaml).version
    _check_free(rows, version)
    return build_signed_bytes(yaml, version, store.find_newest_name(rows, store.read_head(rows)))


def _check_free(rows: Rows, version: str) -> None:
    free = store.next_free_version(rows, version)
    if free != version:
        raise Conflict(
            f"There is a version {version} already. A signed policy needs a version of its own: write {free}, and sign "
            "it. Nothing was changed.",
            reason="policy_version",
            next_version=free,
        )


def compare(rows: Rows, head: store.PolicyHead, rules: PolicyRules) -> Sequence[str]:
    """What these rules loosen of the newest policy."""
    from tokonoma.policy.loosening import find_loosenings

    try:
        newest = build_policy(store.read_version(rows, head.newest), head.salt).rules
    except Refusal:
        return ("the policy in force cannot be read, so nothing can be compared with it",)
    return find_loosenings(newest, rules)

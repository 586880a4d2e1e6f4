"""Rules about tools: the first match decides, and every loosening of them is reported."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.world import ENTRIES

from tokonoma import catalogue
from tokonoma.core.call import OWNER, Principal
from tokonoma.core.errors import Invalid
from tokonoma.core.module import ToolInfo
from tokonoma.core.policy import TOOL_VERDICTS
from tokonoma.core.reach import Reach
from tokonoma.policy.active import ActivePolicy, ClosedPolicy
from tokonoma.policy.approvals import ApprovalRequest, make_digest
from tokonoma.policy.loosening import find_loosenings
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.rules import DEFAULT_RULES, DEFAULT_TEXT
from tokonoma.policy.tool_regions import compare_tools
from tokonoma.policy.tool_rules import ToolRule, choose_verdict, list_matching
from tokonoma.policy.transition import TransitionPolicy

TOOLS = {
    tool.path: tool
    for file in (catalogue.CATALOGUE_FILE, catalogue.SERVICES_FILE)
    for info in catalogue.read_catalogue(file)
    for tool in info.entries
}
SAMPLE = [
    TOOLS[path]
    for path in (
        "memory.save", "memory.get", "memory.delete", "vault.read", "vault.write", "gateway.batch", "gateway.remember",
        "gateway.search", "github.create_issue", "github.list_issues", "jira.create_issue", "system.status",
    )
]  # fmt: skip
NAMES = ["owner", "key:a", "key:ab", "key:b", "client:x", "person:y"]
CALLERS = ["*", "owner", "key:*", "key:a", "key:a*", "k?y:a", "client:*", "[ko]*"]


def judge(rules: tuple[ToolRule, ...], caller: str, tool: ToolInfo, account: str = "") -> str:
    return choose_verdict(list_matching(rules, caller, tool), lambda: account)


def parse(*lines: str) -> tuple[ToolRule, ...]:
    return parse_policy("version: 1\ntools:\n" + "".join(f"  - {{ {line} }}\n" for line in lines)).tools


def test_the_first_match_counts_and_without_one_a_call_is_allowed():
    rules = parse(
        "caller: owner, tool: memory.*, verdict: allow",
        "tool: memory.delete, verdict: deny",
        "effect: write, verdict: ask",
    )
    assert judge(rules, "owner", TOOLS["memory.delete"]) == "allow"
    assert judge(rules, "key:a", TOOLS["memory.delete"]) == "deny"
    assert judge(rules, "key:a", TOOLS["memory.save"]) == "ask"
    assert judge(rules, "owner", TOOLS["vault.write"]) == "ask"
    assert judge(rules, "key:a", TOOLS["memory.get"]) == "allow"
    assert parse_policy(DEFAULT_TEXT) == DEFAULT_RULES
    assert DEFAULT_RULES.tools == ()


def test_tool_and_effect_together_narrow_a_rule():
    rules = parse("tool: github.*, effect: destroy, verdict: deny")
    assert judge(rules, "owner", replace(TOOLS["github.create_issue"], effect="destroy")) == "deny"
    assert judge(rules, "owner", TOOLS["github.create_issue"]) == "allow"
    assert judge(rules, "owner", TOOLS["memory.delete"]) == "allow"


def test_tools_that_hold_calls_are_meant_only_by_their_name():
    wide = parse("tool: '*', verdict: deny")
    assert judge(wide, "owner", TOOLS["gateway.batch"]) == judge(wide, "owner", TOOLS["gateway.remember"]) == "allow"
    assert judge(wide, "owner", TOOLS["gateway.search"]) == "deny"
    assert judge(parse("effect: destroy, verdict: deny"), "owner", TOOLS["gateway.batch"]) == "allow"
    assert judge(parse("tool: gateway.batch, verdict: ask"), "owner", TOOLS["gateway.batch"]) == "ask"
    assert judge(parse("tool: gateway.*, verdict: deny"), "owner", TOOLS["gateway.remember"]) == "deny"


def test_a_rule_about_an_account_holds_for_it_alone():
    rules = parse("tool: github.*, account: work, verdict: deny", "tool: github.create_issue, verdict: ask")
    create, read = TOOLS["github.create_issue"], TOOLS["github.list_issues"]
    assert judge(rules, "owner", create, "work") == "deny"
    assert judge(rules, "owner", create, "home") == "ask"
    assert judge(rules, "owner", read, "work") == "deny"
    assert judge(rules, "owner", read, "home") == "allow"
    assert choose_verdict(list_matching(rules, "owner", read), None) == "deny"  # not known which: the strictest


def test_the_account_is_looked_up_only_where_a_rule_names_one():
    def fail() -> str:
        raise AssertionError("nobody needs it")

    policy = ActivePolicy(replace(DEFAULT_RULES, tools=parse("tool: github.*, account: work, verdict: deny")))
    assert policy.judge_tool(OWNER, TOOLS["memory.save"], fail) == "allow"
    with pytest.raises(AssertionError):
        policy.judge_tool(OWNER, TOOLS["github.create_issue"], fail)
    assert not ActivePolicy().judges_tools
    assert not ClosedPolicy().judges_tools


@pytest.mark.parametrize("coming", [True, False])
def test_during_a_change_the_stricter_of_both_policies_counts(coming):
    old = replace(DEFAULT_RULES, tools=parse("tool: memory.save, verdict: deny"))
    new = replace(DEFAULT_RULES, tools=parse("tool: memory.*, verdict: ask"))
    policy = TransitionPolicy(old, 1, b"s", ActivePolicy(new, 2, b"s"), coming=coming)
    assert policy.judges_tools
    assert policy.judge_tool(OWNER, TOOLS["memory.save"], lambda: "") == "deny"
    assert policy.judge_tool(OWNER, TOOLS["memory.delete"], lambda: "") == "ask"
    assert policy.judge_tool(OWNER, TOOLS["vault.write"], lambda: "") == "allow"


def test_a_stored_policy_stays_readable_when_its_tools_are_gone():
    text = "version: 1\ntools:\n  - { tool: gone.away, verdict: deny }\n"
    assert parse_policy(text).tools == (ToolRule("deny", module="gone", tool="away"),)
    with pytest.raises(Invalid, match="there is no module 'gone'"):
        parse_policy(text, proposed=True, tools=list(ENTRIES))


# Loosening


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "tool: memory.save, verdict: deny",
            "tool: memory.save, verdict: ask",
            "memory.save becomes ask instead of deny",
        ),
        (
            "tool: memory.save, verdict: ask",
            "tool: memory.get, verdict: ask",
            "memory.save becomes allow instead of ask",
        ),
        (
            "effect: write, verdict: ask",
            "caller: owner, effect: write, verdict: ask",
            "* (write) becomes allow instead",
        ),
        ("tool: '*', verdict: deny", "tool: memory.*, verdict: deny", "* becomes allow instead of deny"),
        (
            "tool: github.*, verdict: deny",
            "tool: github.*, account: work, verdict: deny",
            "github.* becomes allow instead of deny",
        ),
        # `*` does not mean what holds other calls.
        (
            "tool: gateway.batch, verdict: deny",
            "tool: '*', verdict: deny",
            "gateway.batch becomes allow instead of deny",
        ),
        ("caller: 'key:*', tool: '*', verdict: ask", "caller: 'key:a', tool: '*', verdict: ask", "for key:*"),
    ],
)
def test_it_loosens(before, after, said):
    old, new = (replace(DEFAULT_RULES, tools=parse(each)) for each in (before, after))
    assert any(said in each and each.startswith("tools: ") for each in find_loosenings(old, new))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], ["tool: memory.save, verdict: ask"]),
        (["tool: memory.save, verdict: ask"], ["tool: memory.*, verdict: deny"]),
        (["tool: memory.save, verdict: ask"], ["tool: '*', verdict: ask"]),
        (["caller: key:a, tool: '*', verdict: ask"], ["caller: 'key:*', tool: '*', verdict: ask"]),
        # An exception stays an exception.
        (
            ["tool: memory.*, verdict: allow", "effect: write, verdict: ask"],
            ["tool: memory.delete, verdict: deny", "tool: memory.*, verdict: allow", "effect: write, verdict: ask"],
        ),
    ],
)
def test_it_only_tightens(before, after):
    old, new = (replace(DEFAULT_RULES, tools=parse(*each) if each else ()) for each in (before, after))
    assert find_loosenings(old, new) == []


def test_an_allowing_rule_in_front_loosens():
    old = parse("effect: write, verdict: ask")
    new = (*parse("tool: memory.*, verdict: allow"), *old)
    assert list(compare_tools(old, new)) == ["tools: memory.* (write) becomes allow instead of ask"]


def test_very_many_rules_are_not_compared():
    many = tuple(ToolRule("ask", module="memory", tool=f"t{number}") for number in range(101))
    assert "too large" in find_loosenings(DEFAULT_RULES, replace(DEFAULT_RULES, tools=many))[0]


tool_names = st.sampled_from(
    [("*", ""), *{(each.module, "") for each in SAMPLE}, *((t.module, t.name) for t in SAMPLE)]
)
rule = st.builds(
    lambda name, **more: ToolRule(module=name[0], tool=name[1], **more),
    tool_names,
    verdict=st.sampled_from(TOOL_VERDICTS),
    caller=st.sampled_from(CALLERS),
    effect=st.sampled_from([None, None, "read", "write", "destroy"]),
    account=st.sampled_from(["", "", "work", "home"]),
)
lists = st.lists(rule, max_size=5).map(tuple)


def edit(draw_from: tuple[tuple[ToolRule, ...], int, ToolRule, str]) -> tuple[tuple[ToolRule, ...], ...]:
    """A list of rules and the same with one change: most pairs of random lists differ in too many ways."""
    rules, place, other, what = draw_from
    place %= len(rules) + 1
    if what == "insert":
        return rules, (*rules[:place], other, *rules[place:])
    if what == "drop":
        return rules, (*rules[:place], *rules[place + 1 :])
    if what == "replace":
        return rules, (*rules[:place], other, *rules[place + 1 :])
    return rules, rules[::-1]


pairs = st.one_of(
    st.tuples(lists, lists),
    st.tuples(lists, st.integers(0, 5), rule, st.sampled_from(["insert", "drop", "replace", "reverse"])).map(edit),
)


@given(pairs)
def test_no_call_is_freer_if_no_loosening_is_reported(pair):
    old, new = pair
    if list(compare_tools(old, new)):
        return
    for caller in NAMES:
        for tool in SAMPLE:
            for account in ("work", "home", "third") if tool.module in ("github", "jira") else ("",):
                before, after = judge(old, caller, tool, account), judge(new, caller, tool, account)
                assert TOOL_VERDICTS.index(after) >= TOOL_VERDICTS.index(before), (caller, tool.path, account)


@given(lists)
def test_the_same_rules_loosen_nothing_and_the_strictest_covers_all_accounts(rules):
    assert list(compare_tools(rules, rules)) == []
    for tool in SAMPLE:
        matching = list_matching(rules, "key:a", tool)
        known = [TOOL_VERDICTS.index(choose_verdict(matching, lambda each=each: each)) for each in ("work", "home", "")]
        assert TOOL_VERDICTS.index(choose_verdict(matching, None)) >= max(known)


# Digests

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
params = st.dictionaries(st.text(max_size=5), values, max_size=4)
people = st.builds(
    lambda name, person, default: Principal(name, "key", Reach(default=default), person),
    st.sampled_from(["key:a", "key:b"]),
    st.sampled_from(["", "ada"]),
    st.sampled_from(["/", "/team"]),
)
requests = st.builds(
    ApprovalRequest, people, st.sampled_from(["memory.save", "memory.delete"]), st.sampled_from(["", "work"]), params
)


def shuffle(value):
    """The same value with all keys in the other order."""
    if isinstance(value, dict):
        return {key: shuffle(value[key]) for key in reversed(value)}
    return [shuffle(each) for each in value] if isinstance(value, list) else value


def same_json(one, other) -> bool:
    """`==`, but 1, 1.0 and true are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return repr(one) == repr(other)


@given(requests, requests)
def test_two_calls_have_one_digest_only_if_they_are_the_same(one, other):
    assert make_digest(one) == make_digest(replace(one, params=shuffle(one.params)))
    parts = (one.who, one.tool, one.account) == (other.who, other.tool, other.account)
    assert (make_digest(one) == make_digest(other)) is (parts and same_json(one.params, other.params))


@given(requests, st.text(max_size=5), values)
def test_any_changed_parameter_changes_the_digest(request, name, value):
    changed = {**request.params, name: value}
    is_same = name in request.params and same_json(request.params[name], value)
    assert (make_digest(request) == make_digest(replace(request, params=changed))) is is_same

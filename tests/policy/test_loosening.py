"""What one policy permits that another does not: every loosening is reported, and nothing that only tightens is."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification
from tokonoma.core.policy import LAYERS, LayerRule
from tokonoma.policy.detections import Detector
from tokonoma.policy.loosening import find_loosenings
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.rules import (
    DAY,
    DEFAULT_RULES,
    DEFAULT_TAGS,
    ClassRule,
    Invariant,
    MaskRule,
    PlacementRule,
    PolicyRules,
    classify_record,
    decide,
    find_hidden_kinds,
    find_tags,
    list_masks,
)
from tokonoma.policy.scan import BUILTIN_DETECTORS, KINDS_BY_NATURE

VERDICTS, ACTIONS = ("allow", "redact", "deny"), ("allow", "redact", "refuse")
TAGS = ["*", "answer:task", "answer:*", "tool:*", "tool:mail", "hr:read", "solo"]
NAMES = ["owner", "key:a", "key:ab", "key:b", "web:x"]
PATTERNS = ["owner", "key:a", "key:a*", "key:*", "*", "k?y:a", "web:x"]
KINDS = ["email", "phone", "password", "staff", "badge"]
OWN = [Detector("staff", "pii", "EMP-[0-9]{6}"), Detector("badge", "secret", "B-[0-9]{4}")]

tags = st.lists(st.sampled_from(TAGS), unique=True, max_size=3).map(tuple)
classes = st.sampled_from(CLASSIFICATIONS)
effects = st.sampled_from([("read",), ("write",), ("read", "write")])
kinds = st.lists(st.sampled_from([*KINDS, "pii", "secret", "*"]), unique=True, max_size=2).map(tuple)
place = {
    "module": st.sampled_from(["", "memory", "vault"]),
    "namespace": st.sampled_from(["", "/", "/hr", "/hr/pay", "/lab"]),
    "path": st.sampled_from(["", "*", "a/*", "a/b"]),
}


@st.composite
def policies(draw) -> PolicyRules:
    rules: dict[Classification, ClassRule] = {
        each: ClassRule(draw(tags), draw(kinds), draw(st.sampled_from(["none", "none", "human_review", "deny"])))
        for each in CLASSIFICATIONS
    }
    masks = tuple(
        draw(
            st.lists(
                st.builds(
                    MaskRule,
                    classes,
                    **place,
                    kinds=st.sampled_from([("email",), ("pii",), ("secret",), ("*",), ("password", "staff")]),
                ),
                max_size=2,
            )
        ),
    )
    return PolicyRules(
        "1.0.0",
        {each: LayerRule(draw(st.sampled_from([DAY, None])), draw(st.sampled_from([1000, 2000]))) for each in LAYERS},
        rules,
        tuple(draw(st.lists(st.builds(PlacementRule, classes, **place), max_size=2))),
        masks,
        tuple(draw(st.lists(st.builds(
            Invariant, classes, st.sampled_from([None, *LAYERS]), effects
        ), max_size=1))),
        tuple(draw(st.dictionaries(st.sampled_from(PATTERNS), tags, max_size=2)).items()),
        draw(st.sampled_from([(), tuple(OWN[:1]), tuple(OWN[1:]), tuple(OWN)])),
        draw(st.dictionaries(st.sampled_from(KINDS), classes, max_size=2)),
        {"secret": draw(st.sampled_from(ACTIONS)), "pii": draw(st.sampled_from(ACTIONS))},
    )  # fmt: skip


@st.composite
def changed(draw) -> tuple[PolicyRules, PolicyRules]:
    """Two policies that differ in a part or two: wholly random ones nearly always loosen something."""
    old, other = draw(policies()), draw(policies())
    parts = ["layers", "class_rules", "placements", "masks", "invariants", "callers", "detectors", "kinds", "writes"]
    taken = draw(st.lists(st.sampled_from(parts), min_size=1, max_size=2, unique=True))
    merged = {name: getattr(other if name in taken else old, name) for name in parts}
    return old, PolicyRules("1.0.1", **merged)


def list_natures(rules: PolicyRules) -> dict[str, str]:
    return {each.kind: each.nature for each in (*BUILTIN_DETECTORS, *rules.detectors)}


RECORDS = [
    (module, space, path, declared, found)
    for module in ("memory", "vault", "items")
    for space, path in (("/", "x"), ("/hr/pay/2027", "a/b"), ("/lab", "a/c"), ("", "a/b"))
    for declared in ("public", "internal", "pii")
    for found in ((), ("email",), ("password",), ("staff", "phone"), ("badge",))
]


def classify(rules: PolicyRules, record) -> str:
    module, space, path, declared, found = record
    natures = list_natures(rules)
    return classify_record(
        rules, module, space, path, declared, [(kind, natures[kind]) for kind in found if kind in natures]
    )


def find_masked(rules: PolicyRules, tags, record) -> frozenset[str]:
    """What is masked of what was found in a record."""
    module, space, path, _, found = record
    masks = list_masks(rules, module, space, path)
    return find_hidden_kinds(rules, tags, list_natures(rules).items(), masks).intersection(found)


def list_leaks(old: PolicyRules, new: PolicyRules) -> list[str]:
    """What anybody sees, or may write, under the new policy only: by trying, without a thought about the rules."""
    leaks: list[str] = []
    same = [
        (f"tags {held}", held, held) for held in {DEFAULT_TAGS, *(held for _, held in (*old.callers, *new.callers))}
    ]
    callers = [(name, find_tags(old, Principal(name, "key")), find_tags(new, Principal(name, "key"))) for name in NAMES]
    for name, before, after in [*same, *callers]:
        for classification in CLASSIFICATIONS:
            for scope in (None, *LAYERS):
                for effect in ("read", "write"):
                    was, now = (
                        decide(rules, held, classification, scope, effect).verdict
                        for rules, held in ((old, before), (new, after))
                    )
                    if VERDICTS.index(now) < VERDICTS.index(was):
                        leaks.append(f"{name}: {effect} {classification} {scope}")
        readable = [each for each in CLASSIFICATIONS if decide(new, after, each).verdict != "deny"]
        hidden = find_hidden_kinds(old, before, list_natures(old).items(), ())
        if readable and not hidden <= find_hidden_kinds(new, after, list_natures(new).items(), ()):
            leaks.append(f"{name}: masks")
    for record in RECORDS:
        was, now = classify(old, record), classify(new, record)
        if CLASSIFICATIONS.index(now) < CLASSIFICATIONS.index(was):
            leaks.append(f"{record}: class")
        for name, before, after in callers:
            if VERDICTS.index(decide(new, after, now).verdict) < VERDICTS.index(decide(old, before, was).verdict):
                leaks.append(f"{name}: {record}")
            shown = find_masked(old, before, record) - find_masked(new, after, record)
            if shown and decide(new, after, now).verdict != "deny":
                leaks.append(f"{name}: masks of {record}")
    leaks += [nature for nature in old.writes if ACTIONS.index(new.writes[nature]) < ACTIONS.index(old.writes[nature])]
    return leaks


@given(changed())
def test_nothing_becomes_visible_if_no_loosening_is_reported(pair):
    old, new = pair
    if not find_loosenings(old, new):
        assert list_leaks(old, new) == []


@given(policies())
def test_a_policy_does_not_loosen_itself(rules):
    assert find_loosenings(rules, rules) == []


LOOSER = {
    "boundary_classes: { pii: { allow: ['*'], escalation: human_review } }": "pii may be read with",
    "boundary_classes: { secret: { allow: ['answer:task'] } }": "secret may be read with answer:task",
    "boundary_classes: { pii: { allow: ['answer:task', 'tool:*'] } }": "pii: escalation becomes none",
    "callers: { 'key:x': ['*'] }": "callers: key:x gains *",
    "kinds: { email: internal }": "kinds: email counts as a milder class",
    "masks: [{ module: memory, kinds: [secret] }]": "counts as a milder class in memory",
    "writes: { secret: redact }": "writes: secret becomes redact instead of refuse",
    "scopes: { session: { ttl: 8d } }": "scopes: the ttl of session becomes longer",
    "scopes: { session: { ttl: inf } }": "scopes: the ttl of session becomes longer",
    "scopes: { project: { max_tokens: 50001 } }": "scopes: max_tokens of project becomes larger",
    "kinds: { badge: public }\ndetectors: [{ kind: badge, class: secret, pattern: 'B-[0-9]{4}' }]":
        "detectors: badge can match instead of",
}  # fmt: skip


@pytest.mark.parametrize("text", LOOSER)
def test_the_default_policy_is_loosened_by(text):
    found = find_loosenings(DEFAULT_RULES, parse_policy(f"version: 1\n{text}"))
    assert any(LOOSER[text] in each for each in found), found


TIGHTER = [
    "",
    "boundary_classes: { pii: { allow: ['answer:task'], redact: [pii], escalation: human_review } }",
    "boundary_classes: { pii: { allow: [], escalation: deny } }",
    "boundary_classes: { pii: { allow: ['tool:contact-lookup'], redact: [email, phone], escalation: human_review } }",
    "callers: { 'key:ci*': ['answer:task'], owner: ['answer:task', 'tool:mail'] }",
    "labels: [{ space: /hr, class: secret }, { module: vault, path: 'a/*', class: pii }]",
    "detectors: [{ kind: employee, class: pii, pattern: 'EMP-[0-9]{6}' }]",
    "kinds: { email: secret }",
    "writes: { pii: refuse }",
    "invariants: [{ class: pii, scope: principle }]",
    "scopes: { session: { ttl: 1d, max_tokens: 10 } }",
    "retrieval: { hybrid: { k_final: 50, alpha: 0.3 } }",
]


@pytest.mark.parametrize("text", TIGHTER)
def test_the_default_policy_is_only_tightened_by(text):
    tight = parse_policy(f"version: 1\n{text}")
    assert find_loosenings(DEFAULT_RULES, tight) == []
    if text and not text.startswith("retrieval"):
        assert find_loosenings(tight, DEFAULT_RULES)  # and the way back is a loosening


def test_what_the_first_of_two_callers_may_is_not_lent_to_the_second():
    old = parse_policy("version: 1\ncallers: { 'key:a*': ['solo'], 'key:*': [] }")
    swapped = parse_policy("version: 1\ncallers: { 'key:*': [], 'key:a*': ['solo'] }")
    assert "callers: key:a* gains solo" in find_loosenings(swapped, old)


def test_a_class_that_can_no_longer_be_read_may_not_unmask_another():
    old = parse_policy(
        "version: 1\nboundary_classes: { internal: { allow: ['*'], redact: [email] }, pii: { allow: ['*'] } }"
    )
    new = parse_policy(
        "version: 1\nboundary_classes: { internal: { allow: [], redact: [email] }, pii: { allow: ['*'] } }"
    )
    assert any(each.startswith("no longer masked for") and each.endswith("email") for each in find_loosenings(old, new))


def test_masks_that_stay_do_not_count():
    masks = "masks: [{ module: vault, kinds: [secret], class: secret }, { path: 'a/*', kinds: [secret], class: pii }]"
    old = parse_policy(f"version: 1\n{masks}")
    assert find_loosenings(old, parse_policy(f"version: 2\n{masks}\nwrites: {{ pii: refuse }}")) == []


def test_the_list_is_bounded():
    labels = "\n".join(f"  - {{ space: /s{number}, class: pii }}" for number in range(80))
    found = find_loosenings(parse_policy(f"version: 1\nlabels:\n{labels}"), DEFAULT_RULES)
    assert len(found) == 51
    assert found[-1] == "and 30 more"


@pytest.mark.parametrize("line", ["'*k{0}*': [t:{0}]", "k{0}: [t:{0}]"])
def test_policies_that_would_take_long_to_compare_count_as_looser(line):
    callers = ["\n  ".join([line.format(number + more) for number in range(1500)]) for more in (0, 1)]
    old, new = (parse_policy(f"version: 1\ncallers:\n  {each}") for each in callers)
    assert find_loosenings(old, new) == ["these policies are too large to be compared: callers, more than 100"]
    assert find_loosenings(old, old) == []


def test_the_names_of_this_file_match_the_detectors():
    assert {"email", "phone"} <= KINDS_BY_NATURE["pii"]
    assert "password" in KINDS_BY_NATURE["secret"]
    assert all(any(fnmatchcase(name, each) for each in PATTERNS) for name in NAMES)

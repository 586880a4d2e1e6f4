"""Policies as YAML and as values: what is accepted, what is refused and where, and what they decide. Pure."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.call import OWNER, Principal
from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.errors import Invalid
from tokonoma.core.policy import LAYERS
from tokonoma.policy.detections import Detector
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.rules import (
    CLASS_RULES,
    DEFAULT_RULES,
    DEFAULT_TAGS,
    DEFAULT_TEXT,
    Invariant,
    PlacementRule,
    classify_kind,
    classify_record,
    covers,
    decide,
    find_hidden_kinds,
    find_tags,
    find_tags_not_held,
    list_readable,
    matches,
)
from tokonoma.policy.yaml_tree import MAX_BYTES

SPECIFIED = """
# policy with retrieval parameters
version: 0.1
scopes:
  session:   { ttl: '7d',    max_tokens: 20000 }
  project:   { ttl: '120d',  max_tokens: 50000 }
  principle: { ttl: 'inf',   max_tokens: 100000 }
boundary_classes:
  public:   { allow: ['*'] }
  internal: { allow: ['answer:task','tool:*'] }
  pii:      { allow: ['tool:contact-lookup'], redact: ['email','phone'], escalation: 'human_review' }
  secret:   { allow: [], escalation: 'deny' }
retrieval:
  hybrid: { alpha: 0.65, k_txt: 48, k_vec: 96, k_final: 12 }
  rerank:
    use_quality: false
    recency_half_life_days: 30
    recency:
      half_life_days_by_kind: { fact: 120, task: 14, preference: 90, policy_hint: 365 }
"""


def test_the_text_of_the_default_policy_means_the_default_policy():
    assert parse_policy(DEFAULT_TEXT) == DEFAULT_RULES


def test_the_specifications_own_example_is_accepted():
    rules = parse_policy(SPECIFIED)
    assert rules.version == "0.1.0"
    assert rules.retrieval.alpha == 0.65
    assert rules.class_rules["pii"].redact == ("email", "phone")
    assert rules.layers["principle"].ttl is None


@pytest.mark.parametrize("outer", ["policy:\n", "policy:\n  boundary:\n"])
def test_the_nested_forms_mean_the_same(outer):
    lines = SPECIFIED.strip().splitlines()[1:]
    if "boundary" in outer:
        at = next(place for place, line in enumerate(lines) if line.startswith("retrieval"))
        body = ["    " + line for line in lines[1:at]] + ["  " + line for line in (lines[0], *lines[at:])]
    else:
        body = ["  " + line for line in lines]
    assert parse_policy(outer + "\n".join(body)) == parse_policy(SPECIFIED)


WRONG = {
    "syntax": ("version: 1\nscopes: [", 2, "", "not YAML"),
    "unknown key": ("version: 1\nscope: {}", 2, "scope", "did you mean scopes"),
    "unknown class": ("version: 1\nboundary_classes:\n  top: {}", 3, "boundary_classes.top", "unknown key"),
    "unknown kind": ("version: 1\nkinds: { emial: pii }", 2, "kinds.emial", "email"),
    "a tag": ("version: 1\ncallers: { owner: ['not a tag'] }", 2, "callers.owner[0]", "answer:task"),
    "alpha": ("version: 1\nretrieval: { hybrid: { alpha: 2 } }", 2, "retrieval.hybrid.alpha", "0.3 to 0.9"),
    "ttl": ("version: 1\nscopes: { session: { ttl: soon } }", 2, "scopes.session.ttl", "7d"),
    "an alias": ("version: &v 1\nscopes: *v", 1, "", "alias"),
    "a tag of Python": ("version: !!python/name:os.system x", 1, "version", "not allowed"),
    "twice": ("version: 1\nversion: 2", 2, "version", "twice"),
    "no version": ("scopes: {}", 1, "", "version is missing"),
    "a version": ("version: new", 1, "version", "1.2.3"),
    "empty": ("", 1, "", "empty"),
    "a list": ("- 1", 1, "", "keys"),
    "two documents": ("version: 1\n---\nversion: 2", 2, "", "one document"),
    "a pattern": ("version: 1\ndetectors:\n  - { kind: emp, pattern: '(?=x)' }", 3, "detectors[0].pattern", "RE2"),
    "an empty pattern": ("version: 1\ndetectors: [{ kind: emp, pattern: 'x*' }]", 2, "detectors[0].pattern", "empty"),
    "a label": ("version: 1\nlabels:\n  - { class: pii }", 3, "labels[0]", "at least one of"),
    "a control character": ("version: 1\x07", 1, "", "character"),
    "deep": ("a: " + "[" * 40 + "]" * 40, 1, "", "levels"),
    "a number": ("version: 1\nscopes: { session: { max_tokens: yes } }", 2, "scopes.session.max_tokens", "number"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_its_place(name):
    text, line, key, said = WRONG[name]
    with pytest.raises(Invalid) as refused:
        parse_policy(text)
    assert refused.value.reason == "policy"
    assert refused.value.details["line"] == line
    assert refused.value.details["key"] == key
    assert said in refused.value.message


def test_all_problems_are_told_at_once():
    with pytest.raises(Invalid) as refused:
        parse_policy("version: x\nscopes: { sesion: {} }\nfoo: 1")
    assert [each["line"] for each in refused.value.details["problems"]] == [1, 2, 3]


def test_64_kilobytes_and_no_more():
    fits = "version: 1\n#" + "x" * (MAX_BYTES - 12)
    assert parse_policy(fits).version == "1.0.0"
    with pytest.raises(Invalid, match="65536"):
        parse_policy(fits + "x")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    try:
        parse_policy(text)
    except Invalid as error:
        assert error.details["problems"]


def test_tags():
    assert covers("tool:*", "tool:mail")
    assert not covers("tool:mail", "tool:*")
    assert not covers("tool:*", "toolbox:mail")
    assert covers("*", "answer:task")
    assert matches(["tool:contact-lookup"], ["tool:*"])
    assert not matches(["tool:contact-lookup"], ["answer:task"])
    assert not matches([], ["*"])
    assert find_tags_not_held(["answer:task", "tool:*"], ["tool:x", "admin:all"]) == ["admin:all"]


def test_deny_before_redact_before_allow():
    rules = parse_policy(SPECIFIED)
    assert decide(rules, ["answer:task"], "internal").verdict == "allow"
    assert decide(rules, ["answer:task"], "pii").verdict == "deny"
    assert decide(rules, ["tool:contact-lookup"], "pii").verdict == "redact"
    assert decide(rules, ["*"], "secret").verdict == "deny"
    assert decide(rules, ["*"], "no such class").verdict == "deny"
    assert list_readable(rules, ["tool:*"]) == ("public", "internal", "pii")


def test_an_invariant_holds_whatever_is_allowed():
    rules = parse_policy(SPECIFIED + "invariants:\n  - { class: internal, scope: principle, deny: [read] }\n")
    assert rules.invariants == (Invariant("internal", "principle", ("read",)),)
    assert decide(rules, ["*"], "internal", "principle").verdict == "deny"
    assert decide(rules, ["*"], "internal", "project").verdict == "allow"
    assert decide(rules, ["*"], "internal", "principle", "write").verdict == "allow"


def test_an_invariant_without_a_scope_holds_in_every_scope():
    rules = parse_policy(SPECIFIED + "invariants:\n  - { class: internal, deny: [read] }\n")
    assert {decide(rules, ["*"], "internal", scope).verdict for scope in (None, *LAYERS)} == {"deny"}


def test_escalation_deny_holds_whatever_is_allowed():
    rules = parse_policy("version: 1\nboundary_classes: { pii: { allow: ['*'], escalation: deny } }")
    assert decide(rules, ["*"], "pii").verdict == "deny"
    assert "pii" not in list_readable(rules, ["*"])


def test_the_class_of_a_record_is_the_strictest_of_all_that_is_said():
    rules = parse_policy(
        "version: 1\nlabels:\n  - { space: /hr, class: pii }\n  - { module: vault, path: 'keys/*', class: secret }\n"
        "kinds: { email: internal }\n"
    )
    assert rules.placements == (PlacementRule("pii", namespace="/hr"), PlacementRule("secret", "vault", path="keys/*"))
    assert classify_record(rules, "memory", "/hr/x", "1", "public", []) == "pii"
    assert classify_record(rules, "memory", "/hrx", "1", "public", []) == "public"
    assert classify_record(rules, "vault", "/", "keys/a", "internal", []) == "secret"
    assert classify_record(rules, "memory", "/", "1", "public", [("email", "pii")]) == "internal"
    assert classify_record(rules, "memory", "/", "1", "public", [("phone", "pii")]) == "pii"
    assert classify_kind(rules, "jwt", "secret") == "secret"


def test_callers_hold_the_tags_of_the_first_line_that_fits():
    rules = parse_policy("version: 1\ncallers: { owner: ['*'], 'key:ci*': ['answer:task'] }")
    assert find_tags(rules, OWNER) == ("*",)
    assert find_tags(rules, Principal("key:ci-2", "key")) == ("answer:task",)
    assert find_tags(rules, Principal("key:x", "key")) == ("answer:task", "tool:*")


def test_a_detector_of_ones_own_can_be_redacted():
    rules = parse_policy(
        "version: 1\ndetectors: [{ kind: employee, class: pii, pattern: 'EMP-[0-9]+' }]\n"
        "boundary_classes: { pii: { allow: ['*'], redact: [employee, secret] } }"
    )
    assert rules.detectors == (Detector("employee", "pii", "EMP-[0-9]+"),)


@given(
    st.sampled_from(CLASSIFICATIONS), st.lists(st.sampled_from(["*", "answer:task", "tool:*", "tool:x"]), max_size=3)
)
def test_with_more_tags_one_never_sees_less(label, tags):
    verdicts = ("deny", "redact", "allow")
    few, more = decide(DEFAULT_RULES, tags, label).verdict, decide(DEFAULT_RULES, [*tags, "*"], label).verdict
    assert verdicts.index(few) <= verdicts.index(more)
    assert set(CLASS_RULES) == set(CLASSIFICATIONS)


@pytest.mark.parametrize("name", ["person", "team", "company"])
def test_the_example_policies_are_right(name):
    text = (Path(__file__).parents[2] / "examples" / "policies" / f"{name}.yaml").read_text(encoding="utf-8")
    rules = parse_policy(text)
    assert decide(rules, ["*"], "secret").verdict == "deny"
    assert "internal" in list_readable(rules, find_tags(rules, Principal("key:somebody", "key")))


def test_masks_name_kinds_and_a_place():
    rules = parse_policy("version: 1\nmasks: [{ module: manual, path: 'guide/*', kinds: [secret] }]")
    secret = [("anthropic_key", "secret")]
    assert classify_record(rules, "manual", "/", "guide/a.md#L1", "internal", secret) == "pii"
    assert classify_record(rules, "manual", "/", "other/a.md#L1", "internal", secret) == "internal"  # as in every file
    assert classify_record(rules, "memory", "/", "other/a.md#L1", "internal", secret) == "secret"
    assert classify_record(rules, "manual", "/", "guide/a.md#L1", "secret", secret) == "secret"
    for wrong in ("{ kinds: [secret] }", "{ module: manual }", "{ module: manual, kinds: [keys] }"):
        with pytest.raises(Invalid):
            parse_policy(f"version: 1\nmasks: [{wrong}]")


def test_what_belongs_to_a_class_that_cannot_be_read_is_hidden():
    natures = [("password", "secret"), ("email", "pii")]
    assert find_hidden_kinds(DEFAULT_RULES, DEFAULT_TAGS, natures, ()) == {"password"}
    denying = parse_policy("version: 1\nboundary_classes: { pii: { allow: ['owner:eyes'] } }")
    assert find_hidden_kinds(denying, DEFAULT_TAGS, natures, ()) == {"password", "email"}

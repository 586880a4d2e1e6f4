"""specs/003, INVALID_POLICY: whatever a YAML text holds, the answer names line and key, and is never INTERNAL."""

import copy
import json
import random

import pytest
from conftest import SOAK
from talk import Lines

WHOLE = {
    "version": "1.0",
    "scopes": {"session": {"ttl": "7d", "max_tokens": 100}},
    "boundary_classes": {"pii": {"allow": ["answer:task"], "redact": ["email"], "escalation": "human_review"}},
    "labels": [{"module": "memory", "space": "/hr", "path": "a/*", "class": "secret"}],
    "masks": [{"module": "vault", "kinds": ["secret"], "class": "pii"}],
    "invariants": [{"class": "pii", "scope": "principle", "deny": ["read"]}],
    "callers": {"owner": ["*"], "key:ci*": ["answer:task"]},
    "detectors": [{"kind": "employee", "class": "pii", "pattern": "EMP-[0-9]{6}"}],
    "kinds": {"email": "internal"},
    "writes": {"secret": "refuse", "pii": "allow"},
    "retrieval": {
        "hybrid": {"alpha": 0.65, "k_txt": 48, "k_vec": 96, "k_final": 12},
        "rerank": {"use_quality": False, "recency": {"half_life_days_by_kind": {"fact": 1}}},
    },
    "tools": [
        {"caller": "key:ci*", "tool": "memory.save", "verdict": "allow"},
        {"tool": "github.*", "effect": "destroy", "account": "work", "verdict": "deny"},
        {"effect": "write", "verdict": "ask"},
    ],
}  # fmt: skip
WRONG = [
    None, True, 0, -1, 5, 1.5, 10**400, 1e308, "", "x", "*", "[", "\x00", "\x1b[2J", "日本", "a" * 3000, [], {}, [[]],
    [None], {"": 1}, {"x": None}, {"*": ["*"]}, [{}], [{"class": "pii"}], {"allow": 5}, {"policy": 1}, ["email", 3],
    {"null": {}}, "{visible}", "../..", "2020-01-01", {"class": {"class": []}}, [True, False], "*" * 900,
]  # fmt: skip
SPOILING = ["", "&a ", "*a", "!!int ", "? ", "\t", "\x07", "---\n", "%", "{", "]"]
LARGE = "".join(f"  - {{ kind: k{n}, pattern: 'x{{{n}}}\\pL{{60}}' }}\n" for n in range(1, 11))
TEXTS = {
    "detectors that redefine a built-in kind": (
        "detectors:\n  - { kind: email, class: pii, pattern: 'x{30}' }", 3, "detectors[0].kind",
    ),
    "a kind with the name of a class": ("detectors:\n  - { kind: secret, pattern: 'x{30}' }", 3, "detectors[0].kind"),
    "a kind with two classes": (
        "detectors:\n  - { kind: pin, class: secret, pattern: 'xxx' }\n  - { kind: pin, pattern: 'y' }",
        4, "detectors[1].kind",
    ),
    "an unknown module in labels": ("labels:\n  - { module: memroy, class: pii }", 3, "labels[0].module"),
    "an unknown module in masks": ("masks:\n  - { module: files, kinds: [secret] }", 3, "masks[0].module"),
    "tools is a mapping": ("tools: { memory.save: ask }", 2, "tools"),
    "a rule about tools without a verdict": ("tools:\n  - { tool: memory.save }", 3, "tools[0]"),
    "a rule about no tool": ("tools:\n  - { caller: owner, verdict: ask }", 3, "tools[0]"),
    "a verdict that does not exist": ("tools:\n  - { tool: '*', verdict: maybe }", 3, "tools[0].verdict"),
    "an effect that does not exist": ("tools:\n  - { effect: delete, verdict: ask }", 3, "tools[0].effect"),
    "an unknown module in tools": ("tools:\n  - { tool: memroy.save, verdict: deny }", 3, "tools[0].tool"),
    "an unknown tool": ("tools:\n  - { tool: memory.sav, verdict: deny }", 3, "tools[0].tool"),
    "a module without its tools": ("tools:\n  - { tool: memory, verdict: deny }", 3, "tools[0].tool"),
    "the tool that passes calls on": ("tools:\n  - { tool: gateway.call, verdict: deny }", 3, "tools[0].tool"),
    "an account of a module that has none": (
        "tools:\n  - { tool: memory.*, account: work, verdict: ask }", 3, "tools[0].account",
    ),
    "a caller without a name": ("tools:\n  - { caller: '', tool: '*', verdict: ask }", 3, "tools[0].caller"),
    "an unknown key of a rule about tools": (
        "tools:\n  - { tool: '*', verdict: ask, until: x }", 3, "tools[0].until",
    ),
    "a rule that is never used": (
        "tools:\n  - { tool: memory.*, verdict: allow }\n  - { tool: memory.delete, verdict: deny }", 4, "tools[1]",
    ),
    "callers is a number": ("callers: 5", 2, "callers"),
    "callers is a list": ("callers: [a]", 2, "callers"),
    "a number without digits": ("scopes: { session: { max_tokens: !!int '' } }", 2, "scopes.session.max_tokens"),
    "a number of 500 digits": (f"retrieval: {{ k_final: {'9' * 500} }}", 2, "retrieval.k_final"),
    "infinity": ("retrieval: { hybrid: { alpha: .inf } }", 2, "retrieval.hybrid.alpha"),
    "half a surrogate pair": ('labels:\n  - { module: "\\ud800", class: pii }', 3, "labels[0].module"),
    "half a surrogate pair in a key": ('callers:\n  "\\udfff": []', 3, "callers"),
    "a tagged mapping": ("callers: !!set { a }", 2, "callers"),
    "an object of Python": ("callers: !!python/object:os.system {}", 2, "callers"),
    "patterns that are too large together": (f"detectors:\n{LARGE}", 3, "detectors"),
}  # fmt: skip


def test_it_names_line_and_key(app):
    talk = Lines(app)
    for name, (text, line, key) in TEXTS.items():
        for more in ({"validate_only": True}, {"dry_run": True}, {}):
            refused = talk.refused("claims", "policy.apply", yaml=f"version: 1\n{text}", **more)
            details = refused["details"]
            assert (refused["code"], details.get("line"), details.get("key")) == ("INVALID_POLICY", line, key), name


def list_places(tree, place=()):
    yield place
    members = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in members:
        yield from list_places(value, (*place, key))


def put(tree, place, value):
    if not place:
        return value
    *way, last = place
    inner = tree
    for key in way:
        inner = inner[key]
    inner[last] = value
    return tree


def make_texts(count: int):
    """The whole policy with one or more of its parts replaced, as JSON, which is YAML; and cut or spoilt texts."""
    chance = random.Random(15)
    places = sorted(list_places(WHOLE), key=str)
    for number in range(count):
        tree = copy.deepcopy(WHOLE)
        for _ in range(chance.choice((1, 1, 2, 5))):
            place = chance.choice(places) if number >= len(places) else places[number]
            try:
                tree = put(tree, place, copy.deepcopy(chance.choice(WRONG)))
            except (KeyError, IndexError, TypeError):
                continue  # the part that holds it was replaced before
        text = json.dumps(tree, ensure_ascii=chance.random() < 0.5)
        if chance.random() < 0.2:
            at = chance.randrange(len(text))
            text = (
                text[:at]
                + chance.choice(["", "&a ", "*a", "!!int ", "? ", "\t", "\x07", "---\n", "%", "{", "]"])
                + text[at + 1 :]
            )
        yield text


@pytest.mark.parametrize("part", range(2))
def test_no_shape_is_an_internal_error(app, part):
    talk = Lines(app)
    texts = list(make_texts(20_000 if SOAK else 480))[part::2]
    refused = 0
    for text in texts:
        result = talk.tool(
            "call", module="claims", tool_name="policy.apply", params={"yaml": text, "validate_only": True}
        )
        told = json.loads(result["content"][0]["text"])
        if not result.get("isError"):
            continue
        refused += 1
        error = told["error"]
        assert error["code"] in ("INVALID_POLICY", "VALIDATION_ERROR"), (text, error)
        if error["code"] == "INVALID_POLICY":
            assert error["details"]["line"] >= 1
            assert isinstance(error["details"]["key"], str)
            assert all({"key", "line", "column", "message"} == set(each) for each in error["details"]["problems"])
    assert refused > len(texts) // 2

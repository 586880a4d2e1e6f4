"""For random policies, records and callers: no answer holds a record whose class is denied to the caller."""

import json
import random

import pytest
from conftest import SOAK
from policy.houses import enforce, key
from talk import Http, Lines

from tokonoma.core.call import OWNER, Principal
from tokonoma.core.desk import LABELS
from tokonoma.policy.decide import decide, label_of, tags_of
from tokonoma.policy.read import parsed

POLICIES = 420 if SOAK else 6  # of each, 24 cases
TAGS = ["answer:task", "tool:mail", "tool:*", "hr:read", "*"]
SPACES = ["/", "/hr", "/hr/2026", "/public", "/x"]
FINDS = ["", " a@example.com", " 090-1234-5678"]
KINDS = {" a@example.com": [("email", "pii")], " 090-1234-5678": [("phone", "pii")]}
READS = [
    ("memory", "search", {"query": "覚え書き", "k": 100}),
    ("memory", "list", {"namespace": "/", "limit": 200}),
    ("memory", "search", {"metadata_filter": {"m": 1}, "k": 100}),
    ("claims", "search", {"query": "覚え書き", "top_k": 50}),
    ("claims", "activate", {"q": "覚え書き", "top_k": 50, "include_meta": True}),
    ("claims", "list", {"limit": 200}),
    ("items", "search_items", {"query": "覚え書き"}),
    ("items", "get_items", {}),
]


def written(talk, rng, count=18):
    """Records of three modules, each with a marker of its own: marker → module, space, said class, finds."""
    records = {}
    for number in range(count):
        marker, find = f"mk{number:03d}q", rng.choice(FINDS)
        text = f"覚え書き {marker}{find}"
        module = ("memory", "claims", "items")[number % 3]
        space, said = rng.choice(SPACES), "internal"
        if module == "memory":
            talk.call("memory", "save", content=text, namespace=space, metadata={"m": 1})
        elif module == "claims":
            said, space = rng.choice(LABELS), "/"
            talk.call("claims", "upsert", text=text, boundary_class=said, provenance={})
        else:
            space = "/"
            talk.call("items", "create_item", type="docs", title=text, content=text)
        records[marker] = (module, space, said, KINDS.get(find, []))
    return records


def policy_of(rng, number):
    """A random one, as YAML."""
    lines = [f"version: {number + 1}.0", "boundary_classes:"]
    for label in LABELS:
        allow = rng.sample(TAGS, rng.randint(0, 3))
        redact = rng.choice([[], [], ["pii"], ["email"]])
        lines.append(f"  {label}: {{ allow: {json.dumps(allow)}, redact: {json.dumps(redact)} }}")
    lines.append("callers:")
    for name in ("owner", "key:one", "key:two"):
        lines.append(f"  '{name}': {json.dumps(rng.sample(TAGS, rng.randint(0, 3)))}")
    rules = [
        f"  - {{ space: {rng.choice(SPACES[1:])}, class: {rng.choice(LABELS)} }}" for _ in range(rng.randint(0, 2))
    ]
    rules += [f"  - {{ module: {rng.choice(['memory', 'items'])}, class: {rng.choice(LABELS)} }}"] * rng.randint(0, 1)
    lines += ["labels:", *rules] if rules else []
    if rng.random() < 0.5:
        lines.append(f"kinds: {{ email: {rng.choice(LABELS)} }}")
    if rng.random() < 0.3:
        lines.append(f"invariants: [{{ class: {rng.choice(LABELS)}, deny: [read] }}]")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", [pytest.param(7, marks=pytest.mark.soak) if SOAK else 7])
def test_no_answer_holds_what_is_denied(app, seed):
    rng, owner = random.Random(seed), Lines(app)
    records = written(owner, rng)
    callers = {
        "owner": (owner, OWNER),
        "one": (Http(app, key(app, "one")), Principal("key:one", "key")),
        "two": (Http(app, key(app, "two", root="/hr")), Principal("key:two", "key", root="/hr", default="/hr")),
    }
    seen = denied = 0
    for number in range(POLICIES):
        rules = parsed(yaml := policy_of(rng, number))
        enforce(app, yaml)
        for talk, who in callers.values():
            hidden = {
                marker
                for marker, (module, space, said, finds) in records.items()
                if decide(rules, tags_of(rules, who), label_of(rules, module, space, "", said, finds)).verdict == "deny"
            }
            for module, tool, params in READS:
                answer = json.dumps(talk.tool("call", module=module, tool_name=tool, params=params), ensure_ascii=False)
                shown = {marker for marker in records if marker in answer}
                assert not shown & hidden, (yaml, who.name, module, tool)
                seen, denied = seen + len(shown), denied + len(hidden)
                masked = rules.classes["pii"].redact == ("pii",) and "email" not in rules.kinds
                if masked and shown:
                    assert "a@example.com" not in answer
    assert seen > 50
    assert denied > 50

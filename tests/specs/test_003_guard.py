"""For random policies, records and callers: no answer holds a record whose class is denied to the caller."""

import itertools
import json
import random

import pytest
from conftest import SOAK
from policy.houses import enforce, key
from policy.world import QUESTIONS, READS, SPACES, TELLS_NO_TEXT, World
from talk import Http, Lines

from tokonoma.core.call import OWNER, Principal
from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.core.reach import Reach
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.rules import find_hidden_kinds, find_tags

POLICIES = 3_334 if SOAK else 24  # each for three callers, who ask three questions: 10 002 cases
ASKED = 3
TAGS = ["answer:task", "tool:mail", "tool:*", "hr:read", "*"]
MODULES = ["memory", "claims", "items", "manual", "vault"]


def policy_of(rng, number):
    """A random one, as YAML."""
    lines = [f"version: {number + 1}.0", "boundary_classes:"]
    for label in CLASSIFICATIONS:
        allow = rng.sample(TAGS, rng.randint(0, 3))
        redact = rng.choice([[], [], ["pii"], ["email"]])
        lines.append(f"  {label}: {{ allow: {json.dumps(allow)}, redact: {json.dumps(redact)} }}")
    lines.append("callers:")
    for name in ("owner", "key:one", "key:two"):
        lines.append(f"  '{name}': {json.dumps(rng.sample(TAGS, rng.randint(0, 3)))}")
    rules = [
        f"  - {{ space: {rng.choice(SPACES[1:])}, class: {rng.choice(CLASSIFICATIONS)} }}"
        for _ in range(rng.randint(0, 2))
    ]
    rules += [f"  - {{ module: {rng.choice(MODULES)}, class: {rng.choice(CLASSIFICATIONS)} }}"] * rng.randint(0, 1)
    if rng.random() < 0.4:
        path = rng.choice(["*a.md*", "hr/*", "book-hr*", "*1*"])
        lines_of_path = f"module: {rng.choice(['manual', 'vault'])}, path: '{path}'"
        rules.append(f"  - {{ {lines_of_path}, class: {rng.choice(CLASSIFICATIONS)} }}")
    lines += ["labels:", *rules] if rules else []
    if rng.random() < 0.2:
        lines.append(
            f"masks: [{{ module: {rng.choice(MODULES)}, kinds: [email], class: {rng.choice(CLASSIFICATIONS)} }}]"
        )
    if rng.random() < 0.5:
        lines.append(f"kinds: {{ email: {rng.choice(CLASSIFICATIONS)} }}")
    if rng.random() < 0.3:
        lines.append(f"invariants: [{{ class: {rng.choice(CLASSIFICATIONS)}, deny: [read] }}]")
    return "\n".join(lines)


@pytest.fixture
def world(app) -> World:
    made = World(app, random.Random(7), Lines(app))
    made.fill()
    return made


def test_every_reading_tool_of_every_module_is_asked_and_tells_of_records(world):
    """A tool that is added to a module and not to the questions fails here; one that shows nothing proves nothing."""
    assert set(QUESTIONS) == set(READS)
    silent: set[str] = set()
    for path in READS:
        tries = range(5 if path in TELLS_NO_TEXT else 40)  # whom it asks about is drawn by lot
        if not any("mk0" in asked(world, world.talk, path, set()) for _ in tries):
            silent.add(path)
    assert silent == TELLS_NO_TEXT


def test_whoever_knows_everything_knows_the_classes_that_are_stored(world):
    """What the property below is held against: without this it could be right about a house that is not there."""
    rng = world.rng
    for number in range(5):
        world.talk.call("manual", "list")
        rules = parse_policy(yaml := policy_of(rng, number))
        enforce(world.app, yaml)
        labels = world.labels(rules)
        with world.app.database.reading() as rows:
            stored = {address: (space, label) for address, space, label in rows.rows(_STORED)}
        living = {marker: held for marker, held in world.records.items() if not held.sticky}
        told = {f"tokonoma://{held.module}/{held.path}": (held.space, labels[m]) for m, held in living.items()}
        assert told == stored


_STORED = "select address, space, label from document"


@pytest.mark.soak
def test_no_answer_holds_what_is_denied(app, world, progress):
    rng = world.rng
    callers = {
        "owner": (world.talk, OWNER),
        "one": (Http(app, key(app, "one")), Principal("key:one", "key")),
        "two": (Http(app, key(app, "two", root="/hr")), Principal("key:two", "key", Reach(root="/hr", default="/hr"))),
    }
    ways = [*READS, "bridge.copy_section", "bridge.copy_file", "batch", "batch"]
    deck = itertools.chain.from_iterable(rng.sample(ways, len(ways)) for _ in itertools.count())
    seen = denied = 0
    for number in range(POLICIES):
        if number % 40 == 39:
            world.open()
            world.add(rng.choice(MODULES))
        rules = parse_policy(yaml := policy_of(rng, number))
        enforce(app, yaml)
        labels = world.labels(rules)
        for talk, who in callers.values():
            hidden = world.hidden(rules, who, labels)
            for _ in range(ASKED):
                way = next(deck)
                answer = asked(world, talk, way, hidden)
                shown = {marker for marker in world.records if marker in answer}
                assert not shown & hidden, (yaml, who.name, way, shown & hidden, answer[:2000])
                seen, denied = seen + len(shown), denied + len(hidden)
                if way != "batch" and masked(rules, who):
                    assert "a@example.com" not in answer, (yaml, who.name, way)
        progress(number + 1, POLICIES)
    assert seen > POLICIES
    assert denied > POLICIES


def masked(rules, who) -> bool:
    """Whether an answer must not hold an address."""
    return "email" in find_hidden_kinds(rules, find_tags(rules, who), [("email", "pii")], ())


def asked(world, talk, way, hidden) -> str:
    """What a caller is told; of a copy, which tells no text, that it was refused if it had to be."""
    if way == "batch":
        steps = [(path, world.question(path, talk)) for path in world.rng.sample(READS, 3)]
        lines = [
            {"id": f"s{place}", "module": path.partition(".")[0], "tool": path.partition(".")[2], "params": params}
            for place, (path, params) in enumerate(steps)
        ]
        told = talk.tool("batch", jsonl="\n".join(json.dumps({**line, "output": True}) for line in lines))
    elif way.startswith("bridge"):
        told = copied(world, talk, way, hidden)
    else:
        module, _, tool = way.partition(".")
        told = talk.tool("call", module=module, tool_name=tool, params=world.question(way, talk))
    return json.dumps(told, ensure_ascii=False)


def copied(world, talk, way, hidden):
    target = world.folder("vault") / "hr" / "copy.md"
    if way == "bridge.copy_section":
        params = {"from_ref": {"address": world.address()}}
    else:
        ref = world.one("manual")
        params = {"manual_id": ref["manual_id"], "from_path": ref["path"]}
    told = talk.tool("call", module="bridge", tool_name=way[7:], params={**params, "to_path": "hr/copy.md"})
    text = target.read_text() if target.exists() else ""
    target.unlink(missing_ok=True)
    taken = {marker for marker in hidden if marker in text}
    assert not taken, (way, params, taken)
    return told

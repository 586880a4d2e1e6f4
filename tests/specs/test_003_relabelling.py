"""specs/003, policy.apply: records follow a new policy in bounded pieces, and at no moment is one too open."""

import itertools
import json
import random
import threading

import pytest
from conftest import SOAK
from policy.houses import enforce, key
from policy.world import READS, World
from specs.test_003_guard import policy_of
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.core.call import OWNER, Principal
from tokonoma.core.policy import PolicyProposal
from tokonoma.core.reach import Reach
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.reclassify import BATCH_SIZE

RECORDS = 3_000
PAIRS = 300 if SOAK else 6
STRICT = "version: 2\nlabels: [{ space: /hr, class: secret }]"
MILD = "version: 3"


def filled(talk, count=RECORDS):
    """Half of them in /hr."""
    for start in range(0, count, 1000):
        for space in ("hr", "x"):
            memos = [{"content": f"memo {start + number}"} for number in range(min(1000, count) // 2)]
            talk.call("memory", "save", memos=memos, namespace=f"/{space}")


def accept(app, yaml):
    """It is coming, and nobody leads the records there but this test."""
    app.reclassifier.wake = lambda: None
    with app.write_as_owner("policy.apply") as statements:
        return app.policies.apply(statements, PolicyProposal(yaml), "owner").version


def stepped(app, most=BATCH_SIZE):
    app.policies.prepare()
    with app.database.writing() as statements:
        return app.policies.step(statements, most)


def classes(app) -> dict[tuple[str, str], int]:
    """How many memos there are of each space and class; the index says the same."""
    with app.database.reading() as rows:
        memos = rows.rows("select space, label, count(*) from memo group by space, label order by space, label")
        documents = rows.rows("select space, label, count(*) from document group by space, label order by space, label")
    assert memos == documents
    return {(space, label): count for space, label, count in memos}


def seen(talk, space) -> int:
    items = talk.call("memory", "namespaces")["items"]
    return next((each["memos"] for each in items if each["namespace"] == space), 0)


def test_no_transaction_touches_more_than_a_piece_and_others_write_in_between(app):
    talk = Lines(app)
    filled(talk)
    accept(app, STRICT)
    steps, before = 0, 0
    while app.policies.progress() and not app.policies.progress().in_force:
        assert talk.call("memory", "get", memo_id=talk.call("memory", "save", content="x", namespace="/x")["memo_id"])
        assert talk.call("system", "status")["health"]["policy"]["says"].startswith(
            "0.1.0 is in force; 2.0.0 is coming"
        )
        assert stepped(app)
        now = classes(app).get(("/hr", "secret"), 0)
        assert 0 <= now - before <= BATCH_SIZE
        steps, before = steps + 1, now
    assert before == RECORDS // 2
    assert steps > RECORDS // BATCH_SIZE
    assert seen(talk, "/hr") == 0
    while stepped(app):
        pass
    assert app.policies.progress() is None
    assert talk.call("system", "status")["health"]["policy"]["says"] == "2.0.0 is in force"


def test_what_must_be_stricter_is_so_before_the_policy_is_in_force_and_milder_after(app):
    talk = Lines(app)
    filled(talk, 40)
    accept(app, STRICT)
    counts = []
    while (progress := app.policies.progress()) is not None and not progress.in_force:
        told = talk.call("claims", "policy.get")["data"]
        assert (told["version"], told["relabelling"]["version"]) == ("0.1.0", "2.0.0")
        counts.append(seen(talk, "/hr"))
        stepped(app, 10)
    assert sorted(counts, reverse=True) == counts
    assert counts[0] == 20
    assert seen(talk, "/hr") == 0
    assert talk.call("claims", "policy.get")["data"]["version"] == "2.0.0"
    while stepped(app, 10):
        assert seen(talk, "/hr") == 0
    accept(app, MILD)
    shown = [seen(talk, "/hr")]
    while stepped(app, 10):
        shown.append(seen(talk, "/hr"))
    assert shown[0] == 0
    assert shown[-1] == 20
    assert sorted(shown) == shown
    assert seen(talk, "/x") == 20


def test_what_is_written_meanwhile_has_the_stricter_class_of_both(app):
    talk = Lines(app)
    filled(talk, 4)
    accept(app, STRICT)
    talk.call("memory", "save", content="new", namespace="/hr")
    assert classes(app) == {("/hr", "internal"): 2, ("/hr", "secret"): 1, ("/x", "internal"): 2}
    while stepped(app):
        pass
    accept(app, MILD)
    talk.call("memory", "save", content="newer", namespace="/hr")
    assert classes(app)["/hr", "secret"] == 4, "the old policy still wants it"
    while not app.policies.progress().in_force:
        stepped(app)
    talk.call("memory", "save", content="newest", namespace="/hr")
    assert classes(app)["/hr", "internal"] == 1
    while stepped(app):
        pass
    assert classes(app) == {("/hr", "internal"): 5, ("/x", "internal"): 2}


def test_another_policy_may_come_before_the_first_has_arrived(app):
    talk = Lines(app)
    filled(talk, 40)
    accept(app, STRICT)
    stepped(app, 10)
    assert talk.refused("claims", "policy.apply", yaml=MILD, expected_version="0.1.0")["details"][
        "current_version"
    ] == ("2.0.0")
    terminal = Lines(app, "cli")  # it loosens
    assert terminal.call("claims", "policy.apply", yaml=MILD, expected_version="2.0.0")["data"] == {"version": "3.0.0"}
    assert classes(app) == {("/hr", "internal"): 20, ("/x", "internal"): 20}
    accept(app, STRICT.replace("2", "4", 1))
    while not app.policies.progress().in_force:
        stepped(app, 10)
    stepped(app, 10)
    enforce(app, "version: 5\nlabels: [{ space: /x, class: secret }]")
    assert classes(app) == {("/hr", "internal"): 20, ("/x", "secret"): 20}


def test_who_comes_after_a_killed_process_goes_on(app, database_url, tmp_path):
    talk = Lines(app)
    filled(talk, 200)
    accept(app, STRICT)
    stepped(app, 10)
    with pytest.raises(ZeroDivisionError), app.database.writing() as statements:  # as a kill takes it back
        app.policies.step(statements, 10)
        raise ZeroDivisionError
    later = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    try:
        Lines(later).call("memory", "namespaces")
        pause = threading.Event()
        while later.policies.progress() is not None:
            pause.wait(0.01)
        assert classes(later) == {("/hr", "secret"): 100, ("/x", "internal"): 100}
        assert seen(Lines(later), "/hr") == 0
    finally:
        later.close()


def test_writers_go_on_and_every_record_arrives(app):
    """Two writers change the very records that are led to the new policy: nobody is refused, and no class is wrong."""
    talk = Lines(app)
    filled(talk, 400)
    memos = [each["memo_id"] for each in talk.call("memory", "list", namespace="/", limit=200)["items"]]
    done, errors = threading.Event(), []

    def write(seed):
        rng, mine = random.Random(seed), Lines(app)
        while not done.is_set():
            text = rng.choice(["plain", "mail a@example.com"])
            changed = {"memo_id": rng.choice(memos), "content": f"{text} {rng.random()}"}
            result = mine.tool("call", module="memory", tool_name="save", params=changed)
            if result.get("isError"):
                errors.append(result)

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(2)]
    for each in writers:
        each.start()
    try:
        for number in range(8):
            enforce(app, f"version: {number + 2}\nkinds: {{ email: {'pii' if number % 2 else 'internal'} }}")
    finally:
        done.set()
        for each in writers:
            each.join()
    assert errors == []
    app.reclassifier.run_until_done()
    yaml = "version: 50\nkinds: { email: pii }"
    assert all(old == new for old, new in app.policies.preview(PolicyProposal(yaml))[2])


def test_only_steps_that_lock_records_give_way_soon(app, monkeypatch):
    """To put a policy in force is to wait for the writes under way; but never until the database ends one of them."""
    if app.database.kind != "postgresql":
        pytest.skip("on SQLite one writes at a time, and everybody has a turn")
    filled(Lines(app), 4)
    waits: dict[bool, set[str]] = {True: set(), False: set()}
    step = app.policies.step

    def watched(statements, most):
        waits[app.policies.is_activating(statements)].add(statements.row("show lock_timeout")[0])
        return step(statements, most)

    monkeypatch.setattr(app.policies, "step", watched)
    accept(app, STRICT)
    app.reclassifier.run_until_done()
    assert waits == {True: {"800ms"}, False: {"200ms"}}


def test_a_trash_follows_where_nothing_else_is_left(app):
    talk = Lines(app)
    memo = talk.call("memory", "save", content="人事の話", namespace="/hr")
    talk.call("memory", "delete", memo_id=memo["memo_id"])
    enforce(app, STRICT)
    assert talk.call("memory", "list", state="trash", namespace="/")["items"] == []


@pytest.mark.soak
def test_on_the_way_nothing_is_shown_that_neither_policy_would_show(app):
    """Random policies, of which many are odder than any that a person writes: a stricter class may be seen by more."""
    world = World(app, random.Random(13), Lines(app))
    world.fill()
    rng = world.rng
    callers = [
        (world.talk, OWNER),
        (Http(app, key(app, "one")), Principal("key:one", "key")),
        (Http(app, key(app, "two", root="/hr")), Principal("key:two", "key", Reach(root="/hr", default="/hr"))),
    ]
    ways = itertools.cycle(rng.sample(READS, len(READS)))
    old, yaml = parse_policy("version: 0.9"), "version: 0.9"
    enforce(app, yaml)
    labels, shown, looks = world.labels(old), 0, 0
    for number in range(PAIRS):
        new = parse_policy(yaml := policy_of(rng, number))
        accept(app, yaml)
        before, labels = labels, world.labels(new)
        while stepped(app, rng.choice([3, 7, 20])):
            for talk, who in callers:
                hidden = world.hidden(old, who, before) & world.hidden(new, who, labels)
                way = next(ways)
                module, _, tool = way.partition(".")
                told = talk.tool("call", module=module, tool_name=tool, params=world.question(way, talk))
                answer = json.dumps(told, ensure_ascii=False)
                found = {marker for marker in world.records if marker in answer}
                assert not found & hidden, (yaml, who.name, way, found & hidden)
                shown, looks = shown + len(found), looks + 1
        old = new
    assert looks > PAIRS * 9
    assert shown > PAIRS

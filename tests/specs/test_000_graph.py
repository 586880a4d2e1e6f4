"""specs/000, `memory.relation.graph` and `.list`: random graphs against brute force, and what an answer costs."""

import random
import time

import pytest
from conftest import SOAK
from specs.brute_graph import list_paths
from talk import Lines

from tokonoma.modules.memory.tables import RELATION_COLUMNS
from tokonoma.pipeline.row_filter import CallerRowFilter

GRAPHS = 200 if SOAK else 3  # on each database
INSERT = f"""insert into memo_relation ({RELATION_COLUMNS})
values (:space, :source, :target, :tag, :label, :weight, '', 1, 1, 1)"""


@pytest.fixture
def client(app):
    return Lines(app)


def save_memos(client, number, namespace="g"):
    told = client.call("memory", "save", namespace=namespace, memos=[{"content": f"memo {n}"} for n in range(number)])
    return [each["memo_id"] for each in told["items"]]


def put_relations(app, edges, **more):
    fields = {"space": "/g", "tag": "t", "label": "internal", "weight": 1.0, **more}
    with app.database.writing() as tx:
        tx.run_many(INSERT, [{**fields, **edge} for edge in edges])


def draw_edges(rng, memos, number):
    """With several tags and namespaces for one pair, loops, and weights that repeat."""
    keys = {
        (rng.choice(["/g", "/g/deep", "/elsewhere"]), *rng.sample(memos, 2), rng.choice(["a", "b"]))
        for _ in range(number)
    }
    return [
        {"space": space, "source": source, "target": target, "tag": tag, "weight": rng.choice([0.2, 0.5, 1.0]),
         "label": "secret" if rng.random() < 0.1 else "internal"}
        for space, source, target, tag in sorted(keys)
    ]  # fmt: skip


def hide(app, client, rng, memos):
    """Three memos that nobody sees: deleted, expired, and of a class that the policy hides."""
    deleted, expired, secret = rng.sample(memos, 3)
    client.call("memory", "delete", memo_id=deleted)
    with app.database.writing() as tx:
        tx.run("update memo set expires_at = 1 where id = :id", id=expired)
        tx.run("update memo set label = 'secret' where id = :id", id=secret)
    return {deleted, expired, secret}


def compare(told, expected, start, weights):
    edges = told["edges"]
    keys = [(each["namespace"], each["sourceMemoId"], each["targetMemoId"], each["tag"]) for each in edges]
    assert len(keys) == len(set(keys))
    assert set(keys) == set(expected)
    for key, edge in zip(keys, edges, strict=True):
        assert (tuple(edge["path"]), edge["direction"]) in expected[key]
        assert edge["depth"] == len(edge["path"]) - 1
    order = [(edge["depth"], -weights[key]) for key, edge in zip(keys, edges, strict=True)]
    assert order == sorted(order)
    ends = {start} | {end for edge in edges for end in (edge["sourceMemoId"], edge["targetMemoId"])}
    assert [node["memo_id"] for node in told["nodes"]] == sorted(ends)


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_a_graph_is_what_brute_force_finds(app, client, seed):
    rng = random.Random(seed)
    memos = save_memos(client, 12)
    edges = draw_edges(rng, memos, rng.choice([14, 24, 34]))
    put_relations(app, edges)
    hidden = hide(app, client, rng, memos)
    inside = [each for each in edges if each["space"] != "/elsewhere" and each["label"] == "internal"]
    shown = [each for each in inside if not hidden & {each["source"], each["target"]}]
    weights = {(each["space"], each["source"], each["target"], each["tag"]): each["weight"] for each in shown}
    for start in sorted(set(memos) - hidden)[:3]:
        for direction in ("forward", "backward", "both"):
            for deepest, tag in ((1, None), (3, None), (6, None), (4, "a")):
                asked = {"startMemoId": start, "namespace": "g", "direction": direction, "maxDepth": deepest}
                asked |= {"tag": tag} if tag else {}
                used = [each for each in shown if tag in (None, each["tag"])]
                told = client.call("memory", "relation.graph", **asked, limit=1000)
                assert told["has_more"] is False
                compare(told, list_paths(used, start, direction, deepest), start, weights)
                if len(told["edges"]) > 1:
                    limit = rng.randrange(1, len(told["edges"]))
                    part = client.call("memory", "relation.graph", **asked, limit=limit)
                    assert (part["edges"], part["has_more"]) == (told["edges"][:limit], True)


def test_two_tags_for_one_pair_do_not_double_what_lies_behind(app, client):
    a, b, c = save_memos(client, 3)
    put_relations(app, [{"source": a, "target": b, "tag": "x"}, {"source": a, "target": b, "tag": "y"}])
    put_relations(app, [{"source": b, "target": c}])
    told = client.call("memory", "relation.graph", namespace="g", startMemoId=a)
    assert [(edge["tag"], edge["path"]) for edge in told["edges"]] == [("x", [a, b]), ("y", [a, b]), ("t", [a, b, c])]


def test_a_relation_back_to_the_shortest_path_is_found_around_it(app, client):
    a, b, c, d = save_memos(client, 4)
    put_relations(
        app, [{"source": a, "target": b}, {"source": b, "target": c}, {"source": c, "target": b, "tag": "back"}]
    )
    graph = {"namespace": "g", "startMemoId": a}
    assert [edge["path"] for edge in client.call("memory", "relation.graph", **graph)["edges"]] == [[a, b], [a, b, c]]
    put_relations(app, [{"source": a, "target": d}, {"source": d, "target": c}], weight=0.1)
    back = client.call("memory", "relation.graph", **graph)["edges"][-1]
    assert (back["tag"], back["path"], back["depth"]) == ("back", [a, d, c, b], 3)


def measure(ask, times=5):
    """CPU seconds of this process, the least of several."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        ask()
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("direction", ["forward", "both"])
def test_a_complete_graph_of_forty_costs_what_its_relations_cost(app, client, direction):
    """The bound is the issue's: 0.2 s."""
    memos = save_memos(client, 40)
    put_relations(app, [{"source": a, "target": b} for a in memos for b in memos if a != b])
    asked = {"namespace": "g", "startMemoId": memos[0], "direction": direction, "maxDepth": 10, "limit": 1000}
    told = client.call("memory", "relation.graph", **asked)
    assert len(told["edges"]) == 1000
    assert told["has_more"] is True
    assert measure(lambda: client.call("memory", "relation.graph", **asked)) < 0.2


LISTS = {
    "a source": lambda ends: {"sourceMemoId": ends[0]},
    "a target": lambda ends: {"targetMemoId": ends[1]},
    "a tag": lambda ends: {"tag": "rare", "namespace": "/"},
    "a namespace": lambda ends: {"namespace": "z"},
    "the first of many": lambda ends: {"limit": 3},
}


@pytest.fixture
def crowded(app, client):
    """15 000 relations between 200 memos, and three others."""
    memos = save_memos(client, 200)
    put_relations(app, [{"source": a, "target": b} for n, a in enumerate(memos) for b in (memos * 2)[n + 1 : n + 76]])
    one, other, *rest = save_memos(client, 6)
    put_relations(app, [{"source": one, "target": other, "tag": tag} for tag in ("a", "b", "c")])
    put_relations(app, [{"source": rest[n], "target": rest[n + 1], "tag": "rare"} for n in range(3)], space="/z")
    app.database.update_statistics()
    return one, other


def test_three_relations_among_15000_cost_little_more_than_a_memo(app, client, crowded, monkeypatch):
    """Twice `get`, says the issue; here four times, because the machine may be busy. It was thirty times."""
    for name, ask in LISTS.items():
        params = {"namespace": "g", **ask(crowded)}
        assert len(client.call("memory", "relation.list", **params)["edges"]) == 3, name
        listed = measure(lambda: client.call("memory", "relation.list", **params), 20)  # noqa: B023
        assert listed <= 4 * measure(lambda: client.call("memory", "get", memo_id=crowded[0]), 20), name
    assert_no_statement_reads_all_relations(app, client, crowded, monkeypatch)


def assert_no_statement_reads_all_relations(app, client, crowded, monkeypatch):
    """What a database server does is not CPU time of this process: the plans of both databases are looked at."""
    statements = {}
    filtered = CallerRowFilter.rows

    def note(self, rows, sql, params):
        if "memo_relation" in sql:
            filled, extra = self.expand(sql)
            statements[filled] = {**params, **extra}
        return filtered(self, rows, sql, params)

    monkeypatch.setattr(CallerRowFilter, "rows", note)
    for ask in LISTS.values():
        client.call("memory", "relation.list", **{"namespace": "g", **ask(crowded)})
    client.call("memory", "relation.graph", startMemoId=crowded[0], namespace="g", direction="both")
    assert len(statements) == len(LISTS) - 1 + 2  # two lists differ by a value only; the graph is read in both ways
    is_sqlite = app.database.dialect.kind == "sqlite"
    with app.database.reading() as rows:
        for sql, params in statements.items():
            plan = " ".join(str(row) for row in rows.rows(f"explain {'query plan ' * is_sqlite}{sql}", **params))
            assert "memo_relation" in plan
            assert ("SCAN r" if is_sqlite else "Seq Scan") not in plan, plan

"""specs/004, 3.3 グラフ操作: related items and paths, against an oracle that tries everything."""

import json
from collections.abc import Iterator
from itertools import pairwise, permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specs.items_client import items_of
from talk import Lines

from tokonoma.app import App

NODES = 7
PAIRS = [(one, other) for one in range(NODES) for other in range(one + 1, NODES)]
graphs = st.sets(st.sampled_from(PAIRS), max_size=14)


@pytest.fixture
def chain(items):
    """a — b — c — d, with a — c beside it, and e alone."""
    made = {name: items.make(name) for name in "abcde"}
    for one, other in ("ab", "bc", "cd", "ac"):
        items.add_relation(type="issue", id=made[one]["id"], target=made[other]["address"])
    return made


def names(path):
    return "".join(item["title"] for item in path["items"])


def test_related_items_come_nearest_first_with_figures(items, chain):
    told = items.get_related_items(type="issue", id=chain["a"]["id"], depth=3)
    assert [(each["item"]["title"], each["distance"], each["relationship"]) for each in told["related_items"]] == [
        ("b", 1, "direct"), ("c", 1, "direct"), ("d", 2, "indirect"),
    ]  # fmt: skip
    assert told["center_item"]["title"] == "a"
    assert told["graph_stats"] == {"total_nodes": 4, "total_edges": 4, "max_depth": 2}
    assert "truncated" not in told
    one = items.get_related_items(type="issue", id=chain["a"]["id"])
    assert one["graph_stats"] == {"total_nodes": 3, "total_edges": 3, "max_depth": 1}
    alone = items.get_related_items(type="issue", id=chain["e"]["id"], depth=3)
    assert (alone["related_items"], alone["graph_stats"]["total_nodes"]) == ([], 1)


def test_more_than_asked_for_is_cut_and_said(items, chain):
    told = items.get_related_items(type="issue", id=chain["a"]["id"], depth=3, max_results=1)
    assert [each["item"]["title"] for each in told["related_items"]] == ["b"]
    assert told["truncated"] is True
    assert told["graph_stats"] == {"total_nodes": 2, "total_edges": 1, "max_depth": 1}


def test_edges_tell_how_things_are_linked(items, chain):
    items.add_relation(type="issue", id=chain["d"]["id"], target=chain["a"]["address"], kind="blocked_by")
    told = items.get_related_items(type="issue", id=chain["a"]["id"], depth=2, include_edges=True)
    edges = {(each["source"], each["target"], each["kind"]) for each in told["edges"]}
    assert (chain["a"]["address"], chain["d"]["address"], "blocks") in edges
    assert len(edges) == 5


def test_references_of_what_is_around_are_told(items, chain):
    memo = items.talk.call("memory", "save", content="a memo of d", title="note")
    address = f"tokonoma://memory/{memo['memo_id']}"
    items.add_relation(type="issue", id=chain["d"]["id"], target=address)
    told = items.get_related_items(type="issue", id=chain["a"]["id"], depth=2)
    assert told["references"] == [{"address": address, "module": "memory", "title": "note", "distance": 3}]


def test_paths_come_shortest_first_with_weights(items, chain):
    ends = {"from_type": "issue", "from_id": chain["a"]["id"], "to_type": "issue", "to_id": chain["d"]["id"]}
    told = items.find_path(**ends)
    assert [(names(path), path["length"], path["weight"]) for path in told["paths"]] == [
        ("acd", 2, 0.5), ("abcd", 3, 0.333333),
    ]  # fmt: skip
    assert (told["shortest_path_length"], told["total_paths_found"]) == (2, 2)
    assert [names(path) for path in items.find_path(**ends, max_depth=2)["paths"]] == ["acd"]
    assert items.find_path(**ends, max_depth=1)["shortest_path_length"] is None
    cut = items.find_path(**ends, max_paths=1)
    assert (len(cut["paths"]), cut["truncated"]) == (1, True)
    ends["to_id"] = chain["e"]["id"]
    assert items.find_path(**ends, max_depth=10) == {
        "paths": [], "shortest_path_length": None, "total_paths_found": 0,
    }  # fmt: skip
    ends["to_id"] = chain["a"]["id"]
    assert items.find_path(**ends)["paths"][0]["length"] == 0


def test_the_trash_is_not_walked_through(items, chain):
    items.delete_item(type="issue", id=chain["c"]["id"])
    told = items.get_related_items(type="issue", id=chain["a"]["id"], depth=3)
    assert [each["item"]["title"] for each in told["related_items"]] == ["b"]
    ends = {"from_type": "issue", "from_id": chain["a"]["id"], "to_type": "issue", "to_id": chain["d"]["id"]}
    assert items.find_path(**ends)["paths"] == []
    ends["from_id"] = 99
    assert items.refused("find_path", **ends)["data"]["details"]["requested_id"] == "issue-99"


def test_a_thousand_items_all_linked_to_each_other_are_walked_within_bounds(app, items):
    made = [items.make(str(number))["id"] for number in range(40)]
    with app.database.writing() as statements:
        pairs = [{"one": one, "other": other} for one in made for other in made if one != other]
        statements.run_many("insert into item_link (item_id, other_id, kind) values (:one, :other, 'related')", pairs)
    told = items.get_related_items(type="issue", id=made[0], depth=3, max_results=5000)
    assert told["graph_stats"] == {"total_nodes": 40, "total_edges": 780, "max_depth": 1}
    ends = {"from_type": "issue", "from_id": made[0], "to_type": "issue", "to_id": made[1]}
    cut = items.find_path(**ends, max_depth=10, max_paths=100)
    assert [path["length"] for path in cut["paths"]] == [1, *[2] * 38, *[3] * 61]
    assert cut["truncated"] is True


class Oracle:
    """Everything about a small graph, by trying all orders of its nodes."""

    def __init__(self, edges):
        self.linked = {*edges, *((other, one) for one, other in edges)}

    def distance(self, one: int, other: int, deepest: int) -> int | None:
        reached, level = {one: 0}, {one}
        for step in range(1, deepest + 1):
            level = {node for node in range(NODES) for near in level if (near, node) in self.linked} - reached.keys()
            reached |= dict.fromkeys(level, step)
        return reached.get(other)

    def paths(self, one: int, other: int, deepest: int) -> Iterator[tuple[int, ...]]:
        between = [node for node in range(NODES) if node not in (one, other)]
        for length in range(deepest):
            for middle in permutations(between, length):
                path = (one, *middle, other)
                if all(step in self.linked for step in pairwise(path)):
                    yield path


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def nodes(request, tmp_path_factory):
    """A house with seven items, whose links each example makes anew."""
    if request.param == "sqlite":
        from tokonoma.store.database import format_sqlite_url

        url = format_sqlite_url(tmp_path_factory.mktemp("graph") / "tokonoma.db")
    else:
        server = request.getfixturevalue("postgres")
        url = server.url(server.take())
    app = App({"home": str(tmp_path_factory.mktemp("home")), "database_url": url, "durable": False}, {})
    items = items_of(app)
    made = [items.make(str(number))["id"] for number in range(NODES)]
    yield app, made
    app.close()


@pytest.mark.soak
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(edges=graphs, start=st.integers(0, NODES - 1), goal=st.integers(0, NODES - 1), depth=st.integers(1, 6))
def test_walks_equal_those_of_an_oracle(nodes, edges, start, goal, depth):
    app, made = nodes
    numbers = {id: node for node, id in enumerate(made)}
    with app.database.writing() as statements:
        statements.run("delete from item_link")
        both = [{"one": made[one], "other": made[other]} for pair in edges for one, other in (pair, pair[::-1])]
        if both:
            statements.run_many(
                "insert into item_link (item_id, other_id, kind) values (:one, :other, 'related')", both
            )
    oracle, talk = Oracle(edges), Lines(app)
    reach = min(depth, 3)
    told = talk.call("items", "get_related_items", type="issue", id=made[start], depth=reach, max_results=5000)
    near = {numbers[each["item"]["id"]]: each["distance"] for each in told["related_items"]}
    wanted = {node: oracle.distance(start, node, reach) for node in range(NODES) if node != start}
    assert near == {node: distance for node, distance in wanted.items() if distance is not None}
    inside = {start, *near}
    assert told["graph_stats"]["total_edges"] == sum(one in inside and other in inside for one, other in edges)
    if start != goal:
        ends = {"from_type": "issue", "from_id": made[start], "to_type": "issue", "to_id": made[goal]}
        told = talk.call("items", "find_path", **ends, max_depth=depth, max_paths=100)
        walked = [tuple(numbers[item["id"]] for item in path["items"]) for path in told["paths"]]
        all_paths = sorted(oracle.paths(start, goal, depth), key=lambda path: (len(path), path))
        assert walked == all_paths[:100], json.dumps(sorted(edges))

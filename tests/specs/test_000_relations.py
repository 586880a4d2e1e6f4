"""specs/000, リレーション操作ツール: save, delete, list, graph, over the wire, on both databases."""

import pytest


@pytest.fixture
def memos(talk):
    told = talk.call(
        "memory", "save", namespace="g", memos=[{"content": f"memo {n}", "title": f"t{n}"} for n in range(6)]
    )
    return [each["memo_id"] for each in told["items"]]


def relate(talk, source, target, tag="next", **more):
    return talk.call(
        "memory", "relation.save", namespace="g", sourceMemoId=source, targetMemoId=target, tag=tag, **more
    )


def graph(talk, start, **more):
    return talk.call("memory", "relation.graph", namespace="g", startMemoId=start, **more)


def test_a_relation_is_made_changed_and_counted(talk, memos):
    a, b, *_ = memos
    edge = relate(talk, a, b, weight=0.5, reason="because")
    assert edge["namespace"] == "/g"
    assert (edge["sourceMemoId"], edge["targetMemoId"], edge["tag"]) == (a, b, "next")
    assert (edge["weight"], edge["reason"], edge["version"]) == (0.5, "because", 1)
    assert relate(talk, a, b)["version"] == 1
    changed = relate(talk, a, b, weight=0.75)
    assert (changed["weight"], changed["reason"], changed["version"]) == (0.75, "because", 2)
    assert relate(talk, a, b, tag="other")["weight"] == 1.0
    assert len(talk.call("memory", "relation.list", namespace="g")["edges"]) == 2


BAD = {
    "a weight of 1.2": ({"weight": 1.2}, "INVALID_ARGUMENT"),
    "a weight below 0": ({"weight": -0.1}, "INVALID_ARGUMENT"),
    "a tag of 65 characters": ({"tag": "x" * 65}, "INVALID_ARGUMENT"),
    "no tag": ({"tag": ""}, "INVALID_ARGUMENT"),
    "an unknown end": ({"target": "0190a000-0000-7000-8000-000000000000"}, "NOT_FOUND"),
    "itself": ({"target": "itself"}, "INVALID_ARGUMENT"),
    "another namespace": ({"namespace": "elsewhere"}, "NOT_FOUND"),
    "a stale version": ({"expected_version": 7}, "CONFLICT"),
}


@pytest.mark.parametrize(("wrong", "code"), BAD.values(), ids=BAD)
def test_bad_relations_are_refused_and_nothing_is_kept(talk, memos, wrong, code):
    a, b, *_ = memos
    params = {"namespace": "g", "sourceMemoId": a, "targetMemoId": b, "tag": "next", **wrong}
    target = params.pop("target", b)
    params["targetMemoId"] = a if target == "itself" else target
    assert talk.refused("memory", "relation.save", **params)["code"] == code
    assert talk.call("memory", "relation.list", namespace="g")["edges"] == []


def test_a_deleted_relation_is_told_once_more(talk, memos):
    a, b, *_ = memos
    relate(talk, a, b, reason="r")
    ends = {"namespace": "g", "sourceMemoId": a, "targetMemoId": b, "tag": "next"}
    assert talk.call("memory", "relation.delete", **ends)["relation"]["reason"] == "r"
    assert talk.refused("memory", "relation.delete", **ends)["code"] == "NOT_FOUND"


def test_lists_filter_page_and_bring_their_nodes(talk, memos):
    for n in range(5):
        relate(talk, memos[n], memos[n + 1])
    relate(talk, memos[0], memos[5], tag="far")
    told = talk.call("memory", "relation.list", namespace="g", sourceMemoId=memos[0])
    assert {edge["tag"] for edge in told["edges"]} == {"next", "far"}
    assert {node["memo_id"] for node in told["nodes"]} == {memos[0], memos[1], memos[5]}
    assert told["nodes"][0]["content"].startswith("memo")
    assert len(talk.call("memory", "relation.list", namespace="g", tag="far")["edges"]) == 1
    assert len(talk.call("memory", "relation.list", namespace="g", targetMemoId=memos[5])["edges"]) == 2
    seen, cursor = [], None
    while True:
        page = talk.call("memory", "relation.list", limit=2, cursor=cursor)
        seen += [(edge["sourceMemoId"], edge["targetMemoId"], edge["tag"]) for edge in page["edges"]]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert len(seen) == len(set(seen)) == 6


def test_a_graph_is_walked_nearest_first_with_paths_and_cut_loops(talk, memos):
    a, b, c, d, *_ = memos
    for source, target in ((a, b), (b, c), (c, a), (c, d)):
        relate(talk, source, target)
    told = graph(talk, a)
    assert [(edge["depth"], edge["path"]) for edge in told["edges"]] == [(1, [a, b]), (2, [a, b, c]), (3, [a, b, c, d])]
    assert {edge["direction"] for edge in told["edges"]} == {"forward"}
    assert {node["memo_id"] for node in told["nodes"]} == {a, b, c, d}
    assert len(graph(talk, a, maxDepth=1)["edges"]) == 1
    back = graph(talk, a, direction="backward", maxDepth=2)
    assert [(edge["sourceMemoId"], edge["targetMemoId"], edge["direction"]) for edge in back["edges"]] == [
        (c, a, "backward"),
        (b, c, "backward"),
    ]
    both = graph(talk, a, direction="both", maxDepth=1)
    assert sorted(edge["direction"] for edge in both["edges"]) == ["backward", "forward"]


def test_a_graph_obeys_tag_limit_and_the_nearest_come_first(talk, memos):
    a, b, c, d, e, _ = memos
    relate(talk, a, b, weight=0.2)
    relate(talk, a, c, weight=0.9)
    relate(talk, c, d)
    relate(talk, a, e, tag="other")
    told = graph(talk, a, limit=2, tag="next")
    assert [edge["targetMemoId"] for edge in told["edges"]] == [c, b]
    assert told["has_more"] is True
    assert [edge["targetMemoId"] for edge in graph(talk, a, tag="other")["edges"]] == [e]


def test_a_dense_graph_lists_each_relation_once(talk):
    told = talk.call("memory", "save", namespace="g", memos=[{"content": f"{n}"} for n in range(12)])
    ids = [each["memo_id"] for each in told["items"]]
    talk.batch(*[
        {"id": f"s{a}-{b}", "module": "memory", "tool": "relation.save",
         "params": {"namespace": "g", "sourceMemoId": ids[a], "targetMemoId": ids[b], "tag": "t"}}
        for a in range(10) for b in range(10) if a != b
    ])  # fmt: skip
    told = graph(talk, ids[0], direction="both", maxDepth=10, limit=1000)
    assert [edge["depth"] for edge in told["edges"]] == [1] * 18 + [2] * 72  # each relation once
    assert told["has_more"] is False


def test_a_memo_in_the_trash_hides_its_relations_and_brings_them_back(talk, memos):
    a, b, c, *_ = memos
    relate(talk, a, b)
    relate(talk, b, c)
    talk.call("memory", "delete", memo_id=b)
    assert talk.call("memory", "relation.list", namespace="g")["edges"] == []
    assert graph(talk, a)["edges"] == []
    talk.call("memory", "restore", memo_id=b)
    assert len(graph(talk, a)["edges"]) == 2


@pytest.mark.parametrize(
    "params", [{"maxDepth": 0}, {"maxDepth": 11}, {"limit": 0}, {"limit": 1001}, {"direction": "up"}]
)
def test_a_graph_beyond_its_limits_is_refused(talk, memos, params):
    error = talk.refused("memory", "relation.graph", namespace="g", startMemoId=memos[0], **params)
    assert error["code"] == "INVALID_ARGUMENT"

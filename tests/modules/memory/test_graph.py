"""The walk over relations alone: random graphs against every path, and how much it reads."""

import random

import pytest
from conftest import SOAK
from specs.brute_graph import list_paths

from tokonoma.modules.memory.graph import Arc, walk_arcs
from tokonoma.modules.memory.model import RelationRow

GRAPHS = 5_000 if SOAK else 60


def make_relation(source, target, tag="t", weight=1.0):
    return RelationRow("/g", source, target, tag, "internal", weight, "", 1, 1, 1)


def read_arcs(relations, direction, reads):
    """What a database does; `reads` notes the memos that are left, and how many arcs were read."""
    ways = ("forward", "backward") if direction == "both" else (direction,)
    arcs = sorted((Arc(each, way) for each in relations for way in ways), key=lambda arc: arc.rank)

    def expand(memos, most):
        found = [arc for arc in arcs if arc.near in memos][:most]
        reads.append((list(memos), len(found)))
        return found

    return expand


def draw_relations(rng):
    memos = "abcdefgh"[: rng.randint(3, 8)]
    pairs = [rng.sample(memos, 2) for _ in range(rng.randint(2, 18))]
    keys = {(source, target, rng.choice("xy")) for source, target in pairs}
    return [make_relation(*key, rng.choice([0.2, 0.5, 1.0])) for key in sorted(keys)]


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_every_relation_on_a_path_is_found_once_with_its_shortest(direction):
    for seed in range(GRAPHS):
        relations = draw_relations(random.Random(seed))
        edges = [
            {"space": each.namespace, "source": each.source, "target": each.target, "tag": each.tag}
            for each in relations
        ]
        for deepest in (1, 2, 3, 5, 8):
            expand = read_arcs(relations, direction, [])
            steps = walk_arcs(expand, "a", deepest, 1000, both=direction == "both")
            expected = list_paths(edges, "a", direction, deepest)
            found = [(each.arc.relation.namespace, each.arc.relation.source, each.arc.relation.target,
                      each.arc.relation.tag) for each in steps]  # fmt: skip
            assert len(found) == len(set(found))
            assert set(found) == set(expected)
            for key, step in zip(found, steps, strict=True):
                assert (step.path, step.arc.direction) in expected[key]
            for most in range(1, len(steps)):
                assert walk_arcs(expand, "a", deepest, most, both=direction == "both") == steps[:most]


def test_a_walk_leaves_each_memo_once_and_reads_what_the_limit_needs():
    memos = [f"{number:02}" for number in range(40)]
    relations = [make_relation(a, b) for a in memos for b in memos if a != b]
    reads = []
    assert len(walk_arcs(read_arcs(relations, "forward", reads), "00", 10, 10_000, both=False)) == 39 * 39
    left = [memo for level, _ in reads for memo in level]
    assert len(left) == len(set(left)) == 40
    reads.clear()
    assert len(walk_arcs(read_arcs(relations, "both", reads), "00", 10, 5, both=True)) == 5
    assert sum(number for _, number in reads) <= 10

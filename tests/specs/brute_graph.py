"""What a walk over relations must find: by trying every path."""

from collections import defaultdict


def list_paths(edges, start, direction, deepest):
    """Relation → the shortest of all its paths without a repeated memo, each with how the relation is followed."""
    arcs = defaultdict(list)
    for edge in edges:
        key = (edge["space"], edge["source"], edge["target"], edge["tag"])
        if direction != "backward":
            arcs[edge["source"]].append((key, edge["target"], "forward"))
        if direction != "forward":
            arcs[edge["target"]].append((key, edge["source"], "backward"))
    found = defaultdict(set)

    def extend(path):
        for key, far, walked in arcs[path[-1]]:
            if far not in path:
                found[key].add(((*path, far), walked))
                if len(path) < deepest:
                    extend((*path, far))

    extend((start,))
    shortest = {key: min(len(path) for path, _ in ways) for key, ways in found.items()}
    return {key: {way for way in ways if len(way[0]) == shortest[key]} for key, ways in found.items()}

"""Figures of one ranking, and their means."""

import math
from typing import Any

import numpy as np

Figures = dict[str, float]
_LOOKED_AT = 400


def ranked(query: dict[str, Any], ids: list[str], scores: np.ndarray) -> list[str]:
    """Best first; pages instead of sections where pages are asked for, without what the query leaves out."""
    best = np.argsort(-scores, kind="stable")[:_LOOKED_AT]
    left_out = set(query.get("exclude") or ())
    found: dict[str, None] = {}
    for place in best:
        name = ids[place]
        if scores[place] > 0 and name not in left_out and name.split("#")[0] not in left_out:
            found.setdefault(name.split("#")[0] if query.get("level") == "page" else name)
    return list(found)


def figures(query: dict[str, Any], ids: list[str], scores: np.ndarray) -> Figures:
    wanted = set(query["relevant"])
    hits = [rank for rank, name in enumerate(ranked(query, ids, scores)[:100]) if name in wanted]
    gain = sum(1 / math.log2(rank + 2) for rank in hits if rank < 10)
    return {
        "R@10": sum(rank < 10 for rank in hits) / len(wanted),
        "R@50": sum(rank < 50 for rank in hits) / len(wanted),
        "nDCG@10": gain / sum(1 / math.log2(rank + 2) for rank in range(min(10, len(wanted)))),
        "MRR": 1 / (hits[0] + 1) if hits else 0.0,
    }


def mean(many: list[Figures]) -> Figures:
    return {name: sum(each[name] for each in many) / len(many) for name in many[0]} | {"n": len(many)}

"""Search by meaning, once every vector is made."""

from golden.calls_wire import HELLO
from golden.steps import MethodStep, call

TEXTS = [
    "The cat sleeps on the warm roof.",
    "A kitten naps in the sun.",
    "Taxes are due in spring.",
    "猫は屋根の上で寝る。",
    "The train to the north was late.",
]


# A search makes the vectors of a short queue itself; a longer one is left to the background.
EMBEDDED = [
    call(
        "memory.search", "every memo has its vector", {"query": "x", "mode": "vector", "k": 1}, until="not_yet_embedded"
    ),
    call("system.status", "every vector is made", until="sizes.embedding_queue"),
]


MEANING = [
    MethodStep("initialize", "initialize", HELLO),
    call("system.status", "at the start"),
    call("memory.save", "texts", {"memos": [{"content": text} for text in TEXTS]}, cat="items[0].memo_id"),
    *[call("items.create_item", "one", {"type": "docs", "title": text}) for text in TEXTS[:3]],
    *[call("claims.upsert", "one", {"text": text, "provenance": {}}) for text in TEXTS[:3]],
    call("manual.list", "the files are seen", {}),
    *EMBEDDED,
    call("memory.search", "by meaning", {"query": "a sleeping cat", "mode": "vector", "k": 3}),
    call("memory.search", "by both", {"query": "cat roof", "k": 3, "explain": True}),
    call("memory.search", "by a pivot", {"pivot_memo_id": "<<cat>>", "k": 2}),
    call("memory.search", "by a pivot, as far as l2", {"pivot_memo_id": "<<cat>>", "k": 2, "distance_metric": "l2"}),
    call("memory.search", "not near enough", {"query": "cat", "minimum_similarity": 0.999}),
    call("items.search_items", "by meaning", {"query": "a sleeping cat", "mode": "vector", "limit": 2}),
    call("items.search_items", "by both", {"query": "taxes", "limit": 1}),
    call("claims.search", "by both", {"query": "cat on a roof", "top_k": 2, "include_meta": True}),
    call("claims.activate", "by both", {"q": "when are taxes due", "top_k": 1}),
    call("manual.find", "by meaning too", {"query": "返品", "manual_id": "rules"}, run="trace_id"),
    call("manual.hits", "by meaning too", {"trace_id": "<<run>>"}),
]

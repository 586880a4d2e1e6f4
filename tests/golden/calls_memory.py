"""Memos, their search, and the relations between them."""

from golden.steps import call

NOBODY = "0190a000-0000-7000-8000-000000000000"
SECRET = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

SAVING = [
    call(
        "memory.save",
        "a whole memo",
        {
            "content": "床の間に季節の花を活ける。Flowers of the season stand in the alcove.",
            "title": "花 Flowers",
            "namespace": "tea/room",
            "metadata": {"kind": "note", "place": {"floor": 1}, "tags": ["a", "b"]},
            "thread": "t1",
        },
        flowers="memo_id",
    ),
    call("memory.save", "the plainest memo", {"content": "A kettle hums."}, kettle="memo_id"),
    call(
        "memory.save",
        "many at once",
        {
            "namespace": "tea",
            "memos": [
                {"content": "The scroll is changed with the season.", "title": "Scroll", "thread": "t1"},
                {"content": "Charcoal is cut in the morning.", "namespace": "tea/fire", "metadata": {"kind": "rule"}},
                {"content": "The guests wait in the garden.", "expires_at": "2199-01-01T00:00:00Z"},
            ],
        },
        scroll="items[0].memo_id",
        charcoal="items[1].memo_id",
        guests="items[2].memo_id",
    ),
    call("memory.save", "for a while", {"content": "Soon gone.", "ttl_seconds": 86_400, "namespace": "tea/soon"}),
    call("memory.save", "nothing", {}),
    call("memory.save", "several problems", {"content": 5, "ttl_seconds": 0, "metadata_mode": "mix", "colour": "red"}),
    call("memory.save", "two ends of life", {"content": "x", "ttl_seconds": 5, "expires_at": "2199-01-01T00:00:00Z"}),
    call("memory.save", "a time that is none", {"content": "x", "expires_at": "soon"}),
    call("memory.save", "a namespace that leaves", {"content": "x", "namespace": "../up"}),
    call("memory.save", "one of many is wrong", {"memos": [{"content": "fine"}, {"content": ""}]}),
    call("memory.save", "a memo and many", {"content": "x", "memos": [{"content": "y"}]}),
    call("memory.save", "a secret", {"content": f"use {SECRET}", "title": f"token {SECRET}"}),
    call(
        "memory.save",
        "a change",
        {
            "memo_id": "<<kettle>>",
            "content": "A kettle sings.\nIt is iron.",
            "metadata": {"n": 1},
            "expected_version": 1,
        },
    ),
    call("memory.save", "metadata joined", {"memo_id": "<<kettle>>", "metadata": {"m": 2, "n": None}}),
    call(
        "memory.save", "metadata replaced", {"memo_id": "<<kettle>>", "metadata": {"k": 3}, "metadata_mode": "replace"}
    ),
    call("memory.save", "a stale change", {"memo_id": "<<kettle>>", "content": "Mine.", "expected_version": 1}),
    call("memory.save", "a change of nobody", {"memo_id": NOBODY, "content": "x"}),
    call("memory.get", "a memo", {"memo_id": "<<flowers>>"}),
    call("memory.get", "from the middle", {"memo_id": "<<flowers>>", "offset": 3, "max_characters": 8}),
    call("memory.get", "in another namespace", {"memo_id": "<<flowers>>", "namespace": "tea/fire"}),
    call("memory.get", "nobody", {"memo_id": NOBODY}),
    call("memory.get", "no id", {}),
    call("memory.get", "several problems", {"memo_id": 5, "offset": -1, "max_characters": 0}),
    call("memory.list", "all", {}),
    call("memory.list", "a namespace", {"namespace": "tea"}),
    call("memory.list", "a thread", {"thread": "t1"}),
    call("memory.list", "the first page", {"namespace": "tea", "limit": 2}, page="next_cursor"),
    call("memory.list", "the next page", {"namespace": "tea", "limit": 2, "cursor": "<<page>>"}),
    call("memory.list", "a cursor of another list", {"namespace": "tea/fire", "limit": 2, "cursor": "<<page>>"}),
    call("memory.list", "several problems", {"limit": 0, "state": "lost", "cursor": 5}),
    call("memory.namespaces", "all", {}),
    call("memory.namespaces", "the first page", {"limit": 1}, spaces="next_cursor"),
    call("memory.namespaces", "the next page", {"limit": 1, "cursor": "<<spaces>>"}),
    call("memory.namespaces", "a wrong cursor", {"cursor": "x"}),
]

SEARCHING = [
    call("memory.search", "words", {"query": "season", "mode": "text"}),
    call("memory.search", "words in Japanese", {"query": "季節の花", "mode": "text"}),
    call("memory.search", "without a vector", {"query": "kettle", "mode": "hybrid"}),
    call("memory.search", "explained", {"query": "season scroll", "explain": True, "k": 2}),
    call("memory.search", "in a namespace", {"query": "morning", "namespace": "tea/fire"}),
    call("memory.search", "by metadata alone", {"metadata_filter": {"kind": "note"}}),
    call("memory.search", "by metadata of every kind", {
        "metadata_filter": {"kind": {"in": ["note", "rule"]}, "place.floor": {"gte": 1}, "tags": {"contains": "a"}},
    }),
    call("memory.search", "why not", {"query": "season", "expect_memo_id": "<<kettle>>"}),
    call("memory.search", "why not nobody", {"query": "season", "expect_memo_id": NOBODY}),
    call("memory.search", "older ones count less", {"query": "season", "half_life_days": 30}),
    call("memory.search", "nothing found", {"query": "xyzzy"}),
    call("memory.search", "a wrong filter", {"query": "x", "metadata_filter": {"kind": {"near": 1}}}),
    call("memory.search", "several problems", {"query": 5, "k": 0, "mode": "best", "distance_metric": "far"}),
    call("memory.search", "a pivot that is not there", {"pivot_memo_id": NOBODY}),
    call("memory.search", "by meaning where there is none", {"query": "x", "mode": "vector"}),
]  # fmt: skip

ENDS = {"namespace": "tea", "sourceMemoId": "<<scroll>>", "targetMemoId": "<<charcoal>>", "tag": "before"}

RELATING = [
    call("memory.relation.save", "a new one", {**ENDS, "weight": 0.5, "reason": "in order"}),
    call("memory.relation.save", "a change", {**ENDS, "weight": 0.75, "expected_version": 1}),
    call("memory.relation.save", "a stale change", {**ENDS, "weight": 0.1, "expected_version": 1}),
    call("memory.relation.save", "onwards", {**ENDS, "sourceMemoId": "<<charcoal>>", "targetMemoId": "<<flowers>>"}),
    call("memory.relation.save", "back", {**ENDS, "sourceMemoId": "<<flowers>>", "targetMemoId": "<<scroll>>"}),
    call("memory.relation.save", "to itself", {**ENDS, "targetMemoId": "<<scroll>>"}),
    call("memory.relation.save", "to nobody", {**ENDS, "targetMemoId": NOBODY}),
    call("memory.relation.save", "to another namespace", {**ENDS, "targetMemoId": "<<kettle>>"}),
    call("memory.relation.save", "several problems", {**ENDS, "weight": 1.2, "tag": "", "reason": 5}),
    call("memory.relation.list", "all", {}),
    call("memory.relation.list", "of one memo", {"namespace": "tea", "sourceMemoId": "<<scroll>>"}),
    call("memory.relation.list", "the first page", {"limit": 2}, edges="next_cursor"),
    call("memory.relation.list", "the next page", {"limit": 2, "cursor": "<<edges>>"}),
    call("memory.relation.list", "a limit too large", {"limit": 501}),
    call("memory.relation.graph", "forward", {"namespace": "tea", "startMemoId": "<<scroll>>"}),
    call("memory.relation.graph", "both ways", {"namespace": "tea", "startMemoId": "<<scroll>>", "direction": "both"}),
    call("memory.relation.graph", "from nobody", {"startMemoId": NOBODY}),
    call("memory.relation.graph", "several problems", {"startMemoId": 1, "maxDepth": 11, "direction": "up"}),
    call("memory.delete", "a stale memo", {"memo_id": "<<flowers>>", "expected_version": 9}),
    call("memory.delete", "a memo with relations", {"memo_id": "<<flowers>>", "expected_version": 1}),
    call("memory.delete", "once more", {"memo_id": "<<flowers>>"}),
    call("memory.delete", "nobody", {"memo_id": NOBODY}),
    call("memory.get", "what is in the trash", {"memo_id": "<<flowers>>"}),
    call("memory.list", "the trash", {"state": "trash"}),
    call("memory.relation.list", "without those of the trash", {"namespace": "tea"}),
    call("memory.restore", "out of the trash", {"memo_id": "<<flowers>>"}),
    call("memory.restore", "what is not there", {"memo_id": "<<flowers>>"}),
    call("memory.restore", "nobody", {"memo_id": NOBODY}),
    call("memory.relation.delete", "one", {**ENDS}),
    call("memory.relation.delete", "once more", {**ENDS}),
    call("memory.relation.delete", "no tag", {"sourceMemoId": "<<scroll>>", "targetMemoId": "<<charcoal>>"}),
    call("memory.serch", "an unknown tool", {"query": "x"}),
]

MEMORY = [*SAVING, *SEARCHING, *RELATING]

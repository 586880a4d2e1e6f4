"""The graph of items."""

from golden.steps import call

MAKING = [
    call(
        "items.create_item",
        "a whole item",
        {
            "type": "issue",
            "title": "玄関の鍵 The front door's key",
            "description": "It sticks.",
            "content": "# Key\n\nThe key sticks in winter. 冬は鍵が固い。",
            "status": "In Progress",
            "priority": "HIGH",
            "category": "house",
            "start_date": "2020-03-01",
            "end_date": "2020-04-01T12:00:00Z",
            "version": "v1",
            "tags": ["door", "鍵"],
        },
        key="id",
    ),
    call("items.create_item", "the plainest item", {"type": "docs", "title": "How to oil a lock"}, lock="id"),
    call(
        "items.create_item",
        "linked to others",
        {
            "type": "issue",
            "title": "Buy oil",
            "related": ["docs-<<lock>>", "tokonoma://memory/<<kettle>>"],
            "priority": "CRITICAL",
            "tags": ["door", "shop"],
        },
        oil="id",
    ),
    call("items.create_item", "done already", {"type": "decision", "title": "Oil, not grease", "status": "Closed"}),
    call("items.create_item", "a lamp", {"type": "idea", "title": "A lamp in the hall", "tags": ["lamp"]}, lamp="id"),
    call(
        "items.create_item",
        "everything is wrong",
        {
            "type": "Bug Report",
            "title": "",
            "status": "Opne",
            "priority": "x",
            "start_date": "2020-02-01",
            "end_date": "2020-01-01",
            "related": ["docs-9999", "nowhere"],
            "tags": [""],
        },
    ),
    call("items.create_item", "a wrong shape", {"type": "issue", "title": 3, "colour": "red", "tags": "a"}),
    call("items.create_item", "no title", {"type": "issue"}),
    call("items.create_itm", "an unknown tool", {}),
    call("items.get_item_detail", "one", {"type": "issue", "id": "<<oil>>"}),
    call("items.get_item_detail", "nobody", {"type": "issue", "id": 9999}),
    call("items.get_item_detail", "of another type", {"type": "docs", "id": "<<key>>"}),
    call("items.get_item_detail", "several problems", {"type": 5, "id": True, "more": 1}),
    call(
        "items.update_item", "two fields", {"type": "docs", "id": "<<lock>>", "title": "How to oil", "category": "how"}
    ),
    call("items.update_item", "cleared", {"type": "issue", "id": "<<key>>", "end_date": "", "expected_revision": 1}),
    call("items.update_item", "stale", {"type": "issue", "id": "<<key>>", "title": "x", "expected_revision": 1}),
    call("items.update_item", "nobody", {"type": "issue", "id": 9999, "title": "x"}),
    call("items.update_item", "nothing", {"type": "issue", "id": "<<key>>"}),
    call("items.update_item", "several problems", {"type": "issue", "id": "<<key>>", "status": "x", "title": " "}),
    call(
        "items.bulk_update",
        "two items",
        {
            "updates": [
                {"type": "issue", "id": "<<key>>", "data": {"priority": "LOW"}},
                {"type": "idea", "id": "<<lamp>>", "data": {"status": "Ready"}, "expected_revision": 1},
            ]
        },
    ),
    call(
        "items.bulk_update",
        "one is wrong, none changes",
        {
            "updates": [
                {"type": "issue", "id": "<<key>>", "data": {"priority": "HIGH"}},
                {"type": "issue", "id": 9999, "data": {"priority": "HIGH"}},
                {"type": "idea", "id": "<<lamp>>", "data": {"status": "Lit"}, "expected_revision": 1},
            ]
        },
    ),
    call("items.bulk_update", "nothing", {"updates": []}),
]

LISTING = [
    call("items.get_items", "open ones", {}),
    call("items.get_items", "all of a type", {"type": "issue", "includeClosedStatuses": True}),
    call(
        "items.get_items", "by status, tag and priority", {"statuses": ["Open"], "tag": "door", "priority": "CRITICAL"}
    ),
    call("items.get_items", "by title", {"sort": "title", "order": "asc", "limit": 2}, titles="next_cursor"),
    call("items.get_items", "the next by title", {"sort": "title", "order": "asc", "cursor": "<<titles>>"}),
    call("items.get_items", "a cursor of another order", {"sort": "id", "cursor": "<<titles>>"}),
    call("items.get_items", "an unknown status", {"statuses": ["Open", "Shut"]}),
    call("items.get_items", "days the wrong way round", {"start_date": "2020-01-02", "end_date": "2020-01-01"}),
    call("items.get_items", "several problems", {"limit": 101, "sort": "size", "state": "lost"}),
    call("items.search_items", "words", {"query": "key", "mode": "text"}),
    call("items.search_items", "words in Japanese", {"query": "冬 鍵", "mode": "text"}),
    call("items.search_items", "fields", {"query": "is:open tag:door NOT priority:LOW"}),
    call("items.search_items", "words and fields", {"query": "oil type:docs", "limit": 1}),
    call("items.search_items", "nothing found", {"query": "xyzzy"}),
    call("items.search_items", "a query that does not close", {"query": "(key OR", "mode": "text"}),
    call("items.search_items", "an unknown field", {"query": "colour:red"}),
    call("items.search_items", "several problems", {"query": 5, "limit": 101, "mode": "best"}),
    call("items.search_suggest", "the beginning of a word", {"query": "oi"}),
    call("items.search_suggest", "of a tag", {"query": "do"}),
    call("items.search_suggest", "a limit too large", {"query": "x", "limit": 21}),
    call("items.get_tags", "all", {}),
    call("items.get_tags", "the first page", {"limit": 1}, tags="next_cursor"),
    call("items.get_tags", "the next page", {"limit": 1, "cursor": "<<tags>>"}),
    call("items.get_tags", "a wrong cursor", {"cursor": "x"}),
    call("items.search_items_by_tag", "one", {"tag": "door"}),
    call("items.search_items_by_tag", "of a type", {"tag": "door", "types": ["docs"]}),
    call("items.search_items_by_tag", "no tag", {}),
    call("items.get_statuses", "all", {}),
    call("items.get_statuses", "an unknown field", {"type": "issue"}),
    call("items.get_stats", "all", {}),
    call("items.get_stats", "an unknown field", {"type": "issue"}),
]

LINKING = [
    call("items.add_relation", "blocked", {
        "type": "issue", "id": "<<key>>", "target": "issue-<<oil>>", "kind": "blocked_by",
    }),
    call("items.add_relation", "once more", {
        "type": "issue", "id": "<<oil>>", "target": "issue-<<key>>", "kind": "blocks",
    }),
    call("items.add_relation", "plain", {"type": "idea", "id": "<<lamp>>", "target": "docs-<<lock>>"}),
    call("items.add_relation", "to itself", {"type": "issue", "id": "<<key>>", "target": "issue-<<key>>"}),
    call("items.add_relation", "to nobody", {"type": "issue", "id": "<<key>>", "target": "docs-9999"}),
    call("items.add_relation", "to a memo that is not there", {
        "type": "issue", "id": "<<key>>", "target": "tokonoma://memory/x",
    }),
    call("items.add_relation", "several problems", {"type": "issue", "id": "one", "kind": "near"}),
    call("items.get_ready_items", "what can be worked on", {}),
    call("items.get_ready_items", "of a tag", {"tag": "door"}),
    call("items.get_ready_items", "a limit too large", {"limit": 101}),
    call("items.get_related_items", "near", {"type": "issue", "id": "<<key>>"}),
    call("items.get_related_items", "far, with edges", {
        "type": "issue", "id": "<<key>>", "depth": 3, "include_edges": True,
    }),
    call("items.get_related_items", "cut", {"type": "docs", "id": "<<lock>>", "max_results": 1}),
    call("items.get_related_items", "nobody", {"type": "issue", "id": 9999}),
    call("items.get_related_items", "too deep", {"type": "issue", "id": "<<key>>", "depth": 4, "max_results": 5001}),
    call("items.find_path", "a path", {
        "from_type": "issue", "from_id": "<<key>>", "to_type": "idea", "to_id": "<<lamp>>",
    }),
    call("items.find_path", "none", {
        "from_type": "issue", "from_id": "<<key>>", "to_type": "idea", "to_id": "<<lamp>>", "max_depth": 1,
    }),
    call("items.find_path", "to nobody", {
        "from_type": "issue", "from_id": "<<key>>", "to_type": "idea", "to_id": 9999,
    }),
    call("items.remove_relation", "plain", {"type": "idea", "id": "<<lamp>>", "target": "docs-<<lock>>"}),
    call("items.remove_relation", "once more", {"type": "idea", "id": "<<lamp>>", "target": "docs-<<lock>>"}),
    call("items.remove_relation", "to nobody", {"type": "idea", "id": "<<lamp>>", "target": "docs-9999"}),
    call("items.change_item_type", "to another", {"from_type": "idea", "from_id": "<<lamp>>", "to_type": "plan"}),
    call("items.get_item_detail", "at its old address", {"type": "idea", "id": "<<lamp>>"}),
    call("items.change_item_type", "wrong", {"from_type": "plan", "from_id": "<<lamp>>", "to_type": "Not Ok"}),
    call("items.change_item_type", "stale", {
        "from_type": "plan", "from_id": "<<lamp>>", "to_type": "idea", "expected_revision": 1,
    }),
    call("items.delete_item", "stale", {"type": "docs", "id": "<<lock>>", "expected_revision": 1}),
    call("items.delete_item", "one", {"type": "docs", "id": "<<lock>>"}),
    call("items.delete_item", "once more", {"type": "docs", "id": "<<lock>>"}),
    call("items.get_items", "the trash", {"state": "trash"}),
    call("items.get_item_detail", "without what is in the trash", {"type": "issue", "id": "<<oil>>"}),
    call("items.restore_item", "one", {"type": "docs", "id": "<<lock>>"}),
    call("items.restore_item", "once more", {"type": "docs", "id": "<<lock>>"}),
    call("items.restore_item", "nobody", {"type": "docs", "id": 9999}),
    call("items.get_item_history", "of one", {"type": "docs", "id": "<<lock>>", "full": True}),
    call("items.get_item_history", "the first page", {
        "type": "docs", "id": "<<lock>>", "limit": 1,
    }, past="next_cursor"),
    call("items.get_item_history", "the next page", {
        "type": "docs", "id": "<<lock>>", "limit": 1, "cursor": "<<past>>",
    }),
    call("items.get_item_history", "nobody", {"type": "docs", "id": 9999}),
    call("items.get_current_state", "never written", {}),
    call("items.update_current_state", "written", {
        "content": "# Now\n\nWe oil.", "updated_by": "ai-start", "related": ["issue-<<oil>>"], "tags": ["now"],
    }),
    call("items.update_current_state", "again", {"content": "We oiled.", "expected_revision": 1}),
    call("items.update_current_state", "stale", {"content": "x", "expected_revision": 1}),
    call("items.update_current_state", "linked to nobody", {"content": "x", "related": ["docs-9999"]}),
    call("items.update_current_state", "no content", {}),
    call("items.get_current_state", "with what it was", {"history": 5}),
    call("items.get_current_state", "an older one", {"revision": 1}),
    call("items.get_current_state", "one that never was", {"revision": 9}),
]  # fmt: skip

ITEMS = [*MAKING, *LISTING, *LINKING]

"""specs/000, memory.namespaces: the numbers of memos are right after every change, on both databases."""

import random
from collections import Counter
from typing import Any

import pytest
from conftest import SOAK
from talk import Lines

from tokonoma.cli.call import call_owner_tool

SPACES = ("/a", "/a/b", "/c", "/d/e/f")


def list_all(talk: Lines, tool: str, **params) -> list[dict[str, Any]]:
    found, cursor = [], None
    while True:
        page = talk.call("memory", tool, cursor=cursor, **params) if cursor else talk.call("memory", tool, **params)
        found += page["items"]
        if not page["has_more"]:
            return found
        cursor = page["next_cursor"]


def check_counts(talk: Lines) -> None:
    counted = {each["namespace"]: each["memos"] for each in list_all(talk, "namespaces", limit=2)}
    assert counted == Counter(each["namespace"] for each in list_all(talk, "list", namespace="/", limit=200))


def change_something(talk: Lines, rng: random.Random, ids: list[str]) -> None:
    """One of the ways in which a memo comes into a namespace or leaves it. Some are refused: the memo may be gone."""
    one, other, space = rng.choice(ids), rng.choice(ids), rng.choice(SPACES)
    tool, params = rng.choice(
        (
            ("save", {"memos": [{"content": f"tea {rng.random()}", "namespace": rng.choice(SPACES)} for _ in "xyz"]}),
            ("save", {"content": "soon gone", "namespace": space, "ttl_seconds": rng.choice([60, 600, 6_000])}),
            ("save", {"memo_id": one, "expires_at": "never"}),
            ("save", {"memo_id": one, "ttl_seconds": 60}),
            ("save", {"memo_id": one, "content": f"milk {rng.random()}"}),
            ("delete", {"memo_id": one}),
            ("restore", {"memo_id": one}),
            ("move", {"memo_ids": [one], "to_namespace": space}),
            ("merge", {"memo_ids": [one, other]}),
        )
    )
    told = talk.tool("call", module="memory", tool_name=tool, params=params).get("structuredContent", {})
    ids += [each["memo_id"] for each in (told, *told.get("items", ())) if "memo_id" in each]


@pytest.mark.parametrize("seed", range(40 if SOAK else 2))
def test_the_numbers_follow_every_change(app, frozen_clock, seed):
    talk, rng = Lines(app), random.Random(seed)
    ids = [talk.call("memory", "save", content=f"first {space}", namespace=space)["memo_id"] for space in SPACES]
    for step in range(60):
        change_something(talk, rng, ids)
        if step % 6 == 0:
            frozen_clock.advance(rng.choice([1, 90_000, 1_000_000]))
        if step % 20 == 0:
            call_owner_tool(app, "memory", "purge", {"days": 0})
        if step % 5 == 0:
            check_counts(talk)
    check_counts(talk)

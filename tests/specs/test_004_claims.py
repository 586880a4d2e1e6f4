"""claim_item: of several agents that try to take an item, one gets it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from talk import Lines

CLAIMERS = 20
MINUTE = 60_000


def claim_together(app, **params):
    """What each of 20 agents is told that claim at the same moment."""
    talks, start = [Lines(app) for _ in range(CLAIMERS)], Barrier(CLAIMERS)

    def claim(number: int) -> str:
        start.wait()
        asked = {"assignee": f"agent-{number}", **params}
        told = talks[number].tool("call", module="items", tool_name="claim_item", params=asked)
        return told["content"][0]["text"] if told.get("isError") else told["structuredContent"]["address"]

    with ThreadPoolExecutor(CLAIMERS) as pool:
        return list(pool.map(claim, range(CLAIMERS)))


def test_of_many_claimers_one_wins(app, items):
    items.make("the one")
    told = claim_together(app, type="issue", id=1)
    winners = [number for number, each in enumerate(told) if each == "issue-1"]
    assert len(winners) == 1
    assert all("is held by" in each for number, each in enumerate(told) if number not in winners)
    item = items.get({"type": "issue", "id": 1})
    assert (item["assignee"], item["status"], item["revision"]) == (f"agent-{winners[0]}", "In Progress", 2)


def test_many_claimers_without_a_number_get_different_items(app, items):
    for number in range(15):
        items.make(str(number))
    told = claim_together(app)
    taken = [each for each in told if each.startswith("issue-")]
    assert len(taken) == len(set(taken))
    # On PostgreSQL an item that is being taken is skipped: who finds nothing else is told so, and asks again.
    left = 15 - len(taken)
    taken += [items.claim_item(assignee=f"late-{number}")["address"] for number in range(left)]
    assert len(set(taken)) == 15
    assert items.refused("claim_item", assignee="last")["code"] == 1001


def test_the_most_urgent_ready_item_is_next(items):
    items.make("later", priority="LOW")
    blocked = items.make("blocked", priority="CRITICAL", tags=["t"])
    blocker = items.make("blocker", priority="HIGH", type="bug")
    items.add_relation(type="issue", id=blocked["id"], target=blocker["address"], kind="blocked_by")
    assert items.claim_item(assignee="a")["address"] == "bug-3"
    assert items.refused("claim_item", assignee="b", tag="t")["code"] == 1001
    items.update_item(type="bug", id=3, status="Completed")
    assert items.claim_item(assignee="b", tag="T")["address"] == "issue-2"
    assert items.claim_item(assignee="b", type="issue")["address"] == "issue-1"


def test_a_claim_is_prolonged_released_and_ends(items, frozen_clock):
    items.make("one")
    first = items.claim_item(type="issue", id=1, assignee="a", minutes=10)
    assert first["claimed_until"] > first["updated_at"]
    error = items.refused("claim_item", type="issue", id=1, assignee="b")
    assert (error["code"], error["data"]["details"]["assignee"]) == (1004, "a")
    assert items.refused("claim_item", type="issue", id=1, assignee="b", release=True)["code"] == 1004
    frozen_clock.advance(9 * MINUTE)
    assert items.claim_item(type="issue", id=1, assignee="a", minutes=10)["claimed_until"] > first["claimed_until"]
    frozen_clock.advance(9 * MINUTE)
    assert items.refused("claim_item", type="issue", id=1, assignee="b")["code"] == 1004
    frozen_clock.advance(2 * MINUTE)
    taken = items.claim_item(type="issue", id=1, assignee="b")
    assert (taken["assignee"], "claimed_until" in taken) == ("b", False)
    frozen_clock.advance(10_000 * MINUTE)
    assert items.refused("claim_item", type="issue", id=1, assignee="c")["code"] == 1004  # without an end
    free = items.claim_item(type="issue", id=1, assignee="b", release=True)
    assert ("assignee" in free, free["status"]) == (False, "Open")
    actions = [each["action"] for each in items.get_item_history(type="issue", id=1)["items"]]
    assert actions == ["released", "claimed", "claimed", "claimed", "created"]


def test_the_caller_is_the_default_assignee_and_lists_know_who_holds_what(items):
    items.make("mine")
    items.make("theirs", assignee="Mia")
    items.make("free")
    assert items.claim_item(type="issue", id=1)["assignee"] == "owner"
    assert [each["id"] for each in items.get_ready_items(assignee="Mia")["items"]] == [2]
    assert [each["id"] for each in items.get_ready_items(assignee="")["items"]] == [3]
    assert [each["id"] for each in items.search_items(query="assignee:Mia")["items"]] == [2]
    assert [each["id"] for each in items.search_items(query="-has:assignee")["items"]] == [3]
    assert items.update_item(type="issue", id=2, assignee="").keys().isdisjoint({"assignee"})


@pytest.mark.parametrize(
    ("params", "code"),
    [({"id": 1}, 1004), ({"release": True}, -32602), ({"id": 1, "minutes": 0}, -32602), ({"id": 9}, 1001)],
)
def test_what_cannot_be_claimed_is_refused(items, params, code):
    items.make("done", status="Closed")
    assert items.refused("claim_item", **params)["code"] == code

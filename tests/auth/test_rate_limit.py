"""Limits that all processes on one database share, and how a caller is told of them."""

import pytest
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth.rate_limit import TABLES, RateLimiter
from tokonoma.core.errors import Unavailable
from tokonoma.store.database import store_error
from tokonoma.store.migrate import migrate

pytestmark = pytest.mark.migrated


@pytest.fixture
def counting(database):
    migrate(database, "rate", TABLES, lambda _: None)
    return database


def test_a_bucket_empties_says_when_to_come_back_and_refills(counting):
    at = 1_000_000
    rates = RateLimiter(counting.writing, 3, 60.0, lambda: at)
    assert [rates.take("a").remaining for _ in range(3)] == [2, 1, 0]
    refused = rates.take("a")
    assert (refused.allowed, refused.wait, refused.limit) == (False, 20, 3)
    assert rates.take("b").allowed
    at += 20_000
    assert rates.take("a").allowed
    assert not rates.take("a").allowed
    at += 60_000
    assert rates.take("a").remaining == 2


def test_a_clock_that_is_set_back_blocks_nobody(counting):
    at = 10_000_000
    limiter = RateLimiter(counting.writing, 3, 60.0, lambda: at)
    for _ in range(4):
        limiter.take("a")
    at -= 3_600_000
    again = RateLimiter(counting.writing, 3, 60.0, lambda: at)  # a new process
    refused = again.take("a")
    assert (refused.allowed, refused.wait) == (False, 20)
    at += 20_000
    assert again.take("a").allowed


def test_two_processes_count_together(counting):
    one, two = (RateLimiter(counting.writing, 10, 60.0, lambda: 5_000) for _ in range(2))
    taken = [rates.take("a").allowed for _ in range(10) for rates in (one, two)]
    assert sum(taken) == 10


def test_of_a_large_limit_portions_are_taken_and_never_more_than_it(counting):
    writes = []

    def writing():
        writes.append(1)
        return counting.writing()

    one, two = (RateLimiter(writing, 1000, 60.0, lambda: 5_000) for _ in range(2))
    taken = [rates.take("a").allowed for _ in range(800) for rates in (one, two)]
    assert sum(taken) == 1000
    assert len(writes) < 800


def test_callers_are_told_over_either_transport(database_url, tmp_path):
    flags = {"home": str(tmp_path), "database_url": database_url, "durable": False, "rate_limit": "2/hour"}
    house, other = App(flags, {}), App(flags, {})
    asked = {"name": "call", "arguments": {"module": "claims", "tool_name": "list", "params": {}}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    try:
        first = Lines(house).tool("call", module="claims", tool_name="list", params={})
        assert first["_meta"]["tokonoma/rate_limit"] == {"limit": 2, "remaining": 1, "reset": 1800}
        second = Http(other).answered(message)
        assert second.headers["x-ratelimit-remaining"] == "0"
        assert second.headers["x-ratelimit-limit"] == "2"
        third = Http(house).answered(message)
        assert int(third.headers["retry-after"]) > 1700
        assert third.headers["x-ratelimit-remaining"] == "0"
        error = Lines(house).refused("claims", "list")
        assert (error["code"], error["details"]["http_status"]) == ("RATE_LIMIT", 429)
        assert Lines(house).call("memory", "list")["items"] == []
    finally:
        house.close()
        other.close()


def test_the_limit_holds_in_memory_while_nothing_can_be_stored():
    """A read-only disk stops no read, and lifts no limit."""

    def writing():
        raise store_error("read_only")

    rates = RateLimiter(writing, 3, 60.0, lambda: 1_000_000)
    assert [rates.take("a").allowed for _ in range(5)] == [True, True, True, False, False]
    assert rates.take("b").allowed
    broken = RateLimiter(lambda: (_ for _ in ()).throw(store_error("database")), 3, 60.0)  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        broken.take("a")

"""The policy in force is that of the database, also when many threads read it while it changes."""

import sys
import threading

import pytest

from tokonoma.policy.current import CurrentPolicy


class ChangingDatabase:
    """Its policy is the one with the number that `number` says."""

    def __init__(self) -> None:
        self.number = 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def row(self, sql, **parameters):
        if "policy_head" in sql:
            return self.number, b"salt", None, None, "masks"
        if "policy_version" in sql:
            number = parameters["number"]
            return number, f"{number}.0.0", f"version: {number}", 0, "", "", ""
        return None  # no document


@pytest.fixture
def hasty():
    """Threads take turns after a few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_that_read_while_it_changes_never_leave_an_older_one_behind(hasty):
    database = ChangingDatabase()
    policies = CurrentPolicy(lambda: database, None, lambda: None)  # type: ignore[arg-type, return-value]
    policies.invalidate()  # read with every call
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            policies.get_active()

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    stale = 0
    try:
        for number in range(2, 1000):
            database.number = number
            for _ in range(5):
                policies.get_active()
            stale += policies.get_version() != f"{number}.0.0"
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert stale == 0

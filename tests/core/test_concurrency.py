"""Cancel tokens and deferred values."""

import threading

import pytest

from tokonoma.core.concurrency import CancelToken, Deferred
from tokonoma.core.errors import Unavailable


def test_a_cancelled_token_runs_its_hooks_once_and_keeps_the_first_reason():
    token, ran = CancelToken(), []
    token.attach(lambda: ran.append("a"))
    token.cancel("timeout")
    token.cancel("cancelled")
    assert (ran, token.reason) == (["a"], "timeout")
    with pytest.raises(Unavailable, match="time limit"):
        token.check()
    with pytest.raises(Unavailable):
        token.attach(lambda: ran.append("never"))
    token.on_cancel(lambda: ran.append("late"))
    assert ran == ["a", "late"]


def test_a_detached_hook_is_not_called():
    token, ran = CancelToken(), []

    def hook():
        ran.append("a")

    token.attach(hook)
    token.detach(hook)
    token.cancel("cancelled")
    assert ran == []


def test_only_the_first_resolve_counts():
    deferred: Deferred[int] = Deferred()
    heard: list[tuple[int | None, BaseException | None]] = []
    deferred.then(lambda value, error: heard.append((value, error)))
    threads = [threading.Thread(target=deferred.resolve, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    deferred.then(lambda value, error: heard.append((value, error)))
    assert len(heard) == 2
    assert heard[0] == heard[1]

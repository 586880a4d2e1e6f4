"""Run a call: through the stages on the way in, the tool, and the same stages in reverse on the way back.

A stage is a function of the call. A plain function refuses or fills something in. A generator yields once: what stands
before the `yield` happens on the way in, what stands after it on the way back, where `call.value` can be read and
replaced and an error comes out of the `yield` like any exception.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

from tokonoma.core.call import Call
from tokonoma.core.concurrency import Deferred
from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.pipeline.worker_pool import WorkerPool

Stage = Callable[[Call], Iterator[None] | None]
Invoke = Callable[[Call], Any]
Done = Callable[[Call, BaseException | None], None]


class CallRunner:
    """Puts calls on the worker pool. `build` makes the stages and the invoker when the first call needs them."""

    def __init__(self, pool: WorkerPool, build: Callable[[], tuple[Sequence[Stage], Invoke]]) -> None:
        self._pool, self._build = pool, build
        self._lock = threading.Lock()
        self._built: tuple[Sequence[Stage], Invoke] | None = None

    def submit(self, call: Call, done: Done) -> None:
        self._pool.submit(partial(self._run, call, done))

    def warm(self) -> None:
        """Build the stages ahead of the first call."""
        with self._lock:
            if self._built is None:
                self._built = self._build()

    def _run(self, call: Call, done: Done) -> None:
        if self._built is None:
            try:
                self.warm()
            except Exception as error:  # a broken installation: the caller gets an answer instead of waiting for ever
                log("error", "join", error=type(error).__name__)
                done(call, error)
                return
        assert self._built is not None
        run_call(call, *self._built, done)


def run_call(call: Call, stages: Sequence[Stage], invoke: Invoke, done: Done) -> None:
    """Run one call; `done(call, error)` is called exactly once, here or when a deferred value is resolved."""
    opened: list[Iterator[None]] = []
    try:
        for stage in stages:
            way_back = stage(call)
            if way_back is not None:
                next(way_back)
                opened.append(way_back)
        value = invoke(call)
    except BaseException as error:
        done(call, _run_back(opened, error))
        return
    if isinstance(value, Deferred):

        def finish(value: Any, error: BaseException | None) -> None:
            call.value = value
            done(call, _run_back(opened, error))

        cast("Deferred[Any]", value).then(finish)
        return
    call.value = value
    done(call, _run_back(opened, None))


def _run_back(opened: list[Iterator[None]], error: BaseException | None) -> BaseException | None:
    """Resume every opened stage, last one first. A stage may replace the error or add one; none can swallow it."""
    for way_back in reversed(opened):
        try:
            if error is None:
                next(way_back)
            else:
                way_back.throw(error)  # type: ignore[attr-defined]
        except StopIteration:
            continue
        except BaseException as raised:
            error = raised
    if isinstance(error, Refusal):
        _drop_frames(error)
    return error


def _drop_frames(error: BaseException) -> None:
    """Forget where a refusal came from. Its frames hold the call, with all that the caller sent, and refer back to the
    refusal: the memory would be free only when Python looks for cycles."""
    each: BaseException | None = error
    while each is not None:
        each.__traceback__ = None
        each = each.__cause__ or each.__context__

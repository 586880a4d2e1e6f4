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
from tokonoma.core.concurrency import Deferred, do_nothing, work_for
from tokonoma.core.errors import Refusal, Unavailable
from tokonoma.core.log import log
from tokonoma.pipeline.worker_pool import WorkerPool

Stage = Callable[[Call], Iterator[None] | None]
Invoke = Callable[[Call], Any]
Done = Callable[[Call, BaseException | None], None]
Replace = Callable[[threading.Thread | None, Callable[[], object]], object]
"""Run something instead of the work of a thread that does not end (None: no thread is held)"""

_ABANDONED = "The call ran past its time limit and does not stop. It may still take effect: check before you repeat it."


class CallRunner:
    """Puts calls on the worker pool. `build` makes the stages and the invoker when the first call needs them; `writes`
    says whether a tool, by its module and name, may write."""

    def __init__(
        self,
        pool: WorkerPool,
        build: Callable[[], tuple[Sequence[Stage], Invoke]],
        writes: Callable[[str, str], bool] = lambda module, tool: True,
    ) -> None:
        self._pool, self._build, self._writes = pool, build, writes
        self._lock = threading.Lock()
        self._built: tuple[Sequence[Stage], Invoke] | None = None

    def submit(self, call: Call, done: Done) -> None:
        self._pool.submit(partial(self._run, call, done), writes=self._writes(call.module, call.tool))

    def run_here(self, call: Call, done: Done) -> None:
        """Run a call that belongs to another one on the thread of that one, which must not wait for a second one."""
        self._run(call, done)

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
        run_call(call, *self._built, done, self._replace)

    def _replace(self, thread: threading.Thread | None, work: Callable[[], object]) -> None:
        if thread is None or self._pool.replace(thread):
            self._pool.submit(work)
        else:
            work()


def run_call(
    call: Call, stages: Sequence[Stage], invoke: Invoke, done: Done, replace: Replace = lambda thread, work: work()
) -> None:
    """Run one call; `done(call, error)` is called exactly once: here, when a deferred value is resolved, or when the
    call is abandoned, whichever comes first."""
    opened: list[Iterator[None]] = []
    held: threading.Thread | None = threading.current_thread()  # that the tool keeps from other work
    answered = threading.Lock()  # acquired once, never released

    def finish(value: Any, error: BaseException | None) -> None:
        if not answered.acquire(blocking=False):
            log("warning", "late", request_id=call.request_id, module=call.module, tool=call.tool, ok=error is None)
            return
        call.cancel_token.abandon = do_nothing  # a cycle of references would keep the call in memory
        call.value = value
        if error is None:
            with work_for(call.cancel_token):
                error = _run_back(opened, None)
        else:  # an error of a cancelled call is still screened
            error = _run_back(opened, error)
        done(call, error)

    def abandon() -> None:
        if answered.acquire(blocking=False):
            call.cancel_token.abandon = do_nothing
            error = Unavailable(_ABANDONED, reason=call.cancel_token.reason or "timeout")
            replace(held, lambda: done(call, _run_back(opened, error)))

    try:
        with work_for(call.cancel_token):
            for stage in stages:
                way_back = stage(call)
                if way_back is not None:
                    next(way_back)
                    opened.append(way_back)
            call.cancel_token.abandon = abandon
            value = invoke(call)
    except BaseException as error:
        finish(None, error)
        return
    if isinstance(value, Deferred):
        held = None
        cast("Deferred[Any]", value).then(finish)
    else:
        finish(value, None)


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

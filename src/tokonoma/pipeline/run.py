"""The row: every call walks the same stages in, meets its tool, and walks back out through them.

A stage is a function of the call. A plain one refuses or fills something in. A generator yields once: what stands
before the `yield` happens on the way in, what stands after it on the way back, where `call.value` can be read and
replaced and an error comes out of the `yield` like any exception.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from tokonoma.core.call import Call
from tokonoma.core.concurrency import Deferred

Stage = Callable[[Call], Iterator[None] | None]
Done = Callable[[Call, BaseException | None], None]


def run_call(call: Call, stages: Sequence[Stage], work: Callable[[Call], Any], done: Done) -> None:
    """Take the call through; `done(call, error)` is called exactly once, here or when a promised value settles."""
    opened: list[Iterator[None]] = []
    try:
        for stage in stages:
            way_back = stage(call)
            if way_back is not None:
                next(way_back)
                opened.append(way_back)
        value = work(call)
    except BaseException as error:
        done(call, _run_back(call, opened, error))
        return
    if isinstance(value, Deferred):
        promised = cast("Deferred[Any]", value)

        def settled(value: Any, error: BaseException | None) -> None:
            call.value = value
            done(call, _run_back(call, opened, error))

        promised.then(settled)
        return
    call.value = value
    done(call, _run_back(call, opened, None))


def _run_back(call: Call, opened: list[Iterator[None]], error: BaseException | None) -> BaseException | None:
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
    return error

"""Steps of a meta-tool that are calls of their own. Each passes the whole pipeline, as if the caller had made it: mask,
limit, policy and journal apply."""

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import orjson

from tokonoma.core.call import Call, InnerStep
from tokonoma.core.concurrency import Deferred, work_for
from tokonoma.gateway.batch import SubmitCall, build_inner_call

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StepPause:
    seconds: float


Steps = Generator[InnerStep | StepPause, Any, T]
"""Code that yields a call, and gets its value; a call that fails raises its error there"""


class StepRunner(Generic[T]):
    """Runs steps one after the other. It holds no worker while a call or a pause lasts: else as many of them as there
    are workers would wait for each other for ever."""

    def __init__(self, steps: Steps[T], parent: Call, submit: SubmitCall) -> None:
        self._steps, self._parent, self._submit = steps, parent, submit
        self._answer: Deferred[T] = Deferred()
        self._running: Call | None = None

    def start(self) -> Deferred[T]:
        self._parent.cancel_token.on_cancel(self._cancel_running)
        answer = self._answer
        self._advance(partial(next, self._steps))
        return answer

    def _cancel_running(self) -> None:
        if (call := self._running) is not None:
            call.cancel_token.cancel(self._parent.cancel_token.reason)

    def _advance(self, resume: Callable[[], InnerStep | StepPause]) -> None:
        token = self._parent.cancel_token
        try:
            with work_for(token):
                step = resume()
        except StopIteration as ended:
            token.discard(self._cancel_running)
            self._answer.resolve(ended.value)
        except BaseException as error:
            token.discard(self._cancel_running)
            self._answer.resolve(error=error)
        else:
            self._begin(step)

    def _begin(self, step: InnerStep | StepPause) -> None:
        if isinstance(step, StepPause):
            timer = threading.Timer(step.seconds, self._advance, [partial(next, self._steps)])
            timer.daemon = True
            timer.start()
            return
        self._running = call = build_inner_call(self._parent, step.module, step.tool, step.params)
        call.bytes_in, call.watches = len(orjson.dumps(call.params)), step.watches
        if self._parent.cancel_token.reason:  # cancelled meanwhile: _cancel_running may not have seen this call
            call.cancel_token.cancel(self._parent.cancel_token.reason)
        try:
            self._submit(call, self._on_done)
        except Exception as error:
            self._on_done(call, error)

    def _on_done(self, call: Call, error: BaseException | None) -> None:
        self._running = None
        if error is not None:
            self._advance(partial(self._steps.throw, error))
        else:
            self._advance(partial(self._steps.send, orjson.loads(call.body)))

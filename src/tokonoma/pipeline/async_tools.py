"""Outside tools are `async def`: they run on one event loop, started by the first of them, and hold no worker."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

from tokonoma.core.concurrency import CancelToken, Deferred


class AsyncTools:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, work: Coroutine[Any, Any, Any], stop: CancelToken) -> Deferred[Any]:
        """Begin the work; a cancelled or overdue call cancels its task."""
        later: Deferred[Any] = Deferred()
        future = asyncio.run_coroutine_threadsafe(self._run(work, stop, later), self._start_loop())
        stop.on_cancel(future.cancel)
        return later

    async def _run(self, work: Coroutine[Any, Any, Any], stop: CancelToken, later: Deferred[Any]) -> None:
        try:
            value = await work
        except asyncio.CancelledError:
            later.resolve(error=stop.to_error())
            raise
        except BaseException as error:
            later.resolve(error=error)
        else:
            later.resolve(value)

    def _start_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="outside", daemon=True).start()
            return self._loop

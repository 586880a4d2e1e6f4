"""Tools that talk to other services: they run on one event loop, and nothing that blocks runs there.

The loop starts with the first such tool. Database work of an `async def` tool, and everything that happens to its
result on the way back (guard, JSON, journal), runs on the worker pool: one large answer does not hold up small ones.
"""

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any, Protocol, TypeVar

from tokonoma.core.async_desk import AsyncTx
from tokonoma.core.call import Call, Principal
from tokonoma.core.concurrency import CancelToken, Deferred
from tokonoma.core.desk import Classification, Desk, Document, Record, Row, Tx
from tokonoma.core.query import Hits, Query, SearchFilter
from tokonoma.core.service import ServiceClient

T = TypeVar("T")


class Submit(Protocol):
    """Puts a function on the worker pool."""

    def __call__(self, work: Callable[[], object], *, writes: bool = False) -> None: ...


class AsyncTools:
    """`submit` puts a function on the worker pool."""

    def __init__(self, submit: Submit) -> None:
        self._submit = submit
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self, work: Coroutine[Any, Any, Any], cancel_token: CancelToken) -> Deferred[Any]:
        """Run a tool's coroutine. Cancelling the call, or its deadline, cancels the task."""
        deferred: Deferred[Any] = Deferred()
        future = asyncio.run_coroutine_threadsafe(self._run(work, cancel_token, deferred), self._start_loop())
        cancel_token.on_cancel(future.cancel)
        return deferred

    def close(self) -> None:
        """Cancel what still runs and end the loop's thread."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        with suppress(TimeoutError):  # a tool that ignores its cancellation does not keep the process
            asyncio.run_coroutine_threadsafe(_cancel_tasks(), loop).result(timeout=1)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    async def _run(self, work: Coroutine[Any, Any, Any], token: CancelToken, deferred: Deferred[Any]) -> None:
        try:
            value = await work
        except asyncio.CancelledError:
            self._submit(partial(deferred.resolve, error=token.to_error()))
            raise
        except BaseException as error:
            self._submit(partial(deferred.resolve, error=error))
        else:
            self._submit(partial(deferred.resolve, value))

    def _start_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="async-tools", daemon=True)
                self._thread.start()
            return self._loop


async def _cancel_tasks() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class CallAsyncDesk:
    """The desk of an `async def` tool (core.desk.AsyncDesk): the same methods, awaited."""

    def __init__(self, desk: Desk, submit: Submit, connect: Callable[[str | None], ServiceClient]) -> None:
        self._desk, self._submit, self._connect = desk, submit, connect

    @property
    def call(self) -> Call:
        return self._desk.call

    @property
    def principal(self) -> Principal:
        return self._desk.principal

    def now(self) -> int:
        return self._desk.now()

    def report(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self._desk.report(progress, total, message)

    async def rows(self, sql: str, /, **params: Any) -> list[Row]:
        return await self._run(partial(self._desk.rows, sql, **params))

    async def row(self, sql: str, /, **params: Any) -> Row | None:
        return await self._run(partial(self._desk.row, sql, **params))

    async def read(self, address: str) -> Record:
        return await self._run(partial(self._desk.read, address))

    async def seal_cursor(self, kind: str, *position: Any) -> str:
        return await self._run(partial(self._desk.seal_cursor, kind, *position))

    async def open_cursor(self, kind: str, cursor: str) -> list[Any]:
        return await self._run(partial(self._desk.open_cursor, kind, cursor))

    async def find(self, query: Query, where: SearchFilter) -> Hits:
        return await self._run(partial(self._desk.find, query, where))

    async def connect(self, account: str | None = None) -> ServiceClient:
        return await self._run(partial(self._connect, account))

    def cite(self, address: str, author: str | None = None) -> None:
        self._desk.cite(address, author)

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncTx]:
        """One transaction, on one worker from its beginning to its commit: a transaction belongs to a thread."""
        worker = _TransactionWorker(self._desk, self._submit)
        tx = await worker.enter()
        try:
            yield CallAsyncTx(tx, worker.run)
        except BaseException as error:
            await asyncio.shield(worker.exit(type(error), error, error.__traceback__))
            raise
        await asyncio.shield(worker.exit(None, None, None))

    async def _run(self, function: Callable[[], T]) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._submit(partial(_fulfil, future, function))
        return await future


class CallAsyncTx:
    """The statements of one transaction, awaited (core.desk.AsyncTx)."""

    def __init__(self, tx: Tx, run: "Callable[[Callable[[], Any]], Coroutine[Any, Any, Any]]") -> None:
        self._tx, self._run = tx, run

    async def rows(self, sql: str, /, **params: Any) -> list[Row]:
        return await self._run(partial(self._tx.rows, sql, **params))

    async def row(self, sql: str, /, **params: Any) -> Row | None:
        return await self._run(partial(self._tx.row, sql, **params))

    async def run(self, sql: str, /, **params: Any) -> int:
        return await self._run(partial(self._tx.run, sql, **params))

    async def run_many(self, sql: str, params: Sequence[Mapping[str, Any]], /) -> None:
        await self._run(partial(self._tx.run_many, sql, params))

    async def put(self, document: Document, *, same_text: bool = False) -> Classification:
        return await self._run(partial(self._tx.put, document, same_text=same_text))

    async def drop(self, address: str) -> None:
        await self._run(partial(self._tx.drop, address))


class _TransactionWorker:
    """A worker of the pool that belongs to one transaction until it ends."""

    def __init__(self, desk: Desk, submit: Submit) -> None:
        self._context = desk.write()
        self._submit = submit
        self._steps: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()

    async def enter(self) -> Tx:
        entered: asyncio.Future[Tx] = asyncio.get_running_loop().create_future()

        def hold() -> None:
            if not _fulfil(entered, self._context.__enter__):
                return
            while (step := self._steps.get()) is not None:
                step()

        self._submit(hold, writes=True)
        try:
            return await asyncio.shield(entered)
        except asyncio.CancelledError:
            # The worker may be entering right now: it must leave the transaction, whichever comes first.
            self._steps.put(partial(self._context.__exit__, asyncio.CancelledError, asyncio.CancelledError(), None))
            self._steps.put(None)
            raise

    async def run(self, function: Callable[[], T]) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._steps.put(partial(_fulfil, future, function))
        return await future

    async def exit(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.run(partial(self._context.__exit__, kind, error, trace))
        finally:
            self._steps.put(None)


def _fulfil(future: "asyncio.Future[T]", function: Callable[[], T]) -> bool:
    """Run the function here and give its outcome to a future of the loop. False if it raised."""
    loop = future.get_loop()

    def settle(value: T | None, error: BaseException | None) -> None:
        if not future.done():  # it was cancelled meanwhile
            if error is None:
                future.set_result(value)  # type: ignore[arg-type]
            else:
                future.set_exception(error)

    value: T | None = None
    failure: BaseException | None = None
    try:
        value = function()
    except BaseException as error:
        failure = error
    with suppress(RuntimeError):  # the loop has closed
        loop.call_soon_threadsafe(settle, value, failure)
    return failure is None

"""A session over one stream of lines (stdio): lines in, messages out, many calls at once. No I/O."""

import threading
import time
from collections.abc import Callable, Iterator

from tokonoma.core.call import Caller
from tokonoma.core.errors import Refusal
from tokonoma.server.mcp import message as rpc
from tokonoma.server.mcp.interface import Dispatcher
from tokonoma.server.mcp.listen import LISTEN, Listening
from tokonoma.server.mcp.message import Message
from tokonoma.server.mcp.methods import answer_request
from tokonoma.server.mcp.resource_calls import takes_call
from tokonoma.server.mcp.subscribe import UNSUBSCRIBE, convert_for, unsubscribe
from tokonoma.server.mcp.tool_call import ToolCall
from tokonoma.server.mcp.versions import META_CLIENT, check_envelope, check_version, format_client, is_modern
from tokonoma.server.mcp.watch import ResourceWatch

MAX_CALLS = 4096
"""Running calls before the next one waits: a client that floods is slowed down first, then refused."""

MAX_CALL_BYTES = 64 * 2**20
"""Bytes of the messages of running calls, all together, before the next large one waits."""

SMALL = 64 * 1024
"""Bytes of a message that need not wait: large ones must not keep out small ones."""

MAX_LISTENING = 16
"""Open `subscriptions/listen` requests."""

MAX_WAIT = 1.0
"""Seconds that the next call waits. Meanwhile neither cancellations nor the end of input are read."""


_LOOK = 0.1  # seconds between two looks whether waiting is over


class LineBuffer:
    """From chunks to lines, in bounded memory: a line that grows beyond the limit is discarded as it arrives."""

    __slots__ = ("_limit", "_parts", "_size", "_skipping")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Yield the lines that this chunk completes, without their ends; None for each that is too long."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            yield from self._append(part)
            if not self._skipping:
                yield self.take_rest()
            self._skipping = False
        yield from self._append(rest)

    def take_rest(self) -> bytes:
        """Return what came after the last line end; a client may leave the last one out."""
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return line

    def _append(self, part: bytes) -> Iterator[None]:
        if self._skipping or not part:
            return
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._limit:
            self._parts, self._size, self._skipping = [], 0, True
            yield None


class StdioSession:
    """`write` takes one message and must not interleave two; it is called from any thread."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        write: Callable[[bytes], None],
        after_list: Callable[[], None] | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._caller = caller
        self._write = write
        self._after_list = after_list
        self._cancellable: dict[rpc.RequestId, ToolCall] = {}
        self._running: set[ToolCall] = set()
        self._running_bytes = 0
        self._changed = threading.Condition()
        self._watch = ResourceWatch(dispatcher, caller, write, lambda: None)
        self._listening: dict[rpc.RequestId, Listening] = {}
        self._unfollow = dispatcher.follow_access(caller, self._on_loss)

    def handle_line(self, line: bytes | None) -> None:
        """Handle one line; None stands for one that was too long. Never raises because of what the client sent."""
        try:
            if line is None:
                raise rpc.oversized_error()
            message = rpc.parse_message(line) if line.strip() else None
            if message is None:
                return
            if message.id is None:
                self._handle_notification(message)
            else:
                self._handle_request(message, message.id)
        except rpc.ProtocolError as error:
            self._write(rpc.encode_protocol_error(error))

    def drain(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> bool:
        """Wait for the running calls as long as one ends every so many seconds; False if some still run."""
        with self._changed:
            last, count = time.monotonic(), len(self._running)
            while self._running and not is_over() and time.monotonic() < last + seconds:
                self._changed.wait(min(seconds, _LOOK))
                if len(self._running) != count:
                    last, count = time.monotonic(), len(self._running)
            return not self._running

    def stop(self) -> None:
        """Ask the running calls to end early. They still answer."""
        for call in list(self._running):
            call.stop()

    def end(self) -> None:
        """The input has ended: answer the requests that stay open, and watch nothing any more."""
        self._unfollow()
        self._watch.end()
        for listening in list(self._listening.values()):
            listening.finish()

    def _on_loss(self, refusal: Refusal, ended: bool) -> None:
        """With `--as`: the credential has ended, or may use less."""
        for call in list(self._running):
            call.refuse(refusal)
        if ended:
            self._watch.end()
        else:
            self._watch.narrow(False)
        for listening in list(self._listening.values()):
            listening.finish() if ended else listening.narrow()

    def _handle_notification(self, message: Message) -> None:
        id = message.params.get("requestId")
        if message.method != "notifications/cancelled" or not rpc.is_id(id):
            return
        for open_request in (self._cancellable.pop(id, None), self._listening.get(id)):
            if open_request is not None:
                open_request.cancel()

    def _handle_request(self, message: Message, id: rpc.RequestId) -> None:
        modern = is_modern(message)
        if modern:
            check_envelope(message)
            check_version(message)
            self._caller.client = format_client(message.meta.get(META_CLIENT)) or self._caller.client
        if takes_call(self._dispatcher, message, self._caller, modern):
            self._start_call(message, id, modern)
            return
        if message.method == UNSUBSCRIBE and not modern:
            self._write(unsubscribe(message, self._watch))
            return
        if message.method == LISTEN and modern:
            self._listen(message, id)
            return
        self._write(answer_request(self._dispatcher, message, self._caller, modern))
        if message.method == "tools/list" and self._after_list is not None:
            after_list, self._after_list = self._after_list, None
            after_list()

    def _listen(self, message: Message, id: rpc.RequestId) -> None:
        self._check_id(message, id)
        if len(self._listening) >= MAX_LISTENING:
            raise message.error(f"No more than {MAX_LISTENING} subscriptions can be open at once", rpc.LIMITED)

        def forget(listening: Listening) -> None:
            self._listening.pop(listening.id, None)

        listening = Listening(self._dispatcher, message, self._caller, lambda sent, last: self._write(sent), forget)
        self._listening[id] = listening
        try:
            listening.start()
        except rpc.ProtocolError:
            forget(listening)
            raise

    def _check_id(self, message: Message, id: rpc.RequestId) -> None:
        if id in self._cancellable or id in self._listening:
            raise message.error("A request with this id is still running", rpc.INVALID_REQUEST)

    def _start_call(self, message: Message, id: rpc.RequestId, modern: bool) -> None:
        self._check_id(message, id)

        def send(sent: bytes, last: bool) -> None:
            if last:
                self._release_id(call)  # before the answer: the client may use the id again as soon as it reads it
            self._write(sent)

        convert = convert_for(message, None if modern else self._watch)
        call = ToolCall(self._dispatcher, message, modern, send, self._on_call_end, convert)
        with self._changed:
            if not self._changed.wait_for(lambda: self._has_room(call.size), MAX_WAIT):
                raise message.error("Too many or too large calls are running; wait until some have ended", rpc.LIMITED)
            self._running.add(call)
            self._running_bytes += call.size
        self._cancellable[id] = call
        try:
            call.start(self._caller)
        except rpc.ProtocolError:
            self._on_call_end(call)
            raise

    def _has_room(self, size: int) -> bool:
        if len(self._running) >= MAX_CALLS:
            return False
        return not self._running or size <= SMALL or self._running_bytes + size <= MAX_CALL_BYTES

    def _release_id(self, call: ToolCall) -> None:
        if call.id is not None and self._cancellable.get(call.id) is call:
            self._cancellable.pop(call.id, None)

    def _on_call_end(self, call: ToolCall) -> None:
        self._release_id(call)
        with self._changed:
            if call in self._running:
                self._running.remove(call)
                self._running_bytes -= call.size
            self._changed.notify_all()

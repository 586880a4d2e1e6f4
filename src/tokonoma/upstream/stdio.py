"""An MCP server as a process: messages are lines on its standard input and output.

It gets a process group of its own, so that what it has started ends with it, and an environment with nothing but a few
variables and what it was given.
"""

import asyncio
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tokonoma.core.errors import Unavailable
from tokonoma.upstream import wire
from tokonoma.upstream.transport import FailRequest
from tokonoma.upstream.wire import MAX_MESSAGE, ConnectionLost, JsonObject, RpcFailure

PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")
"""The variables that every server process gets."""

KEPT_TEXT = 64 * 1024
"""Bytes of what it writes to standard error."""

_CHUNK = 64 * 1024
_GRACE = 0.4  # seconds between asking a process to end and ending it
_MAX_NOTED = 200  # characters of a line that is no message
_HEAD = 4096  # bytes of a line that is too long
_ID = re.compile(rb'"id"\s{0,4}:\s{0,4}([0-9]{1,15})')


class TextRing:
    """The last bytes of what a process has written to standard error; also in a file, if there is one, for commands in
    other processes."""

    def __init__(self, file: Path | None = None, size: int = KEPT_TEXT) -> None:
        self._file, self._size, self._bytes, self._written = file, size, bytearray(), 0

    def add(self, chunk: bytes) -> None:
        self._bytes += chunk
        if len(self._bytes) > self._size:
            del self._bytes[: len(self._bytes) - self._size]
        if self._file is not None:
            with suppress(OSError):  # a full disk must not end a server
                self._save(self._file, chunk)

    def get_text(self) -> str:
        return self._bytes.decode("utf-8", "replace")

    def _save(self, file: Path, chunk: bytes) -> None:
        """Appended; written anew at first, and whenever it has twice as much as is kept."""
        is_new = not self._written or self._written > 2 * self._size
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if is_new else os.O_APPEND)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        with open(os.open(file, flags, 0o600), "wb") as opened:  # noqa: PTH123 - with its permissions
            opened.write(bytes(self._bytes) if is_new else chunk)
        self._written = len(self._bytes) if is_new else self._written + len(chunk)

    def list_last(self, count: int) -> list[str]:
        """The last lines that are not empty."""
        return [line for line in self.get_text().splitlines() if line.strip()][-count:]


class LineReader:
    """From chunks to lines, in bounded memory: of a line beyond the limit only its start is kept."""

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self._limit, self._parts, self._size = limit, list[bytes](), 0

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, bool]]:
        """Lines that this chunk completes, each with whether it is whole."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            self._append(part)
            yield b"".join(self._parts), self._size <= self._limit
            self._parts, self._size = [], 0
        self._append(rest)

    def _append(self, part: bytes) -> None:
        if part and self._size <= self._limit:
            self._parts.append(part)
            if self._size + len(part) > self._limit:
                self._parts = [b"".join(self._parts)[:_HEAD]]
        self._size += len(part)


class StdioTransport:
    """`environ` is the whole environment of the process."""

    patience = 10.0  # some servers do not answer what they do not know

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], text: TextRing, folder: str = "") -> None:
        self._command, self._environ, self._text, self._folder = list(command), dict(environ), text, folder
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._writing = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def start(self, receive: Callable[[JsonObject], None], fail: FailRequest) -> None:
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env=self._environ,
                cwd=self._folder or None,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else "the command is not valid"
            raise Unavailable(f"Cannot start {self._command[0]!r}: {why}.", reason="start") from error
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._read_messages(self._process, receive, fail)),
            loop.create_task(self._read_text(self._process)),
        ]

    async def send(self, message: JsonObject, headers: Mapping[str, str]) -> None:
        line = wire.encode(message) + b"\n"
        pipe = None if self._process is None else self._process.stdin
        if pipe is None:
            raise ConnectionLost("The process is not running.")
        async with self._writing:
            try:
                pipe.write(line)
                await pipe.drain()
            except (OSError, RuntimeError) as error:
                raise ConnectionLost("The process does not read its input any more.") from error

    def settle(self, version: str, modern: bool) -> None:
        pass

    def abandon(self, request_id: int) -> bool:
        return False

    async def close(self) -> None:
        """End the whole process group: it is asked first, and ended a moment later."""
        process = self._process
        if process is None:
            return
        try:
            if process.stdin is not None:
                process.stdin.close()
            if process.returncode is None:
                end_group(process.pid, signal.SIGTERM)
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _GRACE)
        finally:
            end_group(process.pid, signal.SIGKILL)
            for task in self._tasks:
                task.cancel()
            self._process = None
        with suppress(TimeoutError, asyncio.CancelledError):
            await asyncio.wait_for(process.wait(), _GRACE)
        _close_pipes(process)

    async def _read_messages(
        self, process: asyncio.subprocess.Process, receive: Callable[[JsonObject], None], fail: FailRequest
    ) -> None:
        assert process.stdout is not None
        lines = LineReader()
        while chunk := await process.stdout.read(_CHUNK):
            for line, is_whole in lines.feed(chunk):
                self._take_line(line, is_whole, receive, fail)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE)
        code = process.returncode
        how = "has closed its output" if code is None else f"has ended with code {code}"
        await asyncio.sleep(0)  # what it wrote last to standard error is read first
        fail(ConnectionLost(f"The process {how}."))

    def _take_line(self, line: bytes, is_whole: bool, receive: Callable[[JsonObject], None], fail: FailRequest) -> None:
        if not is_whole:
            error = Unavailable(f"The server sent a message of more than {MAX_MESSAGE} bytes.", reason="too_large")
            fail(error, _find_id(line))
            return
        if not line.strip():
            return
        try:
            messages = wire.parse_messages(line)
        except ValueError:  # a banner or a log: it belongs to standard error
            self._text.add(b"(stdout) " + line[:_MAX_NOTED] + b"\n")
            if line.startswith(b"{") and (request_id := _find_id(line)) is not None:
                fail(RpcFailure(-32700, "The server's answer cannot be read."), request_id)
            return
        for message in messages:
            receive(message)

    async def _read_text(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(_CHUNK):
            self._text.add(chunk)


def build_environ(base: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server process: nothing of ours but what every program needs, and what it was given."""
    return {**{name: base[name] for name in PASSED_ON if name in base}, **given}


def _find_id(line: bytes) -> int | None:
    """The id in a message that cannot be read: its request must not wait for ever."""
    found = _ID.search(line[:_HEAD])
    return int(found[1]) if found else None


def end_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    """A child of the process may hold its pipes open: they would be read until it ends."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()

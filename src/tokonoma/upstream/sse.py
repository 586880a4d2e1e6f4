"""Server-sent events: from chunks to events, in bounded memory."""

import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import httpx

from tokonoma.core.errors import Unavailable
from tokonoma.services.http import AnswerIncomplete
from tokonoma.upstream.wire import MAX_MESSAGE

_FIRST_RETRY, _LONGEST_RETRY = 1.0, 30.0  # seconds before a broken stream is asked for again


@dataclass(frozen=True, slots=True)
class ServerEvent:
    data: str
    event: str = "message"
    id: str | None = None
    retry: int | None = None  # milliseconds


class EventReader:
    """Lines end with LF, CR LF or CR; an empty line ends an event."""

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self._limit, self._parts, self._size = limit, list[bytes](), 0
        self._fields: list[tuple[str, str]] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        self._size += len(chunk)
        if self._size > self._limit + len(chunk):
            raise Unavailable(f"The server sent an event of more than {self._limit} bytes.", reason="too_large")
        self._parts.append(chunk)
        if b"\n" not in chunk and b"\r" not in chunk:
            return
        joined = b"".join(self._parts).replace(b"\r\n", b"\n")
        held = b"\r" if joined.endswith(b"\r") else b""  # perhaps the first half of CR LF
        *lines, rest = joined.removesuffix(b"\r").replace(b"\r", b"\n").split(b"\n")
        self._parts = [rest + held]
        for line in lines:
            if line:
                self._take_field(line.decode("utf-8", "replace"))
            elif self._fields:
                yield self._build(len(rest))

    def _take_field(self, line: str) -> None:
        name, _, value = line.partition(":")
        self._fields.append((name, value.removeprefix(" ")))

    def _build(self, left: int) -> ServerEvent:
        named = dict(self._fields)
        data = "\n".join(value for name, value in self._fields if name == "data")
        retry = named.get("retry", "")
        self._fields, self._size = [], left
        number = int(retry) if retry.isascii() and retry.isdigit() and len(retry) < 10 else None
        return ServerEvent(data, named.get("event") or "message", named.get("id"), number)


class StreamPosition:
    """How far a stream was read, and when to ask for the rest."""

    def __init__(self) -> None:
        self.event_id: str | None = None
        self.pause = _FIRST_RETRY

    def take(self, event: ServerEvent) -> None:
        if event.id is not None and event.id.isprintable() and event.id.isascii():
            self.event_id = event.id
        if event.retry is not None:
            self.pause = min(event.retry / 1000, _LONGEST_RETRY)


async def read_events(response: httpx.Response) -> AsyncIterator[ServerEvent]:
    """The events of a stream, unpacked if it is compressed. A small one that unpacks to a huge one is refused."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    unpacker = None if encoding in ("identity", "") else zlib.decompressobj(47)
    reader = EventReader()
    async for chunk in response.aiter_raw():
        try:
            plain = chunk if unpacker is None else unpacker.decompress(chunk, MAX_MESSAGE)
        except zlib.error as error:
            raise AnswerIncomplete from error
        for event in reader.feed(plain):
            yield event

"""From chunks to lines, in bounded memory: a line that grows beyond the limit is thrown away as it comes."""

from collections.abc import Iterator


class LineBuffer:
    __slots__ = ("_limit", "_parts", "_size", "_skipping")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """The lines that this chunk completes, without their ends; None in the place of each that is too long."""
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            yield from self._append(piece)
            if not self._skipping:
                yield self._take_line()
            self._skipping = False
        yield from self._append(rest)

    def take_rest(self) -> bytes:
        """What came after the last line end: the other side may have left it out."""
        return self._take_line()

    def _take_line(self) -> bytes:
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return line

    def _append(self, piece: bytes) -> Iterator[None]:
        if self._skipping or not piece:
            return
        self._size += len(piece)
        self._parts.append(piece)
        if self._size > self._limit:
            self._parts, self._size, self._skipping = [], 0, True
            yield None

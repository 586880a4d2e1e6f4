"""The load: keep-alive connections on raw sockets, one call under way on each. `python -m bench.load` takes its order
as JSON on stdin and answers with JSON on stdout; a process of its own, so that the server keeps its core.
"""

import json
import resource
import select
import socket
import sys
import time
from typing import Any

PATIENCE = 30.0


class Line:
    """One connection. Ids have a fixed width, so that the head of the request never changes."""

    def __init__(self, port: int, head: bytes, before: bytes, after: bytes) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head, self.before, self.after = head, before, after
        self.held, self.sent_at = b"", 0.0

    def send(self, number: int) -> None:
        self.held, self.sent_at = b"", time.perf_counter()
        self.socket.sendall(b"%s%s%d%s" % (self.head, self.before, number, self.after))

    def receive(self) -> bool:
        """Take what is there; True when the answer is whole."""
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed a connection: " + self.held[:300].decode(errors="replace"))
        self.held += data
        end = self.held.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = self.held[:end].lower()
        if b"content-length:" in head:
            size = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
            return len(self.held) >= end + 4 + size
        return self.held.endswith(b"0\r\n\r\n")  # chunked


def drive(order: dict[str, Any]) -> dict[str, Any]:
    head, before, after = (order[part].encode() for part in ("head", "before", "after"))
    lines = [Line(order["port"], head, before, after) for _ in range(order["connections"])]
    by_number = {line.socket.fileno(): line for line in lines}
    poll = select.epoll()
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    numbers = iter(range(10_000_000, 99_999_999))
    expected, times, bad = order["expected"].encode(), list[float](), list[str]()
    begin = time.perf_counter()
    stop = begin + order["seconds"]
    for line in lines:
        line.send(next(numbers))
    open_lines = len(lines)
    while open_lines:
        ready = poll.poll(PATIENCE)
        if not ready:
            raise TimeoutError(f"no answer within {PATIENCE:.0f} s")
        for number, _ in ready:
            line = by_number[number]
            if not line.receive():
                continue
            now = time.perf_counter()
            times.append(now - line.sent_at)
            if not (line.held.startswith(b"HTTP/1.1 200") and expected in line.held) or b'"isError":true' in line.held:
                bad.append(line.held[-300:].decode(errors="replace"))
            if now < stop:
                line.send(next(numbers))
            else:
                open_lines -= 1
    elapsed = time.perf_counter() - begin
    usage = resource.getrusage(resource.RUSAGE_SELF)
    times.sort()
    return {
        "calls": len(times),
        "seconds": elapsed,
        "errors": len(bad),
        "first_error": bad[0] if bad else None,
        "p50": times[len(times) // 2],
        "p99": times[int(len(times) * 0.99)],
        "cpu": usage.ru_utime + usage.ru_stime,
    }


if __name__ == "__main__":
    json.dump(drive(json.load(sys.stdin)), sys.stdout)

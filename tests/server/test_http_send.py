"""A short write that keeps the interpreter: as much, and the same errors, as `socket.send`."""

import asyncio
import socket

import pytest

from tokonoma.server.http.fast.send import send
from tokonoma.server.http.fast.turn import turn_of


@pytest.fixture
def pair():
    here, there = socket.socketpair()
    here.setblocking(False)
    with here, there:
        yield here, there


@pytest.mark.parametrize("size", [1, 16_384, 16_385, 60_000])
def test_what_is_sent_arrives(pair, size):
    here, there = pair
    data = bytes(range(256)) * (size // 256 + 1)
    assert send(here, data[:size]) == size
    assert there.recv(size, socket.MSG_WAITALL) == data[:size]


def test_a_full_socket_takes_a_part_and_then_says_so(pair):
    here, there = pair
    sent = 0
    with pytest.raises(BlockingIOError):
        while True:
            sent += send(here, b"x" * 10_000)
    assert len(there.recv(sent, socket.MSG_WAITALL)) == sent > 10_000


def test_nobody_there_is_an_error_and_no_signal(pair):
    here, there = pair
    there.close()
    with pytest.raises(OSError):
        send(here, b"x")
        send(here, b"x")


def test_a_fault_at_the_end_of_a_turn_is_nobody_elses():
    began: list[int] = []

    async def turns() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, _context: began.append(-1))
        turn = turn_of(loop)
        for number in range(3):
            turn.end_with(lambda number=number: began.append(number))
        turn.end_with(lambda: began.append(1 // 0))
        turn.end_with(lambda: began.append(3))
        assert began == []
        await asyncio.sleep(0.01)
        turn.end_with(lambda: began.append(4))
        await asyncio.sleep(0.01)

    asyncio.run(turns())
    assert sorted(began[:3]) == [0, 1, 2]
    assert sorted(began) == [-1, 0, 1, 2, 3, 4]

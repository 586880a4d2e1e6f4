"""The transport: lines that never interleave, an end that keeps what was acknowledged, streams that break."""

import json
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from server.fixture import Workshop
from server.hostile import TABLE, request

from tokonoma.server.stdio import CANCEL_GRACE, GRACE, serve

PROGRAM = [sys.executable, str(Path(__file__).parent / "program.py")]


class Line:
    """A server on two pipes, in a thread."""

    def __init__(self, grace=60.0, **options):
        self.shop = Workshop()
        stdin, to = os.pipe()
        self.to: int | None = to
        self.out, stdout = os.pipe()
        self._ends = (stdin, stdout)
        self.reader = os.fdopen(self.out, "rb")
        self.thread = threading.Thread(target=self._serve, args=(grace, options), daemon=True)
        self.thread.start()

    def _serve(self, grace, options):
        self.answered = serve(self.shop, *self._ends, grace=grace, **options)
        for end in self._ends:
            os.close(end)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self.thread.join()
        self.reader.close()

    def say(self, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.raw(line + b"\n")

    def raw(self, data):
        assert self.to is not None
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self.to, rest) :]

    def hear(self):
        line = self.reader.readline()
        assert line.endswith(b"\n"), "the stream ended"
        return json.loads(line)

    def end(self):
        if self.to is not None:
            os.close(self.to)
            self.to = None


def call(name, id=1, **arguments):
    return request("tools/call", {"name": name, "arguments": arguments}, id=id)


@pytest.mark.parametrize("name", TABLE)
def test_hostile_lines_get_an_error_and_never_end_the_process(name):
    raw, code, id = TABLE[name]
    with Line() as line:
        line.say(raw, request("ping", id="after"))
        answer, after = line.hear(), line.hear()
    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert after == {"jsonrpc": "2.0", "id": "after", "result": {}}


def test_a_hundred_megabytes_without_a_line_end_are_discarded_as_they_come():
    chunk = b"x" * 1_000_000
    with Line() as line:
        line.say(request("ping", id=0))
        line.hear()
        tracemalloc.start()
        for _ in range(100):
            line.raw(chunk)
        line.say(b"", request("ping", id=1))
        answer, after = line.hear(), line.hear()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert after["id"] == 1
    assert peak < 40_000_000  # the limit is 16 MiB, and a line may be copied once


def test_a_message_of_almost_16_megabytes_is_served():
    with Line() as line:
        text = "x" * (16 * 1024 * 1024 - 1000)
        speaker = threading.Thread(target=line.say, args=(call("echo", text=text),))
        speaker.start()
        answer = line.hear()
        speaker.join()
    assert answer["result"]["structuredContent"]["text"] == text


def test_concurrent_answers_never_interleave():
    with Line() as line:
        sizes = [1, 4095, 4096, 4097, 70_000, 300_000] * 10
        speaker = threading.Thread(
            target=line.say, args=[call("large", id=number, size=size) for number, size in enumerate(sizes)]
        )
        speaker.start()
        answers = {answer["id"]: answer for answer in (line.hear() for _ in sizes)}
        speaker.join()
    assert [len(answers[number]["result"]["content"][0]["text"]) for number in range(len(sizes))] == sizes


def test_blank_lines_and_carriage_returns_do_no_harm():
    with Line() as line:
        line.raw(b'\r\n\n  \n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
        assert line.hear()["id"] == 1


def test_a_last_message_without_a_line_end_is_answered():
    with Line() as line:
        line.raw(json.dumps(request("ping", id="last")).encode())
        line.end()
        assert line.hear()["id"] == "last"
        assert line.reader.read() == b""


def test_at_the_end_of_input_calls_under_way_still_answer():
    with Line() as line:
        line.say(call("wait", id=1, gate="g"), call("echo", id=2, text="x"))
        line.shop.gate("g reached").wait()
        line.end()
        line.shop.gate("g").set()
        assert {line.hear()["id"], line.hear()["id"]} == {1, 2}
    assert line.answered


def test_calls_that_do_not_end_are_told_to_after_the_grace():
    with Line(grace=0.0, cancel_grace=60.0) as line:
        line.say(call("wait", id=1, gate="never"))
        line.shop.gate("never reached").wait()
        line.end()
        assert line.hear()["result"]["content"][0]["text"] == "cancelled"
    assert not line.answered  # not as it was asked


def test_a_call_that_hears_nothing_does_not_keep_the_process():
    with Line(grace=0.0) as line:
        line.say(call("stubborn", id=1, gate="never"))
        line.shop.gate("never reached").wait()
        line.end()
        line.thread.join()
        assert line.reader.read() == b""
        line.shop.gate("never").set()  # its answer goes nowhere, and harms nobody
    assert not line.answered


def test_a_client_that_does_not_read_cannot_keep_the_process():
    with Line(grace=0.0) as line:
        line.say(call("large", id=1, size=10_000_000))
        line.end()
        line.thread.join()


def test_a_closed_output_ends_it_quietly():
    line = Line()
    line.reader.close()
    line.say(request("ping"))
    line.thread.join()
    line.end()


def test_the_end_leaves_the_house_time_to_close_within_two_seconds():
    assert GRACE + CANCEL_GRACE <= 1.5


def test_after_list_is_called_when_the_list_is_out():
    listed = threading.Event()
    with Line(after_list=listed.set) as line:
        line.say(request("tools/list"))
        line.hear()
        listed.wait()


def spawn(*waits: str) -> Any:
    return subprocess.Popen([*PROGRAM, *waits], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def dialogue(process, *messages):
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    process.stdin.flush()
    return [json.loads(process.stdout.readline()) for message in messages if "id" in message]


def test_what_others_print_does_not_reach_the_protocol():
    with spawn() as process:
        answers = dialogue(process, call("speak", id=1), request("tools/list", id=2))
        out, err = process.communicate()
    assert {answer["id"] for answer in answers} == {1, 2}
    assert out == b""
    assert b"not a message" in err and b"listed" in err
    assert process.returncode == 0


def test_everything_accepted_before_the_end_of_input_is_answered():
    """A thousand requests and the end of input in one go: far more than workers, and no time between."""
    messages = [call("echo", id=number, text="x" * 100) for number in range(1000)]
    text = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    with spawn() as process:
        out, _ = process.communicate(text)
    answers = [json.loads(line) for line in out.splitlines()]
    assert {answer["id"] for answer in answers} == set(range(1000))
    assert all("result" in answer for answer in answers)
    assert process.returncode == 0


@pytest.mark.parametrize(("name", "answers"), [("wait", 1), ("stubborn", 0)])
def test_a_call_that_the_end_of_input_cuts_short_shows_in_the_exit_code(name, answers):
    with spawn("0.1", "0.5") as process:
        out, _ = process.communicate(json.dumps(call(name, id=1, gate="never")).encode() + b"\n")
    assert len(out.splitlines()) == answers
    assert process.returncode == 1


def test_slow_calls_go_on_as_long_as_one_after_the_other_ends():
    """The grace is between two ends: each opens the gate of the next, and together they take longer."""
    with Line(grace=5.0) as line:
        for number in range(20):
            line.say(call("wait", id=number, gate=f"g{number}"))
        for number in range(20):
            line.shop.gate(f"g{number} reached").wait()
        line.end()
        for number in range(20):
            line.shop.gate(f"g{number}").set()
            assert line.hear()["id"] == number
    assert line.answered


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_like_the_end_of_input(number):
    with spawn("0", "60") as process:
        dialogue(process, request("ping"))
        process.stdin.write(json.dumps(call("wait", id=5, gate="g")).encode() + b"\n")
        process.stdin.flush()
        assert dialogue(process, request("ping", id=6))[0]["id"] == 6
        process.send_signal(number)
        answer = json.loads(process.stdout.readline())  # the one that was still waiting, told to stop
        assert process.wait() == 0
        process.stdin.close()
    assert (answer["id"], answer["result"]["isError"]) == (5, True)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_survived(closed):
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM], stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0

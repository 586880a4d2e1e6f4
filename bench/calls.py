"""What one call over stdio costs: blocks of echo calls, one after the other, the servers taking turns."""

import time
from contextlib import ExitStack
from itertools import count

from .child import Child, Failed, started
from .messages import INITIALIZE, INITIALIZED, TEXT, failure, tool_call
from .peers import Peer, Peers
from .plan import Plan
from .report import Goal, Row, row
from .rounds import Sample, collect, percentile

WARM = 200
SETTLE = 0.4  # seconds: work put off until after the answer (a journal's group) is part of what a call costs


class Talk:
    """One server, kept open over all rounds."""

    def __init__(self, peer: Peer, child: Child) -> None:
        self.peer, self.child, self.numbers, self.errors = peer, child, count(10), 0
        child.ask(INITIALIZE)
        child.tell(INITIALIZED)

    def block(self, calls: int) -> Sample:
        messages = [tool_call(next(self.numbers), self.peer.params("echo", TEXT)) for _ in range(calls)]
        answers: list[bytes] = []
        times: list[float] = []
        cpu = self.child.cpu()
        for message in messages:
            begin = time.perf_counter()
            answers.append(self.child.ask(message))
            times.append(time.perf_counter() - begin)
        time.sleep(SETTLE)
        spent = self.child.cpu() - cpu
        problems = [problem for answer in answers if (problem := failure(answer, TEXT))]
        if len(problems) == calls:
            raise Failed(f"{self.peer.name}: {problems[0]}")
        self.errors += len(problems)
        return {
            "cpu": spent / calls * 1e6,
            "wall": sum(times) / calls * 1e6,
            "p50": percentile(times, 0.5) * 1e6,
            "p99": percentile(times, 0.99) * 1e6,
        }


def measure(peers: Peers, plan: Plan) -> list[Row]:
    with ExitStack() as stack:
        talks = [Talk(peer, stack.enter_context(started(peer.stdio, peer.env, peer.log))) for peer in peers.all]
        for talk in talks:
            talk.block(WARM)
        samples = collect(talks, plan.stdio_rounds, lambda talk: talk.peer.name, lambda t: t.block(plan.stdio_calls))
    share = Goal("≤", 0.35, "sdk")
    return [
        row(samples, "cpu", "echo over stdio, CPU per call", "µs", share),
        row(samples, "wall", "echo over stdio, wall per call", "µs", share),
        row(samples, "p50", "echo over stdio, p50", "µs"),
        row(samples, "p99", "echo over stdio, p99", "µs"),
        Row("echo over stdio, errors", "", {talk.peer.name: talk.errors for talk in talks}, Goal("=", 0)),
    ]

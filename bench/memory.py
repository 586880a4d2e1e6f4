"""Memory of an idle stdio process, after `tools/list` and one save (the others have no store: one echo)."""

import time

from .child import Failed, started
from .messages import INITIALIZE, INITIALIZED, LIST, TEXT, failure, tool_call
from .peers import Peer, Peers
from .plan import Plan
from .report import Goal, Row, row
from .rounds import Sample, collect

SETTLE = 1.0  # seconds for whatever a server still does in the background


def measure(peers: Peers, plan: Plan) -> list[Row]:
    samples = collect(peers.all, plan.memory_rounds, lambda peer: peer.name, _once)
    return [
        row(samples, "rss", "idle memory after a save, resident", "MB", Goal("≤", 45)),
        row(samples, "pss", "idle memory after a save, proportional", "MB"),
    ]


def _once(peer: Peer) -> Sample:
    with started(peer.stdio, peer.env, peer.log) as child:
        child.ask(INITIALIZE)
        child.tell(INITIALIZED)
        child.ask(LIST)
        answer = child.ask(tool_call(3, peer.params("add" if peer.gateway else "echo", TEXT)))
        problem = failure(answer, TEXT)
        if problem:
            raise Failed(f"{peer.name}: {problem}")
        time.sleep(SETTLE)
        return {name: size / 1e6 for name, size in child.memory().items()}

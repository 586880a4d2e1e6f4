"""Cold start: spawn → `initialize` → `tools/list` answered, then the end; and how big that list is."""

import time

from .child import started
from .messages import INITIALIZE, INITIALIZED, LIST
from .peers import Peer, Peers
from .plan import Plan
from .report import Goal, Row, row
from .rounds import Sample, collect


def measure(peers: Peers, plan: Plan) -> list[Row]:
    for peer in peers.plain:
        _once(peer)  # bytecode, page cache, and Tokonoma's database
    samples = collect(peers.plain, plan.cold_rounds, lambda peer: peer.name, _once)
    share = Goal("≤", 0.15, "sdk")
    return [
        row(samples, "cpu", "cold start to tools/list, CPU", "ms", share),
        row(samples, "life", "cold start, tools/list and end, CPU", "ms", share),
        row(samples, "wall", "cold start to tools/list, wall", "ms", Goal("≤", 120)),
        row(samples, "bytes", "answer to tools/list", "B", Goal("≤", 4096)),
    ]


def _once(peer: Peer) -> Sample:
    begin = time.perf_counter()
    with started(peer.stdio, peer.env, peer.log) as child:
        child.ask(INITIALIZE)
        child.tell(INITIALIZED)
        listed = child.ask(LIST)
        wall, cpu = time.perf_counter() - begin, child.cpu()
        life = child.end()
    return {"cpu": cpu * 1e3, "life": life * 1e3, "wall": wall * 1e3, "bytes": len(listed)}

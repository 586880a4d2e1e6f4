"""Cold start: spawn → `initialize` → `tools/list` answered, then the end; and how big that list is. Once more with an
account of each service."""

import time
from dataclasses import replace
from pathlib import Path

from tokonoma.app import App
from tokonoma.app.accounts import store_account
from tokonoma.core.providers import PROVIDER_MODULES
from tokonoma.keyring.accounts import NewAccount

from .child import started
from .messages import INITIALIZE, INITIALIZED, LIST
from .peers import Peer, Peers
from .plan import Plan
from .report import Goal, Row, row
from .rounds import Sample, collect, middle


def measure(peers: Peers, plan: Plan) -> list[Row]:
    for peer in peers.plain:
        _once(peer)  # bytecode, page cache, and Tokonoma's database
    samples = collect(peers.plain, plan.cold_rounds, lambda peer: peer.name, _once)
    share = Goal("≤", 0.15, "sdk")
    connected = [row for peer in peers.plain if peer.name == "tokonoma" for row in _measure_connected(peer, plan)]
    return [
        row(samples, "cpu", "cold start to tools/list, CPU", "ms", share),
        row(samples, "life", "cold start, tools/list and end, CPU", "ms", share),
        row(samples, "wall", "cold start to tools/list, wall", "ms", Goal("≤", 120)),
        row(samples, "bytes", "answer to tools/list", "B", Goal("≤", 5632)),
        *connected,
    ]


def _measure_connected(peer: Peer, plan: Plan) -> list[Row]:
    """What seven services add: both homes take turns."""
    home = Path(peer.env["TOKONOMA_HOME"]).with_name("connected")
    other = replace(peer, name="connected", env={**peer.env, "TOKONOMA_HOME": str(home)})
    app = App({"home": str(home)}, {})
    for provider in PROVIDER_MODULES:
        store_account(app, NewAccount(provider, "main"), {"token": "t"})
    app.close()
    _once(other)
    samples = collect([peer, other], 2 * plan.cold_rounds, lambda each: each.name, _once)
    cpu, sizes = middle(samples, "cpu"), middle(samples, "bytes")
    added = {"tokonoma": cpu["connected"] - cpu["tokonoma"]}
    return [
        Row("cold start with seven services − without, CPU", "ms", added, Goal("≤", 3), samples["cpu"]),
        Row("answer to tools/list with seven services", "B", {"tokonoma": sizes["connected"]}),
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

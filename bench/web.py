"""Calls per second over HTTP, in both eras: each server alone under load, the servers taking turns."""

import http.client
import json
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Any

from .child import PATIENCE, Child, Failed, started
from .messages import ERAS, HANDSHAKE, INITIALIZE, INITIALIZED, TEXT, http_headers, tool_call
from .peers import HERE, Peer, Peers
from .plan import Plan
from .report import Goal, Row, row
from .rounds import Sample, collect

WARM_SECONDS = 0.5
SETTLE = 0.4  # seconds: see calls.py
MARK = 88888888  # stands where the id goes


class Site:
    """One HTTP server and, for the era with a handshake, what the handshake gave."""

    def __init__(self, peer: Peer, child: Child, port: int) -> None:
        self.peer, self.child, self.port, self.errors = peer, child, port, 0
        await_port(child, port)
        self.session = self._handshake()

    def _handshake(self) -> str | None:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        session = None
        for method, body in (("initialize", INITIALIZE), ("notifications/initialized", INITIALIZED)):
            line.request("POST", "/mcp", body, http_headers(self.port, HANDSHAKE, method, None, session))
            answer = line.getresponse()
            answer.read()
            if answer.status not in (200, 202):
                raise Failed(f"{self.peer.name}: {method} was answered with {answer.status}")
            session = answer.headers.get("Mcp-Session-Id", session)
        line.close()
        return session

    def order(self, era: str, seconds: float, connections: int) -> dict[str, Any]:
        params = self.peer.params("echo", TEXT)
        body = tool_call(MARK, params, era)
        before, _, after = body.partition(str(MARK).encode())
        session = self.session if era == HANDSHAKE else None
        headers = http_headers(self.port, era, "tools/call", params["name"], session)
        lines = [f"{name}: {value}" for name, value in {**headers, "Content-Length": str(len(body))}.items()]
        return {
            "port": self.port,
            "head": "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]),
            "before": before.decode(),
            "after": after.decode(),
            "expected": TEXT.split(";")[0],  # a server may escape what is not ASCII
            "seconds": seconds,
            "connections": connections,
        }

    def block(self, era: str, seconds: float, connections: int) -> Sample:
        cpu = self.child.cpu()
        done = _load(self.order(era, seconds, connections))
        time.sleep(SETTLE)
        spent = self.child.cpu() - cpu
        self.errors += done["errors"]
        if done["errors"] == done["calls"]:
            raise Failed(f"{self.peer.name}: {done['first_error']}")
        return {
            f"rate {era}": done["calls"] / done["seconds"],
            f"cpu {era}": spent / done["calls"] * 1e6,
            f"p99 {era}": done["p99"] * 1e3,
            f"busy {era}": done["cpu"] / done["seconds"],
        }


def _load(order: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        cwd=HERE.parent,
        input=json.dumps(order).encode(),
        capture_output=True,
        timeout=order["seconds"] + PATIENCE,
    )
    if done.returncode:
        raise Failed("the load ended early: " + done.stderr.decode(errors="replace")[-1000:])
    return json.loads(done.stdout)


def await_port(child: Child, port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and not child.gone():
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise Failed(f"nobody listens on port {port}\n{child.complaint()}")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def measure(peers: Peers, plan: Plan) -> list[Row]:
    with ExitStack() as stack:
        sites: list[Site] = []
        for peer in peers.all:
            port = free_port()
            child = stack.enter_context(started([*peer.http, str(port)], peer.env, peer.log, by_signal=True))
            sites.append(Site(peer, child, port))
        pairs = [(site, era) for era in ERAS for site in sites]
        for site, era in pairs:
            site.block(era, WARM_SECONDS, plan.http_connections)
        samples = collect(
            pairs,
            plan.http_rounds,
            lambda pair: pair[0].peer.name,
            lambda pair: pair[0].block(pair[1], plan.http_seconds, plan.http_connections),
        )
    rows: list[Row] = []
    for era in ERAS:
        title = f"HTTP {era}, {plan.http_connections} connections"
        rows += [
            row(samples, f"rate {era}", f"{title}, calls per second", "/s", Goal("≥", 2, "sdk")),
            row(samples, f"cpu {era}", f"{title}, server CPU per call", "µs"),
            row(samples, f"p99 {era}", f"{title}, p99", "ms"),
            row(samples, f"busy {era}", f"{title}, share of a core the load took", ""),
        ]
    errors = {site.peer.name: float(site.errors) for site in sites}
    return [*rows, Row("HTTP, errors", "", errors, Goal("=", 0))]

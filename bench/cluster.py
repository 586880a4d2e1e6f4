"""Several servers on one PostgreSQL under a mixed load, one of them killed every minute:
`python -m bench.cluster --minutes 10`.

The servers stand behind a load balancer that gives each connection to the next of them. Clients save, change and delete
memos, and read back and search what they have just written, at another server each time. One client watches a resource:
it subscribes once, and opens its stream again whenever the server that has it is killed. Passes if no acknowledged
write is lost, no read misses a write of its own client, no call is refused, and the watcher is told of every change.
"""

import argparse
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DOWN = 5.0  # seconds that a killed server is away


@contextmanager
def open_database(folder: Path) -> Generator[str]:
    """A PostgreSQL of the tests' own that writes to the disk as one out of the box does."""
    folder.mkdir()
    on = dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes", "autovacuum"), "on")
    server = import_module("store.server").PostgresServer(folder, shared_buffers="128MB", **on)
    try:
        yield server.url(server.take())
    finally:
        server.stop()


def run_cluster(folder: Path, url: str, servers: int, clients: int, minutes: float, every: float) -> Any:
    cluster = import_module("faults.cluster").ServerCluster(folder, url, servers)
    load = import_module("faults.cluster_load").ClusterLoad(cluster, clients)
    begin, killed = time.monotonic(), 0
    load.start()
    try:
        while (passed := time.monotonic() - begin) < minutes * 60:
            time.sleep(max(0.0, min(every, minutes * 60 - passed) - DOWN))
            victim = cluster.servers[killed % servers]
            victim.kill()
            killed += 1
            time.sleep(DOWN)
            victim.start()
            found = load.outcome
            print_progress(time.monotonic() - begin, found)
    finally:
        load.stop()
        found = load.check()
        print(cluster.servers[0].run("journal", "verify").strip())
        cluster.close()
    return found, killed


def print_progress(seconds: float, found: Any) -> None:
    print(
        f"{seconds:>7.0f} s  {found.calls:>8} calls  {found.acknowledged:>7} acknowledged writes  "
        f"{found.broken:>4} broken"
        f"  {len(found.stale)} stale  {len(found.failed)} failed",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.cluster", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--every", type=float, default=60.0, help="seconds from one kill to the next")
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="tokonoma-cluster-")))
        url = stack.enter_context(open_database(folder / "server"))
        found, killed = run_cluster(folder, url, options.servers, options.clients, options.minutes, options.every)
    print(f"\n{options.servers} servers, {killed} kills, {found.calls} calls, {found.broken} of them broken by a kill")
    print(f"{found.acknowledged} acknowledged writes, {len(found.lost)} lost (goal 0)")
    print(f"{len(found.stale)} stale reads of own writes (goal 0)")
    print(f"{len(found.failed)} calls refused without reason (goal 0)")
    print(f"the subscriber was told {found.told} times over {found.streams} streams")
    for problem in [*found.lost[:5], *found.stale[:5], *found.failed[:5]]:
        print(problem)
    raise SystemExit(1 if found.lost or found.stale or found.failed or not found.told else 0)


if __name__ == "__main__":
    main()

"""A mixed load over the balancer, which knows what was acknowledged and what must be read back.

A call whose connection broke is not repeated as it was: nobody knows whether it was carried out. The client goes on
with another text, and what such a call may have left counts neither way.
"""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from faults.cluster import BrokenCall, RefusedCall, ServerCluster, Subscriber

PATIENCE = 500  # rounds of each client in which a subscriber is told of a change
KEPT = 40  # memos of one client: the oldest is deleted then


@dataclass
class ClusterOutcome:
    """`lost`: acknowledged and not there at the end. `stale`: a read, right after an acknowledged write of the same
    client, that did not show it. `failed`: refused without reason, or a subscriber that was not
    told of a change."""

    calls: int = 0
    acknowledged: int = 0
    broken: int = 0
    told: int = 0
    streams: int = 0
    lost: list[str] = field(default_factory=list[str])
    stale: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])


class LoadClient:
    """One client. `kept` is what it was told is stored: content by id; None: it was deleted."""

    def __init__(self, cluster: ServerCluster, number: int, outcome: ClusterOutcome) -> None:
        self._client, self._number, self._outcome = cluster.connect(), number, outcome
        self._chance = random.Random(number)
        self._texts = 0
        self.rounds = 0
        self.kept: dict[str, str | None] = {}

    def run_round(self) -> None:
        """Save, read and find it, change it, read and list that; now and then delete one."""
        memo_id = self._save_new()
        if memo_id is not None:
            self._change(memo_id)
        alive = [each for each, text in self.kept.items() if text is not None]
        if len(alive) > KEPT:
            self._delete(self._chance.choice(alive))
        self._call("items", "create_item", type="issue", title=f"Item {self._number} {self._texts}")
        self.rounds += 1

    def check(self) -> None:
        """At the end: everything that was acknowledged is there as it was written last."""
        for memo_id, text in self.kept.items():
            found = self._read(memo_id)
            if found != text:
                self._outcome.lost.append(f"{memo_id}: {text!r}, found {found!r}")

    def _save_new(self) -> str | None:
        text, word = self._write_text()
        saved = self._call("memory", "save", content=text)
        if saved is None:
            return None
        memo_id = saved["memo_id"]
        self.kept[memo_id] = text
        self._outcome.acknowledged += 1
        self._expect(memo_id, text)
        for mode in ("text", "hybrid"):
            hits = self._repeat("memory", "search", query=f"harbour {word}", mode=mode, k=10)["items"]
            if memo_id not in [each["memo_id"] for each in hits]:
                self._outcome.stale.append(f"{memo_id} is not found by {mode}")
        return memo_id

    def _change(self, memo_id: str) -> None:
        text, _ = self._write_text()
        if self._call("memory", "save", memo_id=memo_id, content=text) is None:
            self.kept.pop(memo_id)  # one of the two texts: nobody knows
            return
        self.kept[memo_id] = text
        self._outcome.acknowledged += 1
        self._expect(memo_id, text)

    def _delete(self, memo_id: str) -> None:
        if self._call("memory", "delete", memo_id=memo_id) is None:
            self.kept.pop(memo_id)
            return
        self.kept[memo_id] = None
        self._outcome.acknowledged += 1
        self._expect(memo_id, None)

    def _expect(self, memo_id: str, text: str | None) -> None:
        found = self._read(memo_id)
        if found != text:
            self._outcome.stale.append(f"{memo_id}: {text!r}, found {found!r}")

    def _read(self, memo_id: str) -> str | None:
        """Its content; None if there is no such memo. A read can be repeated."""
        while True:
            try:
                self._outcome.calls += 1
                return self._client.call("memory", "get", memo_id=memo_id)["content"]
            except BrokenCall:
                self._outcome.broken += 1
            except RefusedCall as error:
                if "NOT_FOUND" in str(error) or "not found" in str(error):
                    return None
                raise

    def _repeat(self, module: str, tool: str, **params: Any) -> dict[str, Any]:
        while (value := self._call(module, tool, **params)) is None:
            pass
        return value

    def _call(self, module: str, tool: str, **params: Any) -> dict[str, Any] | None:
        """None: the connection broke."""
        self._outcome.calls += 1
        try:
            return self._client.call(module, tool, **params)
        except BrokenCall:
            self._outcome.broken += 1
            return None

    def _write_text(self) -> tuple[str, str]:
        self._texts += 1
        word = f"quay{self._number}x{self._texts}"
        return f"The harbour has a new berth called {word}, 港の新しい岸壁.", word


class ClusterLoad:
    def __init__(self, cluster: ServerCluster, clients: int) -> None:
        self._cluster, self.outcome = cluster, ClusterOutcome()
        self._clients = [LoadClient(cluster, number, self.outcome) for number in range(clients)]
        self._memo = cluster.connect().call("memory", "save", content="The text that is watched")["memo_id"]
        self._subscriber = Subscriber(cluster.connect(), f"tokonoma://memory/{self._memo}")
        self._stopped = threading.Event()
        self._ended = threading.Event()
        work = [*(self._build_work(each.run_round) for each in self._clients), self._build_work(self._change_watched)]
        self._threads = [threading.Thread(target=each, daemon=True) for each in work]
        self._watched = 0

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def await_rounds(self, more: int) -> None:
        """Until every client has done so many rounds more, and the subscriber was told once more."""
        wanted = [each.rounds + more for each in self._clients]
        told = self._subscriber.told
        while not self._ended.wait(0.05):
            done = all(each.rounds >= least for each, least in zip(self._clients, wanted, strict=True))
            if done and self._subscriber.told > told:
                return
        raise AssertionError(self.outcome.failed)

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def check(self) -> ClusterOutcome:
        for each in self._clients:
            each.check()
        self._subscriber.close()
        self.outcome.told, self.outcome.streams = self._subscriber.told, self._subscriber.streams
        return self.outcome

    def _build_work(self, run_round: Callable[[], None]) -> Callable[[], None]:
        def work() -> None:
            try:
                while not self._stopped.is_set():
                    run_round()
            except Exception as error:
                self.outcome.failed.append(f"{type(error).__name__}: {error}"[:2_000])
                self._ended.set()

        return work

    def _change_watched(self) -> None:
        """Change it, and wait until the subscriber was told."""
        self._watched += 1
        told = self._subscriber.told
        try:
            self._cluster.connect().call("memory", "save", memo_id=self._memo, content=f"Text {self._watched}")
        except BrokenCall:
            return
        latest = min(each.rounds for each in self._clients) + PATIENCE
        with self._subscriber.changed:
            while self._subscriber.told == told and not self._stopped.is_set():
                if min(each.rounds for each in self._clients) > latest:
                    raise AssertionError(f"the subscriber was not told of text {self._watched}")
                self._subscriber.changed.wait(0.2)

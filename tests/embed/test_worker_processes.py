"""Workers in several processes on one queue, and workers that are killed."""

import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import SOAK
from embed.fixture import QUICK, EmbedFixture, Open
from embed.server import EmbeddingServer, vector

from tokonoma.search.vectors.store import data_column, decode_vectors

pytestmark = pytest.mark.migrated

KILLS = 20 if SOAK else 3

Start = Callable[[EmbeddingServer, float], subprocess.Popen[bytes]]


@pytest.fixture
def start(database_url: str, tmp_path: Path) -> Generator[Start]:
    """Starts a worker; all that are left are killed at the end."""
    running: list[subprocess.Popen[bytes]] = []

    def begin(server: EmbeddingServer, lease: float) -> subprocess.Popen[bytes]:
        words = [sys.executable, str(Path(__file__).with_name("run_worker.py")), database_url, server.url, str(lease)]
        running.append(subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL))
        return running[-1]

    yield begin
    for each in running:
        each.kill()
        each.wait()


def right(house: EmbedFixture, bodies: dict[str, str]) -> None:
    column = data_column(house.database.kind)
    found = house.rows(f"select d.address, {column} from embedding e join document d on d.id = e.document_id")
    assert len(found) == len(bodies)
    for address, data in found:
        wanted = np.asarray(vector(bodies[address.removeprefix("tokonoma://notes/")], 16))
        assert decode_vectors(house.database.kind, [data])[0] @ wanted / np.linalg.norm(wanted) == pytest.approx(
            1.0, abs=1e-5
        )


def until(met: Callable[[], bool]) -> None:
    pause = threading.Event()
    while not met():
        pause.wait(0.01)


def test_processes_share_the_queue_and_do_nothing_twice(houses: Open, start: Start, server: EmbeddingServer) -> None:
    house = houses([server.url])
    for _ in range(2):
        start(server, 60.0)
    bodies = {f"n{number}": f"note {number}" for number in range(150)}
    for name, body in bodies.items():
        house.save(name, body)
    until(lambda: house.waiting() == 0)
    right(house, bodies)
    texts = [text for text in server.texts() if text.startswith("note")]
    assert sorted(texts) == sorted(bodies.values())


@pytest.mark.soak
def test_what_killed_workers_leave_is_done_by_the_next(houses: Open, start: Start, server: EmbeddingServer) -> None:
    house = houses([server.url], pace=replace(QUICK, lease=0.2))
    bodies: dict[str, str] = {}
    for kill in range(KILLS):
        for number in range(10):
            bodies[f"k{kill}n{number}"] = f"note {number} of round {kill}"
            house.save(f"k{kill}n{number}", bodies[f"k{kill}n{number}"])
        server.mood = "slow"
        server.reached.clear()
        server.go_on.clear()
        worker = start(server, 0.2)
        server.reached.wait()
        if kill % 2:  # in the middle of a batch, not of the probe
            server.mood = "well"
            server.go_on.set()
            until(lambda: len(server.texts()) > 1)
        worker.kill()
        worker.wait()
        server.mood = "well"
        server.go_on.set()
    house.worker.wake()
    until(lambda: house.waiting() == 0)
    right(house, bodies)

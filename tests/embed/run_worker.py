"""A worker in a process of its own: `run_worker.py DATABASE ENDPOINT LEASE`. It works until it is killed."""

import sys
import threading
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from embed.fixture import QUICK, EmbedFixture

from tokonoma.store.database import open_database


def main() -> None:
    url, endpoint, lease = sys.argv[1:]
    house = EmbedFixture(open_database(url, durable=False), [endpoint], pace=replace(QUICK, lease=float(lease)))
    house.worker.wake()
    threading.Event().wait()


main()

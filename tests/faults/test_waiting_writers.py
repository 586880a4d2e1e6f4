"""Writers that wait for each other: reads and the status are answered meanwhile."""

import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from talk import Json, Lines

from tokonoma.app import App
from tokonoma.pipeline.worker_pool import RESERVED

pytestmark = pytest.mark.migrated

WRITERS = 24  # three times as many as workers and connections


@pytest.fixture
def app(database_url: str, tmp_path: Path) -> Generator[App]:
    made = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    yield made
    made.close()


def until(met: Callable[[], bool]) -> None:
    pause = threading.Event()
    while not met():
        pause.wait(0.01)


def test_reads_and_the_status_go_on_while_writers_wait(app: App) -> None:
    talk = Lines(app)
    talk.call("memory", "save", content="a note")
    answers: list[Json] = []
    writers = [
        threading.Thread(target=lambda: answers.append(Lines(app).call("memory", "save", content="waits")))
        for _ in range(WRITERS)
    ]
    with app.database.writing() as statements:
        if app.database.kind == "postgresql":  # on SQLite this block keeps all writers out
            statements.run("lock table memo in share row exclusive mode")
        for each in writers:
            each.start()
        until(lambda: len(app.pool._writers) == app.settings.get_int("workers") - RESERVED)
        for _ in range(10):
            assert len(talk.call("memory", "list")["items"]) == 1
            assert talk.call("system", "status")["health"]["database"]["ok"]
        assert not answers
    for each in writers:
        each.join()
    assert len(answers) == WRITERS

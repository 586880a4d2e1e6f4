"""What /ready reports: the database and the disk, and nothing that requests can do without."""

import shutil
from types import SimpleNamespace

import pytest
from server.web import send

from tokonoma.app import App
from tokonoma.core.errors import Unavailable
from tokonoma.server.http.app import HttpApp

NOBODY = "http://127.0.0.1:9/v1"  # the port `discard`: refused at once


@pytest.fixture
def app(tmp_path):
    flags = {"embed_provider": "openai", "embed_model": "m", "embed_url": NOBODY}
    app = App({"home": str(tmp_path), "durable": False, **flags}, {})
    yield app
    app.close()


def ask_ready(app: App) -> tuple[int, list[str]]:
    response = send(HttpApp(app.dispatcher, ready=app.server_info.list_problems), "GET", "/ready")
    body = response.json()
    assert body["ready"] is (response.status_code == 200)
    return response.status_code, body["reasons"]


def test_an_embedding_endpoint_that_is_away_leaves_the_server_ready(app):
    worker = app.search.worker
    assert worker is not None
    worker.problem = "connection refused"
    assert not app.server_info.health()["search"]["ok"]
    assert ask_ready(app) == (200, [])


def test_a_full_disk_is_not_ready(app, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**20))
    status, (reason,) = ask_ready(app)
    assert status == 503
    assert reason.startswith("disk: 1 MiB free")


def test_a_database_that_does_not_answer_is_not_ready(app, monkeypatch):
    def fail(*_: object) -> None:
        raise Unavailable("The database is away.")

    monkeypatch.setattr(app.database, "reading", fail)
    assert ask_ready(app) == (503, ["database: The database is away."])

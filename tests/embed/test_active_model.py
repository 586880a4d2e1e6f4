"""Processes with different settings on one store: one model makes the vectors, and each process says what it does."""

import json
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest
from embed.server import EmbeddingServer
from talk import Lines

from tokonoma.app import App
from tokonoma.embed.builtin import MODEL_NAME

pytestmark = pytest.mark.migrated

BUILTIN = f"builtin:{MODEL_NAME}"
NOTES = ("the cat sleeps on the roof", "articles of a contract", "rain in the afternoon")


@pytest.fixture
def opened(database_url, tmp_path) -> Generator[Callable[..., App]]:
    apps: list[App] = []

    def open_app(**settings: Any) -> App:
        flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, **settings}
        apps.append(App(flags, {}))
        apps[-1].warm(serves=True)
        return apps[-1]

    yield open_app
    for each in apps:
        each.close()


def remote(server: EmbeddingServer, model: str = "m") -> dict[str, Any]:
    return {"embed_provider": "openai", "embed_model": model, "embed_url": [server.url]}


def status(app: App) -> dict[str, Any]:
    return Lines(app).call("system", "status")


def save_notes(app: App) -> None:
    talk = Lines(app)
    for note in NOTES:
        talk.call("memory", "save", content=note)
    until(lambda: status(app)["vectors"][-1]["made"] == len(NOTES))


def nearest(app: App, query: str) -> str:
    return Lines(app).call("memory", "search", query=query, mode="vector")["items"][0]["content"]


def until(met: Callable[[], bool]) -> None:
    pause = threading.Event()
    while not met():
        pause.wait(0.02)


def test_a_process_with_another_model_breaks_nothing(opened, server: EmbeddingServer) -> None:
    first = opened()
    save_notes(first)
    other = opened(**remote(server))
    Lines(other).call("memory", "save", content="a new note about the sea")
    until(lambda: status(first)["vectors"] == [{"model": BUILTIN, "made": 4, "waiting": 0, "failed": 0}])
    for app in (first, other):
        assert nearest(app, "the cat sleeps") == NOTES[0]
        assert status(app)["vectors"][0]["model"] == BUILTIN
    told = status(other)["health"]["search"]
    assert told["ok"]
    assert f"made by {BUILTIN}; the settings of this process name openai:m" in told["says"]
    assert "tokonoma reindex --embedding" in told["says"]
    assert server.texts() == []


def test_a_process_that_cannot_use_the_store_s_model_searches_by_words_and_says_so(
    opened, server: EmbeddingServer
) -> None:
    first = opened(**remote(server))
    save_notes(first)
    other = opened()  # without embed_url it cannot ask the model
    talk = Lines(other)
    saved = talk.call("memory", "save", content="a walk by the sea")
    found = talk.call("memory", "search", query="walk sea")
    assert [item["memo_id"] for item in found["items"]] == [saved["memo_id"]]
    told = status(other)["health"]["search"]
    assert not told["ok"]
    assert told["says"].startswith("by words alone: The vectors of this database are made by openai:m")
    assert "tokonoma reindex --embedding" in told["says"]
    until(lambda: status(first)["vectors"] == [{"model": "openai:m", "made": 4, "waiting": 0, "failed": 0}])
    assert nearest(first, NOTES[1]) == NOTES[1]


def test_the_model_is_changed_by_one_command_and_noticed_by_all(opened, server: EmbeddingServer) -> None:
    first = opened(**remote(server, "one"))
    save_notes(first)
    other = opened(**remote(server, "two"))
    server.seed = 5  # what answers from now on is another model
    model = other.search.switch_model()
    assert model.name == "openai:two"
    until(lambda: [each["model"] for each in status(first)["vectors"]] == ["openai:two"])
    assert status(first)["vectors"] == [{"model": "openai:two", "made": 3, "waiting": 0, "failed": 0}]
    for app in (first, other):
        assert nearest(app, NOTES[2]) == NOTES[2]


def test_a_model_that_does_not_answer_does_not_become_the_model(opened, server: EmbeddingServer) -> None:
    first = opened()
    save_notes(first)
    server.mood = "down"
    other = opened(**remote(server))
    with pytest.raises(Exception, match="embedding endpoint"):
        other.search.switch_model()
    assert json.dumps(status(other)["vectors"]) == json.dumps(status(first)["vectors"])
    assert status(first)["vectors"][0]["model"] == BUILTIN


def test_a_text_that_the_model_refuses_is_counted_as_failed(opened, server: EmbeddingServer) -> None:
    app = opened(**remote(server))
    server.mood = "picky"
    talk = Lines(app)
    for note in ("poison", *NOTES):
        talk.call("memory", "save", content=note)
    until(lambda: status(app)["vectors"] == [{"model": "openai:m", "made": 3, "waiting": 0, "failed": 1}])

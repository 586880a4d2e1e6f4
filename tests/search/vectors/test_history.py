"""The same store answers alike, however its vectors came: at once or one by one, in this process or before it began."""

import random
from collections.abc import Callable, Generator
from typing import Any

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.embed.worker import EmbedWorker
from tokonoma.search.vectors import memory

WORDS = ["taro", "yamada", "suzuki", "山田", "すずき", "090", "8642", "4556", "3207", "email", "phone", "覚え書き"]


@pytest.fixture
def open_house(request, database_url, tmp_path, monkeypatch) -> Generator[Callable[..., App]]:
    """Vectors are made when the test says so; the centre of the codes is computed, and stored, as soon as there are a
    few."""
    monkeypatch.setattr(EmbedWorker, "run_step", lambda self: 60.0)
    monkeypatch.setattr(memory, "FIRST", 32)
    monkeypatch.setattr(memory, "CENTRES", (32, 32_768))
    opened: list[App] = []
    names: list[str] = []
    server = None if database_url.startswith("sqlite") else request.getfixturevalue("postgres")

    def open_one(name: str) -> App:
        settings = {"home": str(tmp_path / name), "durable": False}
        if server is not None:
            names.append(server.take())
            settings["database_url"] = server.url(names[-1])
        opened.append(App(settings, {}))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()
    for name in names:
        server.give(name)


def save(app: App, texts: list[str], together: int) -> None:
    """Vectors are made after so many texts."""
    talk = Lines(app)
    for start in range(0, len(texts), together):
        talk.call("memory", "save", memos=[{"content": text} for text in texts[start : start + together]])
        while app.search.worker.run_batch():
            pass


def ask(app: App) -> list[Any]:
    talk = Lines(app)
    asked = [talk.call("memory", "search", query=word, k=50)["items"] for word in WORDS]
    return [[(each["content"], each["score"]) for each in items] for items in asked]


def test_how_vectors_came_does_not_show(frozen_clock, open_house, monkeypatch):
    """In one house the centre is that of the first vectors, in the other that of nearly all."""
    rng = random.Random(3)
    texts = [f"長い {rng.choice(WORDS)} {rng.random()}" for _ in range(400)]
    answers = []
    for together, centre in ((400, 32), (20, 380)):
        monkeypatch.setattr(memory, "CENTRES", (centre, 32_768))
        app = open_house(f"home{together}")
        save(app, texts, together)
        answers.append(ask(app))
    assert all(len(items) > 10 for items in answers[0])
    assert answers[1] == answers[0]


def test_a_new_process_answers_as_the_one_before(frozen_clock, tmp_path, monkeypatch, sqlite_at):
    """Its codes come from the stored blocks, and what was made since from the table."""
    monkeypatch.setattr(memory, "FIRST", 32)
    rng = random.Random(4)
    texts = [f"長い {rng.choice(WORDS)} {rng.random()}" for _ in range(120)]
    answers = []
    for _ in range(2):
        app = App({"home": str(tmp_path / "home"), "database_url": sqlite_at, "durable": False}, {})
        if not answers:
            save(app, texts, 20)
            Lines(app).call("memory", "save", content=f"長い {WORDS[0]}")
        answers.append(ask(app))
        with app.database.reading() as rows:
            assert rows.rows("select count(*) from embedding_block")[0][0] > 0
        app.close()
    assert answers[0] == answers[1]

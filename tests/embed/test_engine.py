"""As the house joins it: with a provider, without one, and with one again."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from embed.fixture import NOTES, record
from embed.server import EmbeddingServer

from tokonoma.app.search import SearchEngine
from tokonoma.app.store import TABLES
from tokonoma.config.settings import resolve_settings
from tokonoma.core.desk import Document
from tokonoma.core.errors import Refusal
from tokonoma.core.query import Query, SearchFilter, SearchScope
from tokonoma.jobs.runner import JobRunner
from tokonoma.store.database import Database
from tokonoma.store.migrate import migrate


class Joined(SearchEngine):
    """Without a thread: tests say when there is work to do."""

    def __init__(self, *rooms: Any) -> None:
        super().__init__(*rooms)
        self.asleep, self.worker = self.worker, None


Join = Callable[..., Joined]


@pytest.fixture
def joined(database: Database, server: EmbeddingServer):
    for name, steps in {**TABLES, "notes": NOTES}.items():
        migrate(database, name, steps, lambda _reason: None)
    made: list[Joined] = []

    def join(provider: str = "openai") -> Joined:
        told = {"embed_provider": provider, "embed_model": "m", "embed_url": [server.url]}
        registry = SimpleNamespace(read_record=record, find_module=lambda name: None)
        made.append(Joined(database, resolve_settings({}, {}, told), registry, record, JobRunner()))
        return made[-1]

    yield join
    for each in made:
        each.close()


def save(searching: Joined, name: str, body: str) -> None:
    address = f"tokonoma://notes/{name}"
    with searching._database.writing() as statements:
        statements.run("delete from note where address = :address", address=address)
        statements.run(
            "insert into note (address, space, body) values (:address, '/', :body)", address=address, body=body
        )
        searching.index.put(statements, Document(address, "/", body), "internal")


def waiting(searching: Joined) -> int:
    with searching._database.reading() as rows:
        return searching.vectors.count_waiting(rows)


def found(searching: Joined, text: str, mode) -> list[str]:
    query = Query(text, mode=mode)
    vector = searching.index.embed_query(query)
    with searching._database.reading() as rows:
        hits = searching.index.find(rows, query, SearchFilter(), SearchScope("/", ("public", "internal")), vector)
    return [hit.address.removeprefix("tokonoma://notes/") for hit in hits.items]


def work(searching: Joined) -> None:
    assert searching.asleep is not None
    while searching.asleep.run_batch():
        pass


def test_what_changes_while_no_provider_is_set_is_embedded_when_one_is(joined: Join) -> None:
    first = joined()
    save(first, "a", "the cat sleeps")
    work(first)
    assert found(first, "the cat sleeps", "vector") == ["a"]
    without = joined("none")
    save(without, "a", "articles of a contract")
    save(without, "b", "a cat")
    assert found(without, "contract", "hybrid") == ["a"]
    with pytest.raises(Refusal):
        found(without, "contract", "vector")
    assert waiting(without) == 0
    again = joined()
    assert waiting(again) == 2
    work(again)
    assert found(again, "articles of a contract", "vector")[0] == "a"
    assert found(again, "a cat", "vector")[0] == "b"


def test_hybrid_goes_by_words_while_the_provider_is_away(joined: Join, server: EmbeddingServer) -> None:
    searching = joined()
    save(searching, "a", "the cat sleeps")
    work(searching)
    server.mood = "down"
    save(searching, "b", "a dog barks")
    assert found(searching, "dog", "hybrid") == ["b"]
    with pytest.raises(Refusal) as caught:
        found(searching, "dog", "vector")
    assert caught.value.kind == "unavailable"

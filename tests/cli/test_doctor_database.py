"""`doctor` on searching by meaning: whether there is a model, whether it answers, what waits."""

import json

import pytest
from embed.fixture import EmbedFixture
from embed.server import EmbeddingServer

from tokonoma.app.doctor import database as meaning
from tokonoma.config.settings import Settings, resolve_settings
from tokonoma.store.database import Database


@pytest.fixture
def server():
    made = EmbeddingServer()
    yield made
    made.close()


def settings(**told: str) -> Settings:
    return resolve_settings({}, {f"TOKONOMA_EMBED_{name.upper()}": value for name, value in told.items()}, {})


def said(findings) -> list[tuple[str, str, str]]:
    return [(finding.name, finding.state, finding.says) for finding in findings]


def test_the_built_in_model_needs_no_setting() -> None:
    (finding,) = meaning.check_embedding(settings())
    assert (finding.name, finding.state) == ("embedding", "ok")
    assert finding.says == "builtin:tokonoma-ja-en-2 answers inside this program with 256 numbers per vector"


def test_without_a_model_it_says_that_words_alone_are_searched() -> None:
    (finding,) = meaning.check_embedding(settings(provider="none"))
    assert finding.state == "ok"
    assert "words only" in finding.says
    assert "embed_provider" in finding.do


def test_a_model_that_answers(server: EmbeddingServer) -> None:
    told = settings(provider="openai", model="m", url=server.url)
    assert said(meaning.check_embedding(told)) == [("embedding", "ok", "openai:m answers with 16 numbers per vector")]


@pytest.mark.parametrize("mood", ["down", "forbidden", "nan"])
def test_a_model_that_does_not(server: EmbeddingServer, mood) -> None:
    server.mood = mood
    (finding,) = meaning.check_embedding(settings(provider="openai", model="m", url=server.url, api_key="sk-secret"))
    assert finding.state == "warn"
    assert "secret" not in finding.says


def test_a_key_that_travels_in_the_open_is_told() -> None:
    told = settings(provider="openai", model="m", url="http://example.test/v1", api_key="sk-secret")
    first, *_ = said(meaning.check_embedding(told))
    assert first == ("embedding", "warn", "The key of http://example.test/v1 is sent unencrypted.")


def test_settings_that_lack_something_fail(run) -> None:
    result = run("doctor", "--json", "--port", "0", "--embed-provider", "openai")
    told = {each["name"]: each for each in json.loads(result.stdout)["findings"]}
    assert told["embedding"]["state"] == "fail"
    assert "embed_model" in told["embedding"]["says"]


def test_keys_are_never_shown(run) -> None:
    result = run("config", "show", "--origin", TOKONOMA_EMBED_API_KEY="sk-secret,sk-other")
    assert result.exit_code == 0
    assert "sk-" not in result.output
    assert "(set)" in result.output


def test_what_waits_and_what_is_stuck(database: Database, server: EmbeddingServer) -> None:
    told = settings(provider="openai", model="m", url=server.url)
    assert said(meaning.check_vectors(database, told)) == []
    house = EmbedFixture(database, [server.url])
    house.save("a", "a note")
    found = {name: (state, says) for name, state, says in said(meaning.check_vectors(database, told))}
    assert found["vectors"] == ("ok", "none yet; 1 records are waiting to be embedded")
    server.mood = "picky"
    house.save("b", "poison")
    house.work()
    found = {name: (state, says) for name, state, says in said(meaning.check_vectors(database, told))}
    assert found["vectors"][0] == "warn"
    assert found["vectors"][1].startswith("openai:m: 1 made, 0 waiting, 1 failed; ")
    assert "rejected the texts" in found["vectors"][1]
    assert found.get("pgvector", ("ok",))[0] == "ok"
    house.close()


def test_settings_that_name_another_model_than_the_store_s(database: Database, server: EmbeddingServer) -> None:
    house = EmbedFixture(database, [server.url])
    house.save("a", "a note")
    house.work()
    other = settings(provider="openai", model="other", url=server.url)
    first, *_ = meaning.check_vectors(database, other)
    assert (first.state, "That of the database is used" in first.says) == ("warn", True)
    assert "made by openai:m; the settings of this process name openai:other" in first.says
    assert "tokonoma reindex --embedding" in first.do
    first, *_ = meaning.check_vectors(database, settings())  # built-in, and no address to ask the other at
    assert (first.state, "by words alone" in first.says) == ("warn", True)
    assert "tokonoma reindex --embedding" in first.do
    assert said(meaning.check_vectors(database, settings(provider="none"))) == [
        ("vectors", "ok", "those of openai:m are not used here: embed_provider is none")
    ]
    house.close()


@pytest.mark.parametrize(
    ("behind", "state", "words"),
    [(0, "ok", "not behind"), (3_600_000, "warn", "3600 s behind"), (400 * 86_400_000, "warn", "400 days behind")],
)
def test_a_clock_that_is_behind_the_journal(run, value, frozen_clock, behind, state, words) -> None:
    value("call", "memory", "list")
    frozen_clock.advance(-behind)
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    (found,) = [each for each in findings if each["name"] == "clock"]
    assert (found["state"], words in found["says"]) == (state, True)
    assert ("expired" in found["do"]) is bool(behind)

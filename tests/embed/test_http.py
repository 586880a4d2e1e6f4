"""Asking an endpoint: batches, order, retries, fallbacks of the same model, and keys that stay where they belong."""

import json
import time
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from embed.server import EmbeddingServer, vector

from tokonoma.core.errors import Unready
from tokonoma.core.log import set_level
from tokonoma.embed.embedder import PROBE, ProviderUnavailable, UnusableAnswer
from tokonoma.embed.http import HttpEmbedder, _parse_retry_after
from tokonoma.embed.models import EndpointConfig, ModelConfig, ProviderAccess, parse_endpoints


def embedder(
    *urls: str, keys: tuple[str, ...] = (), batch_size: int = 64, timeout: float = 30.0, **config: Any
) -> HttpEmbedder:
    return HttpEmbedder(
        ModelConfig("openai", "m", **config), ProviderAccess(parse_endpoints(urls, keys), timeout, batch_size)
    )


def test_vectors_come_in_the_order_of_the_texts_with_length_one(server: EmbeddingServer) -> None:
    asked = embedder(server.url)
    texts = [f"text number {number}" for number in range(10)]
    rows = asked.embed(texts, "document")
    assert rows.dtype == np.float32
    assert rows.shape == (10, 16)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(10), abs=1e-6)
    for row, text in zip(rows, texts, strict=True):
        wanted = np.asarray(vector(text, 16))
        assert row @ wanted / np.linalg.norm(wanted) == pytest.approx(1.0, abs=1e-6)
    assert asked.dimension == 16
    asked.close()


def test_many_texts_go_in_batches(server: EmbeddingServer) -> None:
    asked = embedder(server.url, batch_size=4)
    assert asked.embed([f"t{n}" for n in range(10)], "document").shape == (10, 16)
    assert asked.batch_size == 3
    assert [len(texts) for texts in server.asked] == [4, 4, 4, 2]  # the probe is with each
    assert server.requests[3] == {"model": "m", "input": ["t9", PROBE], "encoding_format": "float"}
    asked.close()


def test_prefixes_and_dimensions_are_the_model_s(server: EmbeddingServer) -> None:
    asked = embedder(server.url, dimension=8, query_prefix="query: ", document_prefix="passage: ")
    assert asked.dimension == 8
    assert asked.embed(["a"], "query").shape == (1, 8)
    asked.embed(["b"], "document")
    assert [request["input"] for request in server.requests] == [
        ["query: a", f"passage: {PROBE}"],
        ["passage: b", f"passage: {PROBE}"],
    ]
    assert {request["dimensions"] for request in server.requests} == {8}
    assert (
        asked.model == ModelConfig("openai", "m", 8, "query: ", "passage: ").name != ModelConfig("openai", "m", 8).name
    )
    asked.close()


def test_it_tries_again_and_then_says_that_the_provider_is_away(server: EmbeddingServer) -> None:
    asked = embedder(server.url)
    server.mood = "down"
    with pytest.raises(ProviderUnavailable) as caught:
        asked.embed(["a"], "document")
    assert "503" in caught.value.message
    assert "secret" not in caught.value.message
    assert len(server.requests) == 3
    with pytest.raises(ProviderUnavailable):
        asked.embed(["a"], "query", 1.0)
    assert len(server.requests) == 4  # who waits is not made to wait for tries
    asked.close()


def test_retry_after_is_heard(server: EmbeddingServer) -> None:
    asked = embedder(server.url)
    server.mood, server.retry_after = "busy", "34"
    with pytest.raises(ProviderUnavailable) as caught:
        asked.embed(["a"], "document")
    assert caught.value.retry_after == 34
    assert len(server.requests) == 1
    server.retry_after = "0"
    with pytest.raises(ProviderUnavailable):
        asked.embed(["a"], "document")
    assert len(server.requests) == 4
    asked.close()


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("-1", 0.0),
        ("9e9", 60.0),
        ("999999999", 60.0),
        ("inf", 60.0),
        ("nan", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_as_numbers(told: str | None, seconds: float | None) -> None:
    assert _parse_retry_after(told) == seconds


def test_retry_after_as_a_date() -> None:
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 40))
    assert _parse_retry_after(later) == pytest.approx(40, abs=5)


@pytest.mark.parametrize("mood", ["ragged", "nan", "zero", "short", "twice", "words", "empty"])
def test_an_answer_that_is_not_what_was_asked_for_is_refused(server: EmbeddingServer, mood) -> None:
    asked = embedder(server.url)
    server.mood = mood
    with pytest.raises(UnusableAnswer):
        asked.embed(["a", "b"], "document")
    asked.close()


def test_the_dimension_stays_what_it_was(server: EmbeddingServer) -> None:
    asked = embedder(server.url)
    asked.embed(["a"], "document")
    server.mood = "wide"
    with pytest.raises(UnusableAnswer, match="17 dimensions"):
        asked.embed(["a"], "document")
    asked.close()


def test_a_slow_endpoint_is_given_up(server: EmbeddingServer) -> None:
    asked = embedder(server.url)
    server.mood = "slow"
    with pytest.raises(ProviderUnavailable, match="in time"):
        asked.embed(["a"], "query", 0.05)
    asked.close()


def test_nobody_at_home() -> None:
    server = EmbeddingServer()
    server.close()
    asked = embedder(server.url)
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        asked.embed(["a"], "query", 1.0)
    asked.close()
    with pytest.raises(ProviderUnavailable, match="closed"):
        asked.embed(["a"], "query", 1.0)


def test_the_next_endpoint_is_asked_when_the_first_is_away(server: EmbeddingServer, another: EmbeddingServer) -> None:
    asked = embedder(server.url, another.url)
    first = asked.embed(["a text"], "document")
    assert not another.requests
    server.mood = "down"
    assert asked.embed(["a text"], "document") == pytest.approx(first)
    tried = len(server.requests)
    assert asked.embed(["a text"], "document") == pytest.approx(first)
    assert len(server.requests) == tried  # it is left alone for a while
    another.mood = "down"
    server.mood = "well"
    assert asked.embed(["a text"], "document") == pytest.approx(first)
    asked.close()


def test_another_model_behind_the_same_address_is_noticed_at_once(server: EmbeddingServer) -> None:
    asked = embedder(server.url)
    asked.embed(["a text"], "document")
    server.seed = 1
    with pytest.raises(UnusableAnswer, match="another model"):
        asked.embed(["a text"], "document")
    asked.close()


def test_where_endpoints_differ_the_one_named_first_is_right(server: EmbeddingServer) -> None:
    stranger = EmbeddingServer(seed=1)
    asked = embedder(server.url, stranger.url)
    server.mood = "down"
    asked.embed(["a text"], "document")
    server.mood, stranger.mood = "well", "down"
    with pytest.raises(UnusableAnswer, match="another model"):
        asked.embed(["a text"], "document")  # whoever relied on the other must look again
    found = asked.embed(["a text"], "document")[0]
    wanted = np.asarray(vector("a text", 16))
    assert found @ wanted / np.linalg.norm(wanted) == pytest.approx(1.0, abs=1e-6)
    stranger.mood, server.mood = "well", "down"
    with pytest.raises((ProviderUnavailable, UnusableAnswer)):
        asked.embed(["a text"], "document")
    asked.close()
    stranger.close()


def test_an_endpoint_with_another_model_is_never_used(server: EmbeddingServer) -> None:
    stranger = EmbeddingServer(seed=1)
    asked = embedder(server.url, stranger.url)
    asked.embed(["a text"], "document")
    server.mood = "down"
    with pytest.raises(UnusableAnswer, match="another model"):
        asked.embed(["a text"], "document")
    asked.close()
    stranger.close()


def test_keys_go_to_their_own_server_alone(server: EmbeddingServer, another: EmbeddingServer, capfd) -> None:
    set_level("debug")
    asked = embedder(server.url, another.url, keys=("sk-first", "sk-second"))
    asked.embed(["a"], "document")
    server.mood = "forbidden"
    asked.embed(["a"], "document")
    assert {headers["authorization"] for headers in server.headers} == {"Bearer sk-first"}
    assert {headers["authorization"] for headers in another.headers} == {"Bearer sk-second"}
    asked.close()
    alone = parse_endpoints((server.url, another.url, server.url + "/x"), ("sk-only",))
    assert [endpoint.key for endpoint in alone] == ["sk-only", "", "sk-only"]
    assert "sk-" not in repr(alone)
    set_level("info")
    assert "sk-" not in capfd.readouterr().err


@pytest.mark.parametrize("url", ["ftp://x/v1", "https://me:sk-secret@x/v1", "nonsense", "http://x/v1?key=sk-secret"])
def test_an_address_that_cannot_be_right_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(Unready) as caught:
        parse_endpoints((url,), ())
    assert "secret" not in caught.value.message


def test_addresses_are_taken_with_and_without_their_end() -> None:
    assert parse_endpoints(("http://x/v1/", "http://x/v1/embeddings"), ()) == (EndpointConfig("http://x/v1"),) * 2


def test_the_recipe_holds_no_key_and_no_address() -> None:
    plain = json.dumps(asdict(ModelConfig("openai", "m")))
    assert "http" not in plain
    assert ModelConfig(**json.loads(plain)) == ModelConfig("openai", "m")

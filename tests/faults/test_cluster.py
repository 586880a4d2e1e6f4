"""Several servers on one PostgreSQL behave as one: what a client does at one of them holds at the next."""

import json
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from faults.cluster import ClusterClient, RefusedCall, ServerCluster, Subscriber
from faults.cluster_load import ClusterLoad

SDK = Path(__file__).parents[1] / "upstream" / "sdk_server.py"


@pytest.fixture(scope="module")
def store(postgres: Any) -> Generator[str]:
    """The address of the database of all servers here, but for tests that change who may do what."""
    name = postgres.take_migrated()
    yield postgres.url(name)
    postgres.give_migrated(name)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, store: str) -> Generator[ServerCluster]:
    made = ServerCluster(tmp_path_factory.mktemp("cluster"), store, 2)
    yield made
    made.close()


def until(holds: Callable[[], bool]) -> None:
    """Other servers look once a second: wait until it holds."""
    pause = threading.Event()
    while not holds():
        pause.wait(0.05)


def until_told(subscriber: Subscriber, told: int, cluster: ServerCluster, number: int = 0) -> None:
    """Until it was told once more. A client that has its stream and its subscription at one server is the clock: it is
    told of a change ten times meanwhile at most."""
    writer, beside = cluster.connect_to(number), cluster.connect_to(number)
    memo = writer.call("memory", "save", content="A text that ticks")["memo_id"]
    clock = Subscriber(beside, f"tokonoma://memory/{memo}")
    for tick in range(10):
        before = clock.told
        writer.call("memory", "save", memo_id=memo, content=f"Tick {tick}")
        with clock.changed:
            clock.changed.wait_for(lambda: clock.told > before)  # noqa: B023 - waited for in this round
        if subscriber.told > told:
            break
    clock.close()
    beside.end_session()
    assert subscriber.told > told


def count_rows(url: str, table: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(f"select count(*) from {table}".encode()).fetchone()
    assert row is not None
    return row[0]


def is_found(client: ClusterClient, memo_id: str, query: str, mode: str) -> bool:
    found = client.call("memory", "search", query=query, mode=mode)
    return memo_id in [each["memo_id"] for each in found["items"]]


def is_refused(client: ClusterClient, module: str, tool: str, **params: Any) -> bool:
    try:
        client.call(module, tool, **params)
    except RefusedCall:
        return True
    return False


def test_what_is_saved_at_one_server_is_read_and_found_at_the_next(cluster: ServerCluster) -> None:
    client = cluster.connect()
    for number in range(6):
        word = f"zuiderzee{number}"
        memo = client.call("memory", "save", content=f"The ferry {word} leaves at dawn")["memo_id"]
        assert client.call("memory", "get", memo_id=memo)["content"].endswith("dawn")
        for mode in ("text", "hybrid"):
            assert is_found(client, memo, f"ferry {word}", mode), (number, mode)
        # A search by meaning alone waits a moment for the vector, which the other server may be making.
        assert any(is_found(client, memo, f"ferry {word}", "vector") for _ in range(50)), number
        client.call("memory", "save", memo_id=memo, content=f"The ferry {word} leaves at noon")
        assert client.call("memory", "get", memo_id=memo)["content"].endswith("noon")
        client.call("memory", "delete", memo_id=memo)
        assert is_refused(client, "memory", "get", memo_id=memo)


def test_a_subscription_holds_at_every_server(cluster: ServerCluster) -> None:
    client = cluster.connect()
    memo = client.call("memory", "save", content="The first text")["memo_id"]
    subscriber = Subscriber(cluster.connect(), f"tokonoma://memory/{memo}")
    for number in range(4):
        told = subscriber.told
        client.call("memory", "save", memo_id=memo, content=f"Text number {number}")
        until_told(subscriber, told, cluster)
    subscriber.close()


def test_a_subscription_outlives_the_server_that_has_the_stream(cluster: ServerCluster) -> None:
    client = cluster.connect()
    memo = client.call("memory", "save", content="The first text")["memo_id"]
    subscriber = Subscriber(cluster.connect(), f"tokonoma://memory/{memo}")
    for number, server in enumerate(cluster.servers):  # one of them has the stream
        until(lambda: subscriber.streams > 0)
        told = subscriber.told
        server.kill()
        cluster.connect().call("memory", "save", memo_id=memo, content=f"Without {server.port}")
        until_told(subscriber, told, cluster, 1 - number)
        server.start()
    subscriber.close()


def test_who_unsubscribes_at_one_server_hears_nothing_from_another(cluster: ServerCluster, store: str) -> None:
    """Another resource that the session watches tells when there was time enough."""
    writer, client, before = cluster.connect(), cluster.connect(), count_rows(store, "session_watch")
    left, kept = (writer.call("memory", "save", content=f"Text {each}")["memo_id"] for each in "ab")
    subscriber = Subscriber(client, f"tokonoma://memory/{kept}")
    client.ask("resources/subscribe", uri=f"tokonoma://memory/{left}")
    client.ask("resources/unsubscribe", uri=f"tokonoma://memory/{left}")
    assert count_rows(store, "session_watch") == before + 1
    for number in range(3):
        told = subscriber.told
        writer.call("memory", "save", memo_id=left, content=f"Unheard {number}")
        writer.call("memory", "save", memo_id=kept, content=f"Heard {number}")
        until_told(subscriber, told, cluster)
    assert set(subscriber.heard) == {f"tokonoma://memory/{kept}"}
    subscriber.close()
    client.end_session()
    assert count_rows(store, "session_watch") == before


def test_texts_that_are_saved_everywhere_get_one_vector_each(cluster: ServerCluster, store: str) -> None:
    """All servers make vectors, and no text is embedded twice."""
    clients = [cluster.connect_to(number) for number in range(2)]
    for number in range(5):
        for each in clients:
            memos = [{"content": f"Note {number} {place} of many, about boats"} for place in range(40)]
            each.call("memory", "save", memos=memos)
    until(lambda: count_rows(store, "embedding_queue") == 0)
    assert count_rows(store, "embedding where piece = 0") == count_rows(store, "document") >= 400


def test_servers_are_killed_under_load_and_nothing_is_lost(cluster: ServerCluster) -> None:
    """`python -m bench.cluster` does it for ten minutes with three servers."""
    load = ClusterLoad(cluster, clients=2)
    load.start()
    for server in cluster.servers:
        load.await_rounds(3)
        server.kill()
        load.await_rounds(2)
        server.start()
    load.stop()
    found = load.check()
    assert found.lost == []
    assert found.stale == []
    assert found.failed == []
    assert found.acknowledged > 0
    assert found.told >= 2


@pytest.mark.migrated
def test_who_may_do_what_is_the_same_at_all_servers_within_a_moment(tmp_path: Path, postgres_at: str) -> None:
    """A policy, a server behind the house and a key: each is changed on one machine."""
    cluster = ServerCluster(tmp_path, postgres_at, 2)
    clients = [cluster.connect_to(number) for number in range(2)]
    for each in clients:
        each.call("memory", "save", content="allowed")
    policy = tmp_path / "policy.yml"
    policy.write_text("version: 2.0\ntools:\n  - { tool: memory.save, verdict: deny }\n")
    cluster.servers[0].run("policy", "apply", str(policy))
    for each in clients:
        until(lambda: is_refused(each, "memory", "save", content="denied"))  # noqa: B023 - waited for in this round
    cluster.servers[1].run("servers", "add", "oracle", "--yes", "--", sys.executable, str(SDK), "stdio")
    for each in clients:
        until(lambda: not is_refused(each, "oracle", "add", a=2, b=3))  # noqa: B023
    made = json.loads(cluster.servers[0].run("keys", "create", "phone", "--json"))
    phone = [cluster.connect_to(number, made["key"]) for number in range(2)]
    for each in phone:
        until(lambda: not is_refused(each, "memory", "namespaces"))  # noqa: B023
    cluster.servers[1].run("keys", "revoke", "phone")
    for each in phone:
        until(lambda: is_refused(each, "memory", "namespaces"))  # noqa: B023
    cluster.close()

"""Clients that are known by the URL of their metadata: fetched from public hosts only, once a day, within bounds."""

import socket
from urllib.parse import urlsplit

import pytest
from auth.oauth.house import CHALLENGE, ORIGIN, RULES
from auth.oauth.publisher import ADDRESS, CLIENT_ID, GOOD, HOST, answer, publish

from tokonoma.auth.oauth.authorize import ShownError
from tokonoma.auth.oauth.clients import find_client
from tokonoma.auth.oauth.documents import DocumentClients, read_known_clients
from tokonoma.auth.oauth.fetch import MAX_BYTES, SECONDS, DocumentFetcher, is_public
from tokonoma.auth.oauth.server import OAuthRules
from tokonoma.core.errors import Invalid, Refusal, Unavailable

DAY = 86_400_000
CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"


@pytest.fixture
def publisher(tmp_path):
    with publish(tmp_path) as found:
        yield found


@pytest.fixture
def by_document(open_house, publisher):
    return open_house(fetch=publisher.open_fetcher(2.0).fetch)


def ask(house, client_id=CLIENT_ID, redirect_uri="https://client.example/cb"):
    pairs = {
        "response_type": "code", "client_id": client_id, "redirect_uri": redirect_uri, "state": "s",
        "code_challenge": CHALLENGE, "code_challenge_method": "S256",
    }  # fmt: skip
    return house.server.check_authorization(list(pairs.items()), ORIGIN)


def forget_pauses(house):
    house.server = house.open_server()


def test_a_client_is_known_by_its_document(by_document, publisher):
    request = ask(by_document)
    assert (request.client_name, request.client_host, request.client_id) == ("Example", HOST, CLIENT_ID)
    head = publisher.heads[0].lower()
    assert head.startswith("get /client.json http/1.1\r\n")
    assert f"host: {HOST}\r\n" in head
    assert "authorization" not in head
    assert "cookie" not in head
    assert (publisher.names, publisher.dialled) == ([HOST], [ADDRESS])


def test_it_signs_in_like_any_other(by_document):
    code = by_document.get_code(CLIENT_ID, redirect_uri="https://client.example/cb")
    assert by_document.exchange(CLIENT_ID, code, redirect_uri="https://client.example/cb")["access_token"]


@pytest.mark.parametrize(
    "client_id",
    [
        "https://127.0.0.1/client", "https://[::1]/client", "https://[::ffff:127.0.0.1]/client", "https://10.1.2.3/client",
        "https://172.16.0.1/client", "https://192.168.1.1/client", "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/client", "https://[fe80::1]/client", "https://[fd00::1]/client", "https://[::]/client",
        "https://[64:ff9b::7f00:1]/client", "https://[2002:7f00:1::]/client", "https://[::7f00:1]/client",
        "https://localhost/client", "https://0/client", "https://0.0.0.0/client", "https://2130706433/client",
        "https://127.1/client", "https://0x7f000001/client", "https://017700000001/client", "https://224.0.0.1/client",
        "https://255.255.255.255/client",
    ],
)  # fmt: skip
def test_an_address_of_this_machine_or_network_is_never_connected_to(open_house, publisher, client_id):
    """With the real resolver: it also reads 2130706433 and 127.1."""
    fetcher = publisher.open_fetcher()
    real = DocumentFetcher(open_transport=fetcher.open_transport)
    with pytest.raises(Refusal):
        real.fetch(client_id)
    with pytest.raises(ShownError):
        ask(open_house(fetch=real.fetch), client_id)
    assert publisher.dialled == []


@pytest.mark.parametrize(
    "client_id",
    [
        "http://client.example/client", "https://client.example", "https://client.example/", "https://u@client.example/c",
        "https://u:p@client.example/c", "https://client.example/c#f", "https://client.example/c#",
        "https://client.example/a/../c", "https://client.example/./c", "https://client.example/%2e%2e/c",
        "https://client.example:0/c", "https://client.example:x/c", "https:///c", "https://client.example\\@evil/c",
        "HTTPS://client.example/c", "https://client.exämple/c", "https://client.example/c c", "ftp://client.example/c",
        "//client.example/c", "https://client.example/" + "x" * 2000,
    ],
)  # fmt: skip
def test_a_url_that_could_be_read_in_two_ways_is_no_client(open_house, publisher, client_id):
    with pytest.raises(ShownError):
        ask(open_house(fetch=publisher.open_fetcher().fetch), client_id)
    assert (publisher.dialled, publisher.resolved) == ([], [])


def trickle(publisher, data):
    """One byte at a time, until the test is over."""

    def respond(connection, head):
        for byte in data:
            connection.sendall(bytes([byte]))
            if publisher.release.wait(0.05):
                return

    return respond


def silence(publisher):
    return lambda connection, head: publisher.release.wait()


LONG = b'{"client_id": "' + CLIENT_ID.encode() + b'", "x": "' + b"y" * (11 * 1024) + b'"}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
REDIRECTS = ["https://client.example/cb"]
HOSTILE = {
    "redirect to itself": lambda it: answer(b"", "302 Found", [f"Location: {CLIENT_ID}"]),
    "redirect to loopback": lambda it: answer(b"", "301 Moved", ["Location: http://127.0.0.1/"]),
    "redirect with a good body": lambda it: answer(None, "307 Temporary Redirect", ["Location: https://127.0.0.1/"]),
    "11 KB": lambda it: answer(LONG),
    "11 KB that say they are short": lambda it: answer(LONG, length=2**40),
    "compressed": lambda it: answer(None, headers=["Content-Encoding: gzip"]),
    "slow head": lambda it: trickle(it, b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 1000),
    "slow body": lambda it: trickle(it, HEAD + b" " * 1000),
    "silent": silence,
    "cut off": lambda it: answer(b'{"client_id"', length=1000),
    "not HTTP": lambda it: lambda connection, head: connection.sendall(b"SSH-2.0-x\r\n\r\n"),
    "not JSON": lambda it: answer(b"<html>"),
    "a list": lambda it: answer([GOOD]),
    "nothing": lambda it: answer(b""),
    "deep": lambda it: answer(b"[" * 10_000),
    "not UTF-8": lambda it: answer(b'{"client_id": "\xff"}'),
    "other client_id": lambda it: answer({**GOOD, "client_id": f"{CLIENT_ID}?x"}),
    "no client_id": lambda it: answer({"redirect_uris": REDIRECTS}),
    "client_id a list": lambda it: answer({**GOOD, "client_id": [CLIENT_ID]}),
    "holds client_secret": lambda it: answer({**GOOD, "client_secret": "x"}),
    "holds an empty client_secret": lambda it: answer({**GOOD, "client_secret": None}),
    "wants a secret": lambda it: answer({**GOOD, "token_endpoint_auth_method": "client_secret_basic"}),
    "private_key_jwt": lambda it: answer({**GOOD, "token_endpoint_auth_method": "private_key_jwt"}),
    "no redirect_uris": lambda it: answer({"client_id": CLIENT_ID}),
    "javascript": lambda it: answer({**GOOD, "redirect_uris": ["javascript:alert(1)"]}),
    "http": lambda it: answer({**GOOD, "redirect_uris": [*REDIRECTS, "http://client.example/cb"]}),
    "21 addresses": lambda it: answer({**GOOD, "redirect_uris": REDIRECTS * 21}),
    "no code": lambda it: answer({**GOOD, "grant_types": ["client_credentials"]}),
    "404": lambda it: answer(None, "404 Not Found"),
    "403": lambda it: answer(None, "403 Forbidden"),
    "206": lambda it: answer(None, "206 Partial Content"),
    "500": lambda it: answer(None, "500 Internal Server Error"),
    "many heads": lambda it: lambda connection, head: connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_refused_in_bounded_time(sqlite_database, home, publisher, name):
    from auth.oauth.house import OAuthHouse

    publisher.respond = HOSTILE[name](publisher)
    house = OAuthHouse(sqlite_database, home, fetch=publisher.open_fetcher(0.5).fetch)
    with pytest.raises(ShownError):
        ask(house)
    assert set(publisher.dialled) == {ADDRESS}
    with sqlite_database.reading() as rows:
        assert find_client(rows, CLIENT_ID) is None


def test_there_are_at_least_thirty_of_them_and_five_seconds_for_each():
    assert len(HOSTILE) >= 30
    assert (SECONDS, MAX_BYTES, DocumentFetcher().seconds) == (5.0, 10 * 1024, 5.0)


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"], [ADDRESS, "127.0.0.1"], ["10.0.0.1", ADDRESS], ["::1"], ["fe80::1%eth0"], ["::ffff:10.0.0.1"],
        ["x"],
    ],
)  # fmt: skip
def test_a_name_with_any_private_address_is_refused(publisher, addresses):
    publisher.addresses = lambda: addresses
    with pytest.raises(Invalid):
        publisher.open_fetcher().fetch(CLIENT_ID)
    assert publisher.dialled == []


def test_a_name_is_resolved_once_so_a_second_answer_leads_nowhere(publisher):
    replies = [[ADDRESS], ["127.0.0.1"]]
    publisher.addresses = lambda: replies.pop(0)
    assert publisher.open_fetcher().fetch(CLIENT_ID) == GOOD
    assert (publisher.resolved, publisher.dialled) == ([HOST], [ADDRESS])


def test_a_name_server_that_does_not_answer_is_not_waited_for(publisher):
    publisher.addresses = lambda: (publisher.release.wait() and []) or []
    with pytest.raises(Unavailable):
        publisher.open_fetcher(0.2).fetch(CLIENT_ID)


def test_a_name_that_does_not_exist_is_away(publisher):
    def fail():
        raise socket.gaierror("no such name")

    publisher.addresses = fail
    with pytest.raises(Unavailable):
        publisher.open_fetcher().fetch(CLIENT_ID)


def test_a_certificate_of_another_name_is_refused(publisher):
    with pytest.raises(Unavailable):
        publisher.open_fetcher().fetch(CLIENT_ID.replace(HOST, "other.example"))
    assert publisher.heads == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        (ADDRESS, True), ("8.8.8.8", True), ("2606:4700::1111", True), ("::ffff:8.8.8.8", True), ("127.0.0.1", False),
        ("::ffff:127.0.0.1", False), ("64:ff9b::808:808", True), ("64:ff9b::a00:1", False), ("2002:a00:1::", False),
        ("2002:808:808::", False), ("2001::1", False),
        ("192.0.2.1", False), ("198.18.0.1", False), ("240.0.0.1", False), ("ff02::1", False),
        ("fd00::1", False), ("", False), ("localhost", False),
    ],
)  # fmt: skip
def test_public_addresses(address, public):
    assert is_public(address) is public


def test_a_document_is_fetched_once_a_day(by_document, publisher, frozen_clock):
    for _ in range(11):
        ask(by_document)
    code = by_document.get_code(CLIENT_ID, redirect_uri="https://client.example/cb")
    by_document.exchange(CLIENT_ID, code, redirect_uri="https://client.example/cb")
    forget_pauses(by_document)
    ask(by_document)
    assert len(publisher.heads) == 1
    publisher.respond = answer({**GOOD, "client_name": "Renamed", "redirect_uris": ["https://client.example/new"]})
    frozen_clock.advance(DAY)
    assert ask(by_document, redirect_uri="https://client.example/new").client_name == "Renamed"
    with pytest.raises(ShownError):
        ask(by_document)
    assert len(publisher.heads) == 2


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 Service Unavailable", "429 Too Many Requests"])
def test_the_last_good_copy_serves_while_its_host_is_away(by_document, publisher, frozen_clock, status):
    ask(by_document)
    frozen_clock.advance(DAY)
    publisher.respond = answer(b"", status)
    for _ in range(3):
        assert ask(by_document).client_name == "Example"
    assert len(publisher.heads) == 2  # and the host is not asked again at once


def test_a_document_that_was_withdrawn_is_not_used_any_more(by_document, publisher, frozen_clock):
    ask(by_document)
    frozen_clock.advance(DAY)
    publisher.respond = answer(b"", "404 Not Found")
    with pytest.raises(ShownError):
        ask(by_document)
    forget_pauses(by_document)
    publisher.respond = answer()
    assert ask(by_document).client_name == "Example"


def test_claude_code_signs_in_to_a_server_without_internet(house):
    request = ask(house, CLAUDE_CODE, "http://localhost:3118/callback")
    assert (request.client_name, request.client_host) == ("Claude Code", "claude.ai")
    with pytest.raises(ShownError):
        ask(house, CLAUDE_CODE, "https://evil.example/cb")


def test_a_shipped_copy_never_adds_to_what_the_client_publishes(open_house, publisher, frozen_clock):
    published = {**GOOD, "client_id": CLAUDE_CODE, "redirect_uris": ["http://localhost/other"]}
    found: list[object] = [Unavailable("away"), published, Unavailable("away")]

    def fetch(url):
        value = found.pop(0)
        if isinstance(value, Exception):
            raise value
        return value

    house = open_house(fetch=fetch)
    assert ask(house, CLAUDE_CODE, "http://localhost:1/callback")
    for _ in range(2):  # first what was fetched, then the last good copy of it
        forget_pauses(house)
        assert ask(house, CLAUDE_CODE, "http://localhost:1/other")
        with pytest.raises(ShownError):
            ask(house, CLAUDE_CODE, "http://localhost:1/callback")
        frozen_clock.advance(DAY)
    assert found == []


def test_a_known_client_that_publishes_nothing_good_is_refused(open_house):
    def fetch(url):
        raise Invalid("404", reason="status")

    with pytest.raises(ShownError):
        ask(open_house(fetch=fetch), CLAUDE_CODE, "http://localhost:1/callback")


def test_the_shipped_copies_can_be_read():
    known = read_known_clients()
    assert {urlsplit(each).hostname for each in known} == {"claude.ai"}
    assert all(document["token_endpoint_auth_method"] == "none" for document in known.values())


def test_documents_can_be_switched_off(open_house, publisher):
    house = open_house(rules=OAuthRules(RULES, documents="off"), fetch=publisher.open_fetcher().fetch)
    with pytest.raises(ShownError):
        ask(house)
    assert publisher.dialled == []


def test_they_are_announced_once_one_could_be_fetched(open_house, publisher):
    name = "client_id_metadata_document_supported"
    house = open_house(fetch=publisher.open_fetcher().fetch)
    assert not house.server.describe(ORIGIN)[name]
    ask(house)
    assert house.server.describe(ORIGIN)[name]
    assert open_house(rules=OAuthRules(RULES, documents="on")).server.describe(ORIGIN)[name]
    assert not open_house(rules=OAuthRules(RULES, documents="off")).server.describe(ORIGIN)[name]


def test_strangers_cannot_make_it_fetch_without_end(house, publisher):
    allowed = [True, True]
    clients = DocumentClients(
        house.database, publisher.open_fetcher().fetch, lambda: bool(allowed and allowed.pop())
    )  # fmt: skip
    for number in range(5):
        clients.update(f"{CLIENT_ID}?{number}")
    assert len(publisher.heads) == 2

"""The HTTP client itself: HTTP/2 and one connection where the server offers it, certificates."""

import asyncio
import gzip
import tracemalloc

import httpx
import pytest
from services.tls import TlsServer, make_certificate

from tokonoma.services.http import AnswerTooLong, open_client, read_body


@pytest.fixture
def certificate(tmp_path):
    return make_certificate(tmp_path)


@pytest.fixture
def tls_server(certificate):
    opened = TlsServer(certificate)
    yield opened
    opened.close()


async def ask(url: str, trusts=None, count: int = 1) -> list[tuple[str, str]]:
    async with open_client() as client:
        if trusts is not None:
            client._transport._pool._ssl_context.load_verify_locations(trusts)  # type: ignore[attr-defined]
        found = []
        for _ in range(count):
            response = await client.get(url)
            found.append((response.http_version, response.text))
        return found


def test_requests_share_a_connection_over_http_2(tls_server, certificate):
    assert asyncio.run(ask(tls_server.url, certificate, 3)) == [("HTTP/2", "1")] * 3
    assert [request["user-agent"] for request in tls_server.requests] == ["tokonoma"] * 3


def test_a_certificate_that_nobody_vouches_for_is_refused(tls_server):
    with pytest.raises(httpx.ConnectError):
        asyncio.run(ask(tls_server.url))
    assert tls_server.requests == []


def test_tls_is_new_and_redirects_are_not_followed():
    async def look():
        async with open_client() as client:
            pool = client._transport._pool  # type: ignore[attr-defined]
            return pool._ssl_context.minimum_version.name, pool._http2, client.follow_redirects

    assert asyncio.run(look()) == ("TLSv1_2", True, False)


@pytest.mark.parametrize(("size", "fits"), [(1000, True), (1001, False)])
def test_a_body_has_a_limit_to_the_byte(size, fits):
    async def read():
        return await read_body(httpx.Response(200, stream=httpx.ByteStream(bytes(size))), 1000)

    if fits:
        assert len(asyncio.run(read())) == size
    else:
        with pytest.raises(AnswerTooLong):
            asyncio.run(read())


def test_a_small_body_is_not_unpacked_beyond_the_limit():
    packed = gzip.compress(bytes(32 * 2**20))

    async def read():
        stream = httpx.ByteStream(packed)
        await read_body(httpx.Response(200, headers={"content-encoding": "gzip"}, stream=stream), 1000)

    tracemalloc.start()
    try:
        with pytest.raises(AnswerTooLong):
            asyncio.run(read())
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()

"""HTTPS on a real server with a certificate of its own: TLS 1.3, and nothing older or plain."""

import json
import ssl
import subprocess
import sys

import httpx
import pytest
from server.hostile import modern, request
from server.web import create_pair, headers_of, served

from tokonoma.core.errors import Invalid, Unready
from tokonoma.server.http.run import load_tls


@pytest.fixture
def pair(tmp_path):
    return create_pair(tmp_path, "own")


@pytest.fixture
def url(pair):
    with served(tls=load_tls(str(pair.cert), str(pair.key))) as (url, _):
        yield url


@pytest.mark.parametrize("write", [request, modern])
def test_calls_over_tls_1_3(url, pair, write):
    trusted = ssl.create_default_context(cafile=str(pair.cert))
    message = write("tools/call", {"name": "echo", "arguments": {"text": "床の間"}})
    with httpx.Client(verify=trusted) as client:
        for _ in range(2):  # the second on the same connection
            response = client.post(f"{url}/mcp", content=json.dumps(message), headers=headers_of(message))
            assert response.json()["result"]["structuredContent"] == {"text": "床の間"}
            version = response.extensions["network_stream"].get_extra_info("ssl_object").version()
            assert version == "TLSv1.3"
        assert client.get(f"{url}/health").json() == {"status": "ok"}


def test_an_older_tls_is_refused(url, pair):
    old = ssl.create_default_context(cafile=str(pair.cert))
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with httpx.Client(verify=old) as client, pytest.raises(httpx.ConnectError):
        client.get(f"{url}/health")


def test_plain_http_is_refused_and_others_are_served(url, pair, capsys):
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url.replace('https', 'http')}/health")
    trusted = ssl.create_default_context(cafile=str(pair.cert))
    assert httpx.get(f"{url}/health", verify=trusted).status_code == 200
    assert "Traceback" not in capsys.readouterr().err


def test_serve_takes_the_files_from_its_settings(pair, tmp_path):
    command = [sys.executable, "-m", "tokonoma", "serve", "--home", str(tmp_path / "home"), "--port", "0"]
    flags = ["--tls-cert", str(pair.cert), "--tls-key", str(pair.key)]
    with subprocess.Popen([*command, *flags], stderr=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stderr is not None
        lines = (json.loads(line) for line in process.stderr)
        url = next(line["url"] for line in lines if line["event"] == "serving")
        assert url.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(pair.cert))
        assert httpx.get(url.replace("/mcp", "/ready"), verify=trusted).status_code == 200
        process.terminate()
        process.communicate()
    assert process.returncode == 0
    done = subprocess.run([*command, *flags[:2]], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode != 0
    assert "tls_key" in done.stderr


def test_neither_file_is_no_tls():
    assert load_tls("", "") is None


@pytest.mark.parametrize(("given", "missing"), [("cert", "tls_key"), ("key", "tls_cert")])
def test_one_file_without_the_other_is_refused(pair, given, missing):
    files = {"cert": "", "key": "", given: str(getattr(pair, given))}
    with pytest.raises(Invalid, match=missing) as caught:
        load_tls(**files)
    assert caught.value.details == {"setting": missing}


def test_files_that_cannot_be_used_are_named(pair, tmp_path):
    other, locked = create_pair(tmp_path, "other"), create_pair(tmp_path, "locked", b"secret")
    junk = tmp_path / "junk.pem"
    junk.write_text("not a certificate", encoding="utf-8")
    for cert, key, words in (
        (tmp_path / "none.crt", pair.key, "tls_cert: cannot read"),
        (pair.cert, tmp_path, "tls_key: cannot read"),
        (pair.cert, other.key, "does not belong"),
        (pair.cert, locked.key, "without a password"),
        (junk, pair.key, "must be PEM"),
    ):
        with pytest.raises(Unready, match=words):
            load_tls(str(cert), str(key))

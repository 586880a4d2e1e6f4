"""`connect` at a terminal: what it asks for, and that a token is seen nowhere."""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from services.provider_server import CLIENT, start_provider

from tokonoma.core.ids import random_hex
from tokonoma.store.database import format_sqlite_url, open_database

pty = pytest.importorskip("pty", reason="a pseudo-terminal")


@pytest.fixture
def provider():
    with start_provider() as server:
        yield server


class Terminal:
    """A process at a pseudo-terminal of its own. `answer` waits for a question and types."""

    def __init__(self, environ: dict[str, str | None], *words: str):
        self.shown = ""
        variables = {**os.environ, **environ, "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            kept = {name: text for name, text in variables.items() if text is not None}
            os.execve(sys.executable, [sys.executable, "-m", "tokonoma", *words], kept)

    def answer(self, question, text):
        start = len(self.shown)
        while question not in self.shown[start:]:
            assert self._read(), self.shown
        os.write(self._master, text.encode() + b"\n")

    def _read(self):
        try:
            part = os.read(self._master, 65_536)
        except OSError:  # the process has closed the terminal
            part = b""
        self.shown += part.decode()
        return bool(part)

    def finish(self):
        while self._read():
            pass
        os.close(self._master)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_token_is_asked_for_and_not_shown(environ, provider, run):
    provider.tokens = {"ghp_typed": "ada"}
    terminal = Terminal(environ, "connect", "github", "--url", provider.url)
    terminal.answer("Token: ", "ghp_typed")
    assert terminal.finish() == 0, terminal.shown
    assert "Connected the github account 'main' (ada) for github." in terminal.shown
    assert "ghp_typed" not in terminal.shown
    assert "ada" in run("accounts", "list").stdout


def test_atlassian_is_asked_for_its_site_and_address(environ, provider):
    provider.tokens = {"ada@example.com:ATATTtyped": "ada"}
    terminal = Terminal(environ, "connect", "jira", "--url", provider.url)
    terminal.answer("Site (acme for acme.atlassian.net): ", "acme")
    terminal.answer("E-mail address: ", "ada@example.com")
    terminal.answer("Token: ", "ATATTtyped")
    assert terminal.finish() == 0, terminal.shown
    assert "for jira, confluence" in terminal.shown
    assert "ATATTtyped" not in terminal.shown


def test_ctrl_c_at_the_prompt_stores_nothing(environ, provider, run):
    terminal = Terminal(environ, "connect", "github", "--url", provider.url)
    terminal.answer("Token: ", "\x03")
    assert terminal.finish() != 0
    assert "No account is connected" in run("accounts", "list").stderr


def list_forms(secret):
    packed = [base64.b64encode(b"." * shift + secret)[4 if shift else 0 : -4].rstrip(b"=") for shift in range(3)]
    return [secret, secret[::-1], secret.hex().encode(), *packed]


def read_proc(name):
    found = []
    for file in Path("/proc").glob(f"[0-9]*/{name}"):
        try:
            found.append(file.read_bytes())
        except OSError:  # it has ended, or is another user's
            continue
    return b"".join(found)


def test_no_secret_is_found_outside_the_keyring(spawned, provider, home, tmp_path):
    """Three kinds, while the services are being asked and afterwards."""
    tokens = [f"ghp_{random_hex(18)}", f"ATATT{random_hex(18)}"]
    provider.tokens = {tokens[0]: "ada", f"a@x:{tokens[1]}": "ada"}
    places: dict[str, bytes] = {}
    answer = provider.answer

    def look(*asked):
        places["processes"] = places.get("processes", b"") + read_proc("cmdline") + read_proc("environ")
        return answer(*asked)

    provider.answer = look
    for words, secret in (
        (["connect", "github", "--url", provider.url], tokens[0]),
        (["connect", "jira", "--url", provider.url, "--site", "acme", "--email", "a@x"], tokens[1]),
        (["connect", "github", "--account", "bad", "--url", provider.url], "ghp_" + random_hex(18)),
        (["connect", "notion", "--url", provider.url, "--oauth", "--client-id", CLIENT[0], "--wait", "1"], CLIENT[1]),
        (["accounts", "test"], ""),
        (["accounts", "list", "--json"], ""),
        (["journal", "tail", "--json"], ""),
        (["backup", str(tmp_path / "x.backup")], ""),
    ):
        tokens += [secret] if secret else []
        done = subprocess.run(**spawned(*words, "--log-level", "debug"), input=secret)
        places[" ".join(words)] = (done.stdout + done.stderr).encode()
    assert b"accounts.connect" in places["journal tail --json"]
    assert b"Bad credentials" in places[f"connect github --account bad --url {provider.url}"]
    for file in (*home.iterdir(), tmp_path / "x.backup"):
        places[file.name] = file.read_bytes()
    database = open_database(format_sqlite_url(home / "tokonoma.db"), durable=False)
    with database.reading() as rows:
        assert rows.rows("select count(*) from account") == [(3,)]
    database.close()
    assert provider.url.encode() in places["processes"]
    forms = [form for each in tokens for form in list_forms(each.encode())]
    assert [name for name, data in places.items() if any(form in data for form in forms)] == []

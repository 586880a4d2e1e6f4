"""Every secret of seven services, connected from the terminal, is looked for wherever it must not be."""

import json
import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from connectors.faces import get_face
from connectors.standins import SERVICES, Standin, hold, make_error, start_standin
from keyring.test_canaries import list_forms, read_backup, read_processes
from services.test_canaries import Spans
from talk import Lines

from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.cli.connect import consent
from tokonoma.cli.program import program
from tokonoma.core.ids import random_hex
from tokonoma.core.providers import find_provider
from tokonoma.keyring.accounts import list_accounts, read_secrets

PASTED = {"notion": "ntn_", "github": "ghp_", "jira": "ATATT", "supabase": "sbp_"}


class Terminal:
    """An owner with stand-ins instead of the services. What the commands print, and what is secret, is kept."""

    def __init__(self, home: Path, standins: dict[str, Standin], patch: pytest.MonkeyPatch) -> None:
        self.standins, self.patch = standins, patch
        self.secrets: dict[str, str] = {}
        self.told: list[str] = []
        self.environ = {"TOKONOMA_HOME": str(home), "TOKONOMA_DURABLE": "false", "TOKONOMA_LOG_LEVEL": "debug"}
        for service, standin in standins.items():
            if service != "confluence":  # it shares the consent of Jira
                self.watch(service, standin)

    def watch(self, service: str, standin: Standin) -> None:
        """Keep what the provider is shown and what it gives."""
        exchange, give = standin.oauth._exchange, standin.oauth._make_answer
        self.secrets[f"{service} client secret"] = standin.oauth.client_secret

        def keep_code(fields: dict[str, str]) -> dict[str, Any]:
            for name in ("code", "code_verifier"):
                if fields.get(name):
                    self.secrets[f"{service} {name} {len(self.secrets)}"] = fields[name]
            return exchange(fields)

        def keep_tokens(*given: Any, **more: Any) -> dict[str, Any]:
            answer = give(*given, **more)
            for name in ("access_token", "refresh_token"):
                if name in answer:
                    self.secrets[f"{service} {name} {len(self.secrets)}"] = answer[name]
            return answer

        self.patch.setattr(standin.oauth, "_exchange", keep_code)
        self.patch.setattr(standin.oauth, "_make_answer", keep_tokens)

    def run(self, *words: str, stdin: str = "", ends: int = 0) -> str:
        result = CliRunner().invoke(program, words, input=stdin, env=self.environ, prog_name="tokonoma")
        self.told.append(f"{result.output}{result.stderr}{result.exception!r}")
        assert result.exit_code == ends, result.output
        return result.output

    def list_words(self, service: str, *more: str) -> list[str]:
        standin = self.standins[service]
        return ["connect", service, "--url", standin.base_url, *more]

    def paste(self, service: str, start: str) -> None:
        standin = self.standins[service]
        token = self.secrets[f"{service} token"] = f"{start}{random_hex(18)}"
        site = ("--site", "garden", "--email", "mio@example.org") if service == "jira" else ()
        words = self.list_words(service, "--account", "pasted", *site)
        self.run(*words, stdin=token, ends=1)  # the service does not know it yet
        standin.oauth.add_token(token)
        self.run(*words, stdin=token)

    def agree(self, service: str) -> None:
        standin = self.standins[service]
        urls = ("--authorize-url", standin.authorize_url, "--token-url", standin.token_url)
        own = ("--client-id", standin.oauth.client_id) if service != "confluence" else ()
        self.patch.setattr(consent, "print_line", self.follow)
        self.run(
            *self.list_words(service, "--oauth", "--account", service, *urls, *own), stdin=standin.oauth.client_secret
        )

    def follow(self, url: str) -> None:
        threading.Thread(target=lambda: httpx.get(url, follow_redirects=True, trust_env=False)).start()

    def paste_in_a_process(self) -> bytes:
        """The list of processes while one holds a token."""
        standin, token = self.standins["github"], f"ghp_{random_hex(18)}"
        self.secrets["github second token"] = standin.oauth.add_token(token)
        standin.requests.clear()
        standin.faults.script([hold()])
        words = [sys.executable, "-m", "tokonoma", *self.list_words("github", "--account", "second")]
        pipe: Any = subprocess.PIPE
        environ = {**os.environ, **self.environ}
        with subprocess.Popen(words, env=environ, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
            assert process.stdin is not None
            process.stdin.write(token)
            process.stdin.close()
            process.stdin = None
            standin.wait_for_requests(1)
            shown = read_processes()
            standin.release()
            self.told.extend(process.communicate())
        assert process.returncode == 0, self.told
        assert b"second" in shown
        return shown


def use_accounts(app: App, standins: dict[str, Standin], told: list[str]) -> None:
    """Calls that go well, that a service refuses and repeats the secrets, and that need another token."""
    talk, keyring = Lines(app), open_keyring(app)
    with app.database.reading() as rows:
        held = {(each.provider, each.name): dict(read_secrets(rows, keyring, each)) for each in list_accounts(rows)}
    for service, standin in standins.items():
        for account in [service, *(["pasted"] if service in PASTED else [])]:
            words = " ".join(held[find_provider(service), account].values())
            for status in (0, 403, 500, 401):
                tool, params = get_face(standin).create
                app.services._states.clear()
                if status:
                    standin.faults.script([make_error(standin.state, status, words)] * (1 + (account == "pasted")))
                asked = {**params, "account": account}
                told.append(json.dumps(talk.tool("call", module=service, tool_name=tool, params=asked)))
                standin.faults.clear()


def read_files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_no_secret_of_seven_services_is_found_anywhere(tmp_path, capfd, monkeypatch):
    home = tmp_path / "home"
    with ExitStack() as opened:
        standins: dict[str, Standin] = {}
        for service in SERVICES:
            oauth = standins["jira"].oauth if service == "confluence" else None
            standins[service] = opened.enter_context(start_standin(service, oauth))
        terminal = Terminal(home, standins, monkeypatch)
        for service, start in PASTED.items():
            terminal.paste(service, start)
        for service in SERVICES:
            terminal.agree(service)
        places = {"processes": terminal.paste_in_a_process()}
        app = App({"home": str(home), "durable": False, "embed_provider": "none", "log_level": "debug"}, {})
        opened.callback(app.close)
        app.spans = spans = Spans()
        use_accounts(app, standins, terminal.told)
        app.journal.flush()
        places |= read_files(home)
        for command in ("accounts list --json", "journal tail -n 500 --json", "keyring status --json", "doctor --json"):
            result = CliRunner().invoke(program, command.split(), env=terminal.environ, prog_name="tokonoma")
            places[command] = f"{result.output}{result.stderr}".encode()
        terminal.run("backup", str(tmp_path / "x.backup"))
        places["backup"] = read_backup(tmp_path / "x.backup")
        places |= {f"{name} at the end": content for name, content in read_files(home).items()}
        refreshed = [service for service in SERVICES if standins[service].oauth.refreshes]
    places["answers"] = "".join(terminal.told).encode()
    places["spans"] = str(spans.texts).encode()
    places["log"] = "".join(capfd.readouterr()).encode()
    kinds = {name.split(" ", 1)[1].rstrip("0123456789 ") for name in terminal.secrets}
    assert kinds >= {"token", "client secret", "code", "code_verifier", "access_token", "refresh_token"}
    assert len(terminal.secrets) >= 40
    assert refreshed == list(SERVICES)
    assert {"tokonoma.db", "tokonoma.db-wal"} <= places.keys()
    assert len(places["tokonoma.db-wal"]) > 0
    assert b"accounts.connect" in places["journal tail -n 500 --json"]
    assert b"[hidden]" in places["answers"]
    assert b"call github.create_issue" in places["spans"]
    leaks = [
        (name, place)
        for name, secret in terminal.secrets.items()
        for form in list_forms(secret.encode())
        for place, content in places.items()
        if form in content
    ]
    assert leaks == []

"""Tokens that are looked for wherever they must not be; and what a server without a service pays."""

import base64
import json
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
from services.conftest import Wire, build_house
from services.faulty import Answer

from tokonoma.core.ids import random_hex

CANARIES = {
    name: f"canary{random_hex(12)}" for name in ("access", "refresh", "access2", "refresh2", "app", "pasted", "basic")
}


@dataclass
class Spans:
    """A tracer that keeps every text that it is given."""

    texts: list[str] = field(default_factory=list)
    trace_id: str = "a" * 32
    span_id: str = "b" * 16

    def start(self, name: str, parent: str | None = None) -> "Spans":
        self.texts.append(name)
        return self

    def set(self, key: str, value: str | int) -> None:
        self.texts.append(f"{key} {value}")

    def rename(self, name: str) -> None:
        self.texts.append(name)

    def end(self, error: BaseException | None = None) -> None:
        while error is not None:
            self.texts.append(f"{error!r} {error} {getattr(error, 'details', '')}")
            error = error.__cause__ or error.__context__

    def close(self) -> None:
        pass


@pytest.fixture
def spans() -> Spans:
    return Spans()


@pytest.fixture
def house(tmp_path, server, spans):
    app = build_house(tmp_path / "home", log_level="debug")
    app.spans = spans
    house = Wire(app, server)
    house.prepare()
    yield house
    app.close()


def list_forms(secret: str) -> list[str]:
    packed = [base64.b64encode(b"." * shift + secret.encode()).decode()[4 if shift else 0 : -4] for shift in range(3)]
    return [secret, secret[::-1], *packed]


def dump_rows(house: Wire) -> str:
    house.app.journal.flush()
    parts: list[str] = []
    with house.app.database.reading() as rows:
        for (table,) in rows.rows(house.app.database.dialect.tables):
            parts += [str(row) for row in rows.rows(f'select * from "{table}"')]
    return "\n".join(parts)


ECHOES = [
    Answer(403, echoes=True),
    Answer(429, {"retry-after": "x"}, echoes=True),
    Answer(500, echoes=True),
    Answer(act="drop"),
    Answer(302, {"location": "/elsewhere"}),
]


def test_no_token_is_found_in_errors_journal_log_spans_or_the_database(house, spans, capfd):
    """A service that repeats every token that it was sent, in every kind of failure."""
    told: list[str] = []

    def ask(account: str, *answers: Answer) -> None:
        house.app.services._states.clear()
        house.server.script.extend(answers)
        result = house.talk.tool("call", module="wire", tool_name="create", params={"account": account})
        told.append(json.dumps(result))

    pair = {"access_token": CANARIES["access"], "refresh_token": CANARIES["refresh"]}
    house.add("app", {"client_secret": CANARIES["app"]}, kind="app", details={"client_id": "id"})
    details = {"token_url": f"{house.server.url}/token", "app": "app"}
    house.add("oauth", pair, kind="oauth", details=details)
    house.add("pasted", {"token": CANARIES["pasted"]})
    house.add("basic", {"token": CANARIES["basic"]}, kind="basic", details={"email": "a@example.com"})
    for account in ("oauth", "pasted", "basic"):
        for answer in ECHOES:
            ask(account, *[answer] * 4)
            house.server.script.clear()
    new = {"access_token": CANARIES["access2"], "refresh_token": CANARIES["refresh2"], "expires_in": 60}
    for token_answer in (Answer(401, echoes=True), Answer(act="half"), Answer(body=json.dumps(new).encode())):
        house.server.token_answer = token_answer
        ask("oauth", Answer(401, echoes=True))
    for account in ("oauth", "pasted", "basic"):
        ask(account, Answer(401, echoes=True), Answer(401, echoes=True))
    assert [house.find(name).state for name in ("oauth", "pasted", "basic")] == ["broken"] * 3
    seen = str([*house.server.requests, *house.server.refreshes])
    assert [name for name, secret in CANARIES.items() if secret not in seen] == ["basic"]  # sent in base64
    assert sum("[hidden]" in each for each in told) >= 6
    places = {
        "errors": "".join(told), "rows": dump_rows(house), "log": capfd.readouterr().err, "spans": str(spans.texts)
    }  # fmt: skip
    assert "wire" in places["rows"]
    assert "call wire.create" in places["spans"]
    forms = [form for secret in CANARIES.values() for form in list_forms(secret)]
    assert [(place, form) for place, text in places.items() for form in forms if form in text] == []


CODE = """
import sys
from tokonoma.cli import main
code = main(["stdio", "--home", sys.argv[1], "--no-durable"])
wanted = ("httpx", "h2", "tokonoma.services", "cryptography", "tokonoma.keyring.a", "asyncio")
sys.stderr.write(str([name for name in sys.modules if name.startswith(wanted)]))
sys.exit(code)
"""


def test_a_server_without_a_service_loads_nothing_for_it(tmp_path):
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n"
    words = [sys.executable, "-c", CODE, str(tmp_path)]
    done = subprocess.run(words, input=line, capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]"), done.stderr

"""What has expired stays expired when the machine's clock is set back, also for a process that starts afterwards."""

import pytest
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth import api_keys
from tokonoma.core import clock

pytestmark = pytest.mark.migrated

HOUR = 3_600_000


@pytest.fixture
def opened(database_url, tmp_path, frozen_clock):
    apps: list[App] = []

    def open_app() -> App:
        flags = {"home": str(tmp_path / "home"), "database_url": database_url, "durable": False, "require_key": True}
        apps.append(App(flags, {}))
        return apps[-1]

    yield open_app
    for each in apps:
        each.close()


def asks(app: App, token: str) -> int:
    app.authenticator.forget()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    return Http(app, token).answered(message).status_code


@pytest.mark.parametrize("restarts", [False, True])
def test_an_expired_key_and_an_expired_memo_do_not_come_back(opened, frozen_clock, monkeypatch, restarts) -> None:
    app = opened()
    with app.database.writing() as statements:
        token = api_keys.create_key(statements, "short", expires_at=frozen_clock.at + HOUR)
    talk = Lines(app)
    expires = clock.format_time(frozen_clock.at + HOUR)
    memo = talk.call("memory", "save", content="a short note", expires_at=expires)["memo_id"]
    assert asks(app, token) == 200
    assert talk.call("memory", "get", memo_id=memo)
    frozen_clock.advance(2 * HOUR)
    assert asks(app, token) == 401
    assert talk.refused("memory", "get", memo_id=memo)["code"] == "NOT_FOUND"
    app.journal.flush()
    frozen_clock.advance(-90 * 60_000)
    if restarts:
        app.close()
        monkeypatch.setattr(clock, "_last", (0, 0))  # a new process knows of no earlier time
        app = opened()
    assert asks(app, token) == 401
    assert Lines(app).refused("memory", "get", memo_id=memo)["code"] == "NOT_FOUND"
    new = Lines(app).call("memory", "save", content="another", expires_at=clock.format_time(clock.now() + HOUR))
    assert Lines(app).call("memory", "get", memo_id=new["memo_id"])

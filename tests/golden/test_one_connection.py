"""Every tool does its work with a single connection to PostgreSQL: nothing asks for one while it has one."""

import json
from pathlib import Path
from typing import Any

import pytest
from golden.calls_files import FILES
from golden.calls_meaning import MEANING
from golden.normalise import Normaliser
from golden.play import Player
from golden.scenarios import TOOLS
from talk import Lines

from tokonoma.app import App
from tokonoma.policy import current
from tokonoma.store import postgres


class OwnClient:
    """Speaks to a server in this process, as a client of stdio does."""

    def __init__(self, app: App) -> None:
        self._lines = Lines(app)

    def ask(self, id: int, method: str, params: Any) -> tuple[list[str], str]:
        answer = json.dumps(self._lines.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        return [answer], answer

    def close(self) -> None:
        return


@pytest.mark.parametrize("provider", ["none", "builtin"])
def test_all_tools_work_with_one_connection(
    provider: str, postgres_at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "CONNECTIONS", 1)
    monkeypatch.setattr(postgres, "RESERVED", 0)
    monkeypatch.setattr(current, "_CACHE_SECONDS", 0.0)  # the policy is read whenever somebody asks for it
    for path, text in FILES.items():
        file = tmp_path / "home" / "workspace" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    flags = {"home": str(tmp_path / "home"), "database_url": postgres_at, "durable": False, "embed_provider": provider}
    flags["policy_over_mcp"] = "all"  # the script rolls back to a looser policy
    app = App(flags, {})
    player = Player(OwnClient(app), Normaliser({}), {})  # type: ignore[arg-type]
    steps = TOOLS if provider == "none" else MEANING
    answers = list(player.lines(steps))
    app.close()
    assert len(answers) == len(steps)
    for answer in answers:
        assert "INTERNAL" not in answer
        assert "busy with other writers" not in answer
        assert "The database does not answer" not in answer

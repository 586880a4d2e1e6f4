"""Claude Code in a terminal: `mcp add`, `mcp login`, a call that its model asks for, refreshing, being revoked, and
signing out."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from oauth_clients.claude_code import find_claude
from oauth_clients.house import MEMO, OpenHouse
from oauth_clients.model import ScriptedModel, serve_model
from oauth_clients.program import build_environ, start_program

pytestmark = pytest.mark.xdist_group("oauth_clients")

KNOWN = "https://claude.ai/oauth/claude-code-client-metadata"
TOOL = "mcp__tokonoma__remember"


class Terminal:
    """One person's Claude Code, with a home of its own."""

    def __init__(self, folder: Path, house: OpenHouse, model: ScriptedModel) -> None:
        self._claude, self._folder, self._house, self._model = find_claude(), folder, house, model
        self._environ = {
            **build_environ(folder / "person"),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "sk-ant-nothing",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
            # On a busy machine its own limits (5 s to connect) would decide the test.
            **dict.fromkeys(("MCP_CONNECT_TIMEOUT_MS", "MCP_TIMEOUT", "MCP_TOOL_TIMEOUT"), "600000"),
        }

    def run(self, *words: str) -> str:
        with start_program([self._claude, *words], self._environ, self._folder) as program:
            program.finish()
            return program.text

    def add(self) -> str:
        return self.run("mcp", "add", "--transport", "http", "tokonoma", self._house.url)

    def log_in(self) -> str:
        command = [self._claude, "mcp", "login", "tokonoma"]
        with start_program(command, self._environ, self._folder, terminal=True) as program:
            self._house.person.let_in(program.wait_for(rf"{self._house.origin}/authorize\?\S+")[0])
            program.finish()
            return program.text

    def log_out(self) -> str:
        return self.run("mcp", "logout", "tokonoma")

    def list_servers(self) -> str:
        return self.run("mcp", "list")

    def call(self) -> str:
        """Ask the model for something; what the tool gave it."""
        known = len(self._model.answers)
        text = self.run("-p", "Remember where the kettle is.", "--allowedTools", TOOL)
        assert len(self._model.answers) == known + 1, text
        assert not self._model.answers[-1].get("is_error"), self._model.answers
        return str(self._model.answers[-1]["content"])


@pytest.mark.parametrize("way", ["document", "registered"])
def test_signing_in_calling_refreshing_and_being_revoked(build_house, tmp_path, way):
    find_claude()
    # Where documents are announced, it uses nothing else; its own cannot be fetched here, so the shipped copy counts.
    house: OpenHouse = build_house(oauth_documents="on" if way == "document" else "off")
    with serve_model(TOOL, {"text": MEMO}) as model:
        terminal = Terminal(tmp_path, house, model)
        assert "Added HTTP MCP server" in terminal.add()
        assert 'Authenticated with "tokonoma"' in terminal.log_in()
        grant = house.find_grant()
        assert grant.name == ("claude-code" if way == "document" else "claude-code-tokonoma")
        assert (grant.client == KNOWN) is (way == "document")
        assert "memory" in terminal.call()

        house.expire_tokens()
        assert "memory" in terminal.call()
        assert (house.count_refreshes(), len(house.person.asked)) == (1, 1)

        house.revoke()
        assert "Needs authentication" in terminal.list_servers()
    assert house.find_grant().state == "revoked"


def test_signing_out_revokes_the_grant(build_house, tmp_path):
    """RFC 7009, as a client of its own accord uses it."""
    house: OpenHouse = build_house(oauth_documents="on")
    with serve_model(TOOL, {"text": MEMO}) as model:
        terminal = Terminal(tmp_path, house, model)
        terminal.add()
        terminal.log_in()
        assert house.find_grant().state == "active"
        terminal.log_out()
        assert house.find_grant().state == "revoked"
        assert "Needs authentication" in terminal.list_servers()


def test_five_sessions_at_once_keep_their_credential(build_house, tmp_path):
    """They share one file, find the same expired token, and refresh it at the same moment."""
    find_claude()
    house: OpenHouse = build_house(oauth_documents="on")
    with serve_model(TOOL, {"text": MEMO}) as model, ThreadPoolExecutor(5) as pool:
        terminal = Terminal(tmp_path, house, model)
        terminal.add()
        terminal.log_in()
        for _ in range(2):
            house.expire_tokens()
            listed = list(pool.map(lambda _: terminal.list_servers(), range(5)))
            assert ["✔ Connected" in each for each in listed] == [True] * 5, listed
    assert (house.find_grant().state, len(house.person.asked)) == ("active", 1)

"""Tasks of an owner in Chromium: connect GitHub, narrow a client, approve a call, add an MCP server. Each by keyboard
alone, and without JavaScript."""

import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from connectors.standins import start_standin
from playwright.sync_api import Page
from policy.houses import enforce
from upstream.houses import read
from web.site import Site
from web.test_browser import Heard, visit
from web.test_clients import add_grant
from web.test_services import find_accounts
from web.test_tour import served, sign_in

from tokonoma.app.approvals import list_approvals
from tokonoma.auth.oauth.grants import find_grant
from tokonoma.core.call import Caller, Principal
from tokonoma.core.errors import Refusal
from tokonoma.core.reach import Reach

pytestmark = pytest.mark.xdist_group("browser")

__all__ = ["served"]  # a fixture
SDK = Path(__file__).parents[1] / "upstream" / "sdk_server.py"
ASK = "version: 1\ntools:\n  - { tool: memory.save, verdict: ask }\n"
MOST_STEPS = 600


class Keyboard:
    """A person who has no mouse: Tab leads to everything, and what has the focus is typed into or pressed."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def reach(self, selector: str) -> None:
        for _ in range(MOST_STEPS):
            if self.page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never leads to {selector}")

    def press(self, selector: str, pressed: str = "Enter") -> None:
        self.reach(selector)
        self.page.keyboard.press(pressed)

    def follow(self, selector: str, pressed: str = "Enter") -> None:
        """Press what leads to another page, and wait for it."""
        self.reach(selector)
        with self.page.expect_navigation():
            self.page.keyboard.press(pressed)

    def write(self, selector: str, text: str) -> None:
        self.reach(selector)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def hands(browser, served, request):
    heard = Heard()
    with visit(browser, heard, java_script_enabled=request.param) as page:
        sign_in(page, served)
        yield Keyboard(page)
    assert heard.texts == []


def save_as_agent(site: Site, text: str) -> Any:
    """Without a loop of its own: one runs in this thread as long as the browser does."""
    agent = Caller("http", principal=Principal("key:agent", "key", Reach()))
    return site.run_tool(agent, "memory", "save", {"content": text})


def ask_for(site: Site, text: str) -> None:
    with pytest.raises(Refusal) as refused:
        save_as_agent(site, text)
    assert refused.value.reason == "approval"


def open_page(site: Site, hands: Keyboard, path: str) -> None:
    hands.page.goto(site.origin + path)


def test_github_is_connected_by_a_pasted_token(served, hands):
    open_page(served, hands, "/admin/services")
    with start_standin("github") as standin:
        hands.follow('a[href="/admin/services/connect/github"]')
        hands.write("#token-account", "work")
        hands.write("#token-secret", standin.token)
        hands.press("section:has(#token-account) details summary")
        hands.write("#token-base_url", standin.base_url)
        hands.follow('button[value="token"]')
    assert urlsplit(hands.page.url).path.startswith("/admin/services/accounts/")
    assert find_accounts(served)["work"].state == "ready"
    assert standin.token not in hands.page.content()


def test_a_client_is_narrowed(served, hands):
    id = add_grant(served)
    open_page(served, hands, "/admin/clients")
    hands.follow(f'a[href="/admin/clients/grants/{id}"]')
    hands.press('input[value="*:write"]', "Space")
    hands.press('input[value="*:destroy"]', "Space")
    hands.press('input[value="vault"]', "Space")
    hands.press("#module-memory summary")
    hands.press('input[value="memory.save"]', "Space")
    hands.follow('button[value="save"]')
    with served.app.database.reading() as rows:
        assert find_grant(rows, id).reach.mask == {"*:write", "*:destroy", "vault", "memory.save"}
    hands.follow('a[href^="/admin/clients/see"]')
    hands.write("#tool", "memory.save")
    hands.follow("form button:not(.plain)")
    assert "memory.save does not exist for it." in hands.page.locator("main").inner_text()


def test_a_call_is_approved(served, hands):
    enforce(served.app, ASK)
    ask_for(served, "one")
    open_page(served, hands, "/admin/approvals")
    hands.follow('button[value="approve"]')
    assert "Approved." in hands.page.locator("[role=status]").inner_text()
    assert save_as_agent(served, "one")["memo_id"]


def test_a_server_is_added_and_a_tool_approved(served, hands):
    open_page(served, hands, "/admin/servers")
    hands.follow('a[href="/admin/servers/add-server"]')
    hands.write("#name", "oracle")
    hands.write("#target", shlex.join((sys.executable, str(SDK), "stdio")))
    hands.follow("form button.primary")
    hands.press('input[value="add"]', "Space")
    hands.follow('button[value="approve"]')
    assert {each.short for each in read(served.app, "oracle").tools if each.state == "approved"} == {"add"}
    assert served.call("oracle", "add", a=2, b=3)["sum"] == 5


def test_a_new_call_appears_by_itself_and_the_focus_stays(browser, served):
    """The live part is asked for again every two seconds, without taking the keyboard's place."""
    heard = Heard()
    enforce(served.app, ASK)
    ask_for(served, "one")
    with visit(browser, heard) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/approvals")
        page.locator('button[value="deny"]').focus()
        ask_for(served, "two")
        page.locator("article").nth(1).wait_for()
        first = list_approvals(served.app)[0].id
        assert page.evaluate("document.activeElement.id") == f"deny-{first}"
    assert heard.texts == []

"""A person creates an item and moves it across the board in Chromium: by keyboard alone, and without JavaScript."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Page
from web.site import Site
from web.test_browser import Heard, visit
from web.test_tour import sign_in

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def served(open_site) -> Generator[Site]:
    site = open_site()
    with site.serve() as origin:
        site.origin = origin
        yield site


def press_until(page: Page, name: str, key: str = "Tab", most: int = 60) -> None:
    """Walk with a key until the element that is called like this has the focus."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()") == name:
            return
    raise AssertionError(f"{name} is not reached")


def test_an_item_is_created_and_moved_by_keyboard_alone(browser, served):
    heard = Heard()
    with visit(browser, heard) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/items")
        page.keyboard.press("n")
        page.wait_for_url("**/admin/items/new")
        press_until(page, "title")
        page.keyboard.type("Printer is offline")
        page.keyboard.press("Enter")
        page.wait_for_url("**/admin/items/1?notice=saved")
        page.goto(f"{served.origin}/admin/items")
        page.keyboard.press("j")
        for status in ("Specification", "Waiting"):
            page.keyboard.press(">")
            page.locator(f".column:has(h2:text('{status}')) #item-1").wait_for()
            page.locator("#item-1:focus").wait_for()
        page.keyboard.press("<")
        page.locator(".column:has(h2:text('Specification')) #item-1").wait_for()
    assert served.call("items", "get_item_detail", type="items", id=1)["status"] == "Specification"
    assert heard.texts == []


def test_an_item_is_created_and_moved_without_javascript(browser, served):
    heard = Heard()
    with visit(browser, heard, java_script_enabled=False) as page:
        sign_in(page, served)
        page.get_by_role("link", name="Items", exact=True).click()
        page.get_by_role("link", name="New item").click()
        page.get_by_label("Title").fill("Printer is offline")
        page.get_by_role("button", name="Save").click()
        assert page.get_by_role("status").inner_text() == "Saved."
        page.get_by_role("link", name="Board").click()
        page.get_by_label("Status of issue-1").select_option("In Progress")
        page.get_by_role("button", name="Move issue-1").click()
        assert page.get_by_role("region", name="In Progress 1").get_by_role("link").first.inner_text() == (
            "Printer is offline"
        )
    assert served.call("items", "get_item_detail", type="items", id=1)["status"] == "In Progress"
    assert heard.texts == []

"""Memos in Chromium: by keyboard alone, and without JavaScript."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Page
from web.site import Site
from web.test_browser import Heard, visit
from web.test_tour import sign_in

pytestmark = pytest.mark.xdist_group("browser")

LIST = "/admin/memory"
ALIKE = [
    "Water the tomatoes every evening, except when it rains.",
    "Water the tomatoes every evening except if it rains.",
]


@pytest.fixture
def served(open_site) -> Generator[Site]:
    site = open_site()
    with site.serve() as origin:
        site.origin = origin
        yield site


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Page, selector: str) -> None:
    """With the tabulator, as far as needed; a page has no more than a few hundred places."""
    for _ in range(300):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by keyboard")


def test_memos_by_keyboard_alone(browser, served):
    """A new memo, an edit with a live preview, a version restored, duplicates merged, one to the trash."""
    heard = Heard()
    with visit(browser, heard, viewport={"width": 1280, "height": 860}) as page:
        sign_in(page, served)
        page.goto(served.origin + LIST)
        press(page, "n")
        page.locator("#content:focus").wait_for()
        page.keyboard.type("The first text")
        page.locator("#preview p", has_text="The first text").wait_for()
        tab_to(page, "#title, button[value=save]")
        tab_to(page, "button[value=save]")
        press(page, "Enter")
        page.get_by_text("Saved.").wait_for()
        press(page, "e")
        page.wait_for_url("**/edit")
        tab_to(page, "#content")
        press(page, "Control+End")
        page.keyboard.type(" and **more**")
        page.locator("#preview strong", has_text="more").wait_for()
        tab_to(page, "button[value=save]")
        press(page, "Enter")
        page.locator("article strong", has_text="more").wait_for()
        press(page, "h")
        page.wait_for_url("**/history")
        press(page, "j", "j", "Enter")
        page.wait_for_url("**/history?version=1*")
        press(page, "r")
        page.get_by_text("Restored.").wait_for()
        assert page.locator("article").inner_text() == "The first text"
        ids = [served.call("memory", "save", content=each)["memo_id"] for each in ALIKE]
        page.goto(f"{served.origin}{LIST}/duplicates?level=0.7")
        press(page, "j", "Enter")
        page.wait_for_url("**/merge?*")
        tab_to(page, "input[name=keep]")
        press(page, "ArrowDown")
        tab_to(page, "button[value=merge]")
        press(page, "Enter")
        page.get_by_text("Merged.").wait_for()
        assert page.url.startswith(f"{served.origin}{LIST}/{ids[0]}")
        page.goto(served.origin + LIST)
        press(page, "j", "x", "j", "j", "k", "#")
        page.get_by_role("heading", name="Memos for the trash: 1").wait_for()
        page.locator("button[value=trash]:focus").wait_for()
        press(page, "Enter")
        page.get_by_text("Moved to the trash.").wait_for()
        assert page.locator("[data-list] a[data-item]").count() == 1
        press(page, "/")
        page.keyboard.type("first")
        press(page, "Enter")
        page.locator("#found mark", has_text="first").first.wait_for()
        assert page.url.endswith("q=first") or "q=first&" in page.url
    assert heard.texts == []


def test_memos_without_scripts(browser, served):
    heard = Heard()
    with visit(browser, heard, java_script_enabled=False) as page:
        sign_in(page, served)
        page.goto(served.origin + LIST)
        page.get_by_role("link", name="New memo").click()
        page.get_by_label("Text, in Markdown").fill("The *first* text")
        page.get_by_role("button", name="Show the preview").click()
        assert page.locator("#preview em").inner_text() == "first"
        page.get_by_role("button", name="Save").click()
        page.get_by_role("link", name="Edit").click()
        page.get_by_label("Text, in Markdown").fill("Another text")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("link", name="History").click()
        page.get_by_role("link", name="1", exact=True).click()
        page.get_by_role("button", name="Restore version 1").click()
        assert page.locator("article em").inner_text() == "first"
        for each in ALIKE:
            served.call("memory", "save", content=each)
        page.goto(f"{served.origin}{LIST}/duplicates?level=0.7")
        page.get_by_role("link", name="Compare and merge").click()
        page.get_by_label(ALIKE[0]).check()
        page.get_by_role("button", name="Merge").click()
        assert page.locator("article").inner_text() == ALIKE[0]
        page.goto(f"{served.origin}{LIST}?q=tomatoes")
        assert page.locator("[data-list] a[data-item]").count() == 1
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Move the selected").click()
        page.get_by_label("To the namespace").fill("/garden")
        page.get_by_role("button", name="Move").click()
        assert page.get_by_text("Moved.").is_visible()
        assert served.call("memory", "namespaces")["items"][-1] == {"namespace": "/garden", "memos": 1}
    assert heard.texts == []

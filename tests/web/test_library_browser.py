"""Two tasks of a person in Chromium: find everything and see coverage; write a file and restore a version of it. By
keyboard alone, and without JavaScript."""

from collections.abc import Generator

import pytest
from web.seeds.manuals import add_manual
from web.site import Site
from web.test_browser import Heard, visit
from web.test_tour import sign_in

pytestmark = pytest.mark.xdist_group("browser")

TEXT = "# Refunds\n\nRefunds take 30 days.\n\n## Steps\n\nCall us.\n"


@pytest.fixture
def served(open_site) -> Generator[Site]:
    site = open_site()
    with site.serve() as origin:
        site.origin = origin
        yield site


def press_to(page, name: str) -> None:
    """Walk with the tabulator to a link, button or field of this name."""
    for _ in range(120):
        page.keyboard.press("Tab")
        focused = "(e => (e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || '').trim())"
        if page.evaluate(f"{focused}(document.activeElement)") == name:
            return
    raise AssertionError(f"{name} cannot be reached by keyboard")


def test_find_everything_and_see_coverage_by_keyboard_alone(browser, served):
    add_manual(served, "rules", {"terms.md": TEXT, "picture.png": b"\x89PNG"})
    heard = Heard()
    with visit(browser, heard, locale="en-US") as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/manuals")
        page.keyboard.press("/")
        page.keyboard.type("refunds")
        page.keyboard.press("Enter")
        page.wait_for_url("**/found/**")
        assert "It is neither a Markdown nor a JSON file." in page.locator("main").inner_text()
        for _ in range(3):  # the first hit: its title, then its lines
            page.keyboard.press("j")
            if page.evaluate("document.activeElement.innerText") == "3":
                break
        page.keyboard.press("Enter")
        page.wait_for_url("**#L3")
        assert page.locator("#L3").inner_text().endswith("Refunds take 30 days.")
        press_to(page, "rules")
        page.keyboard.press("Enter")
        page.wait_for_url("**/in/rules")
        picture = page.get_by_role("img", name="terms.md: 57 % read")
        assert picture.is_visible()
        press_to(page, "5–7")
        page.keyboard.press("Enter")
        page.wait_for_url("**#L5")
        page.goto(f"{served.origin}/admin/manuals/in/rules")
        assert page.get_by_role("img", name="terms.md: 100 % read").is_visible()
    assert heard.texts == []


def test_find_everything_and_see_coverage_without_scripts(browser, served):
    add_manual(served, "rules", {"terms.md": TEXT})
    with visit(browser, Heard(), locale="ja-JP", java_script_enabled=False) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/manuals")
        page.get_by_label("漏れなく探す話題").fill("refunds")
        page.get_by_role("button", name="漏れなく探す").click()
        page.get_by_role("link", name="Refunds", exact=True).click()
        page.get_by_role("link", name="rules").click()
        page.get_by_role("link", name="5–7").click()
        assert page.locator("#L7").inner_text().endswith("Call us.")
        page.get_by_role("link", name="rules").click()
        assert page.get_by_role("img", name="terms.md: 既読 100 %").is_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_write_a_file_and_restore_a_version(browser, served, scripts):
    """By keyboard alone, in both cases: only the shortcuts need scripts."""
    heard = Heard()
    with visit(browser, heard, locale="en-US", java_script_enabled=scripts) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/vault")

        def press(shortcut: str, label: str) -> None:
            if scripts:
                page.keyboard.press(shortcut)
                return
            page.get_by_role("link", name=label, exact=True).first.focus()
            page.keyboard.press("Enter")

        def save(text: str) -> None:
            page.get_by_label("Content").focus()
            page.keyboard.press("Control+a")
            page.keyboard.type(text)
            page.keyboard.press("Tab")  # to the button Save, the next in order
            page.keyboard.press("Enter")
            page.get_by_text("Saved.", exact=True).wait_for()

        press("c", "New file")
        page.get_by_label("Path of the file").focus()
        page.keyboard.type("notes/茶.md")
        save("first")
        press("e", "Edit")
        save("second")
        press("h", "History")
        page.get_by_role("heading", name="Changes").wait_for()
        page.get_by_role("link", name="Restore").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Restore").focus()
        assert "− second" in page.locator(".diff").inner_text()
        page.keyboard.press("Enter")
        page.get_by_text("Restored.", exact=True).wait_for()
        assert page.locator(".prose").inner_text() == "first"
    assert served.call("vault", "read", path="notes/茶.md", full=True)["text"] == "first"
    assert heard.texts == []

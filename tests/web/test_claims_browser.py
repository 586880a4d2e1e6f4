"""A person gives feedback on a claim in Chromium: by keyboard alone, and without JavaScript."""

from collections.abc import Generator

import pytest
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


def store(site: Site) -> str:
    return site.call("claims", "upsert", text="Ada drinks green tea", provenance={"actor": "ada"})["id"]


def test_feedback_is_given_by_keyboard_alone(browser, served):
    heard, claim = Heard(), store(served)
    with visit(browser, heard) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/claims")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/admin/claims/{claim}")
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.value") == "helpful":
                break
        page.keyboard.press("Enter")
        page.wait_for_url("**notice=feedback")
        page.get_by_role("img", name="Helpful: 1").wait_for()
    assert served.call("claims", "get", claim_id=claim)["feedback"] == {"helpful": 1}
    assert heard.texts == []


def test_feedback_is_given_without_javascript(browser, served):
    heard, claim = Heard(), store(served)
    with visit(browser, heard, java_script_enabled=False) as page:
        sign_in(page, served)
        page.get_by_role("link", name="Claims", exact=True).click()
        page.get_by_label("Words or a question").fill("green tea")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("link", name="Ada drinks green tea").click()
        page.get_by_role("button", name="It is outdated").click()
        assert page.get_by_role("status").inner_text() == "Thank you. The feedback counts from now on."
    assert served.call("claims", "get", claim_id=claim)["feedback"] == {"outdated": 1}
    assert heard.texts == []

"""Two tasks of an owner in Chromium: apply a policy and roll it back, make a backup and verify it. Each by keyboard
alone, and without JavaScript."""

import pytest
from web.site import Site
from web.test_access_browser import Keyboard, hands, open_page
from web.test_tour import served

pytestmark = pytest.mark.xdist_group("browser")

__all__ = ["hands", "served"]  # fixtures


def read_policy(site: Site) -> str:
    return site.call("claims", "policy.get")["yaml"]


def read_page(hands: Keyboard) -> str:
    return hands.page.locator("main").inner_text()


def test_a_policy_is_tried_applied_and_rolled_back(served, hands):
    before = read_policy(served)
    stricter = before.replace("pii: allow", "pii: refuse")
    open_page(served, hands, "/admin/policy")
    hands.write("#yaml", stricter)
    hands.follow('button[value="check"]')
    assert "The text is valid." in hands.page.get_by_role("status").inner_text()
    hands.follow('button[value="preview"]')
    assert "+writes: { secret: refuse, pii: refuse }" in hands.page.locator(".diff").inner_text()
    assert read_policy(served) == before
    hands.follow('button[value="apply"]')
    assert hands.page.get_by_role("status").is_visible()
    assert read_policy(served) == stricter
    hands.follow('a[href="/admin/policy/history"]')
    hands.follow("li form button")
    assert read_policy(served) == before
    assert hands.page.locator("#yaml").input_value() == before


def test_a_backup_is_made_verified_and_downloaded(served, hands):
    served.call("memory", "save", content="to be saved")
    served.call("vault", "create", path="a.md", content="to be saved, too")
    open_page(served, hands, "/admin/backups")
    assert "There is no backup yet." in read_page(hands)
    hands.follow("main button.primary")
    (name,) = served.list_backups()
    assert name in read_page(hands)
    hands.reach('form[action="/admin/backups/download"] button')
    with hands.page.expect_download() as download:
        hands.page.keyboard.press("Enter")
    assert download.value.suggested_filename == name
    open_page(served, hands, "/admin/backups")
    hands.follow('a[href^="/admin/backups/verify"]')
    shown = read_page(hands)
    assert "The whole backup was read: it is in order." in shown
    assert f"tokonoma restore {served.parts.system.find_places()['backups']}/{name}" in shown

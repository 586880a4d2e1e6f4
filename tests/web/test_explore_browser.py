"""Search, graph and trying tools in Chromium: by keyboard alone, without JavaScript, and what scripts add."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Page, expect
from web.site import Site
from web.test_access_browser import Keyboard
from web.test_browser import Heard, visit
from web.test_tour import sign_in

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def served(open_site) -> Generator[Site]:
    site = open_site()
    with site.serve() as origin:
        site.origin = origin
        yield site


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_record_is_found_and_opened_by_keyboard_alone(browser, served):
    served.call("memory", "save", content="The meeting is on Friday.", title="Meeting")
    heard = Heard()
    with visit(browser, heard) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/search")
        page.locator("#query").blur()
        press(page, "/")
        page.keyboard.type("meeting Friday")
        press(page, "Enter")
        expect(page.locator("#count")).to_have_text("1 found")
        assert "query=meeting" in page.url
        assert page.locator("mark").all_inner_texts()[:1] == ["Meeting"]
        page.locator("#query").blur()
        press(page, "j", "Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Meeting")
    assert heard.texts == []


def test_the_graph_grows_with_a_click_and_its_table_with_it(browser, served):
    names = [served.call("memory", "save", content=f"Memo {letter}", title=letter)["memo_id"] for letter in "ABC"]
    for one, other in ((0, 1), (1, 2)):
        ends = {"sourceMemoId": names[one], "targetMemoId": names[other]}
        served.call("memory", "relation.save", **ends, tag="next", weight=1.0)
    heard = Heard()
    with visit(browser, heard, viewport={"width": 1280, "height": 1400}) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/graph?start=tokonoma://memory/{names[0]}")
        graph = page.locator("#graph")
        expect(graph).to_have_attribute("data-nodes", "2")
        expect(page.locator("#links tbody tr")).to_have_count(1)
        place = page.evaluate(
            "id => document.getElementById('graph').graph.getElementById(id).renderedPosition()",
            f"tokonoma://memory/{names[1]}",
        )
        graph.click(position=place)
        expect(graph).to_have_attribute("data-nodes", "3")
        expect(page.locator("#links tbody tr")).to_have_count(2)
        expect(page.locator("#chosen")).to_contain_text("B")
        assert page.locator("style").count() == 0
    assert heard.texts == []


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_tool_and_a_batch_are_tried(browser, served, scripts):
    heard = Heard()
    with visit(browser, heard, java_script_enabled=scripts) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/try?tool=memory.save")
        page.get_by_label("content string").fill("Tried")
        page.get_by_role("button", name="Run").focus()
        press(page, "Enter")
        expect(page.locator("#result + pre, #result ~ pre").first).to_contain_text('"memo_id"')
        page.goto(f"{served.origin}/admin/try/batch")
        line = '{"id": "all", "module": "memory", "tool": "list", "output": true}'
        page.get_by_label("Steps", exact=True).first.fill(line)
        page.get_by_role("button", name="Show the plan").click()
        expect(page.locator("svg.plan .step-planned")).to_have_count(1)
        page.get_by_role("button", name="Run").click()
        expect(page.locator("svg.plan .step-ok")).to_have_count(1)
        expect(page.locator("pre").last).to_contain_text("Tried")
    assert heard.texts == []


def test_search_graph_and_timeline_work_without_scripts(browser, served):
    saved = served.call("memory", "save", content="The meeting is on Friday.", title="Meeting")["memo_id"]
    other = served.call("memory", "save", content="Its minutes", title="Minutes")["memo_id"]
    served.call("memory", "relation.save", sourceMemoId=saved, targetMemoId=other, tag="about", weight=1.0)
    with visit(browser, Heard(), java_script_enabled=False) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/search")
        page.get_by_label("Query").fill("meeting")
        page.get_by_role("button", name="Search").click()
        expect(page.locator("#count")).to_have_text("1 found")
        page.get_by_label("Address or title of the record").fill("Minutes")
        page.get_by_role("button", name="Explain").click()
        expect(page.locator("#expected")).to_contain_text("It is not among the")
        page.locator(".hits").get_by_role("link", name="Graph").click()
        expect(page.locator("#links tbody tr")).to_have_count(1)
        assert not page.locator("#graph").is_visible()
        page.goto(f"{served.origin}/admin/timeline")
        page.locator("svg.year a").click()
        expect(page.locator(".list .title")).to_have_count(2)


def test_a_line_is_copied(browser, served):
    heard = Heard()
    with visit(browser, heard, permissions=["clipboard-read", "clipboard-write"]) as page:
        sign_in(page, served)
        button = page.locator("[data-copy=endpoint]")
        button.click()
        expect(button).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == f"{served.origin}/mcp"
    assert heard.texts == []


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_link_is_added_and_removed_on_the_graph_page(browser, served, scripts):
    """By keyboard alone, in both cases."""
    heard = Heard()
    one, other = (served.call("memory", "save", content=each, title=each)["memo_id"] for each in ("Stone", "Lantern"))
    with visit(browser, heard, java_script_enabled=scripts) as page:
        sign_in(page, served)
        page.goto(f"{served.origin}/admin/graph?start=tokonoma://memory/{one}")
        hands = Keyboard(page)
        hands.press("details:has(#link-source) summary")
        hands.write("#link-kind", "under")
        hands.write("#link-target", f"tokonoma://memory/{other}")
        hands.follow("button[value=add]")
        expect(page.get_by_role("status")).to_have_text("Link added.")
        expect(page.locator("#links tbody tr")).to_contain_text(["under"])
        hands.follow("button[value=remove]")
        expect(page.get_by_role("status")).to_have_text("Link removed.")
        expect(page.locator("#links tbody")).to_contain_text("These records have no links.")
    assert heard.texts == []

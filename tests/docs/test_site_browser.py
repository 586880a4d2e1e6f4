"""The documentation site in Chromium: nothing from other hosts, search in both languages, the switch of language."""

import functools
import http.server
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from web.browser import find_violations, launch_chromium

pytestmark = pytest.mark.xdist_group("browser")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with launch_chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(built: Path) -> Generator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(built)))
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser: Browser, address: str) -> Generator[Page]:
    """Fails the test if the page asked another host for something, or a script of it failed."""
    opened = browser.new_page()
    opened.set_default_timeout(300_000)  # a busy machine takes its time
    wrong: list[str] = []
    own = (address, "data:", "blob:")
    opened.on("request", lambda request: None if request.url.startswith(own) else wrong.append(request.url))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    yield opened
    opened.close()
    assert wrong == []


@pytest.mark.parametrize(
    ("start", "words", "hit"),
    [
        ("/ja/index.html", "名前空間", "ja/guides/keys.html"),
        ("/ja/index.html", "バックアップを復元する", "ja/guides/backup.html"),
        ("/ja/guides/keys.html", "機密区分", "ja/guides/policy.html"),
        ("/index.html", "namespaces", "guides/keys.html"),
    ],
)
def test_search_finds_the_page_in_its_language(page, address, start, words, hit):
    page.goto(address + start)
    page.wait_for_load_state("networkidle")
    page.locator(".md-search__button").click()
    page.locator("input[role=combobox]").fill(words)
    page.locator(f"[role=listbox] a[href*='{hit}']").first.wait_for()


@pytest.mark.parametrize("name", ["index.html", "guides/services/jira.html", "reference/tools.html"])
def test_the_switch_leads_to_the_same_page_in_the_other_language(page, address, name):
    page.goto(f"{address}/{name}")
    for language, prefix in (("ja", "/ja"), ("en", "")):
        page.goto(page.locator(f"a.md-select__link[hreflang={language}]").evaluate("link => link.href"))
        assert page.url == f"{address}{prefix}/{name}"
        assert page.locator("html").get_attribute("lang") == language


@pytest.mark.parametrize("name", ["index.html", "reference/settings.html", "benchmarks.html"])
def test_a_page_fits_on_a_telephone_and_axe_finds_nothing_serious(page, address, name):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{address}/ja/{name}")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert find_violations(page) == []

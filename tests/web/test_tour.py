"""Every page in Chromium: axe, its policy, its width, and fifty hostile texts in every field.

`make test` looks at each page twice (Japanese, dark and narrow; English, light and wide) and opens every list with all
hostile texts and the pages of some records; `make soak` takes all eight looks and all pages."""

import os
from collections.abc import Generator

import pytest
from web.browser import find_violations
from web.payloads import PAYLOADS
from web.seeds import list_fillers
from web.site import Site
from web.test_browser import Heard, visit

pytestmark = pytest.mark.xdist_group("browser")

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
LOOKS = [
    (locale, scheme, width) for locale in ("ja-JP", "en-US") for scheme in ("dark", "light") for width in (360, 1280)
]
SHORT = [("ja-JP", "dark", 360), ("en-US", "light", 1280)]
FILLERS = list_fillers()


@pytest.fixture
def served(open_site) -> Generator[Site]:
    site = open_site()
    with site.serve() as origin:
        site.origin = origin
        yield site


def sign_in(page, site: Site) -> None:
    page.goto(f"{site.origin}/sign-in?link={site.create_link()}")
    page.locator("main button").click()
    page.wait_for_url(f"{site.origin}/admin/")


@pytest.mark.parametrize("group", FILLERS)
def test_everybody_can_use_every_page(browser, served, group):
    paths = list(dict.fromkeys(FILLERS[group](served, "床の間の記録 A record of the alcove")))
    for locale, scheme, width in LOOKS if SOAK else SHORT:
        heard = Heard()
        options = {"locale": locale, "color_scheme": scheme, "viewport": {"width": width, "height": 860}}
        with visit(browser, heard, **options) as page:
            sign_in(page, served)
            for path in paths:
                page.goto(served.origin + path)
                where = (path, locale, scheme, width)
                assert page.locator("html").get_attribute("lang") == locale[:2], where
                assert find_violations(page) == [], where
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
                assert heard.texts == [], where


@pytest.mark.parametrize("group", FILLERS)
def test_a_stored_text_never_runs(browser, served, group):
    shown: list[str] = []
    for number, payload in enumerate(PAYLOADS):
        paths = FILLERS[group](served, payload)
        # The first call shows every kind of page. Later ones repeat the lists, and add pages of one record.
        shown += paths if SOAK or number % 10 == 0 else []
    shown += FILLERS[group](served, "\n\n".join(PAYLOADS)[:3_000])
    heard = Heard()
    with visit(browser, heard) as page:
        sign_in(page, served)
        for path in dict.fromkeys(shown):
            page.goto(served.origin + path)
            assert page.locator("iframe, object, embed, base, main script, main link, main style").count() == 0, path
            assert page.locator("[onload], [onerror], [onclick], [onfocus], [ontoggle]").count() == 0, path
            assert heard.texts == [], path

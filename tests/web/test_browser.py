"""The pages in Chromium: by link and by password, with and without JavaScript, in both languages, light and dark."""

import contextlib
import http.server
import socket
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from web.browser import find_violations
from web.payloads import PAYLOADS
from web.site import Site

from tokonoma.auth.passwords import hash_password

pytestmark = pytest.mark.xdist_group("browser")

WORDS = "correct horse battery"
STORED = hash_password(WORDS)


@dataclass
class Heard:
    """What a page has said beside its text: dialogs, mistakes, reports of its policy."""

    texts: list[str] = field(default_factory=list)


@contextlib.contextmanager
def listen_for_callback(host: str = "127.0.0.1") -> Generator[tuple[str, list[dict[str, list[str]]]]]:
    """A client's own little server: the address of its callback, and what the browser brings there."""
    brought: list[dict[str, list[str]]] = []

    class Callback(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                brought.append(parse_qs(urlsplit(self.path).query))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>client</title><p id=client>Welcome back")

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    with Server((host, 0), Callback) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_address[1]}/callback", brought
        server.shutdown()
        thread.join()


@pytest.fixture
def served(open_site) -> Generator[Site]:
    site = open_site()
    with site.serve() as origin:
        site.origin = origin
        yield site


@contextlib.contextmanager
def visit(browser: Browser, heard: Heard, **options: object) -> Generator[Page]:
    context: BrowserContext = browser.new_context(**options)  # pyright: ignore[reportArgumentType]
    page = context.new_page()

    def dismiss(dialog):
        heard.texts.append(f"dialog {dialog.message}")
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.on("pageerror", lambda error: heard.texts.append(f"error {error}"))
    page.on("console", lambda message: heard.texts.append(message.text))
    yield page
    context.close()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_a_person_signs_in_decides_and_reaches_the_client(browser, served, scripts, decision):
    heard = Heard()
    served.add_person("ada", STORED)
    with listen_for_callback() as (callback, brought), visit(browser, heard, java_script_enabled=scripts) as page:
        served.add_client(redirect_uri=callback)
        page.goto(served.origin + served.build_request(redirect_uri=callback))
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(WORDS)
        page.get_by_role("button", name="Sign in").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Claude Code asks to use Tokonoma"
        assert urlsplit(callback).netloc in page.locator(".large").inner_text()
        page.get_by_label("Only reading").check()
        page.get_by_label("vault").uncheck()
        page.get_by_role("button", name="Allow" if decision == "allow" else "Deny").click()
        page.locator("#client").wait_for()
    (answer,) = brought
    assert (answer["state"], answer["iss"]) == (["st&te"], [served.origin])
    if decision == "allow":
        ((_, _, _, modules, mask, _),) = served.list_codes()
        assert answer["code"][0]
        assert ("vault" in modules, mask) == (False, '["*:destroy", "*:write"]')
    else:
        assert (answer["error"], served.list_codes()) == (["access_denied"], [])
    assert heard.texts == []


def test_a_link_signs_in_and_out(browser, served):
    heard = Heard()
    with visit(browser, heard, locale="ja-JP") as page:
        page.goto(f"{served.origin}/sign-in?link={served.create_link()}")
        page.reload()
        page.get_by_role("button", name="サインイン").click()
        page.wait_for_url(f"{served.origin}/admin/")
        assert page.get_by_text("owner としてサインイン中").is_visible()
        page.get_by_role("button", name="サインアウト").click()
        assert page.get_by_text("サインアウトしました。").is_visible()
        page.goto(served.origin)
        assert urlsplit(page.url).path == "/sign-in"
    assert heard.texts == []


def test_a_client_at_an_ipv6_address_is_reached(browser, served):
    """A Content-Security-Policy cannot name it: a page of ours leads on."""
    heard = Heard()
    with listen_for_callback("::1") as (callback, brought), visit(browser, heard) as page:
        served.add_client(redirect_uri=callback)
        page.goto(f"{served.origin}/sign-in?link={served.create_link()}")
        page.get_by_role("button", name="Sign in").click()
        page.goto(served.origin + served.build_request(redirect_uri=callback))
        page.get_by_role("button", name="Allow").click()
        page.locator("#client").wait_for()
    assert brought[0]["code"]
    assert heard.texts == []


def test_a_foreign_page_can_neither_frame_nor_post(browser, served):
    heard = Heard()
    with listen_for_callback() as (foreign, _), visit(browser, heard) as page:
        served.add_client(redirect_uri=foreign)
        page.goto(f"{served.origin}/sign-in?link={served.create_link()}")
        page.get_by_role("button", name="Sign in").click()
        path = served.build_request(redirect_uri=foreign)
        page.goto(foreign.replace("127.0.0.1", "localhost").replace("/callback", "/other"))
        page.set_content(f'<iframe src="{served.origin}{path}"></iframe>')
        page.wait_for_function("document.querySelector('iframe').contentDocument === null")
        assert any("frame-ancestors" in each for each in heard.texts)
        page.set_content(f'<form method=post action="{served.origin}{path}"><button name=decision value=allow>')
        with page.expect_navigation() as gone:
            page.get_by_role("button").click()
        assert gone.value.status == 403
    assert served.list_codes() == []


@pytest.mark.parametrize("payload", [*PAYLOADS[:10], "A" * 10_000], ids=range(11))
def test_the_name_of_a_client_is_only_text(browser, served, payload):
    heard = Heard()
    callback = "http://127.0.0.1:9/callback"
    served.add_client(name=payload, redirect_uri=callback)
    with visit(browser, heard, viewport={"width": 360, "height": 800}) as page:
        page.goto(f"{served.origin}/sign-in?link={served.create_link()}")
        page.get_by_role("button", name="Sign in").click()
        page.goto(served.origin + served.build_request(redirect_uri=callback))
        assert len(page.get_by_role("heading", level=1).inner_text()) < 100
        assert page.locator("script, iframe, main svg, main img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert heard.texts == []


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["ja-JP", "en-US"])
def test_everybody_can_use_the_pages(browser, served, locale, scheme, width):
    heard = Heard()
    served.add_client()
    served.add_client("Cursor", "cursor://anysphere.cursor-retrieval/oauth", "client-2")
    options = {"locale": locale, "color_scheme": scheme, "viewport": {"width": width, "height": 860}}
    with visit(browser, heard, **options) as page:

        def check(path: str) -> None:
            if path:
                page.goto(served.origin + path)
            assert page.locator("html").get_attribute("lang") == locale[:2]
            assert find_violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path

        check("/sign-in?signed-out")
        check(f"/sign-in?link={served.create_link()}")
        page.locator("main button").click()
        check("")
        check(served.build_request())
        check(served.build_request(client_id="client-2", redirect_uri="cursor://anysphere.cursor-retrieval/oauth"))
        assert heard.texts == []
        check(served.build_request(client_id="nobody"))
        assert heard.texts == ["Failed to load resource: the server responded with a status of 400 (Bad Request)"]


def test_the_decision_can_be_made_by_keyboard_alone(browser, served):
    heard = Heard()
    with listen_for_callback() as (callback, brought), visit(browser, heard) as page:
        served.add_client(redirect_uri=callback)
        page.goto(f"{served.origin}/sign-in?link={served.create_link()}")
        page.get_by_role("button", name="Sign in").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"{served.origin}/admin/")
        page.goto(served.origin + served.build_request(redirect_uri=callback))
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.value") == "deny":
                break
        page.keyboard.press("Space")
        page.locator("#client").wait_for()
    assert brought[0]["error"] == ["access_denied"]

"""Signing in and out over HTTP: passwords, links, cookies, and what every POST must carry."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tokonoma.auth.passwords import hash_password
from tokonoma.auth.people import revoke_person
from tokonoma.core.reach import Reach
from tokonoma.server.web.pages.home import describe_agent
from tokonoma.server.web.pages.security import name_cookie

WORDS = "correct horse battery"
STORED = hash_password(WORDS)
PASSWORD = {"name": "ada", "password": WORDS}


def test_without_a_session_every_page_leads_to_signing_in(site):
    for path in ("/admin/", "/authorize?client_id=x&state=a%26b"):
        page = site.get(path)
        assert (page.status_code, page.content) == (303, b"")
        then = httpx.URL(page.headers["location"]).params.get("then", "/admin/")
        assert (page.headers["location"].split("?")[0], then) == ("/sign-in", path)


def test_a_password_signs_in_and_leads_back(site):
    site.add_person("ada", STORED)
    page = site.post("/sign-in", {**PASSWORD, "then": "/authorize?a=b"})
    assert (page.status_code, page.headers["location"]) == (303, "/authorize?a=b")
    (cookie,) = page.headers.get_list("set-cookie")
    token = cookie.partition("=")[2].partition(";")[0]
    rest = cookie.partition("; ")[2]
    assert (cookie.split("=")[0], rest) == ("tokonoma-8722", "Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax")
    home = site.get("/admin/")
    assert home.status_code == 200
    assert "Signed in as ada" in home.text
    assert token not in home.text
    assert site.get("/sign-in?then=/x").headers["location"] == "/x"


def test_on_https_the_cookie_is_bound_to_the_host(open_site):
    site = open_site("https://tokonoma.example.com", public_url="https://tokonoma.example.com")
    cookie = site.sign_in().headers["set-cookie"]
    assert cookie.startswith("__Host-tokonoma=")
    assert cookie.endswith("; HttpOnly; SameSite=Lax; Secure")
    assert site.get("/admin/").status_code == 200


def test_cookies_of_two_servers_on_one_machine_differ():
    origins = ["http://localhost:8722", "http://localhost:8723", "http://localhost", "http://[::1]:9", "http://[::1]"]
    assert [name_cookie(each) for each in origins] == [f"tokonoma-{port}" for port in (8722, 8723, 80, 9, 80)]


@pytest.mark.parametrize("name", ["ada", "nobody", "", "a\0b", "x" * 5000, "<script>alert(1)</script>"])
def test_a_wrong_password_is_always_answered_alike(site, name):
    site.add_person("ada", STORED)
    page = site.post("/sign-in", {"name": name, "password": "wrong" if name == "ada" else WORDS})
    assert page.status_code == 401
    assert "do not belong together" in page.text
    assert "<script" not in page.text
    assert "set-cookie" not in page.headers


def test_too_many_tries_are_refused_even_with_the_right_password(site):
    site.add_person("ada", STORED)
    codes = [site.post("/sign-in", {"name": f"n{number}", "password": "x"}).status_code for number in range(6)]
    assert codes == [401] * 5 + [429]
    page = site.post("/sign-in", PASSWORD)
    assert (page.status_code, int(page.headers["retry-after"]) > 0) == (429, True)
    assert site.post("/sign-in", PASSWORD, remote="203.0.113.5").status_code == 303


@pytest.mark.parametrize(
    "then",
    ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nset-cookie: x=1", "/é"],
)
def test_nobody_is_led_to_another_site_afterwards(site, then):
    assert site.post("/sign-in", {"link": site.create_link(), "then": then}).headers["location"] == "/admin/"
    assert site.get(f"/sign-in?{httpx.QueryParams(then=then)}").headers["location"] == "/admin/"


def test_looking_at_a_link_does_not_use_it_up(site):
    link = site.create_link(path="/?x")
    for _ in range(3):
        page = site.get(f"/sign-in?link={link}")
        assert (page.status_code, "Sign in as owner" in page.text) == (200, True)
        assert "set-cookie" not in page.headers
    page = site.post("/sign-in", {"link": link})
    assert (page.status_code, page.headers["location"]) == (303, "/?x")
    again = site.post("/sign-in", {"link": link})
    assert (again.status_code, "set-cookie" in again.headers) == (400, False)
    assert site.get(f"/sign-in?link={link}").status_code == 400
    assert ("owner", "people.sign_in") in [(each["principal"], each["tool"]) for each in site.read_journal()]


def test_sixteen_browsers_at_once_use_a_link_once(site):
    link = site.create_link()

    async def press(client):
        headers = {"origin": site.origin}
        return (await client.post("/sign-in", data={"link": link}, headers=headers)).status_code

    async def go():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(site.endpoint), base_url=site.origin) as client:
            return await asyncio.gather(*(press(client) for _ in range(16)))

    assert sorted(asyncio.run(go())) == [303] + [400] * 15


def test_signing_in_again_ends_the_session_before(site):
    site.sign_in()
    before = dict(site.cookies)
    site.add_person("ada")
    site.sign_in("ada")
    assert "Signed in as ada" in site.get("/admin/").text
    site.cookies = httpx.Cookies(before)
    assert site.get("/admin/").status_code == 303


def test_signing_out_ends_the_session_on_the_server(site):
    site.sign_in()
    before = dict(site.cookies)
    page = site.post("/sign-out", {"token": site.find_token()})
    assert page.headers["location"] == "/sign-in?signed-out"
    assert "Max-Age=0" in page.headers["set-cookie"]
    assert "You are signed out." in site.get("/sign-in?signed-out").text
    site.cookies = httpx.Cookies(before)
    assert site.get("/admin/").status_code == 303
    assert ("owner", "people.sign_out") in [(each["principal"], each["tool"]) for each in site.read_journal()]


def test_other_sessions_are_shown_and_can_be_ended(site):
    site.sign_in()
    other = dict(site.cookies)
    site.cookies = httpx.Cookies()
    site.sign_in()
    home = site.get("/admin/").text.partition("Where you are signed in")[2]
    assert home.count("<time") == 2
    assert home.count("this browser") == 1
    assert site.post("/sign-out", {"token": site.find_token(), "others": "1"}).headers["location"] == "/admin/"
    assert site.get("/admin/").text.partition("Where you are signed in")[2].count("<time") == 1
    site.cookies = httpx.Cookies(other)
    assert site.get("/admin/").status_code == 303


def test_a_person_sees_the_modules_of_the_own_reach(site):
    site.add_person("ada", reach=Reach("/team", "/team", frozenset({"memory"})))
    site.sign_in("ada")
    home = site.get("/admin/").text
    assert "<dt>memory</dt>" in home
    assert "<dt>vault</dt>" not in home


def test_a_revoked_person_is_out_at_once(site):
    site.add_person("ada", STORED)
    site.post("/sign-in", PASSWORD)
    assert site.get("/admin/").status_code == 200
    with site.app.database.writing() as statements:
        revoke_person(statements, "ada")
    assert site.get("/admin/").status_code == 303
    assert site.post("/sign-in", PASSWORD, remote="203.0.113.5").status_code == 401


FOREIGN = [
    {"origin": ""},
    {"origin": "null"},
    {"origin": "https://evil.example"},
    {"origin": "http://127.0.0.1:8723"},
    {"origin": "https://127.0.0.1:8722"},
    {"origin": "http://localhost:8722"},
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site"},
    {"sec_fetch_site": "none"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=json.dumps)
def test_a_form_of_another_site_does_nothing(open_site, headers):
    site = open_site()
    link = site.create_link()
    assert site.post("/sign-in", {"link": link}, **headers).status_code == 403
    assert site.post("/sign-in", {"link": link}).status_code == 303
    token = site.find_token()
    assert site.post("/sign-out", {"token": token}, **headers).status_code == 403
    assert site.get("/admin/").status_code == 200
    codes = {each["code"] for each in site.read_journal() if each["module"] == "access"}
    assert codes == {"denied.origin" if "origin" in headers else "denied.site"}


@pytest.mark.parametrize("token", [None, "", "x", "other", ["own", "own"]])
def test_a_form_needs_the_token_of_its_session(open_site, token):
    site = open_site()
    site.sign_in()
    other = site.find_token()
    site.cookies = httpx.Cookies()
    site.sign_in()
    own = site.find_token()
    values = {"other": other, "own": own}
    sent = [values.get(each, each) for each in token] if isinstance(token, list) else values.get(token or "", token)
    form = {} if token is None else {"token": sent}
    assert site.post("/sign-out", form).status_code == 403
    assert site.post("/sign-out", {"token": own}).status_code == 303
    assert site.post("/sign-out", {"token": own}).status_code == 403, "the session is over"


def test_what_changes_something_is_no_get(site):
    site.sign_in()
    token = site.find_token()
    assert site.get(f"/sign-out?token={token}").status_code == 403
    assert site.get("/admin/").status_code == 200
    for method in ("PUT", "DELETE", "PATCH"):
        assert site.ask(method, "/admin/").status_code == 405
        assert site.ask(method, "/sign-in").status_code == 405
    assert site.post("/admin/", {"token": token}).status_code == 405


def test_a_body_that_is_no_small_form_is_refused(open_site):
    site = open_site()
    headers = {"origin": site.origin}
    sent = [
        ("application/json", b"{}", 415),
        ("application/x-www-form-urlencoded", b"name=" + b"x" * 70_000, 413),
        ("application/x-www-form-urlencoded", b"a=1&" * 2_100, 400),
        ("application/x-www-form-urlencoded", "name=é".encode(), 400),
    ]
    for kind, content, status in sent:
        answer = site.ask("POST", "/sign-in", content=content, headers={**headers, "content-type": kind})
        assert answer.status_code == status


def test_every_page_carries_the_headers_that_protect_it(open_site):
    site = open_site()
    pages = [
        site.get("/sign-in"),
        site.get("/admin/"),
        site.post("/sign-in", {}, origin="null"),
        site.get("/sign-in?link=x"),
    ]
    site.sign_in()
    for page in [*pages, site.get("/admin/")]:
        policy = page.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert ("script-src 'self';" in policy) == ("<script" in page.text)
        assert policy.startswith("default-src 'none'; ")
        assert "frame-ancestors 'none'" in policy
        assert "form-action 'self';" in policy
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert not any(name.startswith("access-control") for name in page.headers)
        assert "<style" not in page.text
        assert "<script>" not in page.text
        assert " style=" not in page.text


def test_static_files_are_named_by_their_content_and_kept(open_site):
    site = open_site()
    text = site.get("/sign-in").text
    path = text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    found = site.get(path)
    assert found.headers["content-type"] == "text/css; charset=utf-8"
    assert found.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert b"color-scheme" in found.content
    for other in ("/static/page.css", "/static/page.000000000000.css", "/static/..%2ftemplates%2fframe.html"):
        assert site.get(other).status_code == 404


@pytest.mark.parametrize(
    ("accepted", "path", "language"),
    [
        ("ja", "/sign-in", "ja"),
        ("ja-JP,en;q=0.8", "/sign-in", "ja"),
        ("en;q=0.5, ja;q=0.9", "/sign-in", "ja"),
        ("fr, en;q=0.9, ja;q=0.1", "/sign-in", "en"),
        ("ja;q=0, en;q=0.1", "/sign-in", "en"),
        ("en", "/sign-in?ui_locales=ja", "ja"),
        ("ja", "/sign-in?ui_locales=fr+en", "en"),
        ("fr", "/sign-in", "ja"),
        ("", "/sign-in", "ja"),
        ("!!, ja-", "/sign-in", "ja"),
    ],
)
def test_the_language_is_that_of_the_browser(open_site, accepted, path, language):
    site = open_site(language="ja")
    page = site.get(path, accept_language=accepted)
    assert f'<html lang="{language}">' in page.text
    assert page.headers["vary"] == "cookie, accept-language"


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/153.0.0.0 Safari/537.36", "Chrome 153, Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/120.0 Safari/537.36 Edg/120.0", "Edge 120, Windows"),
        ("Mozilla/5.0 (Macintosh) AppleWebKit/605 Version/17.1 Safari/605", "Safari 17, Macintosh"),
        ("Mozilla/5.0 (Android 14; Mobile; rv:121.0) Gecko/121.0 Firefox/121.0", "Firefox 121, Android"),
        ("curl/8.5 x", "curl/8.5"),
        ("", ""),
    ],
)
def test_a_browser_is_called_by_its_name(agent, shown):
    assert describe_agent(agent) == shown


def test_the_loop_stays_free_while_a_password_is_checked(open_site):
    """Pages run in threads: a request for /health is answered while another waits for its hash."""
    site = open_site()
    with site.serve() as origin, ThreadPoolExecutor(4) as pool:
        form = {"name": "x", "password": "y" * 20}
        options: dict[str, Any] = {
            "data": form,
            "headers": {"origin": origin},
            "timeout": 120,
        }  # a busy machine hashes slowly
        tries = [pool.submit(httpx.post, f"{origin}/sign-in", **options) for _ in range(3)]
        while not all(each.done() for each in tries):
            assert httpx.get(f"{origin}/health", timeout=120).status_code == 200
        assert {each.result().status_code for each in tries} <= {401, 429}

"""All pages, without a browser: who may open them, what their forms demand, and that they show what was stored."""

import re

import pytest
from starlette.routing import Route
from web.seeds import list_fillers
from web.site import Site

from tokonoma.core.reach import Reach
from tokonoma.server.web.pages.handler import PageHandler
from tokonoma.server.web.pages.menu import MENU

FILLERS = list_fillers()
WORD = "Quetzalcoatl"


def list_handlers(site: Site) -> dict[str, PageHandler]:
    routes = [route for route in site.list_routes() if isinstance(route, Route)]
    return {route.path: route.endpoint for route in routes if isinstance(route.endpoint, PageHandler)}


@pytest.fixture
def filled(site) -> tuple[Site, list[str]]:
    site.sign_in()
    return site, [path for fill in FILLERS.values() for path in fill(site, WORD)]


def test_every_page_of_the_menu_is_there(open_site):
    site = open_site()
    paths = {page.path for group in MENU for page in group.pages}
    assert paths - set(list_handlers(site)) == set()
    site.sign_in()
    home = site.get("/admin/").text
    assert paths <= set(re.findall(r'href="([^"]+)"', home))


def test_the_pages_show_what_was_stored(filled):
    site, paths = filled
    for path in dict.fromkeys(paths):
        page = site.get(path)
        if page.status_code == 303:  # an address leads to the page of its module
            page = site.get(page.headers["location"])
        assert page.status_code == 200, (path, page.text)


def test_no_page_is_open_without_a_session(filled):
    site, paths = filled
    site.cookies.clear()
    for path in dict.fromkeys(paths):
        page = site.get(path)
        assert page.status_code == 303
        assert page.headers["location"].startswith("/sign-in")
        assert WORD not in page.text


def test_every_form_needs_the_token_of_the_session(filled):
    """Every path that takes a form, in the same order as the routes, without a token, with a wrong one and from another
    origin."""
    site, _ = filled
    forms = [path for path, handler in list_handlers(site).items() if handler.takes_forms and path != "/sign-in"]
    assert len(forms) >= 3
    token, before = site.find_token(), len(site.read_journal())
    for path in forms:
        real = re.sub(r"{[^}]*}", "x", path)
        assert site.post(real, {"a": "1"}).status_code == 403, path
        assert site.post(real, {"token": "wrong"}).status_code == 403, path
        assert site.post(real, {"token": token}, origin="https://evil.example").status_code == 403, path
    assert {entry["outcome"] for entry in site.read_journal()[:-before]} == {"refused"}


def test_a_person_with_a_narrow_reach_sees_nothing_else(filled):
    """The records are in the root; the person sees one empty namespace of one module."""
    site, paths = filled
    site.add_person("narrow", reach=Reach("/narrow", "/narrow", frozenset({"memory"}), frozenset(), frozenset()))
    site.cookies.clear()
    site.sign_in("narrow")
    for path in dict.fromkeys(paths):
        page = site.get(path)
        assert page.status_code in (200, 303, 403, 404), path
        assert WORD not in page.text.replace(path, ""), path


BESIDE = {
    "memory.namespaces": ["/admin/memory", "/admin/memory/new"],
    "memory.relation.graph": ["/admin/memory/{memo}"],
    "items.get_stats": ["/admin/items/1", "/admin/items/new", "/admin/items/ready"],
    "items.get_statuses": ["/admin/items/1", "/admin/items"],
    "claims.history": ["/admin/claims/{claim}"],
    "vault.coverage": ["/admin/vault/file/{folder}/source.md"],
    "vault.backlinks": ["/admin/vault/file/{folder}/source.md", "/admin/vault/move/{folder}/source.md"],
    "manual.toc": ["/admin/manuals/read/{manual}/terms.md"],
    "manual.coverage": ["/admin/manuals/read/{manual}/terms.md"],
    "manual.backlinks": ["/admin/manuals/read/{manual}/terms.md"],
    "manual.list": ["/admin/manuals/search", "/admin/manuals/in/{manual}"],
    "system.days": ["/admin/timeline"],
    "system.status": ["/admin/"],
}
"""A tool that only adds to some pages."""


def test_a_page_stands_without_a_tool_that_only_adds_to_it(filled):
    site, paths = filled
    joined = " ".join(paths)
    patterns = {"memo": "memory/([0-9a-f-]{36})", "claim": "claims/([^/ ?]+)/forget", "folder": "dir=(v[0-9a-f]{8})"}
    patterns["manual"] = "manuals/in/(m[0-9a-f]{8})"
    names = {name: re.findall(f"/?{pattern}", joined)[0] for name, pattern in patterns.items()}
    for number, (tool, shown) in enumerate(BESIDE.items()):
        site.add_person(f"p{number}", reach=Reach(mask=frozenset({tool})))
        site.cookies.clear()
        site.sign_in(f"p{number}")
        for path in shown:
            page = site.get(path.format(**names))
            assert page.status_code == 200, (tool, path, page.text)


def test_a_page_for_the_owner_is_for_the_owner_alone(open_site):
    site = open_site()
    site.add_person("ada")
    site.sign_in("ada")
    for group in MENU:
        for page in group.pages:
            assert site.get(page.path).status_code == (403 if page.owner_only else 200), page.path

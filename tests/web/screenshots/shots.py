"""Which pictures there are, and how each page is brought into the state that its picture shows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from playwright.sync_api import Page
from web.screenshots.scene import Scene

WIDE = 1280
PHONE = 390
LIMITED = "pii: allow"


@dataclass(frozen=True, slots=True)
class Shot:
    """`find` gives the path. `act`: what is done on the page before the picture."""

    name: str
    find: Callable[[Scene], str]
    scheme: Literal["light", "dark"] = "light"
    width: int = WIDE
    height: int = 860
    act: Callable[[Page], None] | None = None


def _wait_for_graph(page: Page) -> None:
    page.locator("#graph canvas").first.wait_for()
    page.wait_for_function("Number(document.querySelector('#graph').dataset.nodes) > 0")
    page.locator("#picture").evaluate("each => each.scrollIntoView()")


def _preview_policy(page: Page) -> None:
    area = page.locator("textarea[name=yaml]")
    area.fill(area.input_value().replace(LIMITED, "pii: refuse"))
    page.locator("button[value=preview]").click()
    page.locator("#preview").wait_for()


def _show_plan(page: Page) -> None:
    page.locator("form[action='/admin/try/batch'] button").first.click()
    page.locator("main svg").first.wait_for()


def _open_tools(page: Page) -> None:
    page.locator("#module-memory summary").click()
    page.locator("#module-memory").evaluate("each => each.scrollIntoView()")


def _ask(path: str, **given: str) -> str:
    return f"{path}?{urlencode(given)}"


def _find_audit(scene: Scene) -> str:
    source = f"manual:house/{scene.texts['read'][0]}"
    return _ask(f"/admin/vault/audit/{quote(scene.texts['files'][0]['path'])}", sources=source)


SHOTS = (
    Shot("home", lambda _: "/admin/"),
    Shot("search", lambda scene: _ask("/admin/search", query=scene.texts["query"])),
    Shot("memory", lambda _: "/admin/memory"),
    Shot("memo-phone", lambda scene: f"/admin/memory/{scene.memo}", "dark", PHONE, 800),
    Shot("history", lambda scene: f"/admin/memory/{scene.memo}/history?old=1&new=3"),
    Shot("duplicates", lambda _: "/admin/memory/duplicates?level=0.7", height=700),
    Shot("items", lambda _: "/admin/items", "dark"),
    Shot("claims", lambda scene: _ask("/admin/claims/activate", q=scene.texts["task"])),
    Shot("find", lambda scene: _ask(f"/admin/manuals/found/{scene.trace}", q=scene.texts["topic"], manual="house")),
    Shot("coverage", lambda _: "/admin/manuals/in/house"),
    Shot("audit", _find_audit, height=1000),
    Shot("graph", lambda scene: _ask("/admin/graph", start=scene.address, depth="3"), "dark", act=_wait_for_graph),
    Shot("timeline", lambda _: "/admin/timeline?zoom=month"),
    Shot("batch", lambda _: "/admin/try/batch", act=_show_plan),
    Shot("services", lambda _: "/admin/services", height=700),
    Shot("clients", lambda _: "/admin/clients"),
    Shot("reach", lambda scene: f"/admin/clients/grants/{scene.grant}", act=_open_tools),
    Shot("approvals", lambda _: "/admin/approvals", "dark", height=700),
    Shot("policy", lambda _: "/admin/policy", act=_preview_policy),
    Shot("journal", lambda _: "/admin/journal"),
    Shot("health", lambda _: "/admin/health"),
)

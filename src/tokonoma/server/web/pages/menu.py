"""The pages and their order. The menu shows a person only what that person may use."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tokonoma.auth.people import Person

HOME = "/admin/"


@dataclass(frozen=True, slots=True)
class MenuPage:
    """`module`: without it the page is empty, so it is not shown. `owner_only`: it is about the whole server."""

    path: str
    title: str
    module: str = ""
    owner_only: bool = False


@dataclass(frozen=True, slots=True)
class MenuGroup:
    title: str
    pages: Sequence[MenuPage]


MENU = (
    MenuGroup(
        "Data",
        (
            MenuPage(HOME, "Home"),
            MenuPage("/admin/search", "Search"),
            MenuPage("/admin/memory", "Memory", "memory"),
            MenuPage("/admin/items", "Items", "items"),
            MenuPage("/admin/claims", "Claims", "claims"),
            MenuPage("/admin/manuals", "Manuals", "manual"),
            MenuPage("/admin/vault", "Vault", "vault"),
            MenuPage("/admin/graph", "Graph", "system"),
            MenuPage("/admin/timeline", "Timeline", "system"),
            MenuPage("/admin/try", "Try"),
        ),
    ),
    MenuGroup(
        "Access",
        (
            MenuPage("/admin/services", "Services", owner_only=True),
            MenuPage("/admin/servers", "MCP servers", owner_only=True),
            MenuPage("/admin/clients", "Clients and keys", owner_only=True),
            MenuPage("/admin/approvals", "Approvals", owner_only=True),
        ),
    ),
    MenuGroup(
        "System",
        (
            MenuPage("/admin/policy", "Policy", owner_only=True),
            MenuPage("/admin/journal", "Journal", owner_only=True),
            MenuPage("/admin/jobs", "Jobs", owner_only=True),
            MenuPage("/admin/backups", "Backups", owner_only=True),
            MenuPage("/admin/settings", "Settings", owner_only=True),
            MenuPage("/admin/health", "Health", owner_only=True),
        ),
    ),
)


def build_menu(person: Person, modules: Collection[str]) -> list[MenuGroup]:
    """What this person sees of the menu."""
    groups: list[MenuGroup] = []
    for group in MENU:
        pages = [page for page in group.pages if may_open(person, page, modules)]
        if pages:
            groups.append(MenuGroup(group.title, pages))
    return groups


def may_open(person: Person, page: MenuPage, modules: Collection[str]) -> bool:
    return (person.is_owner or not page.owner_only) and (not page.module or page.module in modules)


def find_page(path: str) -> MenuPage | None:
    """The page of the menu that a path belongs to: itself, or the nearest above it."""
    found = [page for group in MENU for page in group.pages if path == page.path or path.startswith(f"{page.path}/")]
    return max(found, key=lambda page: len(page.path), default=None)

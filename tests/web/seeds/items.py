from urllib.parse import quote

from web.site import Site


def fill(site: Site, text: str) -> list[str]:
    """Two items that are linked, with a comment, a history, tags and a due date, and a project state."""
    line, tag = text[:200] or "x", text[:100].strip() or "x"
    fields = {
        "description": text,
        "content": text,
        "category": text[:100],
        "version": text[:50],
        "assignee": text[:100],
        "tags": [tag],
        "end_date": "2026-01-02",
    }
    first = site.call("items", "create_item", type="issue", title=line, **fields)
    second = site.call("items", "create_item", type="docs", title=line, description="before")
    third = site.call("items", "create_item", type="docs", title=line, tags=[tag])
    number = first["id"]
    site.call("items", "update_item", type="docs", id=second["id"], description=text, content=text, comment=text)
    site.call("items", "update_item", type="issue", id=number, title=line[::-1], comment=text, start_date="2026-01-01")
    for kind in ("blocks", "related"):
        site.call("items", "add_relation", type="issue", id=number, target=second["address"], kind=kind)
    site.call("items", "delete_item", type="docs", id=third["id"])
    site.call("items", "update_current_state", content=text, updated_by=text[:100], tags=[tag])
    word = quote(line.replace('"', " ").replace("\\", " "), safe="")
    return [
        "/admin/items",
        "/admin/items?closed=1&sort=due&type=docs",
        f"/admin/items?q=%22{word}%22",
        "/admin/items/table",
        f"/admin/items/table?q=%22{word}%22&sort=title&size=20",
        "/admin/items/table?state=trash",
        "/admin/items/new",
        "/admin/items/ready",
        "/admin/items/tags",
        f"/admin/items/tags?tag={quote(tag, safe='')}",
        f"/admin/items/bulk?q={word}",
        "/admin/items/state",
        "/admin/items/state?revision=1",
        f"/admin/items/{number}",
        f"/admin/items/issue-{number}/edit",
        f"/admin/items/{number}/links?to={second['address']}",
        f"/admin/items/{number}/history",
        f"/admin/items/{number}/history?back=1",
        f"/admin/items/{second['id']}/history?old=1&new=2",
        f"/admin/items/{third['id']}/history",
        f"/admin/items/{number}/delete",
    ]

from urllib.parse import urlencode

from web.site import Site

SPACE = "/seeds/memory"


def fill(site: Site, text: str) -> list[str]:
    """A memo whose every field holds the text, with versions, a relation, a duplicate, and one in the trash."""
    cut = text[:60]
    flat = " ".join(text.split())[:60] or "x"
    space = f"{SPACE}/{flat.replace('/', ' ')}" if flat.isprintable() else SPACE
    first = site.call("memory", "save", content=f"first {text}", title=cut, namespace=space, thread=cut)
    memo = first["memo_id"]
    metadata = {"tags": [cut, "seed"], "text": text, cut or "x": {"deep": text}}
    site.call("memory", "save", memo_id=memo, content=f"# {text}\n\n{text}", metadata=metadata, date="2026-11-01")
    site.call("memory", "save", memo_id=memo, valid_from="2026-11-01", valid_until="2027-11-01")
    twin = site.call("memory", "save", content=f"# {text}\n\n{text}", namespace=space, thread=cut)["memo_id"]
    older = site.call("memory", "save", content=text, title=cut, namespace=space)["memo_id"]
    site.call("memory", "save", memo_id=memo, supersedes=older)
    relation = {"sourceMemoId": memo, "targetMemoId": twin, "tag": flat, "namespace": space}
    site.call("memory", "relation.save", **relation, reason=text)
    gone = site.call("memory", "save", content=text, title=cut, namespace=space)["memo_id"]
    site.call("memory", "delete", memo_id=gone)
    merge = urlencode([("id", memo), ("id", twin)])
    return [
        "/admin/memory",
        "/admin/memory?q=seed&mode=text&key=tags&op=is&value=seed",
        "/admin/memory/new",
        "/admin/memory/duplicates",
        "/admin/memory/threads",
        "/admin/memory/trash",
        "/admin/memory/trash?state=expired",
        "/admin/memory/purge",
        f"/admin/memory/merge?{merge}",
        f"/admin/memory/{memo}",
        f"/admin/memory/{older}",
        f"/admin/memory/{gone}",
        f"/admin/memory/{memo}/edit",
        f"/admin/memory/{memo}/history?version=1&old=1&new=2",
    ]

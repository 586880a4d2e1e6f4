"""Search, graph, timeline, home and trying tools show records of all modules."""

from urllib.parse import quote

from web.site import Site


def fill(site: Site, text: str) -> list[str]:
    memo = site.call("memory", "save", content=f"record {text}", title=text[:200], metadata={"note": text[:200]})
    other = site.call("memory", "save", content=f"another record {text}", thread=text[:60])
    address = f"tokonoma://memory/{memo['memo_id']}"
    end = f"tokonoma://memory/{other['memo_id']}"
    ends = {"sourceMemoId": memo["memo_id"], "targetMemoId": other["memo_id"]}
    site.call("memory", "relation.save", **ends, tag="about", weight=1.0, reason=text[:200])
    site.call("items", "create_item", type="issue", title=text[:200], description=f"record {text}")
    start = quote(address, safe="")
    return [
        "/admin/",
        "/admin/search",
        "/admin/search?query=record",
        "/admin/search?query=record&kind=issue&module=items&since=2020-01-01",
        f"/admin/search?query=another&expect={start}",
        f"/admin/record?id={start}",
        "/admin/graph",
        f"/admin/graph?start={start}&depth=3&near=1",
        f"/admin/graph?from={start}&to={quote(end, safe='')}",
        "/admin/timeline",
        "/admin/timeline?zoom=month&module=memory",
        "/admin/try",
        "/admin/try?tool=memory.save",
        "/admin/try?tool=memory.delete",
        "/admin/try/batch",
    ]

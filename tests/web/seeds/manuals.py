import hashlib
from pathlib import Path
from urllib.parse import quote

from web.site import Site


def add_manual(site: Site, manual: str, files: dict[str, str | bytes]) -> Path:
    """Manuals are folders that people fill with their own programs."""
    folder = Path(site.app.server_info.locations()["manuals"]) / manual
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def fill(site: Site, text: str) -> list[str]:
    """One manual for each text: its title, its headings, its lines and its links hold it."""
    manual = "m" + hashlib.sha256(text.encode()).hexdigest()[:8]
    line = text.replace("\n", " ")
    body = f"# {line}\n\n{text}\n\n## Refunds {line}\n\nUnless {line}, refunds take 30 days. See [terms](terms.md).\n"
    other = f"# Terms\n\nRefunds {line} take 14 days.\n\n```\n{line}\n```\n"
    settings = f"title: {line!r}\n".replace("'", '"') if "'" not in line and "\\" not in line else ""
    files: dict[str, str | bytes] = {"深い/階層/返品 #1?.md": body, "terms.md": other, "manual.yml": settings}
    files |= {"data.json": '{"note": "refunds"}', "broken.md": b"\x81\xff\xfe\x00bad"}
    add_manual(site, manual, files)
    found = site.call("manual", "find", query="refunds", manual_id=manual)
    reader = f"/admin/manuals/read/{manual}/{quote('深い/階層/返品 #1?.md')}"
    trace, about = found["trace_id"], f"q={quote(line[:200])}&manual={manual}"
    lists = ("candidates", "top", "exceptions", "references", "conflicts", "gaps", "unscanned")
    return [
        "/admin/manuals",
        f"/admin/manuals/in/{manual}",
        reader,
        f"{reader}?line=5",
        f"{reader}?line=5&view=lines",
        f"{reader}?view=raw",
        f"/admin/manuals/read/{manual}/data.json",
        f"/admin/manuals/search?q=refunds&manual={manual}",
        f"/admin/manuals/search?q={quote(line[:200])}",
        "/admin/manuals/find",
        *(f"/admin/manuals/found/{trace}?{about}&list={each}" for each in lists),
    ]

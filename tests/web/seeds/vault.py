import hashlib
import unicodedata
from pathlib import Path
from urllib.parse import quote

from web.site import Site


def fill(site: Site, text: str) -> list[str]:
    """One folder for each text, with a file that was changed, one that was deleted, one that cites another, and some
    that cannot be read."""
    folder = "v" + hashlib.sha256(text.encode()).hexdigest()[:8]
    line = text.replace("\n", " ")
    note, cited, source = f"{folder}/深い/返品 #1?&.md", f"{folder}/report.md", f"{folder}/source.md"
    root = Path(site.app.server_info.locations()["vault"])
    if not (root / note).exists():
        site.call("vault", "create", path=note, content=f"# {line}\n\n{text}\n")
        site.call(
            "vault", "write", path=note, content=f"# Changed {line}\n\n{text}\n\n[s](../source.md)\n", mode="overwrite"
        )
        site.call("vault", "create", path=source, content=f"# Source\n\nRefunds {line} take 30 days.\n")
        report = f"# Report {line}\n\n- {line} (source_lines: 3)\n- Refunds take 14 days. (source_lines: 3)\n"
        site.call("vault", "create", path=cited, content=report)
        site.call("vault", "create", path=f"{folder}/old.md", content=text)
        site.call("vault", "delete", path=f"{folder}/old.md")
        (root / folder / "binary.md").write_bytes(b"\x00\x01\x02")
        (root / folder / "sjis.txt").write_bytes("返品は三十日以内に受け付ける。例外はない。".encode("shift_jis"))
        (root / folder / unicodedata.normalize("NFD", "がぎぐ.md")).write_text(f"# NFD\n{line}\n")
    first = site.call("vault", "history", path=note)["items"][0]["previous_version"]
    gone = site.call("vault", "history", path=f"{folder}/old.md")["items"][0]["previous_version"]
    trace = site.call("vault", "find", query="refunds", scope={"relative_dir": folder})["trace_id"]
    now = site.call("vault", "read", path=note, full=True)["version"]
    name, here = quote(note), f"/admin/vault/file/{quote(note)}"
    return [
        "/admin/vault",
        f"/admin/vault?dir={folder}",
        f"/admin/vault/coverage?dir={folder}",
        "/admin/vault/trash",
        here,
        f"{here}?view=lines&line=2",
        f"{here}?view=raw",
        f"{here}?version={first}",
        f"/admin/vault/file/{folder}/binary.md",
        f"/admin/vault/file/{folder}/sjis.txt",
        f"/admin/vault/file/{folder}/{quote('がぎぐ.md')}",
        f"/admin/vault/edit/{name}",
        f"/admin/vault/new?at={folder}/x.md",
        f"/admin/vault/history/{name}?older={first}&newer={now}",
        f"/admin/vault/restore/{name}?version={first}",
        f"/admin/vault/restore/{folder}/old.md?version={gone}",
        f"/admin/vault/move/{name}",
        f"/admin/vault/delete/{name}",
        f"/admin/vault/audit/{folder}/report.md?sources={folder}/source.md",
        f"/admin/vault/search?q=refunds&dir={folder}",
        f"/admin/vault/search?q={quote(line[:200])}",
        "/admin/vault/find",
        f"/admin/vault/found/{trace}?q={quote(line[:200])}",
        f"/admin/vault/found/{trace}?list=unscanned",
    ]

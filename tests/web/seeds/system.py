from web.site import Site

PATHS = (
    "policy policy/try policy/history policy/pending journal journal/verify jobs backups settings health health?all=1"
)


def fill(site: Site, text: str) -> list[str]:
    """The journal holds names of tools as callers write them, and a comment of a policy holds any text."""
    yaml = site.call("claims", "policy.get")["yaml"].partition("# said: ")[0].rstrip()
    said = text.replace("\n", " ").replace("\r", " ").replace("\u2028", " ")[:400]
    site.call("claims", "policy.apply", yaml=f"{yaml}\n# said: {said}\n")
    site.call_unknown(text[:60], text[:60])
    if not site.list_backups():
        site.create_backup()
    name = site.list_backups()[0]
    return [*(f"/admin/{path}" for path in PATHS.split()), f"/admin/backups/verify?name={name}"]

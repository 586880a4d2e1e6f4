from urllib.parse import quote

from web.site import Site


def fill(site: Site, text: str) -> list[str]:
    """Claims that replaced each other, with sources, entities, a relation and feedback."""
    line = text[:200].strip() or "x"
    source = {"at": "2026-01-01T00:00:00Z", "actor": line, "note": text, "url": f"https://a.example/{quote(line)}"}
    git = {"repo": line, "files": [line], "commit": "0123abc"}
    entities = [
        {"id": "one", "type": "Actor", "name": line, "canonical_key": line, "attrs": {"role": line}},
        {"id": "two", "type": "Concept", "name": f"Other {line}"},
    ]
    relations = [{"id": "knows", "src_id": "one", "dst_id": "two", "type": line}]

    def store(words: str, scope: str) -> str:
        given = {"provenance": {**source, "git": git}, "entities": entities, "relations": relations}
        return site.call("claims", "upsert", text=words, scope=scope, **given)["id"]

    old, newer, newest = store(f"Old {text}", "project"), store(f"New {text}", "project"), store(text, "session")
    site.call("claims", "supersede", claim_id=old, by=newer)
    site.call("claims", "supersede", claim_id=newer, by=newest)
    for signal in ("helpful", "harmful", "outdated"):
        site.call("claims", "feedback", claim_id=newest, signal=signal)
    task, key = quote(line, safe=""), quote(line, safe="")
    context = site.call("claims", "activate", q=line)["active_context_id"]
    return [
        "/admin/claims",
        "/admin/claims?status=all&kind=fact&scope=project",
        f"/admin/claims?q={task}&kind=fact",
        "/admin/claims/activate",
        f"/admin/claims/activate?q={task}",
        f"/admin/claims/context?id={context}",
        "/admin/claims/context",
        "/admin/claims/entities",
        f"/admin/claims/entity?key={key}&depth=2",
        "/admin/claims/new",
        f"/admin/claims/{newest}",
        f"/admin/claims/{old}",
        f"/admin/claims/{newest}/forget",
    ]

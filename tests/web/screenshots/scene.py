"""What the pictures show: half a year of a small guest house, stored through the tools that agents use. The texts of
both languages are in `en.yml` and `ja.yml`, which have the same shape."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from policy.houses import enforce
from web.seeds.manuals import add_manual
from web.site import Site

from tokonoma.app.accounts import store_account
from tokonoma.auth.api_keys import create_key
from tokonoma.auth.oauth.clients import check_metadata, save_client
from tokonoma.auth.oauth.grants import create_grant
from tokonoma.auth.oauth.model import TokenClaims
from tokonoma.auth.people import OWNER_ID, ensure_owner
from tokonoma.core.call import Caller, Principal
from tokonoma.core.errors import Refusal
from tokonoma.core.reach import Reach
from tokonoma.keyring.accounts import NewAccount
from tokonoma.upstream.pins import PinnedTool
from tokonoma.upstream.servers import NewServer, ServerAccount, add_server, put_account, put_tools

LANGUAGES = ("en", "ja")
LAST_DAY = "2026-11-18"
ASKED_BEFORE = "\ntools:\n  - { tool: memory.delete, verdict: ask }\n  - { tool: vault.write, verdict: ask }\n"
Texts = dict[str, Any]
SetTime = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Scene:
    """Where the pages lead that are not in the menu."""

    texts: Texts
    memo: str
    trace: str
    grant: str

    @property
    def address(self) -> str:
        return f"tokonoma://memory/{self.memo}"


def read_texts(language: str) -> Texts:
    return yaml.safe_load(Path(__file__).with_name(f"{language}.yml").read_text(encoding="utf-8"))


def build_scene(site: Site, texts: Texts, set_time: SetTime) -> Scene:
    """`set_time` sets the clock of the server, in milliseconds; it ends on the last day."""

    def go_to(day: object) -> None:
        set_time(int(datetime.fromisoformat(f"{day}T09:30:00").replace(tzinfo=UTC).timestamp() * 1000))

    memos = _save_memos(site, texts, go_to)
    _save_items(site, texts, memos, go_to)
    go_to(LAST_DAY)
    _save_claims(site, texts)
    _save_files(site, texts)
    trace = site.call("manual", "find", query=texts["topic"], manual_id=texts["manual"]["id"])["trace_id"]
    grant = _let_clients_in(site, texts)
    _ask_for_approval(site, texts)
    site.create_backup()
    return Scene(texts, memos["arrival"], trace, grant)


def _save_memos(site: Site, texts: Texts, go_to: Callable[[object], None]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for number, each in enumerate(texts["memos"]):
        go_to(each["day"])
        own = each.get("id", str(number))
        given = {"namespace": each["in"], "title": each["title"], "metadata": {"tags": each["tags"]}}
        changes = texts["versions"] if own == "arrival" else []
        first, *later = [*changes, each["text"]]
        saved = site.call("memory", "save", content=first, thread=each.get("thread"), **given)["memo_id"]
        for text in later:
            site.call("memory", "save", memo_id=saved, content=text)
        if "replaces" in each:
            site.call("memory", "save", memo_id=saved, supersedes=ids[each["replaces"]])
        ids[own] = ids[str(number)] = saved
    for each in texts["links"]:
        ends = {"sourceMemoId": ids[str(each["from"])], "targetMemoId": ids[str(each["to"])]}
        site.call("memory", "relation.save", namespace="/", tag=each["tag"], **ends)
    return ids


def _save_items(site: Site, texts: Texts, memos: dict[str, str], go_to: Callable[[object], None]) -> None:
    addresses: list[str] = []
    for each in texts["items"]:
        go_to(each["day"])
        given = {name: each.get(name) for name in ("type", "title", "status", "priority", "tags", "assignee")}
        due = str(each["due"]) if "due" in each else None
        made = site.call("items", "create_item", description=each["text"], end_date=due, **given)
        addresses.append(made["address"])
    for one, other in texts["blocks"]:
        kind, number = addresses[one - 1].split("-")
        target = addresses[other - 1]
        site.call("items", "add_relation", type=kind, id=int(number), target=target, kind="blocks")
    kind, number = addresses[6].split("-")
    target = f"tokonoma://memory/{memos['18']}"
    site.call("items", "add_relation", type=kind, id=int(number), target=target, kind="related")


def _save_claims(site: Site, texts: Texts) -> None:
    ids: list[str] = []
    for each in texts["claims"]:
        source = {"at": "2026-09-01T08:00:00Z", "actor": each["who"], "note": each["note"]}
        entities = [{"id": "who", "type": "Actor", "name": each["who"]}]
        given = {"text": each["text"], "scope": each["scope"], "kind": each["kind"]}
        ids.append(site.call("claims", "upsert", provenance=source, entities=entities, **given)["id"])
    for number, each in enumerate(texts["claims"]):
        if "replaced_by" in each:
            site.call("claims", "supersede", claim_id=ids[number], by=ids[each["replaced_by"] - 1])
    for number, signal in texts["signals"]:
        site.call("claims", "feedback", claim_id=ids[number - 1], signal=signal)


def _save_files(site: Site, texts: Texts) -> None:
    manual = texts["manual"]
    add_manual(site, manual["id"], {**manual["files"], "manual.yml": f"title: {manual['title']}\n"})
    for path in texts["read"]:
        ref = {"manual_id": manual["id"], "path": path, "start_line": 1, "end_line": 14}
        site.call("manual", "read", ref=ref, scope="lines")
    for each in texts["files"]:
        site.call("vault", "create", path=each["path"], content=each["text"])


def _let_clients_in(site: Site, texts: Texts) -> str:
    """Clients, keys, a service and an MCP server; the grant of the first client."""
    grants: list[str] = []
    with site.app.database.writing() as statements:
        ensure_owner(statements)
        for number, (name, root) in enumerate(texts["clients"]):
            metadata = {"client_name": name, "redirect_uris": ["http://127.0.0.1:33418/callback"]}
            save_client(statements, f"client-{number}", "registered", check_metadata(metadata))
            claims = TokenClaims("", OWNER_ID, f"client-{number}", f"{site.origin}/mcp", "mcp")
            reach = Reach(root, root, None, frozenset() if number else frozenset({"*:destroy", "claims"}))
            grants.append(create_grant(statements, f"client-{number}", name, claims, reach, "").grant)
        for name, root in texts["keys"]:
            create_key(statements, name, Reach(root, root, None, frozenset({"*:destroy"})))
        command = ("npx", "-y", "@modelcontextprotocol/server-everything")
        add_server(statements, NewServer("everything", command, "", {}))
        put_account(statements, "everything", ServerAccount("main", "/"))
        put_tools(statements, "everything", [_pin("echo", "approved"), _pin("get-sum", "new")])
    store_account(site.app, NewAccount("github", "house", who="mika-hiiragi", scopes=("repo",)), {"token": "x"})
    return grants[0]


def _pin(name: str, state: str) -> PinnedTool:
    said = {"echo": "Echoes back the input string", "get-sum": "Returns the sum of two numbers"}[name]
    schema = {"type": "object", "properties": {"message": {"type": "string"}}}
    seen = {"name": name, "description": said, "inputSchema": schema}
    return PinnedTool(name, name, state, seen if state == "approved" else {}, seen)  # pyright: ignore[reportArgumentType]


def _ask_for_approval(site: Site, texts: Texts) -> None:
    """Two calls wait: an agent has made them, and a rule of the policy says that a person decides."""
    enforce(site.app, site.call("claims", "policy.get")["yaml"] + ASKED_BEFORE)
    agent = Caller("http", principal=Principal("client:Claude Code", "client", Reach()))
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("vault", "write", {"path": texts["files"][1]["path"], "content": texts["asked"], "mode": "append"}),
        ("memory", "search", {"query": texts["query"]}),
    ]
    for module, tool, params in calls:
        try:
            site.run_tool(agent, module, tool, params)
        except Refusal as refused:
            assert refused.reason == "approval", refused

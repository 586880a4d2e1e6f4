"""Records of every module, each with a marker of its own, and what every reading tool can be asked about them."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from policy.houses import enforce
from talk import Lines

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.core.call import Principal
from tokonoma.core.desk import CLASSIFICATIONS, Classification
from tokonoma.core.module import ToolInfo
from tokonoma.core.namespaces import is_inside
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.rules import PolicyRules, classify_record, decide, find_tags

SPACES = ["/", "/hr", "/hr/2026", "/public", "/x"]
FINDS = {"": [], " a@example.com": [("email", "pii")], " 090-1234-5678": [("phone", "pii")]}
WORD = "覚え書き"
OPEN = """version: 0.9
callers: { owner: ['*'] }
boundary_classes:
  public: { allow: ['*'] }
  internal: { allow: ['*'] }
  pii: { allow: ['*'] }
  secret: { allow: ['*'] }
"""
"""Everything is seen as it is: for whoever fills the house."""

ENTRIES: dict[str, ToolInfo] = {
    entry.path: entry
    for shelf in catalogue.read_catalogue(catalogue.CATALOGUE_FILE)
    for entry in shelf.entries
    if shelf.name != "gateway"
}
# Tools for a sync are seen by keys alone that were made for it, and show everything.
READS = sorted(path for path, entry in ENTRIES.items() if entry.effect == "read" and not entry.extra)
Params = dict[str, Any]


@dataclass(slots=True)
class Held:
    """One record, as whoever knows everything would describe it."""

    module: str
    space: str
    path: str  # what follows `tokonoma://module/`
    said: Classification
    finds: list[tuple[str, str]]
    sticky: bool = False  # the index does not hold it: it never becomes milder than it was

    def follow(self, rules: PolicyRules) -> Classification:
        """Its class under these rules; what is sticky remembers it."""
        label = classify_record(rules, self.module, self.space, self.path, self.said, self.finds)
        if self.sticky:
            self.said = label
        return label


@dataclass(slots=True)
class World:
    app: App
    rng: Random
    talk: Lines
    records: dict[str, Held] = field(default_factory=dict[str, Held])
    ids: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    finds: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: FINDS)
    deep: bool = False  # what can be found stands in titles and side fields, too
    files: int = 0

    def folder(self, place: str) -> Path:
        return Path(self.app.server_info.locations()[place])

    def hidden(self, rules: PolicyRules, who: Principal, label: dict[str, Classification]) -> set[str]:
        """The markers of the records that this caller must not be shown."""
        tags = find_tags(rules, who)
        return {
            marker
            for marker, held in self.records.items()
            if decide(rules, tags, label[marker]).verdict == "deny" or not is_inside(held.space, who.root)
        }

    def labels(self, rules: PolicyRules) -> dict[str, Classification]:
        return {marker: held.follow(rules) for marker, held in self.records.items()}

    def one(self, kind: str) -> Any:
        return self.rng.choice(self.ids[kind])

    # Records

    def open(self) -> None:
        enforce(self.app, OPEN)
        self.labels(parse_policy(OPEN))

    def fill(self) -> None:
        self.open()
        for module in ("memory", "claims", "items", "manual", "vault"):
            for _ in range(6):
                self.add(module)
        for module in ("memory", "items"):
            self._discard(module)
        self._state()
        old, new = self.ids["claims"][:2]
        self.talk.call("claims", "supersede", claim_id=old, by=new)
        self.records[self.ids["claim_markers"][0]].sticky = True
        memos = self.ids["memory"]
        for one, other in itertools.pairwise(memos):
            edge = {"sourceMemoId": one, "targetMemoId": other, "tag": "t", "namespace": "/"}
            self.talk.tool("call", module="memory", tool_name="relation.save", params=edge)
        items = self.ids["items"][:6]
        targets = [f"docs-{item}" for item in items[1:]] + [f"tokonoma://memory/{memo}" for memo in memos[:6]]
        for item in items[:3]:
            for target in targets:
                if target != f"docs-{item}":
                    self.talk.call("items", "add_relation", type="docs", id=item, target=target)

    def add(self, module: str) -> None:
        find = self.rng.choice(list(self.finds))
        marker = f"mk{len(self.records):04d}q"
        side = marker + (find if self.deep else "")
        space, path, said = getattr(self, f"_{module}")(side, f"{WORD} {marker}{find} ただし除く")
        self.records[marker] = Held(module, space, path, said, self.finds[find])

    def _keep(self, kind: str, value: Any) -> None:
        self.ids.setdefault(kind, []).append(value)

    def _memory(self, marker: str, text: str) -> tuple[str, str, Classification]:
        space = self.rng.choice(SPACES)
        memo = self.talk.call(
            "memory", "save", content=text, title=marker, namespace=space, metadata={"m": 1}, thread=f"t {marker}"
        )["memo_id"]
        self.talk.call("memory", "save", memo_id=memo, metadata={"edited": True})
        self._keep("memory", memo)
        return space, memo, "internal"

    def _claims(self, marker: str, text: str) -> tuple[str, str, Classification]:
        said: Classification = "internal" if self.deep else self.rng.choice(CLASSIFICATIONS)
        claim = self.talk.call(
            "claims", "upsert", text=text, boundary_class=said,
            provenance={"note": marker, "url": "https://example.com/source"},
            entities=[{"id": name, "type": "Concept", "name": marker} for name in ("e", "f")],
            relations=[{"id": "r", "src_id": "e", "dst_id": "f", "type": "near"}],
        )["data"]["id"]  # fmt: skip
        self._keep("claims", claim)
        self._keep("claim_markers", marker[:7])
        return "/", claim, said

    def _items(self, marker: str, text: str) -> tuple[str, str, Classification]:
        item = self.talk.call(
            "items", "create_item", type="docs", title=text, content=text, description=marker, tags=["all", marker[:7]]
        )["id"]
        self.talk.call("items", "update_item", type="docs", id=item, description=f"{marker} again")
        self._keep("items", item)
        return "/", str(item), "internal"

    def _manual(self, marker: str, text: str) -> tuple[str, str, Classification]:
        space = self.rng.choice(SPACES)
        name = "book" + space.replace("/", "-")
        folder = self.folder("manuals") / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "manual.yml").write_text(f"space: {space}\nallow_file: true\n")
        file = folder / f"{self.rng.choice('ab')}.md"
        before = file.read_text() if file.exists() else ""
        file.write_text(f"{before}# {WORD} {marker}\n{text} [[a]] [[b]]\n")
        line = before.count("\n") + 1
        self._keep("manual", {"manual_id": name, "path": file.name, "start_line": line})
        return space, f"{name}/{file.name}#L{line}", "internal"

    def _vault(self, marker: str, text: str) -> tuple[str, str, Classification]:
        space = self.rng.choice(SPACES)
        self.files += 1
        path = f"{space}/{self.files}.md".lstrip("/")
        self.talk.call("vault", "create", path=path, content=f"# {marker}\n{text}\n- {marker} [[{self.files - 1}]]\n")
        self.talk.call("vault", "write", path=path, content=f"more {marker}\n", mode="append")
        self._keep("vault", path)
        return space, f"{path}#L1-L4", "internal"

    def _discard(self, module: str) -> None:
        """One more of each, into the trash."""
        self.add(module)
        marker = max(self.records)
        self.records[marker].sticky = True
        gone = self.ids[module][-1]
        params = {"memo_id": gone} if module == "memory" else {"type": "docs", "id": gone}
        self.talk.call(module, "delete" if module == "memory" else "delete_item", **params)

    def _state(self) -> None:
        for _ in range(3):
            find = self.rng.choice(list(self.finds))
            marker = f"mk{len(self.records):04d}q"
            self.talk.call("items", "update_current_state", content=f"{WORD} {marker}{find}", updated_by=marker)
            self.records[marker] = Held("items", "/", "", "internal", self.finds[find], sticky=True)

    # Questions

    def address(self) -> str:
        """Of any record that has one."""
        held = self.rng.choice([each for each in self.records.values() if each.path])
        return f"tokonoma://{held.module}/{held.path}"

    def question(self, path: str, talk: Any) -> Params:
        """What to ask a reading tool. A tool without a question here fails the test: it was forgotten."""
        return QUESTIONS[path](self, talk)


def _found(module: str, world: World, talk: Any) -> Params:
    """A trail that this caller laid itself."""
    told = talk.tool("call", module=module, tool_name="find", params={"query": WORD})
    trail = told.get("structuredContent", {}).get("trace_id", "none")
    kinds = ["candidates", "unscanned"] + (["conflicts", "gaps", "integrated_top"] if module == "manual" else [])
    return {"trace_id": trail, "kind": world.rng.choice(kinds), "limit": 200}


def _context(world: World, talk: Any) -> Params:
    told = talk.tool("call", module="claims", tool_name="activate", params={"q": WORD, "top_k": 50})
    return {"active_context_id": told.get("structuredContent", {}).get("data", {}).get("active_context_id", "ac_x")}


def _item(world: World, **more: Any) -> Params:
    return {"type": "docs", "id": world.one("items"), **more}


def _path(world: World) -> Params:
    ends = [world.one("items"), world.one("items")]
    return {"from_type": "docs", "from_id": ends[0], "to_type": "docs", "to_id": ends[1], "max_depth": 6}


def _entity(world: World, talk: Any) -> Params:
    """One that this caller sees."""
    told = talk.tool("call", module="claims", tool_name="entities", params={"limit": 200})
    keys = [each["key"] for each in told.get("structuredContent", {}).get("data", {}).get("items", ())]
    return {"entity": world.rng.choice(keys or ["nobody"]), "depth": 2}


def _read(world: World) -> Params:
    scope = world.rng.choice(["snippet", "section", "sections", "file"])
    return {"ref": world.one("manual"), "scope": scope, "limits": {"allow_file": True}}


def _cover(world: World) -> Params:
    ref = world.one("manual")
    cited = [{"start_line": 1, "end_line": 1}]
    return {"manual_id": ref["manual_id"], "path": ref["path"], "cited_ranges": cited}


def _audit(world: World) -> Params:
    return {"artifact_path": world.one("vault"), "source_path": world.one("vault")}


QUESTIONS: dict[str, Callable[[World, Any], Params]] = {
    "system.status": lambda world, talk: {},
    "system.where": lambda world, talk: {},
    "system.recent": lambda world, talk: {},
    "system.timeline": lambda world, talk: {"since": "2000-01-01", "limit": 200},
    "system.days": lambda world, talk: {"since": "2000-01-01"},
    "system.related": lambda world, talk: {"address": world.address(), "limit": 100},
    "memory.search": lambda world, talk: world.rng.choice(
        [
            {"query": WORD, "k": 100, "namespace": "/", "explain": True},
            {"metadata_filter": {"m": 1}, "k": 100, "namespace": "/"},
            {"query": "none", "namespace": "/", "expect_memo_id": world.one("memory")},
        ]
    ),
    "memory.get": lambda world, talk: {"memo_id": world.one("memory")},
    "memory.list": lambda world, talk: {
        "namespace": "/", "limit": 200, "state": world.rng.choice(["kept", "trash"])
    },
    "memory.namespaces": lambda world, talk: {},
    "memory.threads": lambda world, talk: {},
    "claims.context.list": lambda world, talk: {},
    "memory.history": lambda world, talk: {
        "memo_id": world.one("memory"), **world.rng.choice([{}, {"diff": True}, {"version": 1}])
    },
    "memory.duplicates": lambda world, talk: {
        "namespace": "/", "minimum_similarity": world.rng.choice([0.5, 0.7, 0.9]), "limit": 50
    },
    "memory.relation.list": lambda world, talk: {"namespace": "/"},
    "memory.relation.graph": lambda world, talk: {
        "startMemoId": world.one("memory"), "namespace": "/", "direction": "both"
    },
    "claims.activate": lambda world, talk: {"q": WORD, "top_k": 50, "include_meta": True},
    "claims.search": lambda world, talk: {"query": WORD, "top_k": 50, "include_meta": True},
    "claims.boundary.validate": lambda world, talk: {"payload": "a text"},
    "claims.context.get": _context,
    "claims.get": lambda world, talk: {"claim_id": world.one("claims")},
    "claims.list": lambda world, talk: {"limit": 200, "superseded": world.rng.random() < 0.5},
    "claims.entities": lambda world, talk: world.rng.choice([{"limit": 200}, {"query": "e", "limit": 200}]),
    "claims.related": _entity,
    "claims.history": lambda world, talk: {"claim_id": world.one("claims")},
    "claims.policy.get": lambda world, talk: {},
    "claims.policy.history": lambda world, talk: {"limit": 2},
    "vault.ls": lambda world, talk: {},
    "vault.read": lambda world, talk: {"path": world.one("vault"), "full": True},
    "vault.find": lambda world, talk: {"query": WORD},
    "vault.hits": lambda world, talk: _found("vault", world, talk),
    "vault.scan": lambda world, talk: {"path": world.one("vault")},
    "vault.coverage": lambda world, talk: {
        "path": world.one("vault"),
        "cited_ranges": [{"start_line": 1, "end_line": 1}],
    },
    "vault.audit": lambda world, talk: _audit(world),
    "vault.search": lambda world, talk: {"query": world.rng.choice([WORD, "mk00"]), "limit": 100},
    "vault.backlinks": lambda world, talk: {"path": world.one("vault")},
    "vault.history": lambda world, talk: {"path": world.one("vault")},
    "items.get_item_detail": lambda world, talk: _item(world),
    "items.get_items": lambda world, talk: {"type": "docs"} if world.rng.random() < 0.5 else {},
    "items.search_items": lambda world, talk: {"query": world.rng.choice([WORD, "tag:all", "mk00"])},
    "items.search_suggest": lambda world, talk: {"query": "mk"},
    "items.get_related_items": lambda world, talk: _item(world, depth=3, include_edges=True),
    "items.find_path": lambda world, talk: _path(world),
    "items.get_tags": lambda world, talk: {"limit": 1000},
    "items.search_items_by_tag": lambda world, talk: {"tag": "all", "limit": 100},
    "items.get_statuses": lambda world, talk: {},
    "items.get_ready_items": lambda world, talk: {"limit": 100},
    "items.get_stats": lambda world, talk: {},
    "items.get_current_state": lambda world, talk: {"history": 50, "revision": world.rng.choice([None, 1, 2, 3])},
    "items.get_item_history": lambda world, talk: _item(world, full=True),
    "manual.list": lambda world, talk: {},
    "manual.ls": lambda world, talk: {},
    "manual.toc": lambda world, talk: {"manual_id": world.one("manual")["manual_id"]},
    "manual.find": lambda world, talk: {"query": WORD},
    "manual.hits": lambda world, talk: _found("manual", world, talk),
    "manual.read": lambda world, talk: _read(world),
    "manual.backlinks": lambda world, talk: {
        "ref": {each: value for each, value in world.one("manual").items() if each != "start_line"}
    },
    "manual.search": lambda world, talk: {"query": world.rng.choice([WORD, "mk00"]), "limit": 100, "context": 1},
    "manual.excepts": lambda world, talk: {},
    "manual.coverage": lambda world, talk: _cover(world),
}  # fmt: skip

TELLS_NO_TEXT = {
    "system.status", "system.where", "system.recent", "system.days", "memory.namespaces", "claims.boundary.validate",
    "claims.context.list", "claims.policy.get", "claims.policy.history", "vault.ls", "vault.find", "vault.coverage",
    "vault.history", "items.get_statuses", "manual.list", "manual.ls", "manual.find", "manual.coverage",
}  # fmt: skip
"""Figures, names of files and the policy: no marker is ever among them."""

"""A mixed load: one client's calls to all modules, chosen by chance. It keeps a bounded number of records of each kind
and removes the oldest, so that a server under it has no reason to grow.
"""

import json
import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from .items import Vocabulary

KEPT = 60  # records of a kind, for each client
KNOWN = {"at": "2026-01-01T00:00:00Z", "actor": "bench"}
TYPES = ("issue", "docs", "decision")


class ToolCaller(Protocol):
    """Calls one listed tool and returns its structured content; an error is raised."""

    def __call__(self, name: str, **arguments: Any) -> dict[str, Any]: ...


class MixedClient:
    """`step` makes one call, or the few that belong together. `manuals` is the folder of the manuals, which a person
    edits while the server runs."""

    def __init__(self, number: int, ask: ToolCaller, manuals: Path) -> None:
        self._ask, self._chance, self._words = ask, random.Random(number), Vocabulary(random.Random(7))
        self._name = f"client-{number}"
        self._memos: deque[str] = deque()
        self._items: deque[tuple[str, int]] = deque()
        self._claims: deque[str] = deque()
        self._files: list[str] = []
        self._count = 0
        self._manual = manuals / self._name
        self._manual.mkdir(parents=True, exist_ok=True)
        for file in range(20):
            (self._manual / f"part{file}.md").write_text("".join(self._section(part) for part in range(15)))
        self._work: list[tuple[int, Callable[[], object]]] = [
            (10, self._save_memo), (12, self._search_memos), (6, self._use_memos),
            (6, self._save_item), (6, self._use_items), (5, self._save_claim), (5, self._use_claims),
            (1, self._edit_manual), (4, self._use_manual), (5, self._write_file), (6, self._use_files),
            (2, self._copy_section), (5, self._run_batch), (2, self._ask_server), (2, self._be_refused),
        ]  # fmt: skip
        for make in (self._save_memo, self._save_item, self._save_claim, self._write_file):
            make()

    def step(self) -> None:
        self._count += 1
        weights = [weight for weight, _ in self._work]
        self._chance.choices(self._work, weights)[0][1]()

    def _call(self, module: str, tool: str, **params: Any) -> dict[str, Any]:
        return self._ask("call", module=module, tool_name=tool, params=params)

    def _text(self, least: int = 20, most: int = 120) -> str:
        # A word that was never there before: what is cached by word must have an end.
        return f"{self._words.text(self._chance, least, most)} {self._chance.getrandbits(40):x}"

    def _question(self) -> str:
        return self._words.asked(self._chance, 1, 4)

    def _section(self, number: int) -> str:
        return f"# {self._words.asked(self._chance, 2, 3)} {number}\n\n{self._text()}\n\n"

    # memory

    def _save_memo(self) -> None:
        made = self._call("memory", "save", content=self._text(), namespace=f"{self._name}/{self._count % 5}")
        self._memos.append(made["memo_id"])
        if len(self._memos) > KEPT:
            self._call("memory", "delete", memo_id=self._memos.popleft(), namespace=self._name)

    def _search_memos(self) -> None:
        mode = self._chance.choice(["hybrid", "hybrid", "text", "vector"])
        self._call(
            "memory", "search", query=self._question(), mode=mode, namespace=self._chance.choice(["/", self._name])
        )

    def _use_memos(self) -> None:
        one, other = (self._chance.choice(self._memos) for _ in range(2))
        within = {"namespace": self._name}
        use = self._chance.randrange(5)
        if use == 0 and one != other:
            self._call("memory", "relation.save", sourceMemoId=one, targetMemoId=other, tag="next", **within)
        elif use == 1:
            self._call("memory", "relation.graph", startMemoId=one, **within)
        elif use == 2:
            self._call("memory", "save", memo_id=one, content=self._text(), **within)
        elif use == 3:
            self._call("memory", "list", limit=20, **within)
        else:
            self._call("memory", "get", memo_id=one, **within)

    # items

    def _save_item(self) -> None:
        kind, tags = self._chance.choice(TYPES), [self._name, self._words.words[self._chance.randrange(40)]]
        made = self._call("items", "create_item", type=kind, title=self._question(), content=self._text(), tags=tags)
        self._items.append((kind, made["id"]))
        if len(self._items) > KEPT:
            old, number = self._items.popleft()
            self._call("items", "delete_item", type=old, id=number)

    def _use_items(self) -> None:
        (kind, number), (other, target) = (self._chance.choice(self._items) for _ in range(2))
        use = self._chance.randrange(6)
        if use == 0 and (kind, number) != (other, target):
            self._call("items", "add_relation", type=kind, id=number, target=f"{other}-{target}")
        elif use == 1:
            self._call("items", "update_item", type=kind, id=number, content=self._text(), status="In Progress")
        elif use == 2:
            self._call("items", "get_related_items", type=kind, id=number, depth=2)
        elif use == 3:
            self._call("items", "search_items_by_tag", tag=self._name)
        else:
            self._call("items", "search_items", query=self._question())

    # claims

    def _save_claim(self) -> None:
        made = self._call("claims", "upsert", text=self._text(5, 30), provenance=KNOWN, scope="project")
        self._claims.append(made["data"]["id"])
        if len(self._claims) > KEPT:
            self._call("claims", "forget", claim_id=self._claims.popleft())

    def _use_claims(self) -> None:
        use = self._chance.randrange(4)
        if use == 0:
            self._call("claims", "activate", q=self._question())
        elif use == 1:
            self._call("claims", "feedback", claim_id=self._chance.choice(self._claims), signal="helpful")
        elif use == 2:
            self._call("claims", "list", scope="project", limit=20)
        else:
            self._call("claims", "search", query=self._question())

    # manual, vault, bridge

    def _edit_manual(self) -> None:
        file = self._manual / f"part{self._chance.randrange(20)}.md"
        file.write_text("".join(self._section(part) for part in range(15)))
        self._use_manual()

    def _use_manual(self) -> None:
        found = self._call("manual", "find", query=self._question(), manual_id=self._name)
        hits = self._call("manual", "hits", trace_id=found["trace_id"], limit=10)["items"]
        if hits:
            self._call("manual", "read", ref=hits[0]["ref"])
        else:
            self._call("manual", "toc", manual_id=self._name)

    def _write_file(self) -> None:
        content = "".join(self._section(part) for part in range(4))
        if len(self._files) < KEPT:
            self._files.append(f"{self._name}/note-{len(self._files)}.md")
            self._call("vault", "create", path=self._files[-1], content=content)
        else:
            self._call("vault", "write", path=self._chance.choice(self._files), content=content, mode="overwrite")

    def _use_files(self) -> None:
        path, use = self._chance.choice(self._files), self._chance.randrange(6)
        if use == 0:
            self._call("vault", "search", query=self._question(), relative_dir=self._name)
        elif use == 1:
            self._call("vault", "find", query=self._question(), scope={"relative_dir": self._name})
        elif use == 2:
            self._call("vault", "history", path=path)
        elif use == 3:
            self._call("vault", "scan", path=path)
        elif use == 4:
            self._call("vault", "ls", relative_dir=self._name)
        else:
            self._call("vault", "read", path=path, full=True)

    def _copy_section(self) -> None:
        source = {"target": "manual", "manual_id": self._name, "path": "part1.md", "start_line": 1, "end_line": 3}
        self._call(
            "bridge", "copy_section", from_ref=source, to_path=self._chance.choice(self._files), mode="overwrite"
        )

    # the gateway and the server

    def _run_batch(self) -> None:
        steps: list[dict[str, Any]] = [
            {"id": "a", "module": "memory", "tool": "search", "params": {"query": self._question()}},
            {"id": "b", "module": "items", "tool": "search_items", "params": {"query": self._question()}},
            {"id": "c", "module": "memory", "tool": "get", "params": {"memo_id": "${d.memo_id}"}, "output": True},
            {"id": "d", "module": "memory", "tool": "save", "params": {"content": self._text(), "ttl_seconds": 60}},
        ]
        told = self._ask("batch", jsonl="\n".join(map(json.dumps, steps)))
        if not told["ok"]:
            raise RuntimeError(f"batch: {told['steps']}")

    def _ask_server(self) -> None:
        use = self._chance.randrange(4)
        if use == 0:
            self._call("system", "status")
        elif use == 1:
            self._call("system", "recent")
        else:
            self._ask("get_module_schema", module=self._chance.choice(["memory", "items", "vault", "manual"]))

    def _be_refused(self) -> None:
        """A refused call takes another way back; it is right that it fails."""
        try:
            self._call("memory", "get", memo_id=f"{self._chance.getrandbits(64):x}", unknown=1)
        except RuntimeError as error:
            if "INVALID_ARGUMENT" not in str(error):
                raise
        else:
            raise RuntimeError("an unknown field was accepted")

"""Homes that sync through one folder while somebody edits them at random; and which of the edits have to survive."""

import json
import random
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from tokonoma.app import App
from tokonoma.cli import sync as sync_command
from tokonoma.cli.call import call_owner_tool, call_tool
from tokonoma.cli.sync import run_sync
from tokonoma.transfer.sync.run import SyncReport

_TOKEN = re.compile(r"t\d+x")
_LINES = 6


class Killed(BaseException):
    """The process ends here."""


class Editors:
    """People who edit several homes. Every edit writes a word of its own; `gone` are those that somebody who saw them
    has removed. All others have to survive."""

    def __init__(self, apps: list[App], folder: Path, seed: int) -> None:
        self.apps, self.folder, self.random = apps, folder, random.Random(seed)
        self.numbers = count()
        self.written: set[str] = set()
        self.gone: set[str] = set()
        self.edits = 0

    def edit(self, app: App) -> None:
        choices: list[tuple[Callable[[App], None], int]] = [
            (self.add_memo, 3), (self.change_line, 8), (self.add_line, 3), (self.remove_line, 1),
            (self.change_title, 2), (self.change_metadata, 3), (self.relate, 2), (self.unrelate, 1), (self.delete, 1),
            (self.restore, 1), (self.add_item, 1), (self.change_item, 3), (self.link_items, 1), (self.claim, 1),
        ]  # fmt: skip
        make = self.random.choices([each for each, _ in choices], [weight for _, weight in choices])[0]
        make(app)
        self.edits += 1

    def _word(self) -> str:
        word = f"t{next(self.numbers)}x"
        self.written.add(word)
        return word

    def _pick(self, app: App, *, deleted: bool = False) -> dict[str, Any] | None:
        found = [each for each in list_memos(app) if (each["deleted_at"] is not None) == deleted]
        # Most edits meet in a few memos: else there would be nothing to merge.
        few = found[:6] if self.random.random() < 0.7 else found
        return self.random.choice(few) if few else None

    def _save(self, app: App, memo: dict[str, Any], **fields: Any) -> None:
        call_tool(app, "memory", "save", memo_id=memo["memo_id"], **fields)
        self.gone |= find_words({name: memo[name] for name in fields}) - find_words(fields)

    def add_memo(self, app: App) -> None:
        lines = [self._word() for _ in range(_LINES)]
        call_tool(app, "memory", "save", content="\n".join(lines), namespace=self.random.choice(["/", "/notes"]))

    def change_line(self, app: App) -> None:
        self._edit_lines(app, lambda lines, at: lines.__setitem__(at, self._word()))

    def add_line(self, app: App) -> None:
        self._edit_lines(app, lambda lines, at: lines.insert(at, self._word()))

    def remove_line(self, app: App) -> None:
        self._edit_lines(app, lambda lines, at: lines.pop(at) if len(lines) > 1 else None)

    def _edit_lines(self, app: App, edit: Callable[[list[str], int], object]) -> None:
        if memo := self._pick(app):
            lines = memo["content"].split("\n")
            edit(lines, self.random.randrange(len(lines)))
            self._save(app, memo, content="\n".join(lines))

    def change_title(self, app: App) -> None:
        if memo := self._pick(app):
            self._save(app, memo, title=self._word())

    def change_metadata(self, app: App) -> None:
        if memo := self._pick(app):
            key = self.random.choice("abc")
            call_tool(app, "memory", "save", memo_id=memo["memo_id"], metadata={key: self._word()})
            self.gone |= find_words(memo["metadata"].get(key, ""))

    def delete(self, app: App) -> None:
        if memo := self._pick(app):
            call_tool(app, "memory", "delete", memo_id=memo["memo_id"])
            self.gone |= find_words(memo)

    def restore(self, app: App) -> None:
        if memo := self._pick(app, deleted=True):
            call_tool(app, "memory", "restore", memo_id=memo["memo_id"])

    def relate(self, app: App) -> None:
        one, other = self._pick(app), self._pick(app)
        if one and other and one["memo_id"] != other["memo_id"]:
            ends = {"sourceMemoId": one["memo_id"], "targetMemoId": other["memo_id"], "tag": "next", "namespace": "/"}
            before = [each for each in list_relations(app) if each["source"] == ends["sourceMemoId"]]
            call_tool(app, "memory", "relation.save", reason=self._word(), **ends)
            replaced = [each for each in before if each["target"] == ends["targetMemoId"] and each["tag"] == "next"]
            self.gone |= find_words(replaced)

    def unrelate(self, app: App) -> None:
        living = {each["memo_id"] for each in list_memos(app) if each["deleted_at"] is None}
        found = [
            each for each in list_relations(app) if each["tag"] == "next" and {each["source"], each["target"]} <= living
        ]
        if found:
            relation = self.random.choice(found)
            ends = {"sourceMemoId": relation["source"], "targetMemoId": relation["target"], "tag": "next"}
            call_tool(app, "memory", "relation.delete", namespace=relation["namespace"], **ends)
            self.gone |= find_words(relation)

    def add_item(self, app: App) -> None:
        call_tool(app, "items", "create_item", type="task", title=self._word(), content=f"{self._word()}\n-\n-")

    def change_item(self, app: App) -> None:
        if items := list_items(app):
            item = self.random.choice(items[:4])
            name = self.random.choice(["title", "content", "category"])
            lines = item[name].split("\n")
            lines[self.random.randrange(len(lines))] = self._word()
            changed = {name: "\n".join(lines)}
            call_tool(app, "items", "update_item", type=item["type"], id=item["id"], **changed)
            self.gone |= find_words(item[name]) - find_words(changed)

    def link_items(self, app: App) -> None:
        if len(items := list_items(app)) > 1:
            one, other = self.random.sample(items, 2)
            target = f"{other['type']}-{other['id']}"
            call_tool(app, "items", "add_relation", type=one["type"], id=one["id"], target=target)

    def claim(self, app: App) -> None:
        text = self.random.choice(["Tea is green.", "The door is open.", "The dog is old."])
        source = {"at": "2027-01-31T09:00:00Z", "url": f"https://example.org/{self._word()}"}
        call_tool(app, "claims", "upsert", text=text, scope="project", provenance=source)

    def find_lost(self) -> dict[str, set[str]]:
        """The words that should be there and are not, by home."""
        kept = self.written - self.gone
        bodies = [each.body for app in self.apps for each in sync_command.list_conflicts(app)]
        listed = find_words(bodies)
        return {app.home.name: kept - listed - find_words(list_all(app)) for app in self.apps}


def list_items(app: App) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = call_owner_tool(app, "items", "export", {"after": after})
        found += page["items"]
        after = page.get("next")
    return found


def list_all(app: App) -> list[Any]:
    return [list_memos(app), list_relations(app), list_items(app), list_claims(app)]


def list_claims(app: App) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        page = call_owner_tool(app, "claims", "export", {"after": after})
        found += page["claims"]
        after = page.get("next")
    return found


def find_words(value: Any) -> set[str]:
    return set(_TOKEN.findall(json.dumps(value)))


def list_memos(app: App) -> list[dict[str, Any]]:
    return list(_read(app, "export", "memos", ""))


def list_relations(app: App) -> list[dict[str, Any]]:
    return list(_read(app, "export.relations", "relations", ["", "", "", ""]))


def _read(app: App, tool: str, name: str, after: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while after is not None:
        page = call_owner_tool(app, "memory", tool, {"trash": True, "after": after})
        found += page[name]
        after = page.get("next")
    return found


def dump(app: App) -> list[str]:
    """What a home holds, without what differs from home to home."""
    fields = ("memo_id", "namespace", "title", "content", "metadata", "thread", "expires_at")
    memos = [
        json.dumps([*[memo[name] for name in fields], memo["deleted_at"] is not None], sort_keys=True)
        for memo in list_memos(app)
    ]
    ends = ("source", "target", "tag", "namespace", "weight", "reason")
    relations = [json.dumps([each[name] for name in ends]) for each in list_relations(app)]
    items: list[str] = []
    for item in list_items(app):
        links = sorted(f"{link['uid']} {link['kind']}" for link in item["links"])
        fields = ("uid", "type", "title", "content", "description", "category", "status", "deleted_at")
        items.append(json.dumps([*[item[name] for name in fields], sorted(item["tags"]), links]))
    claims = [
        json.dumps([each["text"], each["scope"], sorted(part["source_id"] for part in each["evidences"])])
        for each in list_claims(app)
    ]
    return sorted(memos) + sorted(relations) + sorted(items) + sorted(claims)


def sync_all(apps: list[App], folder: Path) -> list[SyncReport]:
    """Until nobody has anything to publish."""
    reports: list[SyncReport] = []
    for _ in range(20):
        round = [run_sync(app, folder) for app in apps]
        reports += round
        if not any(each.published for each in round):
            return reports
    raise AssertionError("the homes do not come to rest")

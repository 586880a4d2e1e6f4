"""The conversation of `demo`, in both languages: what is said in one of them is asked in the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class DemoStep:
    scene: str = ""  # printed before it
    says: str = ""  # by the person
    tool: str = ""  # what the agent calls: `module.tool`, or a meta-tool
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str = ""  # under which later steps refer to its answer


@dataclass(frozen=True, slots=True)
class DemoTalk:
    you: str
    agent: str
    saved: str
    created: str
    nothing: str
    replaced: str
    end: str
    removed: str
    kept: str
    steps: Sequence[DemoStep]


_RULE = "Releases go out on Tuesday mornings. Never deploy on a Friday."
_RULE_JA = "リリースは火曜の朝に行う。金曜日にはデプロイしない。"
_KEY = "The front door has a new lock. The spare key is in the kitchen drawer."
_KEY_JA = "玄関の鍵を新しくした。合鍵は台所の引き出しにある。"

_ENGLISH = DemoTalk(
    you="You",
    agent="Agent",
    saved="saved in {place}",
    created="created {address}",
    nothing="nothing found",
    replaced="(replaced since)",
    end="That was all: {calls} calls through the same server that your clients use, each in its journal.",
    removed="The folder of this demo is removed. Start your own with: {program} serve",
    kept="The data is kept in {folder}. Look at it with: {program} --home {folder} memory list",
    steps=(
        DemoStep("An ordinary Monday. What you say in passing is saved.", _RULE, "memory.save",
                 {"namespace": "work", "content": _RULE}, "rule"),
        DemoStep("", _KEY_JA, "memory.save", {"namespace": "home", "content": _KEY_JA}),
        DemoStep("", "Remind me to write the release notes.", "items.create_item",
                 {"type": "task", "title": "Write the release notes", "priority": "HIGH"}),
        DemoStep("Weeks later, in another client, and in the other language.", "金曜日にリリースしてもいい？",
                 "memory.search", {"query": "金曜日にリリースしてもいい？", "k": 1}),
        DemoStep("", "Where did I put the spare key?", "memory.search",
                 {"query": "Where did I put the spare key?", "k": 1}),
        DemoStep("Facts change. The old one stays, marked, behind the new one.",
                 "From January we release on Wednesdays.", "memory.save",
                 {"content": "Releases go out on Wednesdays from January.", "namespace": "work",
                  "supersedes": "$rule"}),
        DemoStep("", "On which day do releases go out?", "memory.search",
                 {"query": "On which day do releases go out?", "k": 2}),
        DemoStep("One question over everything: memos, tasks, documents, files.", "What do I know about releases?",
                 "search", {"query": "releases"}),
    ),
)  # fmt: skip

_JAPANESE = DemoTalk(
    you="あなた",
    agent="AI",
    saved="{place} に保存",
    created="{address} を作成",
    nothing="見つかりません",
    replaced="（のちに更新）",
    end="会話はここまでです。{calls} 回の呼び出しはすべて、クライアントが使うのと同じサーバーを通り、記録されました。",
    removed="このデモのフォルダーは削除しました。自分用に始めるには: {program} serve",
    kept="データは {folder} に残しました。見るには: {program} --home {folder} memory list",
    steps=(
        DemoStep("いつもの月曜日。会話の中で話したことが保存されます。", _RULE_JA, "memory.save",
                 {"namespace": "work", "content": _RULE_JA}, "rule"),
        DemoStep("", _KEY, "memory.save", {"namespace": "home", "content": _KEY}),
        DemoStep("", "リリースノートを書くのを忘れないように。", "items.create_item",
                 {"type": "task", "title": "リリースノートを書く", "priority": "HIGH"}),
        DemoStep("数週間後、別のクライアントで、もう一方の言語で尋ねます。", "Can I deploy on a Friday?",
                 "memory.search", {"query": "Can I deploy on a Friday?", "k": 1}),
        DemoStep("", "合鍵はどこに置いた？", "memory.search", {"query": "合鍵はどこに置いた？", "k": 1}),
        DemoStep("事実は変わります。古いメモは印が付き、新しいメモの後ろに残ります。",
                 "1月からリリースは水曜日にする。", "memory.save",
                 {"namespace": "work", "content": "1月からリリースは水曜日に行う。", "supersedes": "$rule"}),
        DemoStep("", "リリースは何曜日？", "memory.search", {"query": "リリースは何曜日？", "k": 2}),
        DemoStep("メモ、タスク、文書、ファイルをまとめて一度に探します。", "リリースについて何がわかっている？",
                 "search", {"query": "リリース"}),
    ),
)  # fmt: skip

TALKS = {"en": _ENGLISH, "ja": _JAPANESE}

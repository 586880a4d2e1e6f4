"""How much of an answer is content: the characters of a search with ten hits, divided by those of the texts in it. The
floor is the same answer with nothing but the keys that a specification requires."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from .child import Child, Failed, started
from .messages import INITIALIZE, INITIALIZED, failure, tool_call
from .peers import Peer, Peers
from .plan import Plan
from .report import Goal, Row

QUESTION = "When does the gardener come?"
SHORT = "Note {}: the gardener comes every second Tuesday at nine and wants to be paid in cash."
LONGER = SHORT + " The hedge behind the shed is left as it is until the end of October."
REQUIRED = {"memory.search": ("memo_id", "content", "score"), "search": ("id", "title", "text", "url")}


def measure(peers: Peers, plan: Plan) -> list[Row]:
    return [row for peer in peers.plain if peer.name == "tokonoma" for row in _measure_all(peer)]


def _measure_all(peer: Peer) -> list[Row]:
    rows: list[Row] = []
    for name, text in (("short", SHORT), ("longer", LONGER)):
        home = Path(peer.env["TOKONOMA_HOME"]).with_name(f"sizes {name}")
        env = {**peer.env, "TOKONOMA_HOME": str(home)}
        with started(replace(peer, env=env).stdio, env, peer.log) as child:
            rows += _measure_hits(child, text)
    return rows


def _measure_hits(child: Child, text: str) -> list[Row]:
    child.ask(INITIALIZE)
    child.tell(INITIALIZED)
    texts = [text.format(number) for number in range(10)]
    _call(child, "call", module="memory", tool_name="save", params={"memos": [{"content": each} for each in texts]})
    searches = {
        "memory.search": _call(child, "call", module="memory", tool_name="search", params={"query": QUESTION, "k": 10}),
        "search": _call(child, "search", query=QUESTION, k=10),
    }
    size = len(texts[0])
    rows: list[Row] = []
    for name, found in searches.items():
        hits = found["items" if name == "memory.search" else "results"]
        content = sum(len(each["content" if name == "memory.search" else "text"]) for each in hits)
        least = [{key: each[key] for key in REQUIRED[name]} for each in hits]
        values = {"tokonoma": _count(found) / content, "floor": _count({"items": least}) / content}
        goal = Goal("≤", 1.6) if name == "memory.search" else None
        rows.append(Row(f"{name}, ten memos of {size} characters: answer / texts", "", values, goal))
    return rows


def _call(child: Child, name: str, **arguments: Any) -> Any:
    answer = child.ask(tool_call(3, {"name": name, "arguments": arguments}))
    if problem := failure(answer, ""):
        raise Failed(problem)
    return json.loads(answer)["result"]["structuredContent"]


def _count(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

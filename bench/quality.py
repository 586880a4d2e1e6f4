"""`python -m bench.quality` (`make eval`): does the right memo come back? Every set goes through the real tools.

The sets lie beside the project (`../shared/eval`, or EVAL=folder) and never enter it; without them this says so.
Each mode (words, vectors, both) saves the corpus with `memory.save`, asks with `memory.search`, and is scored by the
sets' own `score.py`.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokonoma.app import App
from tokonoma.core.call import Caller
from tokonoma.edge.wire.front import Answer, Order

EVAL = Path(os.environ.get("EVAL", Path(__file__).parents[2] / "shared" / "eval"))
MODES = {"words": "text", "vectors": "vector", "both": "hybrid"}
_AT_ONCE = 500


@dataclass(frozen=True)
class Task:
    name: str
    corpus: str
    queries: str
    relevant: str = "relevant"


TASKS = (
    Task("jsquad", "jsquad.corpus", "jsquad.queries"),
    Task("jaquad", "jaquad.corpus", "jaquad.queries"),
    Task("locomo", "locomo.corpus", "locomo.queries"),
    Task("locomo-sessions", "locomo.sessions", "locomo.queries", "relevant_sessions"),
    Task("k8s", "k8s.corpus", "k8s.queries"),
    Task("fastapi", "fastapi.corpus", "fastapi.queries"),
)


class House:
    """A Tokonoma in this process, called through its front like any client's."""

    def __init__(self, home: Path, **settings: Any) -> None:
        self.app = App({"home": str(home), "durable": False, "log_level": "warning", **settings})
        self._caller = Caller("cli")

    def call(self, tool: str, **params: Any) -> dict[str, Any]:
        answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        arguments = {"module": "memory", "tool_name": tool, "params": params}
        self.app.front.start(Order("call", arguments, self._caller), answers.put)
        answer = answers.get()
        told = json.loads(answer.content[0]["text"])
        if answer.is_error:
            raise RuntimeError(told["error"]["message"])
        return told


def lines(name: str) -> list[dict[str, Any]]:
    with (EVAL / "dev" / f"{name}.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def space_of(record: dict[str, Any]) -> str:
    """Where a record lies: its conversation, or its language. A query asks only there."""
    scope = record.get("scope") or record.get("meta", {}).get("scope")
    if not scope and "/S" in record["id"]:
        scope = record["id"].split("/")[0]
    return scope or record.get("corpus_lang") or (record["lang"] if "#" in record["id"] else "all")


def memo_of(record: dict[str, Any]) -> dict[str, Any]:
    memo = {"content": record["text"].strip() or record["title"], "namespace": space_of(record)}
    if record.get("title"):
        memo["title"] = record["title"][:500]
    if record.get("meta", {}).get("session"):
        memo["thread"] = record["meta"]["session"]
    return memo


def filled(house: House, corpus: list[dict[str, Any]]) -> dict[str, str]:
    """Save the corpus; memo id → the set's own id."""
    names: dict[str, str] = {}
    for start in range(0, len(corpus), _AT_ONCE):
        part = corpus[start : start + _AT_ONCE]
        told = house.call("save", memos=[memo_of(record) for record in part])
        names |= {kept["memo_id"]: record["id"] for kept, record in zip(told["items"], part, strict=True)}
    return names


def asked(
    house: House, queries: list[dict[str, Any]], names: dict[str, str], mode: str, k: int
) -> dict[str, list[str]]:
    run: dict[str, list[str]] = {}
    for query in queries:
        space = space_of(query) if query.get("scope") or query.get("corpus_lang") else "all"
        told = house.call("search", query=query["text"], namespace=space, k=k, mode=mode)
        run[query["id"]] = [names[item["memo_id"]] for item in told["items"]]
    return run


def spread(queries: list[dict[str, Any]], most: int | None) -> list[dict[str, Any]]:
    """So many of them, from all kinds: the sets are sorted."""
    return queries if most is None else queries[:: max(1, -(-len(queries) // most))]


def score(task: Task, run: dict[str, list[str]], queries: list[dict[str, Any]], folder: Path) -> str:
    """Over the queries that were asked: one that is missing from a run counts as not found."""
    asked_file, file = folder / "asked.jsonl", folder / "run.json"
    asked_file.write_text("".join(json.dumps(query) + "\n" for query in queries))
    file.write_text(json.dumps(run))
    command = [sys.executable, EVAL / "score.py", asked_file, file, "--rel", task.relevant]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measured(tasks: list[Task], modes: list[str], most: int | None, k: int) -> Iterator[str]:
    for task in tasks:
        with tempfile.TemporaryDirectory(prefix="tokonoma-eval-") as name:
            house = House(Path(name) / "home")
            begin = time.perf_counter()
            corpus = [record for record in lines(task.corpus) if (record["text"] + (record.get("title") or "")).strip()]
            names = filled(house, corpus)
            saved = time.perf_counter() - begin
            queries = [query for query in lines(task.queries) if "exhaustive" not in str(query.get("kind"))]
            queries = spread(queries, most)
            yield f"## {task.name}: {len(corpus)} memos saved in {saved:.1f} s, {len(queries)} queries\n"
            for mode in modes:
                begin = time.process_time()
                run = asked(house, queries, names, MODES[mode], k)
                spent = (time.process_time() - begin) / max(1, len(queries)) * 1000
                yield f"{mode} ({spent:.1f} ms of CPU a query)\n{score(task, run, queries, Path(name))}"
            house.app.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.quality", description=__doc__)
    parser.add_argument("--modes", default="words", help="words,vectors,both")
    parser.add_argument("--sets", default=",".join(task.name for task in TASKS))
    parser.add_argument("--most", type=int, help="only so many queries a set")
    parser.add_argument("--k", type=int, default=100, help="how many to ask for")
    options = parser.parse_args()
    if not EVAL.is_dir():
        print(f"The evaluation sets are not here ({EVAL}); they never enter the project. Set EVAL=folder.")
        return
    tasks = [task for task in TASKS if task.name in options.sets.split(",")]
    for part in measured(tasks, options.modes.split(","), options.most, options.k):
        print(part, flush=True)


if __name__ == "__main__":
    main()

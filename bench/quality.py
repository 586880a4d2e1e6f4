"""`python -m bench.quality` (`make eval`): does the right memo come back? Every set goes through the real tools.

The sets lie beside the project (`../shared/eval`, or EVAL=folder) and never enter it; without them this says so.
The corpus is saved with `memory.save` and asked with `memory.search` in each mode (words, vectors, both), and the
answers are scored by the sets' own `score.py`. One table comes out: R@10, or MRR for passages and paraphrases.

The sets *mixed*, *mixed-manuals* and *templated* have files of their own, which say what they ask:
both_languages.py and templated.py.

The paraphrases of training/ are asked among 2 000 other texts of each language, drawn from
`../shared/bitext/data` (or PAIRS=folder).

Another embedding model as a yardstick, with the package of its provider installed and its files in a folder:

    python -m bench.quality --modes vectors,both --set embed_provider=sentence-transformers \\
        --set embed_model=all-MiniLM-L6-v2 --set embed_folder=FOLDER --set embed_reach=400
"""

import argparse
import gc
import importlib.util
import json
import os
import queue
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tokonoma.app import App
from tokonoma.cli import GC_THRESHOLDS
from tokonoma.core.call import Caller
from tokonoma.core.policy import PolicyProposal
from tokonoma.embed.queue import count_waiting
from tokonoma.server.mcp.interface import ToolRequest, ToolResult

_BESIDE = Path(__file__).parents[2] / "shared"
EVAL = Path(os.environ.get("EVAL", _BESIDE / "eval"))
PAIRS = Path(os.environ.get("PAIRS", _BESIDE / "bitext" / "data"))
MODES = {"words": "text", "vectors": "vector", "both": "hybrid"}
_AT_ONCE = 500
OPEN = """version: 1.0
callers: { owner: ['*'] }
boundary_classes: { secret: { allow: ['*'] }, pii: { allow: ['*'] } }
writes: { secret: allow, pii: allow }
"""
"""Manuals are full of keys that are none: nothing of a set is refused or hidden."""


@dataclass(frozen=True)
class Task:
    name: str
    corpus: str
    queries: str
    relevant: str = "relevant"
    figure: str = "R@10"
    by: str = "set"


TASKS = (
    Task("jsquad", "jsquad.corpus", "jsquad.queries", figure="MRR"),
    Task("jaquad", "jaquad.corpus", "jaquad.queries", figure="MRR"),
    Task("locomo", "locomo.corpus", "locomo.queries"),
    Task("locomo-sessions", "locomo.sessions", "locomo.queries", "relevant_sessions"),
    Task("k8s", "k8s.corpus", "k8s.queries", by="kind"),
    Task("fastapi", "fastapi.corpus", "fastapi.queries", by="kind"),
    Task("paraphrases", "", "", figure="MRR", by="kind"),
)


MORE = ("mixed", "mixed-manuals", "templated")
"""Sets that have files of their own."""


class House:
    """A Tokonoma in this process, called through its front like any client's."""

    module = "memory"

    def __init__(self, home: Path, policy: str = OPEN, **settings: Any) -> None:
        gc.set_threshold(*GC_THRESHOLDS)  # as the program does
        self.app = App({"home": str(home), "durable": False, "log_level": "warning", **settings})
        self._caller = Caller("cli")
        if policy:
            with self.app.write_as_owner("policy") as statements:
                self.app.policies.apply(statements, PolicyProposal(policy), "bench")
            self.app.reclassifier.run_until_done()

    def call(self, tool: str, **params: Any) -> dict[str, Any]:
        answers: queue.SimpleQueue[ToolResult] = queue.SimpleQueue()
        arguments = {"module": self.module, "tool_name": tool, "params": params}
        self.app.dispatcher.start_call(ToolRequest("call", arguments, self._caller), answers.put)
        answer = answers.get()
        told = json.loads(answer.text)
        if "error" in told:
            raise RuntimeError(told["error"]["message"])
        return told

    def settle(self) -> None:
        """Until every vector is made: else the worker's time would be taken for that of a search."""
        worker = self.app.search.worker
        while worker is not None and (worker.run_batch() or self._count_waiting()):
            time.sleep(0.01)  # its own job may have the rest in hand

    def _count_waiting(self) -> int:
        with self.app.database.reading() as rows:
            return count_waiting(rows)


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
    if record.get("ts"):
        memo["metadata"] = {"date": record["ts"]}
    return memo


def filled(house: House, corpus: list[dict[str, Any]], *, embed: bool) -> dict[str, str]:
    """Save the corpus, and make its vectors; memo id → the set's own id."""
    names: dict[str, str] = {}
    for start in range(0, len(corpus), _AT_ONCE):
        part = corpus[start : start + _AT_ONCE]
        told = house.call("save", memos=[memo_of(record) for record in part])
        names |= {kept["memo_id"]: record["id"] for kept, record in zip(told["items"], part, strict=True)}
    if embed:
        house.settle()
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


def paraphrases() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Everyday notes among texts that have nothing to do with them, and the questions that mean them."""
    training = import_module("training.paraphrases")  # outside of the wheel, and of what is checked

    rows = [json.loads(line) for line in training.PATH.read_text("utf-8").splitlines()]
    others: dict[str, list[str]] = training.distractors(PAIRS)
    corpus: list[dict[str, Any]] = []
    queries: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        name = f"note-{number}#"
        # Each pair of languages by itself: the notes of another pair say the same.
        about = {"corpus_lang": f"{row['query_lang']}-{row['note_lang']}", "lang": row["note_lang"]}
        corpus.append({"id": name, "text": row["note"], **about})
        queries.append(
            {"id": str(number), "text": row["query"], "relevant": [name], "kind": about["corpus_lang"], **about}
        )
    for pair, language in sorted({(each["corpus_lang"], each["lang"]) for each in corpus}):
        texts = enumerate(others[language])
        corpus += [{"id": f"{pair}-{n}#", "text": text, "lang": language, "corpus_lang": pair} for n, text in texts]
    return corpus, queries


def read(task: Task, most: int | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    if task.name == "paraphrases":
        return paraphrases() if PAIRS.is_dir() else ([], [])
    corpus = [record for record in lines(task.corpus) if record["text"].strip() or (record.get("title") or "").strip()]
    queries = [query for query in lines(task.queries) if "exhaustive" not in str(query.get("kind"))]
    return corpus, spread(queries, most)


def spread(queries: list[dict[str, Any]], most: int | None) -> list[dict[str, Any]]:
    """So many of them, from all kinds: the sets are sorted."""
    return queries if most is None else queries[:: max(1, -(-len(queries) // most))]


def score(task: Task, queries: list[dict[str, Any]], run: dict[str, list[str]]) -> dict[str, float]:
    """By the sets' own program: kind → the figure of this set."""
    spec = importlib.util.spec_from_file_location("score", EVAL / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.score(queries, run, task.relevant)
    kinds = sorted(found.keys() - {"ALL"}) if task.by == "kind" else ["ALL"]
    return {task.name if kind == "ALL" else f"{task.name} {kind}": found[kind][task.figure] for kind in kinds}


def measured(task: Task, modes: list[str], most: int | None, k: int, settings: dict[str, str]) -> list[str]:
    corpus, queries = read(task, most)
    figures: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="tokonoma-eval-") as name:
        house = House(Path(name) / "home", **settings)
        begin = time.perf_counter()
        names = filled(house, corpus, embed=modes != ["words"])
        say(f"{task.name}: {len(corpus)} memos saved in {time.perf_counter() - begin:.0f} s")
        for mode in modes:
            begin = time.process_time()
            run = asked(house, queries, names, MODES[mode], k)
            spent = (time.process_time() - begin) / max(1, len(queries)) * 1000
            say(f"{task.name}: {len(queries)} queries by {mode}, {spent:.1f} ms of CPU each")
            for kind, figure in score(task, queries, run).items():
                figures[kind].append(figure)
        house.app.close()
    rows = {kind: " | ".join(f"{each:.3f}" for each in row) for kind, row in figures.items()}
    return [f"| {kind} | {task.figure} | {row} |" for kind, row in rows.items()]


def measured_more(name: str, modes: list[str], most: int | None, settings: dict[str, str]) -> list[str]:
    if name == "templated":
        return import_module("bench.templated").measure(settings)
    languages = import_module("bench.both_languages")
    if name == "mixed":
        return languages.measure_pairs(modes, "report", settings) if PAIRS.is_dir() else []
    return [
        line
        for manual in languages.MANUALS
        for line in languages.measure_manual(manual, modes, "report", most, settings)
    ]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.quality", description=__doc__)
    parser.add_argument("--modes", default="words", help="words,vectors,both")
    parser.add_argument("--sets", default=",".join((*(task.name for task in TASKS), *MORE)))
    parser.add_argument("--most", type=int, help="only so many queries a set")
    parser.add_argument("--k", type=int, default=100, help="how many to ask for")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the house")
    options = parser.parse_args()
    if not EVAL.is_dir():
        print(f"The evaluation sets are not here ({EVAL}); they never enter the project. Set EVAL=folder.")
        return
    tasks = [task for task in TASKS if task.name in options.sets.split(",")]
    modes = options.modes.split(",")
    settings = dict(each.split("=", 1) for each in options.set)
    print(f"| set | figure | {' | '.join(modes)} |\n|---|---|{'---|' * len(modes)}", flush=True)
    for task in tasks:
        print("\n".join(measured(task, modes, options.most, options.k, settings)), flush=True)
    for name in MORE:
        if name in options.sets.split(","):
            print("\n".join(measured_more(name, modes, options.most, settings)), flush=True)


if __name__ == "__main__":
    main()

"""`python -m bench.library` (part of `make eval`): is everything about a topic found, and how much must be read for it?

The manual sets are written out as Markdown pages and asked through `manual_find`, `manual_hits` and `manual_read`. The
data lie beside the project (`../shared/eval`, or EVAL=folder) and never enter it; without them this says so.
"""

import argparse
import json
import queue
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokonoma.core.call import Caller
from tokonoma.core.normalize import normalize
from tokonoma.server.mcp.interface import ToolRequest, ToolResult

from .quality import EVAL, House, lines

NAMED = 0.6  # a score from which on the term itself, or another name for it, stands in the section
MOST = 200  # hits of one answer


class Library:
    """A Tokonoma in this process with one set's pages as manuals, one a language."""

    def __init__(self, home: Path, name: str, provider: str | None) -> None:
        self.home, self.name, self.characters = home, name, 0
        self.ids: dict[tuple[str, str, int], str] = {}
        self.sizes: dict[str, int] = {}
        self.lines: dict[str, list[str]] = {}
        self._write(lines(f"{name}.corpus"))
        self.app = House(home, **({} if provider is None else {"embed_provider": provider})).app

    def _write(self, corpus: Iterable[dict[str, Any]]) -> None:
        pages: dict[tuple[str, str], list[str]] = {}
        for record in corpus:
            meta = record["meta"]
            page = pages.setdefault((record["lang"], meta["path"]), [])
            self.ids[record["lang"], meta["path"], len(page) + 1] = record["id"]
            heading = f"{'#' * max(1, min(6, meta['level'] or 1))} {' '.join(meta['heading'].split()) or meta['path']}"
            text = record["text"].strip("\n")
            # What looks like a heading inside a section's text would open another one.
            own = [heading, *(re.sub(r"^(\s{0,3})(#|===|---)", r"\1\\\2", line) for line in text.split("\n")), ""]
            own = own if _fences(own) % 2 == 0 else [*own, "```", ""]
            page += own
            self.sizes[record["id"]] = sum(len(line) + 1 for line in own)
            self.lines[record["id"]] = own
        for (lang, path), page in pages.items():
            file = self.home / "workspace" / "manuals" / lang / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(page) + "\n", encoding="utf-8")

    def glossary(self, lang: str, words: Sequence[str]) -> None:
        file = self.home / "workspace" / "manuals" / lang / "glossary.yml"
        file.unlink(missing_ok=True)
        if words:
            file.write_text(json.dumps({"terms": [list(words)]}, ensure_ascii=False), encoding="utf-8")

    def settle(self) -> None:
        """Wait until all files are indexed; a search wakes the worker that makes vectors: wait for these, too."""
        self.index_all()
        while self.call("status", "system")["sizes"]["embedding_queue"]:
            time.sleep(0.5)

    def index_all(self) -> dict[str, Any]:
        """The summary of a search of everything."""
        while True:
            summary = self.call("find", query="settle", budget={"time_ms": 60_000})["summary"]
            if "indexing" not in summary:
                return summary

    def call(self, tool: str, module: str = "manual", **params: Any) -> dict[str, Any]:
        answers: queue.SimpleQueue[ToolResult] = queue.SimpleQueue()
        arguments = {"module": module, "tool_name": tool, "params": params}
        self.app.dispatcher.start_call(ToolRequest("call", arguments, Caller("cli")), answers.put)
        answer = answers.get()
        self.characters += len(answer.text)
        told = json.loads(answer.text)
        if answer.is_error:
            raise RuntimeError(told["error"]["message"])
        return told

    def found(self, query: str, lang: str, **more: Any) -> tuple[list[str], dict[str, Any]]:
        """The ids of all candidates, best first, and the summary."""
        told = self.call("find", query=query, manual_id=lang, **more)
        return self.listed(told["trace_id"]), told

    def listed(self, trace_id: str, **more: Any) -> list[str]:
        found: list[str] = []
        while True:
            page = self.call("hits", trace_id=trace_id, offset=len(found), limit=200, **more)
            found += [self.id_of(item["ref"]) for item in page["items"]]
            if len(found) >= page["total"]:
                return found

    def named(self, told: Mapping[str, Any], **how: Any) -> list[dict[str, Any]]:
        """As an agent that wants every mention and nothing else: as many as the search proposes, on until names end."""
        proposed = next(each["params"] for each in told["next_actions"] if "limit" in (each["params"] or ()))
        found: list[dict[str, Any]] = []
        while True:
            page = self.call("hits", **proposed, **how, offset=len(found))
            refs = [ref for item in page["items"] for ref in _named_of(item)]
            found += refs
            if len(refs) < proposed["limit"] or len(found) >= page["total"] or proposed["limit"] < MOST:
                return found

    def read_all(self, refs: Sequence[dict[str, Any]], trace_id: str) -> int:
        """Read the sections, as many in one call as fit; returns the characters of their texts."""
        left, size = list(refs), 0
        while left:
            limits = {"max_chars": 20_000}
            told = self.call("read", refs=left[:20], scope="section", expand=False, limits=limits, trace_id=trace_id)
            size += sum(len(item["text"]) for item in told["items"])
            following = [item["next_ref"] for item in told["items"] if "next_ref" in item]
            done = min(20, len(left)) - told.get("rest", 0)
            left = [*following, *left[done:]]
        return size

    def id_of(self, ref: dict[str, Any]) -> str:
        return self.ids.get((ref["manual_id"], ref["path"], ref["start_line"]), str(ref))


def _named_of(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What stands there by name, of either form of a hit."""
    ref = item["ref"]
    alone = [(ref.get("start_line"), "", item.get("score"), ref.get("hash"))]
    for line, _, score, hash, *_ in item.get("sections", alone):
        if score >= NAMED:
            yield {**ref, "start_line": line, "hash": hash}


def _fences(own: Sequence[str]) -> int:
    return sum(line.lstrip().startswith(("```", "~~~")) for line in own)


def exhaustive(library: Library, most: int, with_glossary: bool) -> dict[str, list[float]]:
    """Recall at the candidate cap, by kind of question."""
    recalls: dict[str, list[float]] = {}
    asked = [each for each in lines(f"{library.name}.queries") if each["kind"].startswith("exhaustive")][:most]
    for query in asked:
        library.glossary(query["corpus_lang"], query["variants"] if with_glossary else ())
        found, _ = library.found(query["text"], query["corpus_lang"])
        relevant = set(query["relevant"])
        kind = "spelling" if query["kind"] == "exhaustive_spell" else "variants"
        recall = len(relevant.intersection(found)) / len(relevant)
        recalls.setdefault(kind, []).append(recall)
        if query["kind"] == "exhaustive_minority":  # asked for by the rarest of its forms; one of the variants
            recalls.setdefault("variants, rarest form", []).append(recall)
        library.glossary(query["corpus_lang"], ())
    return recalls


def tokens(library: Library, most: int) -> dict[str, float]:
    """Characters to collect everything, against the ideal: the relevant sections and nothing else. And characters of a
    list with its evidence, against `grep -n` over the same places."""
    ways = {
        "list": {"by": "file", "evidence": False},
        "lines by file": {"by": "file"},
        "lines by section": {"by": "section"},
    }
    listing = dict.fromkeys(ways, 0)
    bodies = collected = ideal = printed = relevant_found = relevant_all = 0
    for task in lines("token_tasks")[:most]:
        library.glossary(task["corpus_lang"], task["variants"])
        refs, told = list[dict[str, Any]](), dict[str, Any]()
        for way, how in reversed(ways.items()):
            library.characters = 0
            limits = {"max_candidates": 1000}
            told = library.call("find", query=task["text"], manual_id=task["corpus_lang"], budget=limits)
            refs = library.named(told, **how)
            listing[way] += library.characters
        bodies += library.read_all(refs, told["trace_id"])
        collected += library.characters  # of the shortest way, with the reading
        chosen = {library.id_of(ref): ref for ref in refs}
        printed += sum(_grep(library.lines.get(id, ()), ref, task["variants"]) for id, ref in chosen.items())
        ideal += task["ideal"]
        relevant_found += len(set(task["relevant"]).intersection(chosen))
        relevant_all += len(task["relevant"])
        library.glossary(task["corpus_lang"], ())
    return {
        "find and hits without lines, share of the ideal": listing["list"] / ideal,
        "bodies read, times the ideal": bodies / ideal,
        "find, hits and read, times the ideal": collected / ideal,
        "recall": relevant_found / relevant_all,
        "find and hits by file, times grep -n": listing["lines by file"] / printed,
        "find and hits by section, times grep -n": listing["lines by section"] / printed,
    }


def _grep(own: Sequence[str], ref: Mapping[str, Any], variants: Sequence[str]) -> int:
    """The characters that `grep -n` prints of a section for any of the variants, in any spelling."""
    wanted = [normalize(each) for each in variants]
    found = [
        (line, text)
        for line, text in enumerate(own, ref["start_line"])
        if any(each in normalize(text) for each in wanted)
    ]
    return sum(len(f"{ref['path']}:{line}:{text}\n") for line, text in found)


def latency(library: Library, most: int) -> dict[str, float]:
    times: list[float] = []
    asked = [each for each in lines(f"{library.name}.queries") if "link" in each["kind"] or "exh" in each["kind"]]
    for query in asked[:: max(1, len(asked) // most)][:most]:
        before = time.process_time()
        library.call("find", query=query["text"], manual_id=query["corpus_lang"])
        times.append((time.process_time() - before) * 1000)
    cuts = statistics.quantiles(times, n=20)
    return {"p50 ms": cuts[9], "p95 ms": cuts[18]}


def links(library: Library, most: int) -> dict[str, float]:
    """R@10 of the manual's own cross-references."""
    hits: dict[str, list[float]] = {}
    asked = [each for each in lines(f"{library.name}.queries") if each["kind"] in ("link_section", "link_page")]
    for query in asked[:: max(1, len(asked) // most)][:most]:
        found, _ = library.found(query["text"], query["corpus_lang"])
        kept = [each for each in found if each not in query["exclude"]]
        if query["level"] == "page":
            kept = list(dict.fromkeys(each.partition("#")[0] for each in kept))
        hits.setdefault(query["kind"], []).append(float(bool(set(query["relevant"]) & set(kept[:10]))))
    return {f"{kind} R@10": statistics.mean(values) for kind, values in hits.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.library", description=__doc__)
    parser.add_argument("--sets", default="k8s,fastapi")
    parser.add_argument("--most", type=int, default=10_000, help="questions of each kind")
    parser.add_argument("--provider", help="embed_provider of the house; default: its own default")
    options = parser.parse_args()
    if not (EVAL / "dev").is_dir():
        sys.exit(f"The evaluation sets are not here: {EVAL} (EVAL=folder says where they are)")
    for name in options.sets.split(","):
        with tempfile.TemporaryDirectory(prefix="tokonoma-library-") as home:
            library = Library(Path(home), name, options.provider)
            before = time.process_time()
            library.call("list")
            print(f"{name}: indexed in {time.process_time() - before:.1f} s CPU", flush=True)
            library.settle()
            _report(library, options.most)
            library.app.close()


def _report(library: Library, most: int) -> None:
    rows: dict[str, float] = {}
    if library.name == "k8s":
        for with_glossary in (False, True):
            suffix = "with a glossary" if with_glossary else "without"
            for kind, recalls in sorted(exhaustive(library, most, with_glossary).items()):
                rows[f"exhaustive, {kind}, {suffix}"] = statistics.mean(recalls)
        rows |= tokens(library, most)
    rows |= links(library, min(most, 300)) | latency(library, min(most, 200))
    for what, value in rows.items():
        print(f"  {what:45} {value:.3f}", flush=True)


if __name__ == "__main__":
    main()

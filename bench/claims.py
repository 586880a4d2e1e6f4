"""`python -m bench.claims`: does the right claim come back as the store grows, and what does activating cost?

Claims are made of the sets beside the project (`../shared/eval/dev`, or EVAL=folder), which never enter it. The same
questions are asked at 15, 1 000, 5 000 and 20 000 claims, through the real tools.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from .quality import EVAL, House, lines
from .rounds import percentile

SIZES = (15, 1_000, 5_000, 20_000)
ASKED = ("jsquad", "jaquad")
FILLING = ("locomo", "k8s", "fastapi")  # LoCoMo asks inside one conversation, which claims do not know
AT = "2026-01-15T09:00:00Z"
LONGEST = 700  # characters of a claim: longer texts become several


class Claiming(House):
    module = "claims"

    def __init__(self, home: Path, provider: str) -> None:
        super().__init__(home, policy="", embed_provider=provider, log_level="error")

    def call(self, tool: str, **params: Any) -> dict[str, Any]:
        return super().call(tool, **params)["data"]


def pieces(text: str) -> list[str]:
    text = text.strip()
    cut = (text[start : start + LONGEST] for start in range(0, len(text), LONGEST))
    return [piece for piece in cut if piece.strip()]


def claimed(record: dict[str, Any]) -> str:
    """A claim stands alone, so it names its subject: a paragraph of an article often leaves that to the title."""
    text, title = record["text"].strip(), record.get("title", "").strip()
    return text if title in text else f"{title}: {text}"


def material(questions: int, seed: int) -> tuple[list[tuple[str, set[str]]], list[str]]:
    """Questions with the texts that answer them, and all texts: those of the first questions first."""
    rng = random.Random(seed)
    asked: list[tuple[str, set[str]]] = []
    texts: dict[str, str] = {}
    for name in ASKED:
        corpus = {each["id"]: claimed(each) for each in lines(f"{name}.corpus")}
        texts |= {key: text for key, text in corpus.items() if 20 <= len(text) <= LONGEST}
        for query in lines(f"{name}.queries"):
            right = {corpus[key] for key in query["relevant"] if key in corpus and 20 <= len(corpus[key]) <= LONGEST}
            if len(right) == 1 and query.get("kind") in ("passage", "single", "single_hop", None):
                asked.append((query["text"], right))
    rng.shuffle(asked)
    asked = asked[:questions]
    first = [text for _, right in asked for text in right]
    rest = list(texts.values())
    rest += [piece for name in FILLING for each in lines(f"{name}.corpus") for piece in pieces(each["text"])]
    rng.shuffle(rest)
    return asked, list(dict.fromkeys([*first, *rest]))


def grown(house: Claiming, texts: list[str], kept: dict[str, str], size: int) -> None:
    there = set(kept.values())
    for text in texts:
        if len(kept) >= size:
            break
        if text in there:
            continue
        try:
            told = house.call("upsert", text=text, scope="project", provenance={"at": AT})
        except RuntimeError:
            continue  # a text with something in it that the policy refuses
        kept[told["id"]] = text
    house.settle()


def measured(house: Claiming, asked: list[tuple[str, set[str]]], kept: dict[str, str]) -> tuple[float, list[float]]:
    there = set(kept.values())
    found, total, times = 0, 0, []
    for query, right in asked:
        if not right <= there:
            continue
        best = min(_timed(house, query) for _ in range(2))
        times.append(best)
        told = house.call("activate", q=query, top_k=12)
        found += bool(right & {item["claim"]["text"] for item in told["claims"]})
        total += 1
    return found / max(1, total), times


def _timed(house: Claiming, query: str) -> float:
    begin = time.process_time()
    house.call("activate", q=query, top_k=12)
    return (time.process_time() - begin) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.claims", description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--provider", default="builtin", help="none: by words alone")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not EVAL.is_dir():
        print(f"The evaluation sets are not here ({EVAL}); they never enter the project. Set EVAL=folder.")
        return
    asked, texts = material(options.questions, options.seed)
    print("claims  questions  Recall@12  activate CPU p50  p95")
    with tempfile.TemporaryDirectory(prefix="tokonoma-claims-") as name:
        house = Claiming(Path(name) / "home", options.provider)
        kept: dict[str, str] = {}
        for size in map(int, options.sizes.split(",")):
            grown(house, texts, kept, size)
            recall, times = measured(house, asked, kept)
            print(
                f"{len(kept):6d}  {len(times):9d}  {recall:9.3f}  {percentile(times, 0.5):13.1f} ms"
                f"  {percentile(times, 0.95):.1f} ms",
                flush=True,
            )
        house.app.close()


if __name__ == "__main__":
    main()

"""`python -m bench.likeness`: how `remember` judges pairs of short texts (likeness.tsv), with the built-in model and
without one. `held` are the pairs that no rule was chosen on (ADR 0053)."""

import csv
import tempfile
from collections import Counter
from pathlib import Path

from tokonoma.app import App
from tokonoma.core.likeness import judge_pair


def main() -> None:
    with Path(__file__).with_name("likeness.tsv").open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file, delimiter="\t"))
    with tempfile.TemporaryDirectory() as home:
        app = App({"home": home, "durable": False}, {})
        nearness = app.search.compare([(pair["new"], [pair["old"]]) for pair in pairs])
        app.close()
    assert nearness is not None, "the built-in model is missing"
    for name in ("chosen", "held"):
        for by in ("model", "words"):
            judged: Counter[tuple[str, str]] = Counter()
            for pair, (near,) in zip(pairs, nearness, strict=True):
                if pair["set"] == name:
                    verdict = judge_pair(pair["new"], pair["old"], near if by == "model" else None)
                    judged[pair["meant"], verdict[0] if verdict else "other"] += 1
            print(f"{name}, by {by}:")
            for (meant, found), count in sorted(judged.items()):
                print(f"  {meant:>12} judged {found:<12} {count}")


if __name__ == "__main__":
    main()

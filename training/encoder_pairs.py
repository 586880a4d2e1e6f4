"""The pairs that the encoder learns from: of every source so many, in runs of neighbouring lines.

    python -m training.encoder_pairs PAIRS OUT.jsonl.xz

Manuals would drown everyday language. Neighbouring lines stay together, so that training can join them.
"""

import argparse
import json
import lzma
import random
from collections import defaultdict
from pathlib import Path

from training.sources import pairs, say

_MOST = {"edict": 520_000, "mdn": 60_000}
_MOST_OTHERS = 50_000
_RUN = 6
_LETTERS = 420


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("pairs", type=Path)
    arguments.add_argument("out", type=Path)
    given = arguments.parse_args()
    sources: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in pairs(given.pairs):
        if pair.ja and len(pair.en) <= _LETTERS:
            sources[pair.src].append((pair.en, pair.ja))
    chance = random.Random(5)  # noqa: S311 - not a secret
    with lzma.open(given.out, "wt", encoding="utf-8", preset=6) as out:
        for name, lines in sorted(sources.items()):
            runs = [lines[at : at + _RUN] for at in range(0, len(lines), _RUN)]
            share = _MOST.get(name, _MOST_OTHERS) / len(lines)
            kept = [line for run in runs if chance.random() < share for line in run]
            for en, ja in kept:
                out.write(json.dumps({"en": en, "ja": ja, "src": name}, ensure_ascii=False) + "\n")
            say(f"{name}: {len(kept)} of {len(lines)}")


if __name__ == "__main__":
    main()

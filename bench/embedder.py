"""`python -m bench.embedder [WHEEL]`: what the built-in model costs, in CPU time; loading in fresh processes."""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .report import Goal, Row, table

_JAPANESE = "来週の会議は何時からですか。議事録を誰が書くか教えて。"
_ENGLISH = "When does the meeting begin, and who takes the minutes next week?"
_ROUNDS = 7
_TIMES = 200
_LOADING = """
import time
import numpy
from tokonoma.embed.builtin import BuiltinEmbedder

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

before, begin = resident(), time.process_time()
embedder = BuiltinEmbedder()
embedder.embed(["x"], "query")
spent = time.process_time() - begin
embedder.embed([f"{n} 家賃 meeting {n * 7919}" for n in range(2000)], "document")
print(spent * 1e3, (resident() - before) / 1e6)
"""


def _loaded() -> tuple[list[float], list[float]]:
    told = [
        subprocess.run([sys.executable, "-c", _LOADING], check=True, capture_output=True, text=True).stdout.split()
        for _ in range(_ROUNDS)
    ]
    return [float(each[0]) for each in told], [float(each[1]) for each in told]


def _text(start: str, size: int, number: int) -> str:
    """A different one each time: nothing is remembered as a whole."""
    return (f"{number} " + start * (size // len(start) + 1))[:size]


def _each(start: str, size: int) -> float:
    """Milliseconds of CPU for one text; of several rounds the best."""
    from tokonoma.embed.builtin import BuiltinEmbedder

    embedder = BuiltinEmbedder()
    embedder.embed(["x"], "query")
    rounds: list[float] = []
    for turn in range(_ROUNDS):
        texts = [_text(start, size, turn * _TIMES + number) for number in range(_TIMES)]
        begin = time.process_time()
        for text in texts:
            embedder.embed([text], "query")
        rounds.append((time.process_time() - begin) / _TIMES * 1e3)
    return min(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.embedder", description=__doc__)
    parser.add_argument("wheel", type=Path, nargs="?")
    options = parser.parse_args()
    load, size = _loaded()
    rows = [
        Row("25 Japanese characters", "ms", {"tokonoma": _each(_JAPANESE, 25)}, Goal("≤", 0.3)),
        Row("60 English characters", "ms", {"tokonoma": _each(_ENGLISH, 60)}),
        Row("500 Japanese characters", "ms", {"tokonoma": _each(_JAPANESE, 500)}, Goal("≤", 3)),
        Row("500 English characters", "ms", {"tokonoma": _each(_ENGLISH, 500)}, Goal("≤", 3)),
        Row("loading, without numpy's import", "ms", {"tokonoma": min(load)}, Goal("≤", 150)),
        Row("more memory after 2 000 texts", "MB", {"tokonoma": statistics.median(size)}, Goal("≤", 60)),
    ]
    if options.wheel:
        rows.append(Row("the wheel", "MB", {"tokonoma": options.wheel.stat().st_size / 1e6}, Goal("≤", 20)))
    print(table(rows))


if __name__ == "__main__":
    main()

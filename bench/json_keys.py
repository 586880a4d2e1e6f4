"""What it costs to refuse a message with a key twice in one object, as a ratio to parsing it.

.venv/bin/python -m bench.json_keys
"""

import time
from collections.abc import Callable
from typing import Any

import orjson

from tokonoma.core.json_keys import find_duplicate_keys, has_duplicate_keys

from .messages import STATELESS, tool_call

MESSAGES = {
    "a small call": {"query": "roof: what leaks?", "limit": 5},
    "1 MiB of text": {"content": "the roof leaks: since May. " * 39_000},
    "1 MiB of small objects": {"items": [{"id": n, "title": f"roof {n}", "tags": ["a", "b"]} for n in range(21_000)]},
    "1 MiB of escapes": {"content": 'quote " \\ : line\n' * 52_000},
    "1 MiB of numbers": {"items": list(range(150_000))},
}


def measure(run: Callable[[], Any], times: int) -> float:
    """CPU seconds of one run: the quickest of five rounds."""
    rounds: list[float] = []
    for _ in range(5):
        begun = time.thread_time()
        for _ in range(times):
            run()
        rounds.append((time.thread_time() - begun) / times)
    return min(rounds)


def main() -> None:
    print(f"{'message':24}{'orjson':>12}{'check':>12}{'ratio':>8}   a parser that collects keys")
    for name, params in MESSAGES.items():
        raw = tool_call(
            1, {"name": "call", "arguments": {"module": "m", "tool_name": "t", "params": params}}, STATELESS
        )
        value, times = orjson.loads(raw), max(1, 6_000_000 // len(raw))
        assert not has_duplicate_keys(raw, value)
        parse = measure(lambda raw=raw: orjson.loads(raw), times)
        check = measure(lambda raw=raw, value=value: has_duplicate_keys(raw, value), times)
        collect = measure(lambda raw=raw: find_duplicate_keys(raw), times)
        print(f"{name:24}{parse * 1e6:9.1f} µs{check * 1e6:9.1f} µs{check / parse:8.1f}   {collect / parse:.1f}")


if __name__ == "__main__":
    main()

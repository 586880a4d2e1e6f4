"""What looking for personal data and secrets costs: CPU per KB of Japanese and English text, most of it clean. The
floor is a plain pass of `re` over the same texts that finds their words."""

import re
import time

from tokonoma.policy.scan import Scanner

from .peers import Peers
from .plan import Plan
from .report import Goal, Row
from .rounds import middle

_ENGLISH = "On 2026-01-15 we shipped v1.2.3 (commit 0a1b2c3d) to 192.0.2.1; order #4829-1034-7765 was for 3 people. "
_JAPANESE = "床の間には季節の花を一輪だけ活ける。茶会は第3条の定めにより十時から、参加費は1,500円とする。"
_FINDS = (
    "Write to hanako@example.com. ",
    "電話は090-1234-5678まで。",
    "〒100-0001東京都千代田区千代田1-1。",
    "key ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8. ",
)


def texts() -> list[str]:
    """A few hundred different ones of about a KB; in one of ten there is something to be found."""
    made: list[str] = []
    for number in range(300):
        find = _FINDS[number % len(_FINDS)] if number % 10 == 0 else ""
        made.append(f"{number} " + find + (_ENGLISH * 5 if number % 2 else _JAPANESE * 4) + _JAPANESE * 2)
    return made


def measure(peers: Peers, plan: Plan) -> list[Row]:
    del peers
    scanner, corpus, word = Scanner(), texts(), re.compile(r"\w+")
    size = sum(len(text.encode()) for text in corpus) / 1024
    works = {"tokonoma": scanner.scan_uncached, "floor": word.findall}
    samples: dict[str, dict[str, list[float]]] = {"cpu": {name: [] for name in works}}
    for _ in range(plan.stdio_rounds + 1):
        for name, work in works.items():
            begin = time.process_time()
            for text in corpus:
                work(text)
            samples["cpu"][name].append((time.process_time() - begin) / size * 1e6)
    value = middle(samples, "cpu")
    return [Row("redaction, CPU per KB", "µs", value, Goal("≤", 1000), samples["cpu"])]

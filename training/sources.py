"""Reads folders of pairs: `*.jsonl`, `*.jsonl.gz` or `*.jsonl.xz`, one `{en, ja?, src}` a line."""

import gzip
import json
import lzma
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SHARE_ALIKE = frozenset({"mdn", "jsick", "edict", "names"})
"""Sources whose licence asks for the same licence. All others ask for attribution at most (lohelp, loui: MPL 2.0)."""

EVERYDAY = frozenset({"tatoeba", "tanaka", "jsick", "ami", "requests"})
"""Sources of everyday language; most others are manuals."""

_MOST = 1_200  # characters of a text; what is longer is cut off

_OPEN: dict[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".xz": lzma.open, ".jsonl": open}  # type: ignore[dict-item]


@dataclass(frozen=True, slots=True)
class Pair:
    en: str
    ja: str  # empty: there is none, the English text only learns from the teacher
    src: str


def pairs(folder: Path, *, attribution_only: bool = False) -> Iterator[Pair]:
    for path in sorted(folder.rglob("*.jsonl*")):
        with _OPEN[path.suffix](path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                en, ja, src = row["en"].strip()[:_MOST], row.get("ja", "").strip()[:_MOST], row["src"]
                if en and not (attribution_only and src in SHARE_ALIKE):
                    yield Pair(en, ja, src)


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()

"""Everyday notes and what one would ask to find them again, written for this project: `written/*.jsonl`.

One `{q_en, n_en, q_ja, n_ja}` a line: a question and a note in each language that speak of one matter in different
words.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PATH = Path(__file__).parent / "written"


class Written(NamedTuple):
    q_en: str
    n_en: str
    q_ja: str
    n_ja: str


def written(folder: Path = PATH) -> Iterator[Written]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield Written(*(row[name] for name in Written._fields))

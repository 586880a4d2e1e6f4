"""Sets *mixed* and *mixed-manuals* of `python -m bench.quality`: both languages in one namespace, as in a real house.

mixed: both sides of pairs of three sources of `../shared/bitext` (or PAIRS=folder), 100 pairs of each.
    own text    the question is a memo's own text: it comes first
    one word    the question is one word of a memo: the first hit holds it
    translation the question is a memo's own text: its translation is among the first ten
mixed-manuals: all sections of a manual in both languages.
    sentence    the question is a sentence of a section: the first hit holds it
    and the manual's own questions, within a language and across, as the other sets ask them of one language alone

Pairs and sentences are divided by a hash into two parts. Figures are reported on one; whoever changes a number of
ranking looks at the other:

    python -m bench.both_languages --part tune
"""

import argparse
import gzip
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .quality import MODES, PAIRS, TASKS, House, asked, filled, read, say, score

Part = Literal["tune", "report"]
SOURCES: dict[Part, tuple[str, str, str]] = {
    "tune": ("tanaka", "otel", "msdyn"),
    "report": ("tatoeba", "pydocs", "react"),
}
MANUALS = ("k8s", "fastapi")
_PAIRS = 100  # of a source
_SENTENCES = 200  # of a manual and a language
_SIZES = {"en": (15, 300), "ja": (8, 150)}  # characters of a text that says something, and is not a whole page
_WORDS = {"en": re.compile(r"[A-Za-z]{4,}"), "ja": re.compile(r"[ァ-ヺー]{3,}|[一-鿿]{2,}")}
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Question(NamedTuple):
    kind: str
    text: str
    is_right: Callable[[Sequence[str]], bool]  # of the names of the hits


def questions_of_pairs(part: Part) -> tuple[dict[str, str], list[Question]]:
    """Texts by their names, and what is asked."""
    texts: dict[str, str] = {}
    questions: list[Question] = []
    for source in SOURCES[part]:
        for number, pair in enumerate(_pairs(source, part)):
            texts |= {f"{source}-{number}-{language}": pair[language] for language in ("en", "ja")}
    for name, text in texts.items():
        other = name[:-2] + ("ja" if name.endswith("en") else "en")
        questions.append(Question("own text", text, lambda hits, name=name: hits[:1] == [name]))
        questions.append(Question("translation", text, lambda hits, other=other: other in hits[:10]))
        words = _WORDS[name[-2:]].findall(text)
        if words:
            word = words[_hash(text) % len(words)]
            questions.append(Question("one word", word, lambda hits, word=word: _holds(texts, hits, word)))
    return texts, questions


def _pairs(source: str, part: Part) -> Iterator[dict[str, str]]:
    """Pairs of this part, no text twice."""
    seen, taken = set[str](), 0
    with gzip.open(PAIRS / f"{source}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            fits = all(low <= len(pair[language]) <= high for language, (low, high) in _SIZES.items())
            # Neighbours are left out: they often say the same.
            if not fits or _part(pair["en"]) != part or _hash(pair["en"]) % 64 or seen & {pair["en"], pair["ja"]}:
                continue
            seen |= {pair["en"], pair["ja"]}
            yield pair
            taken += 1
            if taken == _PAIRS:
                return


def sentences(corpus: Sequence[dict[str, Any]], part: Part) -> list[Question]:
    found: list[Question] = []
    texts = {record["id"]: record["text"] for record in corpus}
    for language, (low, high) in _SIZES.items():
        ordered = sorted(
            (record for record in corpus if record["lang"] == language), key=lambda each: _hash(each["id"])
        )
        for record in ordered[:: max(1, len(ordered) // (4 * _SENTENCES))]:
            said = [each for each in _ENDS.split(record["text"]) if low <= len(each) <= high]
            if said and _part(record["id"]) == part:
                sentence = said[_hash(record["id"]) % len(said)]
                found.append(Question("sentence", sentence, lambda hits, s=sentence: _holds(texts, hits, s)))
    return found


def _holds(texts: dict[str, str], hits: Sequence[str], words: str) -> bool:
    return bool(hits) and words.casefold() in texts[hits[0]].casefold()


def _part(text: str) -> Part:
    return "tune" if _hash("part " + text) % 2 else "report"


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def shares(house: House, questions: Sequence[Question], names: dict[str, str], modes: Sequence[str]) -> dict[str, str]:
    """The share of right answers of each kind, by mode."""
    found: dict[str, list[float]] = {}
    kinds = list(dict.fromkeys(question.kind for question in questions))
    for mode in modes:
        right: dict[str, list[bool]] = {kind: [] for kind in kinds}
        for question in questions:
            told = house.call("search", query=question.text, namespace="all", k=10, mode=MODES[mode])
            right[question.kind].append(question.is_right([names[item["memo_id"]] for item in told["items"]]))
        for kind in kinds:
            found.setdefault(kind, []).append(sum(right[kind]) / len(right[kind]))
    return {kind: " | ".join(f"{each:.3f}" for each in row) for kind, row in found.items()}


def measure_pairs(modes: list[str], part: Part, settings: dict[str, str]) -> list[str]:
    texts, questions = questions_of_pairs(part)
    with tempfile.TemporaryDirectory(prefix="tokonoma-eval-") as folder:
        house = House(Path(folder) / "home", **settings)
        names = filled(house, [{"id": name, "text": text, "lang": ""} for name, text in texts.items()], embed=True)
        say(f"mixed: {len(texts)} memos, {len(questions)} questions")
        rows = shares(house, questions, names, modes)
        house.app.close()
    return [f"| mixed {kind} | share | {row} |" for kind, row in rows.items()]


def measure_manual(manual: str, modes: list[str], part: Part, most: int | None, settings: dict[str, str]) -> list[str]:
    task = next(task for task in TASKS if task.name == manual)
    corpus, queries = read(task, most)
    for each in (*corpus, *queries):
        each["scope"] = "all"
    with tempfile.TemporaryDirectory(prefix="tokonoma-eval-") as folder:
        house = House(Path(folder) / "home", **settings)
        names = filled(house, corpus, embed=True)
        held = shares(house, sentences(corpus, part), names, modes)
        lines = [f"| mixed {manual} {kind} | share | {row} |" for kind, row in held.items()]
        scored = [score(task, queries, asked(house, queries, names, MODES[mode], 50)) for mode in modes]
        for kind in scored[0]:
            lines.append(f"| mixed {kind} | {task.figure} | {' | '.join(f'{each[kind]:.3f}' for each in scored)} |")
        house.app.close()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="bench.both_languages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", default="report", choices=("tune", "report"))
    parser.add_argument("--modes", default="both")
    parser.add_argument("--manuals", default=",".join(MANUALS))
    parser.add_argument("--most", type=int, help="only so many queries of a manual")
    options = parser.parse_args()
    modes = options.modes.split(",")
    print("\n".join(measure_pairs(modes, options.part, {})), flush=True)
    for manual in filter(None, options.manuals.split(",")):
        print("\n".join(measure_manual(manual, modes, options.part, options.most, {})), flush=True)


if __name__ == "__main__":
    main()

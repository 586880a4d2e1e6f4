"""Open sources in the shape of the pairs: synonyms, glosses, requests, and the words that everybody knows.

    python -m training.extras OUT --synonyms synonyms.txt --wordnet DIR --jmdict jamdict.db
        [--clinc data_full.json --banking train.csv]

- SudachiDict's `synonyms.txt` (Apache-2.0): Japanese words with the English ones of their group.
- WordNet 3.0's `data.*` (WordNet licence): English glosses and examples, without a Japanese side.
- JMdict's marks for common words (EDRDG, CC BY-SA 4.0), from the database of the package `jamdict-data`.
- The training parts of CLINC150 (CC BY 3.0) and BANKING77 (CC BY 4.0): what people ask an assistant or a bank.
"""

import argparse
import csv
import gzip
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

_JAPANESE = re.compile(r"[ぁ-ゖァ-ヺ一-鿿々]")
_QUOTED = re.compile(r'"([^"]+)"')
_RANKS = {"ichi1": 8, "spec1": 10, "news1": 14, "gai1": 10}  # beside nf01 … nf48, JMdict's own order


def groups_of(path: Path) -> list[tuple[list[str], list[str]]]:
    """The Japanese and the English words of every group."""
    groups: dict[str, tuple[list[str], list[str]]] = {}
    for line in path.read_text("utf-8").splitlines():
        fields = line.split(",")
        if len(fields) > 8:
            japanese, english = groups.setdefault(fields[0], ([], []))
            (japanese if _JAPANESE.search(fields[8]) else english).append(fields[8])
    return list(groups.values())


def synonyms(path: Path) -> Iterator[dict[str, str]]:
    """Every Japanese word of a group with every English one; both lists are short."""
    for japanese, english in groups_of(path):
        for ja in japanese:
            for en in english[:2]:
                yield {"en": en, "ja": ja, "src": "sudachi"}


def glosses(folder: Path) -> Iterator[dict[str, str]]:
    for path in sorted(folder.glob("data.*")):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("  "):  # the licence
                continue
            fields, _, gloss = line.partition(" | ")
            words = fields.split(" ")
            names = [words[4 + 2 * at].replace("_", " ").split("(")[0] for at in range(int(words[3], 16))]
            meaning = gloss.split('; "')[0].strip()
            yield {"en": f"{', '.join(names[:4])}: {meaning}", "src": "wordnet"}
            for example in _QUOTED.findall(gloss):
                yield {"en": example, "src": "wordnet"}


def requests(clinc: Path, banking: Path) -> Iterator[dict[str, str]]:
    for text, _ in json.loads(clinc.read_text("utf-8"))["train"]:
        yield {"en": text, "src": "requests"}
    with banking.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            yield {"en": " ".join(row["text"].split()), "src": "requests"}


def common_words(path: Path) -> list[str]:
    """JMdict's common words, commonest first; of what is inflected also the part that stays."""
    ranks: dict[str, int] = {}
    with sqlite3.connect(path) as database:
        for table, marks in (("Kanji", "KJP"), ("Kana", "KNP")):
            asked = f"select word.text, mark.text from {table} word join {marks} mark on mark.kid = word.id"  # noqa: S608
            for word, mark in database.execute(asked):
                rank = int(mark[2:]) if mark.startswith("nf") else _RANKS.get(mark, 60)
                if table == "Kana" and not re.fullmatch(r"[ァ-ヺー]{3,}", word):
                    continue
                ranks[word] = min(ranks.get(word, 99), rank)
    found: dict[str, None] = {}
    for word, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if rank <= 48:
            stem = re.sub(r"[ぁ-ゖ]$", "", word) if re.search(r"[一-鿿]", word) else word
            for form in (stem, word):
                if len(form) > 1:
                    found.setdefault(form)
    return list(found)


def _write(path: Path, rows: Iterable[dict[str, str]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as out:
        for row in {json.dumps(row, ensure_ascii=False): None for row in rows}:
            out.write(row + "\n")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--synonyms", type=Path, required=True)
    arguments.add_argument("--wordnet", type=Path, required=True)
    arguments.add_argument("--jmdict", type=Path, required=True)
    arguments.add_argument("--clinc", type=Path)
    arguments.add_argument("--banking", type=Path)
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    _write(given.out / "sudachi.jsonl.gz", synonyms(given.synonyms))
    _write(given.out / "wordnet.jsonl.gz", glosses(given.wordnet))
    if given.clinc and given.banking:
        _write(given.out / "requests.jsonl.gz", requests(given.clinc, given.banking))
    everyday = {word: None for japanese, _ in groups_of(given.synonyms) for word in japanese}
    (given.out / "everyday.txt").write_text("\n".join(everyday) + "\n", "utf-8")
    (given.out / "words.txt").write_text("\n".join(common_words(given.jmdict)) + "\n", "utf-8")


if __name__ == "__main__":
    main()

"""`python -m training.readings UNIDIC`: writes the table of readings that search uses (docs/adr/0061).

UNIDIC is the file `sys.dic` of the package unidic-lite (UniDic 2.1.2). Surnames, given names and places come from it;
so do the readings of the words of `names/words.txt`, unless one is written behind it. `people.txt`:
readings with the kanji that are usual today, names and places. `names.txt`: foreign names and words,
each with its spellings in Japanese. `english.txt`: English words that would otherwise be taken for romaji.
"""

import csv
import re
import struct
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tokonoma.core.normalize import SOUNDS, normalize_case

HERE = Path(__file__).parent / "names"
TARGET = HERE.parents[1] / "src" / "tokonoma" / "search" / "text" / "data" / "readings.bin"
KANJI = re.compile("[\u3005\u3400-\u9fff]")
JAPANESE = re.compile("[\u3005\u3400-\u9fffぁ-んァ-ヶー]+")
SURFACE = re.compile("[\u3005\u3400-\u9fff]+(?:[ノケガツ][\u3005\u3400-\u9fff]+)?")
# Class of words, and the costs that UniDic gives to words that it has not met in its corpus.
CLASSES = {"人名,姓": (9769, 9770, 9771), "人名,名": (10616, 10617), "地名,一般": (9219,), "地名,国": (8652,)}
MOST = 24  # surfaces of one reading of one class


def read_dictionary(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Cost and features of every word of a MeCab dictionary. Words stand among the features of UniDic."""
    data = path.read_bytes()
    double_array, tokens = struct.unpack_from("<2I", data, 24)
    start, features = 72 + double_array, 72 + double_array + tokens
    for place in range(start, features, 16):
        cost, feature = struct.unpack_from("<hI", data, place + 6)
        text = data[features + feature : data.index(b"\0", features + feature)].decode()
        yield cost, next(csv.reader([text]))


def choose(path: Path) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Reading → surfaces, the commonest first; and the surfaces that are words and no names."""
    classes: dict[str, dict[str, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
    nouns: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for cost, features in read_dictionary(path):
        if features[0] != "名詞" or len(features) < 21:
            continue
        surface, reading = normalize_case(features[8]).translate(SOUNDS), normalize_case(features[20])
        if not KANJI.search(surface) or not JAPANESE.fullmatch(surface):
            continue
        kind = ",".join(features[2:4])
        written = SURFACE.fullmatch(surface) is not None
        if features[1] == "普通名詞":
            nouns[surface].append((cost, reading))
        if features[1] == "固有名詞" and kind in CLASSES and len(reading) > 1 and len(surface) <= 6 and written:
            classes[kind][reading].append((cost, surface))
    table: dict[str, dict[str, int]] = defaultdict(dict)
    words: list[str] = []
    for word in (HERE / "words.txt").read_text("utf-8").split():
        surface, _, written = word.partition("=")
        surface = normalize_case(surface).translate(SOUNDS)
        readings = written.split(",") if written else [reading for _, reading in sorted(nouns[surface])[:1]]
        if not readings:
            sys.exit(f"UniDic has no reading of {surface}: write it behind the word, as in {surface}=カナ")
        words.append(surface)
        for reading in readings:
            table[normalize_case(reading)][surface] = 0
    for reading, *surfaces in map(str.split, (HERE / "people.txt").read_text("utf-8").splitlines()):
        for place, surface in enumerate(surfaces):
            table[reading].setdefault(normalize_case(surface).translate(SOUNDS), place - 100_000)
    for kind, readings in classes.items():
        for reading, found in readings.items():
            met = sorted(each for each in found if each[0] not in CLASSES[kind])
            for cost, surface in met[:MOST]:
                table[reading].setdefault(surface, cost - CLASSES[kind][0])
    names = {surface for readings in classes.values() for found in readings.values() for _, surface in found}
    return table, sorted(set(words) - names)


def main() -> None:
    table, words = choose(Path(sys.argv[1]))
    lines = [" ".join((reading, *sorted(found, key=found.__getitem__))) for reading, found in sorted(table.items())]
    names = [
        " ".join((latin, *dict.fromkeys(normalize_case(form).translate(SOUNDS) for form in forms)))
        for latin, *forms in map(str.split, (HERE / "names.txt").read_text("utf-8").splitlines())
    ]
    english = (HERE / "english.txt").read_text("utf-8").split()
    text = "\n\n".join(("\n".join(lines), "\n".join(names), " ".join(english), " ".join(words)))
    packed = zlib.compress(text.encode("utf-16-le"), 9)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(packed)
    surfaces = sum(map(len, table.values()))
    sys.stdout.write(f"{len(lines)} readings, {surfaces} surfaces, {len(names)} foreign names, {len(packed)} bytes\n")


if __name__ == "__main__":
    main()

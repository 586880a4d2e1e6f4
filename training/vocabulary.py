"""Step 1: which pieces the model has vectors for.

    python -m training.vocabulary PAIRS OUT.tsv [--words words.txt | --synonyms] [--attribution-only] [--by-script]
        [--vectors japanese.npz english.npz --english 15000]

SentencePiece learns two unigram vocabularies, of the words in Latin letters and of the runs of Japanese, each from the
distinct ones with their counts. With `--by-script` runs are split where the script changes: no whole phrases of manuals
(が設定されます), more room for words. Everyday words that would be cut into single kanji are added whole; so are, with
`--vectors`, the commonest of both languages (training/wordvectors.py).
"""

import argparse
import math
import re
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import zip_longest
from pathlib import Path

import sentencepiece

from tokonoma.embed.builtin import WORD_MARK, SubwordTokenizer, is_japanese, split_camel_case, split_chunks
from training.parallel import over
from training.sources import EVERYDAY, Pair, pairs, say
from training.wordvectors import WordVectors, stem

_WEIGHTS = dict.fromkeys(EVERYDAY, 8) | {"edict": 3, "wordnet": 2, "sudachi": 3}
_SCRIPTS = re.compile(r"[ぁ-ゖー]+|[ァ-ヺー]+|[^ぁ-ゖァ-ヺー]+")
_BONUS = 1.0  # by which a word added whole is likelier than its parts


def counted(batch: list[Pair], *, by_script: bool = False) -> tuple[Counter[str], Counter[str]]:
    latin, japanese = Counter[str](), Counter[str]()
    for pair in batch:
        weight = _WEIGHTS.get(pair.src, 1)
        for chunk in split_chunks(pair.en + "\n" + pair.ja):
            if is_japanese(chunk):
                for run in _SCRIPTS.findall(chunk) if by_script else (chunk,):
                    japanese[run] += weight
            else:
                for part in split_camel_case(chunk):
                    latin[part] += weight
    return latin, japanese


def learn(counts: Counter[str], size: int, *, latin: bool, folder: Path, longest: int = 12) -> dict[str, float]:
    name = folder / ("latin" if latin else "japanese")
    lines = (f"{text}\t{count}" for text, count in counts.items() if len(text) < 200 and (count > 1 or not latin))
    name.with_suffix(".tsv").write_text("\n".join(lines) + "\n", "utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(name.with_suffix(".tsv")),
        input_format="tsv",
        model_prefix=str(name),
        model_type="unigram",
        vocab_size=size + 3,
        character_coverage=0.9999 if latin else 0.9997,
        normalization_rule_name="identity",
        add_dummy_prefix=latin,
        max_sentencepiece_length=16 if latin else longest,
        seed_sentencepiece_size=600_000,
        num_threads=8,
        hard_vocab_limit=False,
        minloglevel=1,
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(name.with_suffix(".model")))
    found = ((model.id_to_piece(number), model.get_score(number)) for number in range(3, model.get_piece_size()))
    return {piece: score for piece, score in found if piece != "▁"}


def by_use(words: list[str], runs: Counter[str]) -> list[str]:
    """Those that occur, commonest first."""
    wanted, uses = set(words), Counter[str]()
    for run, count in runs.items():
        for start in range(len(run)):
            for end in range(start + 2, min(start + 8, len(run)) + 1):
                if run[start:end] in wanted:
                    uses[run[start:end]] += count
    return [word for word, count in uses.most_common() if count >= 3]


def mixed(*lists: list[str]) -> list[str]:
    """One list, by turns from each."""
    return list(dict.fromkeys(word for words in zip_longest(*lists) for word in words if word))


def add_whole(scores: dict[str, float], words: list[str], room: int) -> None:
    """Short words first: longer ones may consist of them."""
    whole = (split_chunks(word) for word in words)
    forms = (found[0] if is_japanese(found[0]) else WORD_MARK + found[0].lower() for found in whole if len(found) == 1)
    chosen = list(dict.fromkeys(form for form in forms if len(form) > 1 and form not in scores))[: max(room, 0)]
    for length in range(2, 16):
        cutter = SubwordTokenizer(list(scores), list(scores.values()))
        for word in chosen:
            if len(word) == length:
                scores[word] = min(max(cutter.segment(word)[1] + _BONUS, -18.0), -8.0)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("pairs", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--vectors", type=Path, nargs=2, metavar=("JAPANESE", "ENGLISH"))
    arguments.add_argument("--words", type=Path)
    arguments.add_argument("--synonyms", action="store_true", help="take the whole words from the pairs of sudachi")
    arguments.add_argument("--attribution-only", action="store_true")
    arguments.add_argument("--by-script", action="store_true")
    arguments.add_argument("--size", type=int, default=57_000)
    arguments.add_argument("--latin", type=int, default=20_000)
    arguments.add_argument("--english", type=int, default=15_000, help="of the commonest English words, added whole")
    arguments.add_argument("--japanese", type=int, default=24_000)
    given = arguments.parse_args()

    count = partial(counted, by_script=given.by_script)
    latin, japanese, words = Counter[str](), Counter[str](), list[str]()
    for some_latin, some_japanese in over(count, pairs(given.pairs, attribution_only=given.attribution_only)):
        latin.update(some_latin)
        japanese.update(some_japanese)
    say(f"{len(latin)} distinct Latin words, {len(japanese)} runs of Japanese")
    if given.words:
        words = given.words.read_text("utf-8").split()
    elif given.synonyms:
        words = by_use([pair.ja for pair in pairs(given.pairs) if pair.src == "sudachi"], japanese)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        one = pool.submit(learn, latin, given.latin, latin=True, folder=Path(folder))
        other = pool.submit(
            learn, japanese, given.japanese, latin=False, folder=Path(folder), longest=8 if given.by_script else 12
        )
        scores = one.result() | other.result()
    say(f"{len(scores)} pieces learned")
    if given.vectors:
        common = [WordVectors.read(path) for path in given.vectors]
        add_whole(scores, common[1].words[: given.english], given.size - len(scores))
        say(f"{len(scores)} pieces with English words")
        known = [word for word, own in zip(common[0].words, common[0].own, strict=True) if own]
        words = mixed([form for word in known for form in (stem(word), word)], words)
    add_whole(scores, words, given.size - len(scores))
    say(f"{len(scores)} pieces with whole words")
    assert all(map(math.isfinite, scores.values()))
    given.out.write_text("".join(f"{piece}\t{score:.4f}\n" for piece, score in scores.items()), "utf-8")


if __name__ == "__main__":
    main()

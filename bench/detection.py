"""How well personal data and secrets are found in the labelled texts of `tests/policy`: `python -m bench.detection`."""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from policy.generated import samples
from policy.text_sets import LANGUAGES, Mark, Score, is_found, load_makers, make_key, score_texts

from tokonoma.policy.scan import builtin_scanner

_NAMES = {"ja": "Japanese", "en": "English"}


def format_score(score: Score) -> str:
    counts = ((score.found, score.marks), (score.quiet_prose, score.prose), (score.quiet_about, score.about))
    return " | ".join(f"{part / whole:.3f} ({part}/{whole})" for part, whole in counts)


def measure_generated(seed: int = 20261116, count: int = 5000) -> tuple[int, int]:
    """Found and all of the generated values: in generated sentences, and keys of all makers."""
    scan, found, total = builtin_scanner().scan_uncached, 0, 0
    for sample in samples(count, seed):
        detections = scan(sample.text)
        marks = [Mark(*each) for each in sample.truth]
        found, total = found + sum(is_found(mark, detections) for mark in marks), total + len(marks)
    rng = random.Random(seed)
    for kind, shapes in load_makers().items():
        for shape in shapes * 10:
            key = make_key(rng, shape)
            found, total = found + is_found(Mark(kind, 4, 4 + len(key)), scan(f"key {key} end")), total + 1
    return found, total


def main() -> None:
    print("| texts | found | harmless prose left alone | texts about secrets left alone |\n|---|---|---|---|")
    for language in LANGUAGES:
        for held_out in (False, True):
            score = score_texts(builtin_scanner().scan, language, held_out=held_out)
            print(f"| {_NAMES[language]}, {'held out' if held_out else 'tuned to'} | {format_score(score)} |")
    found, total = measure_generated()
    print(f"| generated values, {len(load_makers())} makers | {found / total:.3f} ({found}/{total}) | – | – |")


if __name__ == "__main__":
    main()

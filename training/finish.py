"""Step 5: from one or several runs to the file that is shipped.

    python -m training.finish OUT.bin RUN.bin… --pairs PAIRS [--flatten 1] [--words words.txt --everyday everyday.txt] …

Runs with one vocabulary are averaged. Then the directions that nearly all texts share are removed: their mean, and the
`--flatten` ones in which they vary most. What is left tells texts apart. Last, everyday words that are still cut into
single letters are added whole, as many as there is room for (training/late.py).
"""

import argparse
from pathlib import Path

import numpy as np

from tokonoma.embed.builtin import ModelWeights, SubwordTokenizer, read_weights, write_weights
from training.late import glosses, wanted, with_words
from training.paraphrases import distractors
from training.sources import say


def averaged(runs: list[ModelWeights]) -> np.ndarray:
    rows = [run.matrix.astype(np.float32) * run.scales[:, None] for run in runs]
    # Runs differ in how long their vectors grew, which means nothing: only within a run it does.
    return np.mean([each / np.linalg.norm(each, axis=1).mean() for each in rows], axis=0)


def shared(rows: np.ndarray, cutter: SubwordTokenizer, texts: list[str], count: int) -> np.ndarray:
    """An orthonormal basis of what texts have in common."""
    summed = np.stack([rows[cutter.tokenize(text)].sum(0) for text in texts])
    vectors = summed / np.linalg.norm(summed, axis=1, keepdims=True).clip(1e-6)
    centre = vectors.mean(0)
    directions = np.linalg.svd(vectors - centre, full_matrices=False)[2][:count]
    return np.linalg.qr(np.vstack([centre, directions]).T)[0].T


def quantised(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """8 bits a number, a scale a row."""
    scales = np.abs(rows).max(1).clip(1e-9) / 127.0
    return np.rint(rows / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("runs", type=Path, nargs="+")
    arguments.add_argument("--pairs", type=Path, required=True)
    arguments.add_argument("--flatten", type=int, default=1)
    arguments.add_argument("--words", type=Path)
    arguments.add_argument("--everyday", type=Path)
    arguments.add_argument("--room", type=int, default=980)
    arguments.add_argument("--name", default="tokonoma-ja-en-1")
    arguments.add_argument("--licence", default="")
    given = arguments.parse_args()
    runs = [read_weights(path) for path in given.runs]
    first = runs[0]
    assert all(run.pieces == first.pieces for run in runs), "the runs have different vocabularies"
    rows, pieces, scores = averaged(runs), first.pieces, first.scores
    cutter = SubwordTokenizer(pieces, scores.tolist())
    texts = distractors(given.pairs, seed=11)
    basis = shared(rows, cutter, texts["en"] + texts["ja"], given.flatten)
    rows -= rows @ basis.T @ basis
    if given.words:
        everyday = set(given.everyday.read_text("utf-8").split("\n"))
        chosen = wanted(given.words.read_text("utf-8").split(), everyday, pieces, cutter, given.room)
        rows, pieces, scores = with_words(rows, pieces, scores, chosen, glosses(given.pairs, set(chosen)))
        say(f"{len(pieces) - len(first.pieces)} words added whole")
    matrix, scales = quantised(rows)
    about = {"name": given.name, "licence": given.licence, "runs": [run.metadata["training"] for run in runs]}
    about |= {"pairs": first.metadata["pairs"], "flattened": given.flatten}
    write_weights(given.out, ModelWeights(about, pieces, scores, scales, matrix))
    say(f"{given.out} written, {given.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()

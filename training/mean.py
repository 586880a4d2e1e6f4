"""The mean of several finished models, in the vocabulary of the first.

    python -m training.mean OUT.bin FIRST.bin OTHER.bin… --pairs PAIRS --name NAME --licence LICENCE

Models that were trained on other pieces make other mistakes, which the mean evens out. A piece that another model does
not know is the sum of what that model cuts it into. Directions mean nothing in themselves, so each model is first
turned until its vectors of some thousand texts lie as close to those of the first as they can.
"""

import argparse
from pathlib import Path

import numpy as np

from tokonoma.embed.builtin import ModelWeights, SubwordTokenizer, read_weights, write_weights
from training.finish import quantised
from training.paraphrases import distractors
from training.sources import say


class Model:
    def __init__(self, path: Path, texts: list[str]) -> None:
        self.weights = read_weights(path)
        self.rows = self.weights.matrix.astype(np.float32) * self.weights.scales[:, None]
        self.cutter = SubwordTokenizer(self.weights.pieces, self.weights.scores.tolist())
        summed = np.stack([self.rows[self.cutter.tokenize(text)].sum(0) for text in texts])
        lengths = np.linalg.norm(summed, axis=1, keepdims=True)
        self.rows /= lengths.mean()  # models differ in how long their vectors grew, which means nothing
        self.vectors = summed / lengths.clip(1e-6)

    def rows_of(self, pieces: list[str]) -> np.ndarray:
        places = {piece: place for place, piece in enumerate(self.weights.pieces)}
        cuts = ([places[piece]] if piece in places else self.cutter.segment(piece)[0] for piece in pieces)
        return np.stack([self.rows[cut].sum(0) for cut in cuts])


def turned(model: Model, first: Model) -> np.ndarray:
    """The rotation that brings a model's vectors next to those of the first (orthogonal Procrustes)."""
    left, _, right = np.linalg.svd(model.vectors.T @ first.vectors)
    rotation = left @ right
    near = float((model.vectors @ rotation * first.vectors).sum(1).mean())
    say(f"{model.weights.metadata['name']}: cosine to the first {near:.3f}")
    return rotation


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("models", type=Path, nargs="+")
    arguments.add_argument("--pairs", type=Path, required=True)
    arguments.add_argument("--name", required=True)
    arguments.add_argument("--licence", default="")
    given = arguments.parse_args()
    texts = [text for side in distractors(given.pairs, seed=11).values() for text in side]
    models = [Model(path, texts) for path in given.models]
    first = models[0].weights
    rows = np.mean([model.rows_of(first.pieces) @ turned(model, models[0]) for model in models], axis=0)
    matrix, scales = quantised(rows)
    parts = [{"name": model.weights.metadata["name"], "runs": model.weights.metadata["runs"]} for model in models]
    about = {"name": given.name, "licence": given.licence, "mean_of": parts, "pairs": first.metadata["pairs"]}
    write_weights(given.out, ModelWeights(about, first.pieces, first.scores, scales, matrix))
    say(f"{given.out} written, {given.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()

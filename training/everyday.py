"""Everyday language to choose by, so that the paraphrases stay a test: public sets that nothing was trained on.

- JSTS (JGLUE, CC BY-SA 4.0), `train-v1.3.json`: captions that people found alike (4 or more of 5), found among all.
- CLINC150 (CC BY 3.0), `data_full.json`: of the ten nearest of `val`, how many have the intent of one of `test`.
"""

import json
from pathlib import Path

import numpy as np

from tokonoma.embed.builtin import BuiltinEmbedder

_ALIKE = 4.0
_ASKED = 800


def captions(embedder: BuiltinEmbedder, path: Path) -> float:
    """MRR."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    asked = [row for row in rows if row["label"] >= _ALIKE][:_ASKED]
    texts = {row["sentence2"]: None for row in asked + rows}
    places = {text: place for place, text in enumerate(texts)}
    near = embedder.embed([row["sentence1"] for row in asked], "query") @ embedder.embed(list(texts), "document").T
    right = near[np.arange(len(asked)), [places[row["sentence2"]] for row in asked]]
    return float((1.0 / ((near > right[:, None]).sum(1) + 1)).mean())


def requests(embedder: BuiltinEmbedder, path: Path) -> float:
    held = json.loads(path.read_text("utf-8"))
    asked, known = held["test"], held["val"]
    near = (
        embedder.embed([text for text, _ in asked], "query") @ embedder.embed([text for text, _ in known], "document").T
    )
    intents = np.array([intent for _, intent in known])
    best = np.argpartition(-near, 10, axis=1)[:, :10]
    return float((intents[best] == np.array([intent for _, intent in asked])[:, None]).mean())

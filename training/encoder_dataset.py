"""Pairs and written notes as numbers of pieces, with the teacher's vectors of their English sides.

    python -m training.encoder_dataset CHOSEN.jsonl.xz START TEACHER OUT [--few]

TEACHER: a folder with all-MiniLM-L6-v2. OUT gets `dataset.pt`. Neighbouring lines of a source are joined into longer
texts besides, so that the encoder meets texts of a hundred pieces and more. One in twenty written lines is left out to
judge by.
"""

import argparse
import json
import lzma
import random
import zlib
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from tokonoma.embed.builtin import SubwordTokenizer
from training.encoder import fold_accents
from training.encoder_model import DIMENSION, PLACES, WIDTH, ContextModel, take_layers
from training.parallel import over
from training.sources import EVERYDAY, say
from training.written import Written, written

_JOINED = 4
_WEIGHTS = {"edict": 0.35, "written": 6.0, "joined": 1.5} | dict.fromkeys(EVERYDAY, 4.0)

_tokenizer: SubwordTokenizer | None = None


def read_start(folder: Path) -> tuple[list[str], list[float], list[tuple[list[int], list[float]]]]:
    rows = [line.split("\t") for line in (folder / "pieces.tsv").read_text("utf-8").splitlines()]
    return [row[0] for row in rows], [float(row[1]) for row in rows], [json.loads(row[2]) for row in rows]


def is_kept_out(line: Written) -> bool:
    return zlib.crc32(line.n_en.encode()) % 20 == 0


def prepare(folder: Path) -> None:
    global _tokenizer  # one for each process
    pieces, scores, _ = read_start(folder)
    _tokenizer = SubwordTokenizer(pieces, scores)


def cut(texts: list[str]) -> list[np.ndarray]:
    assert _tokenizer is not None
    numbers = ([1, *(1 + n for n in _tokenizer.tokenize(fold_accents(text)))][:PLACES] for text in texts)
    return [np.array(each, np.int32) for each in numbers]


def read_pairs(path: Path, few: bool) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            found.append((row["en"], row["ja"], row["src"]))
    if few:
        found = found[::4_000]
    chance = random.Random(6)  # noqa: S311 - not a secret
    joined: list[tuple[str, str, str]] = []
    for at in range(0, len(found) - _JOINED, _JOINED):
        run = found[at : at + chance.randint(2, _JOINED)]
        if run[0][2] not in ("edict", "loui") and run[0][2] == run[-1][2] and chance.random() < 0.5:
            joined.append((" ".join(each[0] for each in run), "".join(each[1] for each in run), "joined"))
    own = [line for line in written() if not is_kept_out(line)][:: 100 if few else 1]
    sides = [(line.q_en, line.q_ja, "written") for line in own] + [(line.n_en, line.n_ja, "written") for line in own]
    return found + joined + sides


def teach(texts: list[str], folder: Path, device: str) -> torch.Tensor:
    """The teacher's vectors, float16."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(PLACES)
    tokens = [np.array(each.ids, np.int32) for each in tokenizer.encode_batch_fast(texts)]
    say("cut for the teacher")
    tensors = read_teacher(folder)
    table = tensors["embeddings.word_embeddings.weight"]
    model = ContextModel(len(table), 6, head=False).eval()
    model.pieces.weight.data.copy_(table)
    take_layers(model, tensors, list(range(6)))
    return embed_all(model.to(device), tokens, device, no_piece=tokenizer.token_to_id("[PAD]"))


def read_teacher(folder: Path) -> dict[str, torch.Tensor]:
    """Also from 8 bits a number, which travel faster."""
    small = folder / "teacher.npz"
    if not small.exists():
        from safetensors.torch import load_file

        return load_file(folder / "model.safetensors")
    stored, found = np.load(small), dict[str, torch.Tensor]()
    for name in stored.files:
        if name.endswith("|q"):
            scales = stored[name[:-1] + "s"].astype(np.float32)
            table = stored[name].astype(np.float32).reshape(len(scales), -1) * scales[:, None]
            found[name[:-2]] = torch.from_numpy(table.reshape(stored[name].shape))
        elif not name.endswith("|s"):
            found[name] = torch.from_numpy(stored[name])
    return found


def embed_all(model: ContextModel, tokens: list[np.ndarray], device: str, *, no_piece: int = 0) -> torch.Tensor:
    assert no_piece == 0
    found = torch.empty(len(tokens), DIMENSION if model.head is not None else WIDTH, dtype=torch.float16)
    by_length, at = np.argsort([len(each) for each in tokens], kind="stable")[::-1], 0
    while at < len(tokens):
        longest = len(tokens[by_length[at]])
        some = by_length[at : at + max(1, 400_000 // longest)]
        table = np.zeros((len(some), -(-longest // 8) * 8), np.int64)
        for row, place in zip(table, some, strict=True):
            row[: len(tokens[place])] = tokens[place]
        with torch.inference_mode(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            found[torch.from_numpy(some.copy())] = model(torch.from_numpy(table).to(device)).half().cpu()
        at += len(some)
    return found


def flat(tokens: list[np.ndarray]) -> dict[str, torch.Tensor]:
    lengths = np.array([len(each) for each in tokens])
    return {
        "numbers": torch.from_numpy(np.concatenate(tokens)),
        "lengths": torch.from_numpy(lengths),
        "starts": torch.from_numpy(np.cumsum(lengths) - lengths),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    for name in ("pairs", "start", "teacher", "out"):
        arguments.add_argument(name, type=Path)
    arguments.add_argument("--few", action="store_true")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = read_pairs(given.pairs, given.few)
    say(f"{len(rows)} pairs")
    sides = [
        [each for part in over(cut, [r[n] for r in rows], prepare, (given.start,)) for each in part] for n in (0, 1)
    ]
    say(f"{[sum(map(len, side)) for side in sides]} pieces")
    lines = list(written())[:: 100 if given.few else 1]
    texts = [text for line in lines for text in line]
    own = [each for part in over(cut, texts, prepare, (given.start,)) for each in part]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    english = sorted({row[0] for row in rows} | {text for line in lines for text in line[:2]})
    place = {text: number for number, text in enumerate(english)}
    vectors = teach(english, given.teacher, device)
    say(f"the teacher's vectors of {len(english)} texts")
    some = vectors[torch.randperm(len(vectors), generator=torch.Generator().manual_seed(1))[:200_000]].float()
    _, directions = torch.linalg.eigh(some.T @ some)
    head = directions[:, -DIMENSION:].T.contiguous()
    torch.save(
        {
            "en": flat(sides[0]),
            "ja": flat(sides[1]),
            "taught": torch.tensor([place[row[0]] for row in rows]),
            "weights": torch.tensor([_WEIGHTS.get(row[2], 1.0) for row in rows]),
            "vectors": torch.nn.functional.normalize(vectors.float() @ head.T, dim=-1).half(),
            "head": head,
            "written": flat(own),
            "written_taught": torch.tensor([[place[line.q_en], place[line.n_en]] for line in lines]),
            "kept_out": torch.tensor([is_kept_out(line) for line in lines]),
        },
        given.out / "dataset.pt",
    )
    say("written")


if __name__ == "__main__":
    main()

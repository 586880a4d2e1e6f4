"""Step 6: the finished model learns which notes answer which questions.

    python -m training.tune MODEL.bin PAIRS OUT.bin [--steps N] [--batch N] …

A batch holds questions and notes that were written for this (training/written.py), in any two of their four forms, and
pairs of all sources, so that nothing is unlearned. Each text must find its partner among the batch. Rows that move away
from where they were pay for it (`--hold`): a piece that is seen seldom stays what it is. Ten seconds on a GPU.
"""

import argparse
import random
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from tokonoma.embed.builtin import ModelWeights, SubwordTokenizer, read_weights, write_weights
from training.dataset import WIDTH
from training.finish import quantised
from training.parallel import over
from training.sources import EVERYDAY, pairs, say
from training.written import Written, written

_OF_A_SOURCE = {"edict": 60_000, "sudachi": 20_000, "wordnet": 20_000} | dict.fromkeys(EVERYDAY, 100_000)
_OF_OTHERS = 8_000

_cutter: SubwordTokenizer | None = None


def prepare(path: Path) -> None:
    global _cutter  # one for each process
    weights = read_weights(path)
    _cutter = SubwordTokenizer(weights.pieces, weights.scores.tolist())


def cut(texts: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
    assert _cutter is not None
    return [tuple(_cutter.tokenize(text)[:WIDTH] for text in each) for each in texts]


def table(texts: list[tuple[str, ...]], model: Path, none: int) -> torch.Tensor:
    """Texts × forms × pieces; `none` where there is no more piece."""
    rows = [each for part in over(cut, texts, prepare, (model,)) for each in part]
    filled = np.full((len(rows), len(rows[0]), WIDTH), none, np.int32)
    for row, forms in zip(filled, rows, strict=True):
        for place, form in zip(row, forms, strict=True):
            place[: len(form)] = form
    return torch.from_numpy(filled)


def chosen(folder: Path, seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Of every source so many pairs: those in everyday language, and the others."""
    sources: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in pairs(folder):
        sources[pair.src].append((pair.en, pair.ja or pair.en))
    chance = random.Random(seed)  # noqa: S311 - not a secret
    kept: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
    for name, each in sorted(sources.items()):
        chance.shuffle(each)
        kept[name not in EVERYDAY].extend(each[: _OF_A_SOURCE.get(name, _OF_OTHERS)])
    return kept


@dataclass
class Sides:
    """What is in a batch: two forms of each text."""

    tables: list[torch.Tensor]
    counts: list[int]
    generator: torch.Generator

    def drawn(self) -> tuple[torch.Tensor, torch.Tensor]:
        found: list[tuple[torch.Tensor, torch.Tensor]] = []
        for part, count in zip(self.tables, self.counts, strict=True):
            texts = part[torch.randperm(len(part), generator=self.generator)[:count]]
            ways = torch.tensor(list(permutations(range(part.shape[1]), 2)))
            way = ways[torch.randint(len(ways), (len(texts),), generator=self.generator)]
            at = torch.arange(len(texts))
            found.append((texts[at, way[:, 0]], texts[at, way[:, 1]]))
        one, other = zip(*found, strict=True)
        return torch.cat(one), torch.cat(other)


def summed(rows: torch.Tensor, texts: torch.Tensor, drop: float, generator: torch.Generator) -> torch.Tensor:
    """The vectors of texts of which a share of the pieces is left out, never all."""
    present = texts < len(rows)
    kept = present & (torch.rand(texts.shape, generator=generator).to(texts.device) >= drop)
    kept = torch.where(kept.any(1, keepdim=True), kept, present)
    lengths = kept.sum(1)
    bags = functional.embedding_bag(texts[kept].long(), rows, lengths.cumsum(0) - lengths, mode="sum")
    return functional.normalize(bags, dim=-1, eps=1e-6)


def tuned(first: torch.Tensor, sides: Sides, given: argparse.Namespace) -> torch.Tensor:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    first = first.to(device)
    lengths = first.norm(dim=1, keepdim=True).clamp(min=1e-3)
    rows = torch.nn.Parameter(first.clone())
    optimizer = torch.optim.Adam([rows], lr=given.rate, betas=(0.9, 0.98))
    begin = time.monotonic()
    for step in range(given.steps):
        for part in optimizer.param_groups:
            part["lr"] = given.rate * min((step + 1) / 50, 1.0 - step / given.steps)
        one, other = (side.to(device) for side in sides.drawn())
        near = given.scale * (
            summed(rows, one, given.drop, sides.generator) @ summed(rows, other, given.drop, sides.generator).T
        )
        right = torch.arange(len(one), device=device)
        found = (functional.cross_entropy(near, right) + functional.cross_entropy(near.T, right)) / 2.0
        seen = torch.cat((one, other)).unique().long()
        seen = seen[seen < len(rows)]
        moved = ((rows[seen] - first[seen]) / lengths[seen]).pow(2).sum(1).mean()
        optimizer.zero_grad(set_to_none=True)
        (found + given.hold * moved).backward()
        optimizer.step()
        if (step + 1) % 100 == 0:
            speed = (step + 1) / (time.monotonic() - begin)
            say(f"step {step + 1}: loss {found.item():.3f}, moved {moved.item():.3f}, {speed:.1f} steps/s")
    return rows.detach().cpu()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model", type=Path)
    arguments.add_argument("pairs", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--name", default="tokonoma-ja-en-2")
    for name, default in (("steps", 600), ("batch", 8_192), ("seed", 3)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("rate", 0.001), ("scale", 15.0), ("hold", 2.0), ("drop", 0.4)):
        arguments.add_argument(f"--{name}", type=float, default=default)
    for name, default in (("written", 0.65), ("everyday", 0.07)):
        arguments.add_argument(f"--{name}", type=float, default=default, help="share of a batch")
    given = arguments.parse_args()
    torch.manual_seed(given.seed)
    weights = read_weights(given.model)
    first = torch.from_numpy(weights.matrix.astype(np.float32) * weights.scales[:, None])
    own: list[Written] = list(written())
    everyday, others = chosen(given.pairs, given.seed)
    tables = [table([*texts], given.model, len(first)) for texts in (own, everyday, others)]
    say(f"{len(own)} written, {len(everyday)} everyday, {len(others)} other pairs")
    counts = [int(given.batch * share) for share in (given.written, given.everyday, 1 - given.written - given.everyday)]
    rows = tuned(first, Sides(tables, counts, torch.Generator().manual_seed(given.seed)), given)
    matrix, scales = quantised(rows.numpy())
    how = {name: value for name, value in vars(given).items() if isinstance(value, int | float)}
    about = {**weights.metadata, "name": given.name, "tuned": {**how, "written_lines": len(own)}}
    write_weights(given.out, ModelWeights(about, weights.pieces, weights.scores, scales, matrix))
    say(f"{given.out} written, {given.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()

"""Step 4: the student learns, and is written as the file that is shipped.

    python -m training.train DATASET VOCABULARY.tsv OUT.bin [--steps N] [--batch N] …

For a batch of pairs the student's vectors of both sides are drawn to the teacher's vector of the English side (cosine),
and each side must find its partner among the batch (four cross-entropies, softened by how alike the teacher finds the
texts). Batches are built of groups that lie close together, so that the others in a batch are hard to tell apart.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from training.dataset import Dataset, read_vocabulary
from training.neighbours import readers, within
from training.sources import EVERYDAY, say
from training.student import Student, export, first_vectors

_CLUSTERS = 4_096


def clustered(vectors: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Spherical k-means, a few rounds: which cluster each of the teacher's vectors belongs to."""
    chosen = torch.randperm(vectors.shape[0], generator=generator)[:_CLUSTERS]
    centres = vectors[chosen.to(vectors.device)].float()
    belongs = torch.zeros(vectors.shape[0], dtype=torch.long, device=vectors.device)
    for _ in range(4):
        for at in range(0, vectors.shape[0], 131_072):
            belongs[at : at + 131_072] = (vectors[at : at + 131_072].float() @ centres.T).argmax(1)
        sums = torch.zeros_like(centres).index_add_(0, belongs, vectors.float())
        centres = functional.normalize(sums, dim=-1)
    return belongs


def order(shares: torch.Tensor, clusters: torch.Tensor, group: int, generator: torch.Generator) -> torch.Tensor:
    """One pass: each pair about as often as its source is wanted, in groups of neighbours, the groups shuffled."""
    times = shares.floor() + (torch.rand(shares.shape, generator=generator) < shares.frac())
    taken = torch.repeat_interleave(torch.arange(len(shares)), times.long())
    if group == 1:
        return taken[torch.randperm(len(taken), generator=generator)]
    place = torch.randperm(_CLUSTERS, generator=generator)[clusters[taken]]
    taken = taken[(place + torch.rand(len(taken), generator=generator)).argsort()]
    groups = taken[: len(taken) // group * group].view(-1, group)
    return groups[torch.randperm(len(groups), generator=generator)].flatten()


def loss_of(en: torch.Tensor, ja: torch.Tensor, taught: torch.Tensor, given: argparse.Namespace) -> torch.Tensor:
    with torch.no_grad():
        near = taught @ taught.T
        wanted = (given.soft * near).softmax(-1)
    close = 2.0 - (en * taught).sum(-1).mean() - (ja * taught).sum(-1).mean()
    told = [
        functional.cross_entropy(given.scale * a @ b.T, wanted)
        for a, b in ((ja, en), (en, ja), (ja, taught), (en, taught))
    ]
    loss = 4.0 * close + sum(told) / 4.0
    if given.within:
        loss = loss + given.within * sum(within(side, near, given.scale, given.soft) for side in (en, ja)) / 2.0
    return loss


def shares_of(data: Dataset, given: argparse.Namespace) -> torch.Tensor:
    wanted = {"edict": given.dictionary, "wordnet": given.dictionary, "names": 0.1}
    wanted |= dict.fromkeys(EVERYDAY, given.everyday) | dict.fromkeys(("chive", "glove"), given.words)
    return torch.tensor([wanted.get(name, 1.0) for name in data.sources])[
        torch.from_numpy(data.source.astype(np.int64))
    ]


def trained(data: Dataset, pieces: int, given: argparse.Namespace) -> Student:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(given.seed)
    torch.set_float32_matmul_precision("high")
    generator = torch.Generator().manual_seed(given.seed)
    en, ja = (torch.from_numpy(np.where(table < 0, pieces, table)).to(device) for table in (data.en, data.ja))
    taught, vectors = (
        torch.from_numpy(np.array(data.taught)).to(device),
        torch.from_numpy(np.array(data.vectors)).to(device),
    )
    both, twice = torch.cat((en, ja)), torch.cat((taught, taught))
    counts = torch.bincount(both.flatten().long(), minlength=pieces + 1)[:pieces].float() + 1.0
    student = Student(first_vectors(both, twice, vectors, pieces), counts).to(device)
    del both, twice
    clusters = clustered(vectors, generator)[taught].cpu()
    shares = shares_of(data, given)
    optimizer = torch.optim.AdamW(
        [
            {"params": [student.vectors], "weight_decay": given.decay},
            {"params": [student.importance], "weight_decay": 0.0},
        ],
        lr=given.rate,
        weight_decay=0.0,
        betas=(0.9, 0.98),
    )
    alike = readers(given.dataset, {"chive": given.alike_ja, "glove": given.alike}, pieces, device)
    begin, step = time.monotonic(), 0
    while step < given.steps:
        pending = order(shares, clusters, given.group, generator).to(device)
        for at in range(0, len(pending) - given.batch + 1, given.batch):
            for part in optimizer.param_groups:
                part["lr"] = given.rate * min((step + 1) / 200, 1.0 - step / given.steps)
            chosen = pending[at : at + given.batch]
            sides = []
            for table in (en, ja):
                numbers = table[chosen]
                kept = torch.rand(numbers.shape, device=device) >= given.drop
                sides.append(student(numbers, kept))
            loss = loss_of(sides[0], sides[1], vectors[taught[chosen]].float(), given)
            for words, weight in alike:
                loss = loss + weight * words.loss(student, given.scale, given.alike_soft)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 1000 == 0:
                say(f"step {step}: loss {loss.item():.4f}, {step / (time.monotonic() - begin):.1f} steps/s")
            if step >= given.steps:
                break
    return student


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("dataset", type=Path)
    arguments.add_argument("vocabulary", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--name", default="tokonoma-ja-en-1")
    arguments.add_argument("--licence", default="")
    for name, default in (("steps", 3_000), ("batch", 4_096), ("group", 128), ("seed", 7)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("rate", 0.0005), ("scale", 20.0), ("soft", 40.0), ("drop", 0.3), ("decay", 0.01)):
        arguments.add_argument(f"--{name}", type=float, default=default)
    for name, default in (("within", 0.0), ("alike", 0.0), ("alike-ja", 0.0), ("alike-soft", 20.0)):
        arguments.add_argument(f"--{name}", type=float, default=default)
    for name, default in (("everyday", 6.0), ("dictionary", 0.5), ("words", 1.0)):
        arguments.add_argument(f"--{name}", type=float, default=default, help="how often these are taken in one pass")
    given = arguments.parse_args()
    data = Dataset.read(given.dataset)
    if given.words == 0.0:
        data = data.without(("chive", "glove"))
    pieces, scores = read_vocabulary(given.vocabulary)
    student = trained(data, len(pieces), given)
    how = {name: value for name, value in vars(given).items() if isinstance(value, int | float)}
    about = {"name": given.name, "licence": given.licence, "training": how}
    about["pairs"] = sum(json.loads((given.dataset / "counts.json").read_text("utf-8")).values())
    export(student.rows(), pieces, scores, about, given.out)
    say(f"{given.out} written, {given.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()

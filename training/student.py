"""The student: a vector a piece; a text is the sum of its pieces' vectors, each times how much the piece counts."""

from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from tokonoma.embed.builtin import ModelWeights, write_weights


class Student(torch.nn.Module):
    """The last row, of zeros, stands for no piece."""

    def __init__(self, vectors: torch.Tensor, counts: torch.Tensor) -> None:
        super().__init__()
        self.vectors = torch.nn.Parameter(functional.pad(vectors, (0, 0, 0, 1)))
        # At the start a piece counts the less, the more frequent it is; then it is learned.
        share = counts / counts.sum()
        self.importance = torch.nn.Parameter(functional.pad(torch.log(1e-3 / (1e-3 + share)), (0, 1)))

    def forward(self, numbers: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        # Without the places that hold nothing: writing all their gradients to one row would take most of the time.
        present = (numbers < self.vectors.shape[0] - 1) & kept
        flat, lengths = numbers[present].long(), present.sum(1)
        weights = functional.embedding(flat, self.importance[:, None])[:, 0].exp()
        starts = lengths.cumsum(0) - lengths
        summed = functional.embedding_bag(flat, self.vectors, starts, mode="sum", per_sample_weights=weights)
        return functional.normalize(summed, dim=-1, eps=1e-6)

    def rows(self) -> torch.Tensor:
        """What is shipped: the vectors, as long as their pieces are important."""
        return (self.vectors * self.importance.exp()[:, None])[:-1].detach()


def first_vectors(numbers: torch.Tensor, taught: torch.Tensor, vectors: torch.Tensor, pieces: int) -> torch.Tensor:
    """Where a piece starts: the mean of what the texts that hold it are to learn, short texts counting most."""
    centre = vectors.float().mean(0)
    sums = torch.zeros(pieces + 1, vectors.shape[1], device=vectors.device)
    weights = torch.zeros(pieces + 1, device=vectors.device)
    for at in range(0, numbers.shape[0], 16_384):
        some = numbers[at : at + 16_384].long()
        share = (1.0 / (some < pieces).sum(1).clamp(min=1).float()) ** 1.5
        wanted = (vectors[taught[at : at + 16_384]].float() - centre) * share[:, None]
        for column in range(some.shape[1]):
            sums.index_add_(0, some[:, column], wanted)
            weights.index_add_(0, some[:, column], share)
    means = sums / weights.clamp(min=1e-6)[:, None]
    fresh = torch.randn(means.shape, generator=torch.Generator().manual_seed(1)).to(means.device) * 0.01
    return functional.normalize(means + fresh, dim=-1)[:-1]


def export(rows: torch.Tensor, pieces: list[str], scores: list[float], about: dict[str, object], path: Path) -> None:
    """8 bits a number, a scale a row."""
    values = rows.float().cpu().numpy()
    scales = np.abs(values).max(1).clip(1e-9) / 127.0
    matrix = np.rint(values / scales[:, None]).astype(np.int8)
    write_weights(path, ModelWeights(about, pieces, np.array(scores, np.float32), scales.astype(np.float32), matrix))

"""The contextual encoder as torch trains it. `training.encoder` runs the same network in numpy."""

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from training.encoder import EncoderWeights, write_encoder

WIDTH, HEADS, INNER, PLACES, DIMENSION = 384, 12, 1536, 192, 256
LEVELS, SPREAD = 7.0, 2.6  # 4 bits: −7 … 7 reach to 2.6 times the mean square of a row


def in_four_bits(table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scales = table.pow(2).mean(1).sqrt().clamp(min=1e-6) * (SPREAD / LEVELS)
    return (table / scales[:, None]).round().clamp(-LEVELS, LEVELS), scales


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.joined = nn.Linear(WIDTH, WIDTH)
        self.attention_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.inner = nn.Linear(WIDTH, INNER)
        self.outer = nn.Linear(INNER, WIDTH)
        self.outer_norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, states: torch.Tensor, present: torch.Tensor, drop: float) -> torch.Tensor:
        texts, length, _ = states.shape
        mixed = self.attention(states).view(texts, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        joined = functional.scaled_dot_product_attention(mixed[0], mixed[1], mixed[2], present[:, None, None, :])
        joined = self.joined(joined.transpose(1, 2).reshape(texts, length, WIDTH))
        states = self.attention_norm(states + functional.dropout(joined, drop, self.training))
        inner = functional.gelu(self.inner(states), approximate="tanh")
        return self.outer_norm(states + functional.dropout(self.outer(inner), drop, self.training))


class ContextModel(nn.Module):
    """Number 0 stands for no piece."""

    def __init__(self, pieces: int, layers: int, *, head: bool = True) -> None:
        super().__init__()
        self.pieces = nn.Embedding(pieces, WIDTH, padding_idx=0)
        self.places = nn.Embedding(PLACES, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(WIDTH, DIMENSION, bias=False) if head else None
        self.coarse, self.drop = False, 0.0

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        present = numbers > 0
        table = self.pieces.weight
        if self.coarse:  # what 4 bits will make of it; the gradient passes as if nothing had been rounded
            levels, scales = in_four_bits(table.detach())
            table = table + (levels * scales[:, None] - table.detach())
        states = functional.embedding(numbers, table) + self.places.weight[: numbers.shape[1]]
        states = functional.dropout(self.norm(states), self.drop, self.training)
        for layer in self.layers:
            states = layer(states, present, self.drop)
        weights = present.unsqueeze(-1).to(states.dtype)
        mean = (states * weights).sum(1).float() / weights.sum(1).float()
        if self.head is not None:
            mean = mean @ self.head.weight.float().T
        return functional.normalize(mean, dim=-1)


def take_layers(model: ContextModel, tensors: dict[str, torch.Tensor], chosen: list[int]) -> None:
    """Places and layers of a BERT with the same measures."""
    about = {"weight": "weight", "bias": "bias"}

    def copy(part: nn.Module, name: str) -> None:
        part.load_state_dict({own: tensors[f"{name}.{theirs}"] for own, theirs in about.items()})

    kind = tensors["embeddings.token_type_embeddings.weight"][0]
    model.places.weight.data.copy_(tensors["embeddings.position_embeddings.weight"][:PLACES] + kind)
    copy(model.norm, "embeddings.LayerNorm")
    for layer, number in zip(model.layers, chosen, strict=True):
        assert isinstance(layer, Layer)
        prefix = f"encoder.layer.{number}."
        for end in about:
            parts = [tensors[f"{prefix}attention.self.{name}.{end}"] for name in ("query", "key", "value")]
            getattr(layer.attention, end).data.copy_(torch.cat(parts))
        copy(layer.joined, f"{prefix}attention.output.dense")
        copy(layer.attention_norm, f"{prefix}attention.output.LayerNorm")
        copy(layer.inner, f"{prefix}intermediate.dense")
        copy(layer.outer, f"{prefix}output.dense")
        copy(layer.outer_norm, f"{prefix}output.LayerNorm")


def export(model: ContextModel, pieces: list[str], scores: list[float], about: dict[str, object], path: Path) -> None:
    """8 bits a number, 4 in the table of pieces; the first piece of the list is number 1 of the table."""
    tensors: dict[str, np.ndarray] = {"scores": np.array(scores, "<f4")}
    levels, scales = in_four_bits(model.pieces.weight.detach().float().cpu()[1:])
    shifted = (levels + 8).numpy().astype(np.uint8)
    tensors["pieces"] = shifted[:, ::2] | (shifted[:, 1::2] << 4)
    tensors["pieces.scale"] = scales.numpy()

    def add(name: str, table: torch.Tensor) -> None:
        values = table.detach().float().cpu().numpy()
        row = np.abs(values).max(1).clip(1e-9) / 127.0
        tensors[name], tensors[f"{name}.scale"] = np.rint(values / row[:, None]).astype(np.int8), row.astype("<f4")

    def add_norm(name: str, norm: nn.LayerNorm) -> None:
        tensors[name] = np.stack([part.detach().float().cpu().numpy() for part in (norm.weight, norm.bias)])

    add("places", model.places.weight)
    add_norm("norm", model.norm)
    for number, layer in enumerate(model.layers):
        assert isinstance(layer, Layer)
        for name in ("attention", "joined", "inner", "outer"):
            part = getattr(layer, name)
            add(f"{number}.{name}", part.weight)
            tensors[f"{number}.{name}.bias"] = part.bias.detach().float().cpu().numpy()
        add_norm(f"{number}.attention.norm", layer.attention_norm)
        add_norm(f"{number}.outer.norm", layer.outer_norm)
    assert model.head is not None
    add("head", model.head.weight)
    measures = {"layers": len(model.layers), "heads": HEADS, "dimension": DIMENSION}
    write_encoder(path, EncoderWeights({**about, **measures}, pieces, tensors))

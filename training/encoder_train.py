"""The encoder learns the teacher's vectors for both languages, then which notes answer which questions.

    python -m training.encoder_train DATASET START TEACHER OUT --layers 0,2,5 --minutes 5 [--from STATE] …

First step, `--minutes`: the vectors of both sides of a pair shall be the teacher's of the English side, and lie to
those of other pairs as the teacher's do; OUT.first.pt and OUT.first.bin are written. Second step, `--steps`: a written
question shall find its note, in either language, among those of both languages; pairs as before besides, so that
nothing is unlearned; OUT.pt and OUT.bin are written.
"""

import argparse
import time
from pathlib import Path

import torch
from torch.nn import functional

from training.encoder import ENCODER_NAME
from training.encoder_dataset import read_start, read_teacher
from training.encoder_judge import judge
from training.encoder_model import ContextModel, export, take_layers
from training.sources import say

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
_BUCKETS = (16, 24, 32, 48, 64, 96, 192)
_ROOM = 98_304  # pieces of one side of a batch
_TAUGHT, _SCALE = 25.0, 20.0


class Texts:
    """Texts as numbers of pieces, on the device."""

    def __init__(self, stored: dict[str, torch.Tensor]) -> None:
        self.numbers, self.lengths, self.starts = (stored[name].to(DEVICE) for name in ("numbers", "lengths", "starts"))

    def take(self, which: torch.Tensor, width: int | None = None) -> torch.Tensor:
        lengths = self.lengths[which]
        width = width or -(-int(lengths.max()) // 8) * 8
        columns = torch.arange(width, device=DEVICE)
        at = (self.starts[which][:, None] + columns).clamp(max=len(self.numbers) - 1)
        return torch.where(columns < lengths[:, None], self.numbers[at].long(), 0)


class Pairs:
    """Batches of texts of like length, each drawn as often as its source counts."""

    def __init__(self, stored: dict[str, torch.Tensor], most: int) -> None:
        self.en, self.ja = Texts(stored["en"]), Texts(stored["ja"])  # type: ignore[arg-type]
        self.taught = stored["taught"].to(DEVICE)
        self.vectors = stored["vectors"].to(DEVICE)
        longest = torch.maximum(self.en.lengths, self.ja.lengths)
        weights, low = stored["weights"].to(DEVICE), 0
        self.buckets: list[tuple[int, int, torch.Tensor, torch.Tensor]] = []
        chances: list[float] = []
        for width in _BUCKETS:
            which = ((longest > low) & (longest <= width)).nonzero()[:, 0]
            low = width
            if len(which):
                size = min(most, _ROOM // width)
                summed = weights[which].double().cumsum(0)
                self.buckets.append((width, size, which, summed / summed[-1]))
                chances.append(float(weights[which].sum()) / size)
        self.chances = torch.tensor(chances)

    def draw(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        width, size, which, summed = self.buckets[int(torch.multinomial(self.chances, 1))]
        drawn = torch.searchsorted(summed, torch.rand(size, device=DEVICE, dtype=torch.double))
        some = which[drawn.clamp(max=len(which) - 1)]
        return self.en.take(some, width), self.ja.take(some, width), self.vectors[self.taught[some]].float()


def leave_out(numbers: torch.Tensor, share: float) -> torch.Tensor:
    """Without a share of the pieces, never without the first."""
    gone = torch.rand(numbers.shape, device=DEVICE) < share
    gone[:, 0] = False
    return torch.where(gone, 0, numbers)


def distil(model: ContextModel, pairs: Pairs, share: float) -> torch.Tensor:
    en, ja, taught = pairs.draw()
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        both = model(leave_out(torch.cat((en, ja)), share))
    one, other = both.chunk(2)
    wanted = functional.softmax(_TAUGHT * taught @ taught.T, -1)
    lost = (1 - (one * taught).sum(1)).mean() + (1 - (other * taught).sum(1)).mean()
    for left, right in ((one, other), (other, one), (one, taught), (other, taught)):
        lost = lost + 0.25 * functional.cross_entropy(_TAUGHT * left @ right.T, wanted)
    return lost


class Notes:
    """Batches of written lines, some of them neighbours of each other."""

    def __init__(self, stored: dict[str, torch.Tensor], group: int) -> None:
        self.texts = Texts(stored["written"])  # type: ignore[arg-type]
        self.lines = (~stored["kept_out"]).nonzero()[:, 0].to(DEVICE)
        self.taught = stored["vectors"][stored["written_taught"]].to(DEVICE).float()
        self.group = group
        self.near: torch.Tensor | None = None

    def look_for_neighbours(self, model: ContextModel) -> None:
        """Lines whose notes the model as it is takes for answers to a line's question."""
        if self.group < 2:
            return
        model.eval()
        with torch.inference_mode(), torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            forms = [
                torch.cat([model(self.texts.take(4 * part + form)) for part in self.lines.split(2_048)])
                for form in range(4)
            ]
        model.train()
        near = (forms[0] + forms[2]) @ (forms[1] + forms[3]).T
        self.near = near.topk(3 * self.group).indices.clone()

    def draw(self, size: int) -> torch.Tensor:
        if self.near is None:
            return self.lines[torch.randperm(len(self.lines), device=DEVICE)[:size]]
        seeds = torch.randperm(len(self.lines), device=DEVICE)[: size // self.group]
        others = torch.rand(len(seeds), self.near.shape[1], device=DEVICE).argsort(1)[:, : self.group - 1]
        drawn = torch.cat((seeds, self.near[seeds].gather(1, others).flatten())).unique()
        return self.lines[drawn]


def contrast(model: ContextModel, notes: Notes, size: int, share: float) -> torch.Tensor:
    """Every question finds its note in each language among all notes of the batch, and every note its questions."""
    lines = notes.draw(size)
    count = len(lines)
    forms = torch.cat([4 * lines + form for form in (0, 2, 1, 3)])  # q_en, q_ja, n_en, n_ja
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        rows = model(leave_out(notes.texts.take(forms), share))
    near = _SCALE * rows[: 2 * count] @ rows[2 * count :].T
    taught = notes.taught[lines]
    alike = (taught[:, 1] @ taught[:, 1].T > 0.8) | (taught[:, 0] @ taught[:, 0].T > 0.85)
    alike = (alike | torch.eye(count, device=DEVICE, dtype=torch.bool)).repeat(2, 2)
    lost = torch.zeros((), device=DEVICE)
    for table in (near, near.T):
        others = table.masked_fill(alike, -1e4).logsumexp(1)
        at = torch.arange(2 * count, device=DEVICE)
        for away in (0, count):
            right = table[at, (at + away) % (2 * count)]
            lost = lost + functional.softplus(others - right).mean() / 4
    return lost


def optimizer_of(model: ContextModel, rate: float) -> torch.optim.Optimizer:
    table = [model.pieces.weight]
    rest = [part for name, part in model.named_parameters() if name != "pieces.weight"]
    groups = [{"params": table, "lr": 2 * rate, "times": 2.0}, {"params": rest, "lr": rate, "times": 1.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=DEVICE == "cuda")


def run(model: ContextModel, given: argparse.Namespace, pairs: Pairs, notes: Notes | None) -> None:
    """The rate falls with the time that is left, or with the steps."""
    rate = given.tune_rate if notes else given.rate
    optimizer, begin, step = optimizer_of(model, rate), time.monotonic(), 0
    model.train()
    while True:
        done = step / given.steps if notes else (time.monotonic() - begin) / (60 * given.minutes)
        if done >= 1.0:
            break
        for part in optimizer.param_groups:
            part["lr"] = part["times"] * rate * min((step + 1) / 200, 1.0 - done)
        if notes and step % 150 == 0:
            notes.look_for_neighbours(model)
        lost = distil(model, pairs, given.leave_out)
        if notes:
            lost = given.keep * lost + contrast(model, notes, given.batch, given.tune_leave_out)
        optimizer.zero_grad(set_to_none=True)
        lost.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 200 == 0:
            say(f"step {step}, {done:.0%}: loss {lost.item():.3f}, {step / (time.monotonic() - begin):.1f} steps/s")
    say(f"{step} steps in {time.monotonic() - begin:.0f} s")


def build(given: argparse.Namespace, stored: dict[str, torch.Tensor]) -> ContextModel:
    _, _, starts = read_start(given.start)
    chosen = [int(each) for each in given.layers.split(",")]
    model = ContextModel(len(starts) + 1, len(chosen))
    if given.first:
        state = torch.load(given.first)
        model.load_state_dict(
            {name: part for name, part in state.items() if not name.startswith("layers.")}, strict=False
        )
        for place, number in enumerate(chosen):
            prefix = f"layers.{number}."
            own = {name.removeprefix(prefix): part for name, part in state.items() if name.startswith(prefix)}
            model.layers[place].load_state_dict(own)
        return model.to(DEVICE)
    tensors = read_teacher(given.teacher)
    take_layers(model, tensors, chosen)
    table = tensors["embeddings.word_embeddings.weight"]
    for number, (which, shares) in enumerate(starts, 1):
        model.pieces.weight.data[number] = torch.tensor(shares) @ table[which]
    model.pieces.weight.data[0] = 0.0
    assert model.head is not None
    model.head.weight.data.copy_(stored["head"])
    return model.to(DEVICE)


def finish(model: ContextModel, given: argparse.Namespace, step: str, stored: dict[str, torch.Tensor]) -> None:
    judge(model, stored, given.judge, DEVICE)
    torch.save(model.state_dict(), given.out.with_suffix(f"{step}.pt"))
    pieces, scores, _ = read_start(given.start)
    how = {name: str(value) for name, value in vars(given).items() if isinstance(value, int | float | str)}
    about = {"name": ENCODER_NAME, "licence": "CC BY-SA 4.0", "trained": how}
    export(model, pieces, scores, about, given.out.with_suffix(f"{step}.bin"))
    say(f"{given.out}{step}.bin written")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    for name in ("dataset", "start", "teacher", "out"):
        arguments.add_argument(name, type=Path)
    arguments.add_argument("--layers", default="0,2,5")
    arguments.add_argument("--from", dest="first", type=Path)
    arguments.add_argument("--judge", type=Path)
    for name, default in (("minutes", 5.0), ("rate", 5e-4), ("tune-rate", 1e-4), ("keep", 0.5), ("drop", 0.1)):
        arguments.add_argument(f"--{name}", type=float, default=default)
    for name, default in (("leave-out", 0.05), ("tune-leave-out", 0.15)):
        arguments.add_argument(f"--{name}", type=float, default=default)
    for name, default in (("steps", 500), ("batch", 1024), ("most", 4096), ("group", 8), ("seed", 3)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    given = arguments.parse_args()
    torch.manual_seed(given.seed)
    torch.set_float32_matmul_precision("high")
    stored = torch.load(given.dataset / "dataset.pt")
    model, pairs = build(given, stored), Pairs(stored, given.most)
    if given.minutes:
        model.drop = 0.0
        run(model, given, pairs, None)
        finish(model, given, ".first", stored)
    if given.steps:
        model.drop, model.coarse = given.drop, True
        run(model, given, pairs, Notes(stored, given.group))
        finish(model, given, "", stored)


if __name__ == "__main__":
    main()

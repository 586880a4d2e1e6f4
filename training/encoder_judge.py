"""How well the encoder finds notes and passages, by its vectors alone.

    python -m training.encoder_judge START JUDGE.pt [--notes DIR] [--dev DIR]

writes the sets as numbers of pieces, for `encoder_train --judge`. DIR of `--notes` holds `NAME.notes.jsonl` and
`NAME.questions.jsonl`; of the questions only those that may be tuned by are taken (`zlib.crc32(id) % 2 == 0`).
"""

import argparse
import json
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training.encoder_dataset import cut, embed_all, prepare
from training.encoder_model import ContextModel
from training.sources import say

Sets = dict[str, list[dict[str, Any]]]
_SPREAD = (0.4, 0.2)  # what a turn of a conversation lends to its neighbours, one and two away
_CHUNK = 400
_PARAPHRASES = Path(__file__).parent / "paraphrases-dev.jsonl"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def write_out(row: dict[str, Any]) -> str:
    return f"{row.get('title') or ''}\n{row['text']}".strip()


def note_sets(folder: Path) -> Sets:
    """All notes of all hands and both languages stand in one list."""
    notes = [note for path in sorted(folder.glob("w?.notes.jsonl")) for note in read(path)]
    place = {note["id"]: number for number, note in enumerate(notes)}
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(folder.glob("w?.questions.jsonl")):
        for asked in read(path):
            if asked["relevant"] and zlib.crc32(asked["id"].encode()) % 2 == 0:
                groups[f"notes {asked['lang']}-{notes[place[asked['relevant'][0]]]['lang']}"].append(asked)
    texts = [write_out(note) for note in notes]
    return {name: [_set(asked, texts, place, spread=False)] for name, asked in sorted(groups.items())}


def _set(asked: list[dict[str, Any]], texts: list[str], place: dict[str, int], *, spread: bool) -> dict[str, Any]:
    chunks = [(n, text[at : at + _CHUNK]) for n, text in enumerate(texts) for at in range(0, max(len(text), 1), _CHUNK)]
    return {
        "queries": cut([row["text"] for row in asked]),
        "chunks": cut([text for _, text in chunks]),
        "of": torch.tensor([number for number, _ in chunks]),
        "relevant": [[place[name] for name in row["relevant"] if name in place] for row in asked],
        "spread": spread,
    }


def dev_sets(folder: Path) -> Sets:
    found: Sets = defaultdict(list)
    for name in ("locomo", "jsquad", "jaquad", "k8s"):
        asked_of: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in read(folder / f"{name}.queries.jsonl"):
            if name != "k8s" or row["kind"].startswith("xling"):
                asked_of[row.get("scope") or row.get("corpus_lang") or row["lang"]].append(row)
        corpora: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in read(folder / f"{name}.corpus.jsonl"):
            corpora[row["meta"].get("scope") or row["lang"]].append(row)
        for group, asked in asked_of.items():
            rows = corpora[group]
            place = {row["id"]: number for number, row in enumerate(rows)}
            label = f"{name} {asked[0]['lang']}-{group}" if name == "k8s" else name
            step = 1 if name in ("locomo", "k8s") else 3
            found[label].append(_set(asked[::step], [write_out(row) for row in rows], place, spread=name == "locomo"))
    return found


def measure(groups: list[dict[str, Any]], model: ContextModel, device: str) -> str:
    ranks: list[float] = []
    recall: list[float] = []
    for group in groups:
        asked, chunks = (embed_all(model, group[name], device).float().to(device) for name in ("queries", "chunks"))
        near = torch.full((len(asked), int(group["of"].max()) + 1), -1.0, device=device)
        near.scatter_reduce_(1, group["of"].to(device).expand(len(asked), -1), asked @ chunks.T, "amax")
        if group["spread"]:
            lent = near.clone()
            for away, share in enumerate(_SPREAD, 1):
                lent[:, away:] += share * near[:, :-away]
                lent[:, :-away] += share * near[:, away:]
            near = lent
        for row, relevant in zip(near, group["relevant"], strict=True):
            if relevant:
                places = (row[None] > row[relevant][:, None]).sum(1)
                ranks.append(1.0 / (int(places.min()) + 1))
                recall.append(float((places < 10).float().mean()))
    return f"MRR {np.mean(ranks):.3f} R@10 {np.mean(recall):.3f} ({len(ranks)})"


def judge_written(model: ContextModel, stored: dict[str, Any], device: str) -> None:
    """Kept-out questions among all written notes of a language; paraphrases among the same notes."""
    flat = stored["written"]
    starts, ends = flat["starts"].numpy(), (flat["starts"] + flat["lengths"]).numpy()
    numbers = flat["numbers"].numpy()
    texts = [numbers[a:b] for a, b in zip(starts, ends, strict=True)]
    rows = embed_all(model, texts, device).float().to(device).view(-1, 4, 256)
    kept = stored["kept_out"].nonzero()[:, 0].to(device)
    said: list[str] = []
    for q, n, name in ((0, 1, "en-en"), (2, 3, "ja-ja"), (0, 3, "en-ja"), (2, 1, "ja-en")):
        near = rows[kept, q] @ rows[:, n].T
        right = near.gather(1, kept[:, None])
        said.append(f"{name} {float((1.0 / ((near > right).sum(1) + 1)).mean()):.3f}")
    say("written, kept out: MRR " + ", ".join(said))
    for lang, n in (("en", 1), ("ja", 3)):
        asked = [row for row in stored["paraphrases"] if row["lang"] == lang]
        one, other = (embed_all(model, [row[name] for row in asked], device).float().to(device) for name in ("q", "n"))
        right = (one * other).sum(1, keepdim=True)
        ranks = (one @ torch.cat((other, rows[:, n])).T > right + 1e-6).sum(1) + 1
        say(f"paraphrases-dev {lang} among written notes: MRR {float((1.0 / ranks).mean()):.3f}")


def judge(model: ContextModel, stored: dict[str, Any], path: Path | None, device: str) -> None:
    model.eval()
    if path:
        sets = torch.load(path, weights_only=False)
        judge_written(model, {**stored, "paraphrases": sets["paraphrases"]}, device)
        for name, groups in sets["sets"].items():
            say(f"{name}: {measure(groups, model, device)}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("start", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--notes", type=Path)
    arguments.add_argument("--dev", type=Path)
    given = arguments.parse_args()
    prepare(given.start)
    rows = [row for row in read(_PARAPHRASES) if row["query_lang"] == row["note_lang"]]
    paraphrases = [{"lang": row["query_lang"], "q": cut([row["query"]])[0], "n": cut([row["note"]])[0]} for row in rows]
    sets: Sets = {**(note_sets(given.notes) if given.notes else {}), **(dev_sets(given.dev) if given.dev else {})}
    torch.save({"sets": sets, "paraphrases": paraphrases}, given.out)


if __name__ == "__main__":
    main()

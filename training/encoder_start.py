"""The encoder's pieces, and the teacher's vectors they start from.

    python -m training.encoder_start MINILM STATIC.bin OUT

Latin words keep the teacher's own pieces. Runs of Japanese are split into those of the static model, without its
phrases (「を作成する」 is を, 作成 and する: a transformer joins them by itself). A Japanese piece starts where the
static model's nearest English words lie. OUT gets `pieces.tsv` (piece, score, teacher's pieces and their shares).
"""

import argparse
import json
import math
import re
from pathlib import Path

import numpy as np

from tokonoma.embed.builtin import WORD_MARK, is_japanese, read_weights
from training.encoder import START
from training.sources import say

_NEAREST = 8
_STEEP = 12.0

_CONTENT = "[一-鿿ァ-ヺー々]"
_PHRASE = re.compile(
    rf"^[をがにはでとのもへや]+{_CONTENT}|.を|を.|{_CONTENT}[がは]{_CONTENT}{{2}}|{_CONTENT}(?:の|から|まで){_CONTENT}{{2}}"
    rf"|{_CONTENT}(?:を|が|は|に|で|と|も|へ|の|から|まで|には|では|とは|ように|ために|ための|という|として|について)$"
    rf"|{_CONTENT}(?:ます|ません|ました|ください|しています|している|していた|された|される|されて|させる|できる|して|する|した|され|します)$"
    rf"|[ぁ-ゖ]{_CONTENT}{{2,}}.*(?:する|ます|した|して|され|ません)"
)


def teacher_pieces(path: Path) -> tuple[list[tuple[str, float]], list[int]]:
    """Those of Latin letters and digits. The list has the frequent ones first, which is as good as counting them."""
    found: list[tuple[str, float]] = []
    numbers: list[int] = []
    for number, piece in enumerate(path.read_text("utf-8").splitlines()):
        inside = piece.removeprefix("##")
        if not re.fullmatch(r"[a-z0-9]+|[+#]", inside) or piece in ("##+", "###"):  # those are there without a mark
            continue
        whole = inside == piece and inside not in "+#"
        found.append(((WORD_MARK if whole else "") + inside, -math.log(number + 100.0) - (2.0 if whole else 4.0)))
        numbers.append(number)
    return found, numbers


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("teacher", type=Path)
    arguments.add_argument("static", type=Path)
    arguments.add_argument("out", type=Path)
    given = arguments.parse_args()
    static = read_weights(given.static)
    latin, numbers = teacher_pieces(given.teacher / "vocab.txt")
    rows = [(START, -99.0, [101], [1.0])]
    rows += [(piece, score, [number], [1.0]) for (piece, score), number in zip(latin, numbers, strict=True)]
    vectors = static.matrix.astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-6)
    of_piece = {piece: number for number, piece in enumerate(static.pieces)}
    known = [(of_piece[p], n) for (p, _), n in zip(latin, numbers, strict=True) if p in of_piece and len(p) > 2]
    places, theirs = (np.array(column) for column in zip(*known, strict=True))
    kept = [n for n, p in enumerate(static.pieces) if is_japanese(p) and (len(p) < 3 or not _PHRASE.search(p))]
    say(f"{len(latin)} Latin pieces, {len(places)} of them known to the static model, {len(kept)} Japanese ones")
    for at in range(0, len(kept), 2_000):
        near = vectors[kept[at : at + 2_000]] @ vectors[places].T
        best = np.argpartition(-near, _NEAREST, 1)[:, :_NEAREST]
        for row, number in enumerate(kept[at : at + 2_000]):
            share = np.exp(_STEEP * near[row, best[row]])
            listed = [round(float(each), 3) for each in share / share.sum()]
            rows.append((static.pieces[number], float(static.scores[number]), theirs[best[row]].tolist(), listed))
    lines = [f"{piece}\t{score:.4f}\t{json.dumps([where, share])}" for piece, score, where, share in rows]
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "pieces.tsv").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()

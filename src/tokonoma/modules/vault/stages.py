"""The stages of vault_find: normalised text, loose text, and the judgement that joins what they found. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tokonoma.core.normalize import HAN, KATAKANA, OKURIGANA, fold, loosen
from tokonoma.files.text import Piece

Signal = Literal["heading", "normalized", "loose"]
SIGNALS: tuple[Signal, ...] = ("heading", "normalized", "loose")
FEW = 3
BIAS = 0.80
BIAS_FROM = 5

_RUNS = re.compile(rf"[{HAN}]+(?:[{OKURIGANA}][{HAN}]+)*|[{KATAKANA}]+|[a-z0-9][a-z0-9_.+#-]*[a-z0-9+#]|[a-z0-9]")
_QUOTED = re.compile(r"[\"「『“]([^\"」』”]+)[\"」』”]")
_COMMON = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "in", "is", "it", "of", "on", "or", "that"}
    | {"the", "this", "to", "what", "when", "where", "which", "who", "with"}
)


@dataclass(frozen=True, slots=True)
class Candidate:
    path: str
    start: int
    end: int
    title: str
    signals: tuple[Signal, ...]
    score: float
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    integrated: Sequence[Candidate]
    bias: float
    biased: bool
    gaps: tuple[str, ...]
    sufficiency: float
    status: Literal["ready", "needs_followup", "blocked"]
    fullest: str = ""  # the file that most candidates lie in


def terms_of(query: str) -> tuple[str, ...]:
    """What to look for: what is quoted whole, and words as scripts set them apart; the whole query if there are none"""
    quoted = [" ".join(each.split()) for each in _QUOTED.findall(fold(query))]
    words = _RUNS.findall(_QUOTED.sub(" ", fold(query)))
    found = [word for word in words if word not in _COMMON and (len(word) > 1 or not word.isascii())]
    return tuple(dict.fromkeys(quoted + found)) or (fold(query).strip(),)


def candidate(path: str, piece: Piece, terms: Sequence[str], phrase: str) -> Candidate | None:
    """Stage 0, then for terms that it missed stage 1. None if the piece holds no term."""
    title, text = fold(piece.title), fold(piece.text)
    headed = {term for term in terms if term in title}
    plain = {term for term in terms if term in text} | headed
    loose: set[str] = set()
    if len(plain) < len(terms):
        loosened = loosen(f"{piece.title}\n{piece.text}")
        loose = {term for term in terms if term not in plain and loosen(term) and loosen(term) in loosened}
    if not plain and not loose:
        return None
    score = (len(plain) + 0.8 * len(loose)) / len(terms)
    score = 0.7 * score + 0.15 * bool(headed) + 0.15 * (phrase in text)
    found = (headed, plain - headed or plain, loose)  # in the order of SIGNALS
    return Candidate(
        path,
        piece.start,
        piece.end,
        piece.title,
        tuple(name for name, terms_found in zip(SIGNALS, found, strict=True) if terms_found),
        round(score, 4),
        tuple(term for term in terms if term in plain or term in loose),
    )


def judged(found: Iterable[Candidate], terms: Sequence[str]) -> Judgement:
    """Stage 1.5: best first, whether one file has nearly all, which terms nothing holds, and whether that is enough."""
    ranked = sorted(found, key=lambda each: (-each.score, each.path, each.start))
    if not ranked:
        return Judgement([], 0.0, False, tuple(terms), 0.0, "blocked")
    (fullest, most), *_ = Counter(each.path for each in ranked).most_common(1)
    bias = round(most / len(ranked), 4)
    biased = bias >= BIAS and len(ranked) >= BIAS_FROM
    gaps = tuple(term for term in terms if not any(term in each.terms for each in ranked))
    covered = 1 - len(gaps) / len(terms)
    sufficiency = round(0.6 * covered + 0.25 * min(1.0, len(ranked) / FEW) + (0.0 if biased else 0.15), 4)
    ready = not gaps and not biased and len(ranked) >= FEW
    return Judgement(ranked, bias, biased, gaps, sufficiency, "ready" if ready else "needs_followup", fullest)

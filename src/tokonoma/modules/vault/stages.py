"""The stages of vault_find: normalised text, loose text, and the judgement that joins what they found. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tokonoma.core.normalize import HAN, KATAKANA, OKURIGANA, normalize, normalize_loose
from tokonoma.files.text import Passage

VaultSignal = Literal["heading", "normalized", "loose"]
SIGNALS: tuple[VaultSignal, ...] = ("heading", "normalized", "loose")
ENOUGH_CANDIDATES = 3
MAX_BIAS = 0.80
BIAS_MIN_CANDIDATES = 5

_RUNS = re.compile(rf"[{HAN}]+(?:[{OKURIGANA}][{HAN}]+)*|[{KATAKANA}]+|[a-z0-9][a-z0-9_.+#-]*[a-z0-9+#]|[a-z0-9]")
_QUOTED = re.compile(r"[\"「『“]([^\"」』”]+)[\"」』”]")
_COMMON = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "in", "is", "it", "of", "on", "or", "that"}
    | {"the", "this", "to", "what", "when", "where", "which", "who", "with"}
)


@dataclass(frozen=True, slots=True)
class VaultCandidate:
    path: str
    start: int
    end: int
    title: str
    signals: tuple[VaultSignal, ...]
    score: float
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VaultJudgement:
    integrated: Sequence[VaultCandidate]
    bias: float
    biased: bool
    gaps: tuple[str, ...]
    sufficiency: float
    status: Literal["ready", "needs_followup", "blocked"]
    fullest: str = ""  # the file that most candidates lie in


def extract_terms(query: str) -> tuple[str, ...]:
    """What to look for: what is quoted whole, and words as scripts set them apart; the whole query if there are none"""
    quoted = [" ".join(each.split()) for each in _QUOTED.findall(normalize(query))]
    words = _RUNS.findall(_QUOTED.sub(" ", normalize(query)))
    found = [word for word in words if word not in _COMMON and (len(word) > 1 or not word.isascii())]
    return tuple(dict.fromkeys(quoted + found)) or (normalize(query).strip(),)


def match_passage(path: str, piece: Passage, terms: Sequence[str], phrase: str) -> VaultCandidate | None:
    """Stage 0, then for terms that it missed stage 1. None if the piece holds no term."""
    title, text = normalize(piece.title), normalize(piece.text)
    headed = {term for term in terms if term in title}
    plain = {term for term in terms if term in text} | headed
    loose: set[str] = set()
    if len(plain) < len(terms):
        loosened = normalize_loose(f"{piece.title}\n{piece.text}")
        loose = {
            term for term in terms if term not in plain and normalize_loose(term) and normalize_loose(term) in loosened
        }
    if not plain and not loose:
        return None
    score = (len(plain) + 0.8 * len(loose)) / len(terms)
    score = 0.7 * score + 0.15 * bool(headed) + 0.15 * (phrase in text)
    found = (headed, plain - headed or plain, loose)  # in the order of SIGNALS
    return VaultCandidate(
        path,
        piece.start,
        piece.end,
        piece.title,
        tuple(name for name, terms_found in zip(SIGNALS, found, strict=True) if terms_found),
        round(score, 4),
        tuple(term for term in terms if term in plain or term in loose),
    )


def judge_candidates(found: Iterable[VaultCandidate], terms: Sequence[str]) -> VaultJudgement:
    """Stage 1.5: best first, whether one file has nearly all, which terms nothing holds, and whether that is enough."""
    ranked = sorted(found, key=lambda each: (-each.score, each.path, each.start))
    if not ranked:
        return VaultJudgement([], 0.0, False, tuple(terms), 0.0, "blocked")
    (fullest, most), *_ = Counter(each.path for each in ranked).most_common(1)
    bias = round(most / len(ranked), 4)
    biased = bias >= MAX_BIAS and len(ranked) >= BIAS_MIN_CANDIDATES
    gaps = tuple(term for term in terms if not any(term in each.terms for each in ranked))
    covered = 1 - len(gaps) / len(terms)
    sufficiency = round(0.6 * covered + 0.25 * min(1.0, len(ranked) / ENOUGH_CANDIDATES) + (0.0 if biased else 0.15), 4)
    ready = not gaps and not biased and len(ranked) >= ENOUGH_CANDIDATES
    return VaultJudgement(ranked, bias, biased, gaps, sufficiency, "ready" if ready else "needs_followup", fullest)

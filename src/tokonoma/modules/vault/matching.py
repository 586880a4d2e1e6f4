"""Matching: sections by headings, and passages by the terms of a query. Pure functions.

A passage is compared with the terms as normalized text, and then as loose text. The candidates are judged together:
gaps, bias towards one file, and whether they are enough.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tokonoma.core.errors import Conflict, Missing
from tokonoma.core.normalize import HAN, KATAKANA, OKURIGANA, normalize
from tokonoma.files.line_search import compile_glob as compile_glob
from tokonoma.files.text import Section, parse_markdown
from tokonoma.modules.vault.passages import ComparedPassage

_MAX_HEADINGS = 5  # in an error
_ENOUGH_CANDIDATES = 3
_MAX_BIAS, _BIAS_MIN_CANDIDATES = 0.80, 5  # the largest share of one file, and from how many candidates it counts

_RUNS = re.compile(rf"[{HAN}]+(?:[{OKURIGANA}][{HAN}]+)*|[{KATAKANA}]+|[a-z0-9][a-z0-9_.+#-]*[a-z0-9+#]|[a-z0-9]")
_QUOTED = re.compile(r"[\"「『“]([^\"」』”]+)[\"」』”]")
_COMMON = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "in", "is", "it", "of", "on", "or", "that"}
    | {"the", "this", "to", "what", "when", "where", "which", "who", "with"}
)

VaultSignal = Literal["heading", "normalized", "loose"]
SIGNALS: tuple[VaultSignal, ...] = ("heading", "normalized", "loose")
Status = Literal["ready", "needs_followup", "blocked"]


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
    ranked: Sequence[VaultCandidate]
    bias: float
    is_biased: bool
    gaps: tuple[str, ...]
    sufficiency: float
    status: Status
    fullest: str = ""  # the file with the most candidates


def find_section(text: str, heading: str) -> Section:
    """The one section with this heading, or with this path of headings (`Outer/Inner`)."""
    sections = [section for section in parse_markdown(text, "") if section.level]
    by_line = {section.line: section for section in sections}
    whole, wanted = _normalize_heading(heading), [_normalize_heading(part) for part in heading.split("/")]

    def matches(section: Section) -> bool:
        path = [_normalize_heading(section.title)]
        while section.parent is not None:
            section = by_line[section.parent]
            path.insert(0, _normalize_heading(section.title))
        return path[-1] == whole or path[-len(wanted) :] == wanted

    found = [section for section in sections if matches(section)]
    if not found:
        titles = [section.title for section in sections[:_MAX_HEADINGS]]
        raise Missing(f"There is no heading {heading!r} in the file.", headings=titles)
    if len(found) > 1:
        lines = [section.line for section in found]
        problem = f"{len(found)} headings match {heading!r} (lines {lines})."
        raise Conflict(f"{problem} Add the heading above, as in Outer/Inner.", lines=lines)
    return found[0]


def _normalize_heading(heading: str) -> str:
    return " ".join(normalize(re.sub(r"^\s*#{1,6}[ \t]+", "", heading)).split())


def extract_terms(query: str) -> tuple[str, ...]:
    """The quoted parts, and the words as scripts separate them; the whole query if there are none."""
    text = normalize(query)
    quoted = [" ".join(each.split()) for each in _QUOTED.findall(text)]
    words = _RUNS.findall(_QUOTED.sub(" ", text))
    chosen = [word for word in words if word not in _COMMON and (len(word) > 1 or not word.isascii())]
    return tuple(dict.fromkeys(quoted + chosen)) or (text.strip(),)


def match_passage(path: str, passage: ComparedPassage, terms: Mapping[str, str], phrase: str) -> VaultCandidate | None:
    """Look for the terms as normalized text, and for the missing ones as loose text. None if there is no term. `terms`
    are given with their loose forms."""
    in_title = {term for term in terms if term in passage.title}
    exact = {term for term in terms if term in passage.text} | in_title
    loose: set[str] = set()
    if len(exact) < len(terms):
        loose = {term for term, form in terms.items() if form and term not in exact and form in passage.loose}
    if not exact and not loose:
        return None
    score = (len(exact) + 0.8 * len(loose)) / len(terms)
    score = 0.7 * score + 0.15 * bool(in_title) + 0.15 * (phrase in passage.text)
    by_signal = (in_title, exact - in_title or exact, loose)  # in the order of SIGNALS
    signals: tuple[VaultSignal, ...] = tuple(each for each, found in zip(SIGNALS, by_signal, strict=True) if found)
    matched = tuple(term for term in terms if term in exact or term in loose)
    return VaultCandidate(path, passage.start, passage.end, passage.shown_title, signals, round(score, 4), matched)


def judge_candidates(candidates: Iterable[VaultCandidate], terms: Sequence[str]) -> VaultJudgement:
    """Rank the candidates; find the terms that none holds and the bias towards one file; decide if that is enough."""
    ranked = sorted(candidates, key=lambda each: (-each.score, each.path, each.start))
    if not ranked:
        return VaultJudgement([], 0.0, False, tuple(terms), 0.0, "blocked")
    (fullest, most), *_ = Counter(each.path for each in ranked).most_common(1)
    bias = round(most / len(ranked), 4)
    is_biased = bias >= _MAX_BIAS and len(ranked) >= _BIAS_MIN_CANDIDATES
    gaps = tuple(term for term in terms if not any(term in each.terms for each in ranked))
    covered, enough = 1 - len(gaps) / len(terms), min(1.0, len(ranked) / _ENOUGH_CANDIDATES)
    sufficiency = round(0.6 * covered + 0.25 * enough + (0.0 if is_biased else 0.15), 4)
    ready = not gaps and not is_biased and len(ranked) >= _ENOUGH_CANDIDATES
    return VaultJudgement(ranked, bias, is_biased, gaps, sufficiency, "ready" if ready else "needs_followup", fullest)

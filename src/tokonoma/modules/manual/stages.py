"""The stages of a search: small functions, each of which adds sections with the signal that it found them by.

Nothing is left to one strategy: what is asked for may stand in a heading, in other letters, under another name, behind
a reference, or nowhere by its words.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Literal, get_args

from tokonoma.core.normalize import normalize
from tokonoma.files.sections import slugify
from tokonoma.modules.manual.corpus import ManualCorpus
from tokonoma.modules.manual.references import SectionReference, resolve_link
from tokonoma.modules.manual.terms import ParsedQuery, QueryTerm

Signal = Literal["heading", "normalized", "loose", "synonym", "exceptions", "reference", "semantic"]
SIGNALS: tuple[Signal, ...] = get_args(Signal)

# What a signal is worth at its best. Words that stand there count more than anything that was concluded.
WEIGHTS: Mapping[Signal, float] = {
    "heading": 1.0,
    "normalized": 0.8,
    "loose": 0.65,
    "synonym": 0.6,
    "semantic": 0.4,
    "exceptions": 0.25,
    "reference": 0.2,
}
_WORD_SIGNALS: tuple[Signal, ...] = ("heading", "normalized", "loose", "synonym")
_SIDE_SIGNALS: tuple[Signal, ...] = ("exceptions", "reference")
NAMED = 0.6
"""The score from which on a candidate holds what was asked for by name."""

ENOUGH_NAMED = 30
"""Sections that hold a term by name, from which on its single words are not looked for, too."""

_MAX_REFERRING = 60  # the best candidates, whose references are followed
_MIN_WORD_SHARE = 0.6  # of a query's words, by weight, must stand in a section that does not hold the phrase


@dataclass(slots=True)
class SectionCandidates:
    """The candidates so far: place → signal → how strong, 0..1. `allowed` are the sections that are searched."""

    allowed: frozenset[int]
    found: dict[int, dict[Signal, float]] = field(default_factory=dict[int, dict[Signal, float]])
    gaps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # what is missing, and why
    named: set[int] = field(default_factory=set[int])  # where the whole term stands, or another name for it

    def add(self, place: int, signal: Signal, strength: float, whole: bool = False) -> None:
        if place in self.allowed:
            signals = self.found.setdefault(place, {})
            signals[signal] = max(signals.get(signal, 0.0), min(1.0, strength))
            if whole:
                self.named.add(place)

    def score(self, place: int) -> float:
        """0..1. From `NAMED` on, what was asked for stands there by name; below it, only parts of it do, or its
        meaning. Among those that are named alike the shared index decides: a term stands in many sections that are not
        about it."""
        found = self.found[place]
        words = max(WEIGHTS[signal] * found.get(signal, 0.0) for signal in _WORD_SIGNALS)
        beside = max(WEIGHTS[signal] * found.get(signal, 0.0) for signal in _SIDE_SIGNALS)
        meaning = found.get("semantic", 0.0)
        if place in self.named:
            return min(1.0, NAMED + 0.2 * words + 0.2 * meaning + 0.1 * beside)
        return min(NAMED - 0.05, 0.1 * words + 0.4 * meaning + 0.1 * beside)

    def signals(self, place: int) -> list[Signal]:
        """All that found it, the one that counts most first; without those that another one implies."""
        found = self.found[place]
        strong: list[tuple[float, Signal]] = [
            (-WEIGHTS[signal] * strength, signal) for signal, strength in found.items()
        ]
        return [signal for _, signal in sorted(strong) if signal != "loose" or "normalized" not in found]

    def rank(self) -> list[int]:
        return sorted(self.found, key=lambda place: (-self.score(place), place))


def add_exact(stock: ManualCorpus, asked: ParsedQuery, pot: SectionCandidates) -> None:
    """The words as written, but for width, case and the like: in headings, then in bodies."""
    _add_whole_terms(asked, stock.find_in_headings, "heading", pot)
    _add_whole_terms(asked, stock.find_exact, "normalized", pot)


def add_loose(
    stock: ManualCorpus, asked: ParsedQuery, variants: Mapping[str, Sequence[QueryTerm]], pot: SectionCandidates
) -> None:
    """Without spaces, dots and hyphens; and by every other name."""
    _add_whole_terms(asked, stock.find_loose, "loose", pot)
    for other in variants.get(asked.phrase.written, ()):
        _add_variant(stock, other, 1.0, pot, whole=True)
    for required in asked.required:
        for other in variants.get(required.written, ()):
            _add_variant(stock, other, 0.8, pot, whole=True)
    if len(asked.words) > 1 and len(pot.named) < ENOUGH_NAMED:
        _add_partial(stock, asked, variants, pot)


def add_exceptions(stock: ManualCorpus, words: Sequence[str], wanted: bool, pot: SectionCandidates) -> int:
    """Exceptions: candidates that hold one and, where exceptions are asked for, sections beside candidates that do."""
    excepted = stock.find_words(words)
    hits = 0
    for place in sorted({*pot.found, *(_sections_beside(stock, pot) if wanted else ())}):
        count = len(excepted.get(place, ()))
        if count:
            hits += 1
            pot.add(place, "exceptions", 0.5 + 0.25 * count)
    return hits


def add_references(stock: ManualCorpus, pot: SectionCandidates) -> None:
    """What the best candidates refer to. A reference that leads nowhere is a gap."""
    names = _ReferenceResolver(stock, pot.allowed)
    for place in pot.rank()[:_MAX_REFERRING]:
        section = stock.sections[place]
        for reference in stock.references(place):
            targets = names.resolve(section.manual, section.path, reference)
            for target in targets:
                if target != place:
                    pot.add(target, "reference", 0.5 + 0.5 * pot.score(place))
            if not targets and _is_gap(reference):
                pot.gaps.append(
                    (_format_reference(reference), f"{section.path}:{section.line} refers to it, but it is not here")
                )


def widen(
    stock: ManualCorpus, asked: ParsedQuery, variants: Mapping[str, Sequence[QueryTerm]], pot: SectionCandidates
) -> None:
    """Widening: any word of the query, in any spelling, wherever the search may go."""
    for word in asked.words:
        for place in (*stock.find_exact(word), *stock.find_loose(word)):
            pot.add(place, "loose", 0.4)
        for other in variants.get(word.written, ()):
            _add_variant(stock, other, 0.4, pot)
    for parts in _shorten_phrase(asked.phrase):
        for place in _find_phrase(stock, parts):
            pot.add(place, "loose", 0.35)


def _add_variant(
    stock: ManualCorpus, other: QueryTerm, strength: float, pot: SectionCandidates, whole: bool = False
) -> None:
    for place in (*stock.find_exact(other), *stock.find_loose(other)):
        pot.add(place, "synonym", strength, whole)
    for place in stock.find_in_headings(other):
        pot.add(place, "heading", 0.9 * strength, whole)


def _add_whole_terms(
    asked: ParsedQuery, search: Callable[[QueryTerm], Iterable[int]], signal: Signal, pot: SectionCandidates
) -> None:
    for term in (asked.phrase, *asked.required):
        for place in search(term):
            pot.add(place, signal, 1.0, whole=True)


def _add_partial(
    stock: ManualCorpus, asked: ParsedQuery, variants: Mapping[str, Sequence[QueryTerm]], pot: SectionCandidates
) -> None:
    """The words of a term that seldom, or never, stands there as a whole."""
    searches: tuple[tuple[Signal, Callable[[QueryTerm], Collection[int]]], ...] = (
        ("heading", stock.find_in_headings), ("normalized", stock.find_exact), ("loose", stock.find_loose),
    )  # fmt: skip
    for signal, search in searches:
        _add_cooccurring(stock, [search(word) for word in asked.words], signal, pot)
    named = [(word, *variants.get(word.written, ())) for word in asked.words]
    _add_cooccurring(stock, [frozenset[int]().union(*map(stock.find_exact, names)) for names in named], "synonym", pot)


def _add_cooccurring(
    stock: ManualCorpus, places: Sequence[Collection[int]], signal: Signal, pot: SectionCandidates
) -> None:
    """Sections that hold most of the words, though not side by side; rare words weigh more than common ones. Of two
    words both must be there: one of them alone is another topic."""
    weights = [log(1 + len(stock) / (1 + len(found))) for found in places]
    shares: dict[int, float] = {}
    counts: dict[int, int] = {}
    for weight, found in zip(weights, places, strict=True):
        for place in found:
            shares[place] = shares.get(place, 0.0) + weight / sum(weights)
            counts[place] = counts.get(place, 0) + 1
    for place, share in shares.items():
        if share >= _MIN_WORD_SHARE and counts[place] > 1:
            pot.add(place, signal, 0.7 * share)


def _sections_beside(stock: ManualCorpus, pot: SectionCandidates) -> set[int]:
    """The sections of the files that hold a candidate."""
    files = {(stock.sections[place].manual, stock.sections[place].path) for place in pot.found}
    return {place for file in files for place in stock.files[file] if place in pot.allowed}


def _shorten_phrase(phrase: QueryTerm) -> list[list[str]]:
    """A name without one of its inner parts: "cloud service provider" may be called "cloud provider"."""
    words = phrase.folded.split()
    if len(words) < 3:
        return []
    return [[*words[:place], *words[place + 1 :]] for place in range(1, len(words) - 1)]


def _find_phrase(stock: ManualCorpus, words: Sequence[str]) -> Iterable[int]:
    joined = " ".join(words)
    return stock.find_exact(QueryTerm(joined, joined, joined))


class _ReferenceResolver:
    """Where a reference may lead: files, anchors, headings."""

    def __init__(self, stock: ManualCorpus, allowed: frozenset[int]) -> None:
        self._stock, self._allowed = stock, allowed

    def resolve(self, manual: str, path: str, reference: SectionReference) -> list[int]:
        if reference.kind == "name":
            named = self._stock.by_heading.get((manual, reference.target), ())
            titled = named or self._stock.by_heading.get((manual, " ".join(normalize(reference.target).split())), ())
            return [place for place in titled if place in self._allowed]
        target = resolve_link(path, reference.target)
        for tried in (target, f"{target}.md", f"{target}/index.md", f"{target}/_index.md", f"{target}/README.md"):
            places = self._stock.files.get((manual, tried))
            if places:
                return [place for place in self._find_anchor(places, reference.anchor) if place in self._allowed]
        return []

    def _find_anchor(self, places: Sequence[int], anchor: str) -> Sequence[int]:
        if not anchor:
            return places[:1]
        wanted = anchor.casefold()
        found = [place for place in places if self._stock.sections[place].anchor.casefold() == wanted]
        return (
            found or [place for place in places if slugify(self._stock.sections[place].title) == wanted] or places[:1]
        )


def _is_gap(reference: SectionReference) -> bool:
    """A link to a picture or to a site's own pages is no gap; an article, an appendix or a Markdown file is."""
    if reference.kind == "link":
        return reference.target.lower().endswith(".md")
    return reference.target[:1] == "第" or reference.target[:2] in ("別表", "別紙", "付表", "付録", "様式")


def _format_reference(reference: SectionReference) -> str:
    return f"{reference.target}#{reference.anchor}" if reference.anchor else reference.target

"""The stages of a search: small functions, each of which adds sections with the signal that it found them by.

Nothing is left to one strategy: what is asked for may stand in a heading, in other letters, under another name, behind
a reference, or nowhere by its words.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Literal, get_args

from tokonoma.core.normalize import fold
from tokonoma.files.sections import slug
from tokonoma.modules.manual.corpus import Stock
from tokonoma.modules.manual.references import Reference, resolved
from tokonoma.modules.manual.terms import Asked, Term

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
_BY_WORDS: tuple[Signal, ...] = ("heading", "normalized", "loose", "synonym")
_BESIDE: tuple[Signal, ...] = ("exceptions", "reference")
NAMED = 0.6
"""The score from which on a candidate holds what was asked for by name."""

ENOUGH = 30
"""Sections that hold a term by name, from which on its single words are not looked for, too."""

_REFERRING = 60  # the best candidates, whose references are followed
_PARTS = 0.6  # of a query's words, by weight, must stand in a section that does not hold the phrase


@dataclass(slots=True)
class Pot:
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
        words = max(WEIGHTS[signal] * found.get(signal, 0.0) for signal in _BY_WORDS)
        beside = max(WEIGHTS[signal] * found.get(signal, 0.0) for signal in _BESIDE)
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

    def ranked(self) -> list[int]:
        return sorted(self.found, key=lambda place: (-self.score(place), place))


def stage_0(stock: Stock, asked: Asked, pot: Pot) -> None:
    """The words as written, but for width, case and the like: in headings, then in bodies."""
    _whole(asked, stock.titled, "heading", pot)
    _whole(asked, stock.written, "normalized", pot)


def stage_1(stock: Stock, asked: Asked, variants: Mapping[str, Sequence[Term]], pot: Pot) -> None:
    """Without spaces, dots and hyphens; and by every other name."""
    _whole(asked, stock.loosely, "loose", pot)
    for other in variants.get(asked.phrase.written, ()):
        _under(stock, other, 1.0, pot, whole=True)
    for required in asked.required:
        for other in variants.get(required.written, ()):
            _under(stock, other, 0.8, pot, whole=True)
    if len(asked.words) > 1 and len(pot.named) < ENOUGH:
        _in_parts(stock, asked, variants, pot)


def stage_2(stock: Stock, words: Sequence[str], wanted: bool, pot: Pot) -> int:
    """Exceptions: candidates that hold one and, where exceptions are asked for, sections beside candidates that do."""
    excepted = stock.with_word(words)
    hits = 0
    for place in sorted({*pot.found, *(_beside(stock, pot) if wanted else ())}):
        count = len(excepted.get(place, ()))
        if count:
            hits += 1
            pot.add(place, "exceptions", 0.5 + 0.25 * count)
    return hits


def stage_3(stock: Stock, pot: Pot) -> None:
    """What the best candidates refer to. A reference that leads nowhere is a gap."""
    names = _Names(stock, pot.allowed)
    for place in pot.ranked()[:_REFERRING]:
        section = stock.sections[place]
        for reference in stock.references(place):
            targets = names.lead(section.manual, section.path, reference)
            for target in targets:
                if target != place:
                    pot.add(target, "reference", 0.5 + 0.5 * pot.score(place))
            if not targets and _is_missed(reference):
                pot.gaps.append((_told(reference), f"{section.path}:{section.line} refers to it, but it is not here"))


def stage_4(stock: Stock, asked: Asked, variants: Mapping[str, Sequence[Term]], pot: Pot) -> None:
    """Widening: any word of the query, in any spelling, wherever the search may go."""
    for word in asked.words:
        for place in (*stock.written(word), *stock.loosely(word)):
            pot.add(place, "loose", 0.4)
        for other in variants.get(word.written, ()):
            _under(stock, other, 0.4, pot)
    for parts in _shorter(asked.phrase):
        for place in _all_of(stock, parts):
            pot.add(place, "loose", 0.35)


def _under(stock: Stock, other: Term, strength: float, pot: Pot, whole: bool = False) -> None:
    for place in (*stock.written(other), *stock.loosely(other)):
        pot.add(place, "synonym", strength, whole)
    for place in stock.titled(other):
        pot.add(place, "heading", 0.9 * strength, whole)


def _whole(asked: Asked, search: Callable[[Term], Iterable[int]], signal: Signal, pot: Pot) -> None:
    for term in (asked.phrase, *asked.required):
        for place in search(term):
            pot.add(place, signal, 1.0, whole=True)


def _in_parts(stock: Stock, asked: Asked, variants: Mapping[str, Sequence[Term]], pot: Pot) -> None:
    """The words of a term that seldom, or never, stands there as a whole."""
    searches: tuple[tuple[Signal, Callable[[Term], Collection[int]]], ...] = (
        ("heading", stock.titled), ("normalized", stock.written), ("loose", stock.loosely),
    )  # fmt: skip
    for signal, search in searches:
        _together(stock, [search(word) for word in asked.words], signal, pot)
    named = [(word, *variants.get(word.written, ())) for word in asked.words]
    _together(stock, [frozenset[int]().union(*map(stock.written, names)) for names in named], "synonym", pot)


def _together(stock: Stock, places: Sequence[Collection[int]], signal: Signal, pot: Pot) -> None:
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
        if share >= _PARTS and counts[place] > 1:
            pot.add(place, signal, 0.7 * share)


def _beside(stock: Stock, pot: Pot) -> set[int]:
    """The sections of the files that hold a candidate."""
    files = {(stock.sections[place].manual, stock.sections[place].path) for place in pot.found}
    return {place for file in files for place in stock.files[file] if place in pot.allowed}


def _shorter(phrase: Term) -> list[list[str]]:
    """A name without one of its inner parts: "cloud service provider" may be called "cloud provider"."""
    words = phrase.folded.split()
    if len(words) < 3:
        return []
    return [[*words[:place], *words[place + 1 :]] for place in range(1, len(words) - 1)]


def _all_of(stock: Stock, words: Sequence[str]) -> Iterable[int]:
    joined = " ".join(words)
    return stock.written(Term(joined, joined, joined))


class _Names:
    """Where a reference may lead: files, anchors, headings."""

    def __init__(self, stock: Stock, allowed: frozenset[int]) -> None:
        self._stock, self._allowed = stock, allowed

    def lead(self, manual: str, path: str, reference: Reference) -> list[int]:
        if reference.kind == "name":
            named = self._stock.named.get((manual, reference.target), ())
            titled = named or self._stock.named.get((manual, " ".join(fold(reference.target).split())), ())
            return [place for place in titled if place in self._allowed]
        target = resolved(path, reference.target)
        for tried in (target, f"{target}.md", f"{target}/index.md", f"{target}/_index.md", f"{target}/README.md"):
            places = self._stock.files.get((manual, tried))
            if places:
                return [place for place in self._anchored(places, reference.anchor) if place in self._allowed]
        return []

    def _anchored(self, places: Sequence[int], anchor: str) -> Sequence[int]:
        if not anchor:
            return places[:1]
        wanted = anchor.casefold()
        found = [place for place in places if self._stock.sections[place].anchor.casefold() == wanted]
        return found or [place for place in places if slug(self._stock.sections[place].title) == wanted] or places[:1]


def _is_missed(reference: Reference) -> bool:
    """A link to a picture or to a site's own pages is no gap; an article, an appendix or a Markdown file is."""
    if reference.kind == "link":
        return reference.target.lower().endswith(".md")
    return reference.target[:1] == "第" or reference.target[:2] in ("別表", "別紙", "付表", "付録", "様式")


def _told(reference: Reference) -> str:
    return f"{reference.target}#{reference.anchor}" if reference.anchor else reference.target

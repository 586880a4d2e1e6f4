"""The stages of a search. Each adds sections to the candidates, with the signal that found them.

No single strategy is enough: a term may be in a heading, in another spelling, under another name, behind a reference,
or only implied.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Literal, get_args

from tokonoma.files.listing import LeftOut
from tokonoma.modules.manual.account import list_searched
from tokonoma.modules.manual.corpus import ManualCorpus
from tokonoma.modules.manual.gaps import is_missing
from tokonoma.modules.manual.model import CutoffReason, SectionKey, Thresholds
from tokonoma.modules.manual.references import MAX_FOLLOWED, resolve_reference
from tokonoma.modules.manual.sync import ManualLibrary
from tokonoma.modules.manual.terms import ParsedQuery, QueryTerm, TermKind
from tokonoma.modules.manual.variants import shorten_term

Signal = Literal["heading", "normalized", "loose", "synonym", "exceptions", "reference", "semantic"]
SIGNALS: tuple[Signal, ...] = get_args(Signal)

# The highest value of each signal. Words in the text count more than anything inferred.
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
# A form of the same word is in the text by name; other signs for it are only a little less certain.
_VARIANT_SIGNALS: Mapping[TermKind, Signal] = {"form": "normalized", "spelling": "loose", "name": "synonym"}
NAMED = 0.6
"""From this score on, a candidate contains the topic by name."""
_ENOUGH_NAMED = 30  # sections that contain a term by name: shorter forms of it are then not searched
_ELSEWHERE = 0.4  # the score of the term in a manual that was not asked for
_MAX_WIDENED = 100  # sections that single words add
_MAX_REFERRING = 60  # the best candidates, whose references are followed
_MIN_WORD_SHARE = 0.6  # of a query's words, by weight, in a section that does not contain the phrase


@dataclass(slots=True)
class ManualSearch:
    """One search: what is searched, the candidates so far, and what was not searched."""

    library: ManualLibrary
    corpus: ManualCorpus
    query: ParsedQuery
    manual: str | None
    thresholds: Thresholds
    allowed: frozenset[int]  # the positions that are searched
    variants: Mapping[str, Sequence[QueryTerm]] = field(default_factory=dict[str, Sequence[QueryTerm]])
    found: dict[int, dict[Signal, float]] = field(default_factory=dict[int, dict[Signal, float]])  # strength 0..1
    named: set[int] = field(default_factory=set[int])  # sections with the whole term, or another name of it
    gaps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # what is missing, and why
    warnings: list[str] = field(default_factory=list[str])
    max_stage_applied: float = 0.0
    exception_count: int = 0  # of the sections that are named, or beside them
    widened: bool = False  # from then on, what is found is elsewhere or in part, and not named
    elsewhere: set[int] = field(default_factory=set[int])  # sections with the whole term, found by widening
    resumed: bool = False
    max_candidates: int = 200
    scope_expanded: bool = False
    cutoff: CutoffReason | None = None
    unscanned: dict[SectionKey, CutoffReason] = field(default_factory=dict[SectionKey, CutoffReason])
    left_out: Sequence[LeftOut] = ()  # files that cannot be searched
    pending_vectors: int = 0

    def variants_of(self, term: QueryTerm) -> Sequence[QueryTerm]:
        """The other names of a term."""
        return self.variants.get(term.written, ())

    def add(self, positions: Iterable[int], signal: Signal, strength: float, whole: bool = False) -> None:
        for position in positions:
            if position in self.allowed:
                signals = self.found.setdefault(position, {})
                signals[signal] = max(signals.get(signal, 0.0), min(1.0, strength))
                if whole and position not in self.named:
                    (self.elsewhere if self.widened else self.named).add(position)

    def score(self, position: int) -> float:
        """0..1. From `NAMED` on, the section contains the topic by name; below it, only parts of it, or its meaning.
        The shared index decides between sections that are named alike: a term is in many sections that are not about
        it."""
        found = self.found[position]
        words = max(WEIGHTS[signal] * found.get(signal, 0.0) for signal in _WORD_SIGNALS)
        side = max(WEIGHTS[signal] * found.get(signal, 0.0) for signal in _SIDE_SIGNALS)
        meaning = found.get("semantic", 0.0)
        if position in self.named:
            return min(1.0, NAMED + 0.2 * words + 0.2 * meaning + 0.1 * side)
        if position in self.elsewhere:
            return _ELSEWHERE + 0.1 * meaning
        return min(NAMED - 0.05, 0.1 * words + 0.4 * meaning + 0.1 * side)

    def signals(self, position: int) -> list[Signal]:
        """The signals that found a section, the strongest first, without those that another one implies."""
        found = self.found[position]
        weighted: list[tuple[float, Signal]] = [
            (-WEIGHTS[signal] * strength, signal) for signal, strength in found.items()
        ]
        return [signal for _, signal in sorted(weighted) if signal != "loose" or "normalized" not in found]

    def rank(self) -> list[int]:
        return sorted(self.found, key=lambda position: (-self.score(position), position))


def add_exact(search: ManualSearch) -> None:
    """Stage 0: the normalized words, in headings and in bodies."""
    for term in (search.query.phrase, *search.query.required):
        search.add(search.corpus.find_in_headings(term), "heading", 1.0, whole=True)
        search.add(search.corpus.find_exact(term), "normalized", 1.0, whole=True)


def add_loose(search: ManualSearch) -> None:
    """Stage 1: without spaces, dots and hyphens; and under every other name."""
    query = search.query
    for term, strength in ((query.phrase, 1.0), *((required, 0.8) for required in query.required)):
        search.add(search.corpus.find_loose(term), "loose", 1.0, whole=True)
        for other in search.variants_of(term):
            _add_variant(search, other, strength, whole=True)
    if len(search.named) < _ENOUGH_NAMED:
        for shorter in shorten_term(query.phrase, search.corpus):
            search.add((*search.corpus.find_exact(shorter), *search.corpus.find_loose(shorter)), "loose", 0.6)
    if len(query.words) > 1 and not search.named:
        _add_partial(search)


def add_exceptions(search: ManualSearch) -> None:
    """Stage 2: candidates with a word of exception and, if exceptions are asked for, other sections of their files."""
    with_words = search.corpus.find_words(search.library.glossary(search.manual)[0].exceptions)
    for position in _with_neighbours(search, search.found).intersection(with_words):
        search.add([position], "exceptions", 0.5 + 0.25 * len(with_words[position]))
    search.exception_count = len(_with_neighbours(search, search.named).intersection(with_words))


def _with_neighbours(search: ManualSearch, positions: Collection[int]) -> set[int]:
    if search.query.intent != "exceptions":
        return set(positions)
    files = {search.corpus.sections[position].file for position in positions}
    beside = (each for file in files for each in search.corpus.files[file] if each in search.allowed)
    return set(positions).union(beside)


def add_references(search: ManualSearch) -> None:
    """Stage 3: what the best candidates refer to. A reference to something missing is a gap."""
    for position in search.rank()[:_MAX_REFERRING]:
        section = search.corpus.sections[position]
        files = search.library.visible.get(section.manual, {})
        for reference in search.corpus.references(position)[:MAX_FOLLOWED]:
            found = resolve_reference(search.library, section, reference)
            # What the caller may not see is as missing to it as what does not exist.
            targets = [each for each in found if each in files.get(search.corpus.sections[each].path, ())]
            for target in targets:
                if target != position:
                    search.add([target], "reference", 0.5 + 0.5 * search.score(position))
            if not targets and is_missing(search.corpus, position, reference, files):
                search.gaps.append(
                    (reference.target, f"{section.path}:{section.line} refers to it, but it is not here")
                )


def widen(search: ManualSearch) -> None:
    """Stage 4: any word of the query, in any spelling. A word that is everywhere says little: the rarest word comes
    first, and sections are added as far as there is room."""
    search.widened = True
    corpus, room = search.corpus, min(_MAX_WIDENED, search.max_candidates - len(search.found))
    each_word = (_find_any(corpus, (word, *search.variants_of(word))) for word in search.query.words)
    for found in sorted(each_word, key=len):
        new = sorted(search.allowed.intersection(found).difference(search.found))[: max(0, room)]
        search.add(new, "loose", 0.4)
        room -= len(new)
    if search.query.intent == "exceptions":
        add_exceptions(search)


def widen_scope(search: ManualSearch) -> None:
    """Stage 4: the topic by name in all manuals. What it finds was not asked for and comes after what was."""
    everywhere = frozenset(list_searched(search.library, None))
    search.scope_expanded = everywhere != search.allowed
    search.allowed, search.corpus = everywhere, search.library.corpus
    if search.scope_expanded:
        add_exact(search)
        for term in (search.query.phrase, *search.query.required):
            search.add(search.corpus.find_loose(term), "loose", 1.0, whole=True)
            for other in search.variants_of(term):
                _add_variant(search, other, 1.0, whole=True)


def _find_any(corpus: ManualCorpus, names: Iterable[QueryTerm]) -> frozenset[int]:
    found = (each for name in names for each in (corpus.find_exact(name), corpus.find_loose(name)))
    return frozenset[int]().union(*found)


def _add_variant(search: ManualSearch, other: QueryTerm, strength: float, whole: bool = False) -> None:
    corpus = search.corpus
    found = (*corpus.find_exact(other), *corpus.find_loose(other))
    search.add(found, _VARIANT_SIGNALS[other.kind], 0.95 * strength if other.kind == "form" else strength, whole)
    search.add(corpus.find_in_headings(other), "heading", 0.9 * strength, whole)


def _add_partial(search: ManualSearch) -> None:
    """The words of a term that is seldom, or never, there as a whole."""
    corpus, words = search.corpus, search.query.words
    _add_cooccurring(search, [corpus.find_in_headings(word) for word in words], "heading")
    _add_cooccurring(search, [corpus.find_exact(word) for word in words], "normalized")
    _add_cooccurring(search, [corpus.find_loose(word) for word in words], "loose")
    names = [(word, *search.variants_of(word)) for word in words]
    _add_cooccurring(search, [frozenset[int]().union(*map(corpus.find_exact, each)) for each in names], "synonym")


def _add_cooccurring(search: ManualSearch, found: Sequence[Collection[int]], signal: Signal) -> None:
    """Sections with most of the words, though not side by side; rare words weigh more than common ones. Of two words
    both must be there: one of them alone is another topic."""
    weights = [log(1 + len(search.corpus) / (1 + len(positions))) for positions in found]
    shares: dict[int, float] = {}
    counts: dict[int, int] = {}
    for weight, positions in zip(weights, found, strict=True):
        for position in positions:
            shares[position] = shares.get(position, 0.0) + weight / sum(weights)
            counts[position] = counts.get(position, 0) + 1
    for position, share in shares.items():
        if share >= _MIN_WORD_SHARE and counts[position] > 1:
            search.add([position], signal, 0.7 * share)

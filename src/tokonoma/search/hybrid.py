"""Text and vectors together: every candidate with what both know of it, in one order."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property
from math import log10
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from tokonoma.core.query import Query
from tokonoma.search.candidates import SearchCandidate, blend_with_neighbours, weigh_neighbours
from tokonoma.search.fusion import (
    FusedScore,
    MatchEvidence,
    choose_weights,
    detect_language,
    fuse_signs,
    is_cross_language,
    put_own_language_first,
)
from tokonoma.search.text.score import TextScore
from tokonoma.search.text.search import TextSearch
from tokonoma.search.text.when import asks_when, names_time
from tokonoma.search.tuning import TUNING, Signs
from tokonoma.search.vectors.search import VectorSearch, apply_metric
from tokonoma.search.vectors.store import QueryVector, VectorMatch

if TYPE_CHECKING:
    from tokonoma.search.dates import DateBoost


def rank_fused(
    vectors: VectorSearch,
    query: Query,
    search: TextSearch,
    vector: QueryVector,
    proposed: Sequence[int],
    boost: "DateBoost | None",
    at: int,
) -> list[FusedScore]:
    """What text has found, best first, and what vectors or dates have proposed beside it; all that scores."""
    best = sorted(search.scores.values(), key=lambda each: -each.score)[: max(TUNING.fused_hits, 2 * query.limit)]
    kept = search.candidates.keys() & {each.key for each in best}.union(proposed)
    hits = [each.key for each in best[: TUNING.blended_hits]]
    around = weigh_neighbours(hits, search.positions) if query.neighbours else {}
    compared = search.candidates.keys() & kept.union(*around.values())
    language = detect_language(query.text)
    near = _compare_vectors(vectors, search, query, vector, list(compared), language)
    reader = _SignReader(search, near, around, asks_when=asks_when(query.text))
    titles = Counter(_title_key(each.match) for each in near.values() if each.match.title is not None)
    effects = boost.compute_effects(search.candidates, kept) if boost is not None else {}
    fused: list[FusedScore] = []
    for number in kept:
        candidate, text, found = search.candidates[number], search.scores.get(number), near.get(number, _NOT_NEAR)
        evidence = MatchEvidence(
            number,
            candidate.at,
            text and text.level,
            found.match.similarity if number in near else None,
            found.match.language,
            found.match.title,
            monolingual=found.match.monolingual,
            coverage=text.coverage if text else 0.0,
            holds_content=bool(text and text.holds_content),
            vector_level=reader.get_level(number),
            title_level=found.title_level,
            same_title_count=titles.get(_title_key(found.match), 1) if found.match.title is not None else 1,
            date_factor=effects[number].factor if effects else 1.0,
            date_share=effects[number].weigh_share(found.place if number in near else None) if effects else 0.0,
            subwords=found.match.subwords,
        )
        if not (evidence.text or evidence.vector_level or evidence.date_share):
            continue
        # A thread of notes is a conversation. Passages of a file form one, too, but each says enough by itself.
        turn = query.neighbours and candidate.thread is not None and candidate.module in query.newer_first_in
        crosses = is_cross_language(language, evidence.language)
        signs = reader.read_turn(evidence, candidate, text) if turn and not crosses else reader.read(evidence, text)
        weights = choose_weights(signs.length, crosses=crosses, turn=turn)
        fused.append(fuse_signs(evidence, signs, weights, at, query.half_life, crosses=crosses))
    found = put_own_language_first([each for each in fused if each.score > 0])
    return sorted(found, key=attrgetter("sort_key"))


class _Nearness(NamedTuple):
    """How near a document is: as it is shown, and on the scale of its model."""

    match: VectorMatch
    level: float = 0.0
    place: float = 0.0  # the same, not bounded
    title_level: float = 0.0


_NOT_NEAR = _Nearness(VectorMatch(0.0))


class _SignReader:
    """The signs of the candidates of one search. `around`: the neighbours of the best by text, and their shares.
    `asks_when`: the query asks for a time."""

    def __init__(
        self,
        search: TextSearch,
        near: Mapping[int, _Nearness],
        around: Mapping[int, Mapping[int, float]],
        *,
        asks_when: bool,
    ) -> None:
        self._search, self._near, self._around, self._asks_when = search, near, around, asks_when
        self._levels = {number: each.level for number, each in near.items()}

    def get_level(self, number: int) -> float | None:
        """By its vector, with its neighbours' if it is a turn; None: it has no vector."""
        own = self._levels.get(number)
        if number not in self._around:
            return own
        return blend_with_neighbours(own or 0.0, self._around[number], self._levels)

    def read(self, evidence: MatchEvidence, text: TextScore | None) -> Signs:
        vector = self._get_place(evidence)
        return Signs(
            vector,
            self._get_subwords(evidence, vector),
            text.score / 10.0 if text else 0.0,
            evidence.coverage,
            log10(1 + self._search.matches[evidence.id].length),
            evidence.title_level / evidence.same_title_count,
            float(evidence.covers and self._search.query.words == 1),
            text.score / self._best_text if text else 0.0,
            text.coverage if text and text.across else 0.0,
            constant=1.0,
        )

    def read_turn(self, evidence: MatchEvidence, candidate: SearchCandidate, text: TextScore | None) -> Signs:
        own, before = self._search.matches[evidence.id], self._get_turn_before(evidence.id)
        return self.read(evidence, text)._replace(
            level=evidence.text or 0.0,
            own_coverage=self._search.query.weighted.cover(own.counts),
            around=evidence.vector_level or 0.0,
            thread=text.thread / 10.0 if text else 0.0,
            thread_vector=self._nearest_of_threads.get(candidate.thread, 0.0),
            speaker=float(own.title > 0),
            asks=float(own.asks),
            reply=float(before is not None and self._search.matches[before].asks),
            when=float(self._asks_when and names_time(candidate.data)),
        )

    def _get_place(self, evidence: MatchEvidence) -> float:
        """Where there is no vector, about where one would be."""
        found = self._near.get(evidence.id)
        if found is None:
            return TUNING.guessed_vector * evidence.coverage
        return min(max(found.place, -1.0), 2.0)

    def _get_subwords(self, evidence: MatchEvidence, vector: float) -> float:
        if evidence.subwords is not None:
            return evidence.subwords
        constant, of_vector, of_coverage = TUNING.guessed_subwords
        return constant + of_vector * vector + of_coverage * evidence.coverage

    def _get_turn_before(self, number: int) -> int | None:
        position = self._search.positions.get(number)
        return None if position is None else self._numbers.get((position[0], position[1] - 1))

    @cached_property
    def _best_text(self) -> float:
        return max((each.score for each in self._search.scores.values()), default=0.0) or 1.0

    @cached_property
    def _numbers(self) -> dict[tuple[Hashable, int], int]:
        return {position: number for number, position in self._search.positions.items()}

    @cached_property
    def _nearest_of_threads(self) -> dict[Hashable, float]:
        nearest: dict[Hashable, float] = {}
        for number, found in self._near.items():
            thread = self._search.candidates[number].thread
            nearest[thread] = max(nearest.get(thread, -1.0), found.place)
        return nearest


def _compare_vectors(
    vectors: VectorSearch,
    search: TextSearch,
    query: Query,
    vector: QueryVector,
    documents: Collection[int],
    language: str,
) -> dict[int, _Nearness]:
    found: dict[int, _Nearness] = {}
    for number, match in vectors.compare(search.pool.rows, vector, list(documents), "cosine").items():
        cosines = vector.scale.get_range(language, match.language)
        place = cosines.place(match.similarity)
        title = 0.0 if match.title is None else cosines.calibrate_title(match.title)
        level = cosines.calibrate(match.similarity)
        found[number] = _Nearness(apply_metric(match, query.metric), level, place, title)
    least = query.min_similarity
    return {number: each for number, each in found.items() if least is None or each.match.similarity >= least}


def _title_key(match: VectorMatch) -> float:
    """Equal titles have equal vectors, and up to the last digits equal similarities."""
    return round(match.title or 0.0, 5)

"""What a search says of its hits beyond their order: whether one answers the query, which is a newer version of which,
which holds no longer.

Here the best hits are read; answered.py, newer.py and marks.py judge them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from tokonoma.core.query import Query, SearchFilter, SearchScope
from tokonoma.search.answered import judge_answered, rescale
from tokonoma.search.candidates import CandidatePool, SearchCandidate
from tokonoma.search.filters import compile_filter
from tokonoma.search.fusion import FusedScore, MatchEvidence, detect_language
from tokonoma.search.marks import find_last, follow, read_successors
from tokonoma.search.newer import GuessedVersion, find_successors, put_newer_first
from tokonoma.search.text.tokenize import count_packed_terms, list_packed_terms
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.search import VectorSearch
from tokonoma.search.vectors.store import QueryVector
from tokonoma.search.versions import NoteVersion

_DAY = 86_400_000


class JudgedHits(NamedTuple):
    """Hits, best first."""

    items: Sequence[FusedScore]
    answered: float | None = None  # how surely one of them answers the query; None: not judged
    successors: Mapping[int, int] = {}  # a document, and the next newer version of it
    own_scores: Mapping[int, float] = {}  # of those that stand in another's place
    marks: "HitMarks | None" = None

    def explain(self, number: int) -> dict[str, Any]:
        parts: dict[str, Any] = {} if self.answered is None else {"answered": self.answered}
        return parts | ({"own_score": self.own_scores[number]} if number in self.own_scores else {})


class HitMarks(NamedTuple):
    """What hits say of each other and of their time."""

    successors: Mapping[int, int] = {}  # a document, and the one that replaces it, which may be no hit
    last: Mapping[int, str] = {}  # a document, and the address of the last one in its place
    outdated: Mapping[int, tuple[int | None, int | None]] = {}  # what does not hold now, from when until when it does


class HitJudge:
    """For one search. `coverages`: the share of the query's words that a document holds. `candidates`: the documents
    that were read already. `scope`: what the caller may see."""

    def __init__(
        self,
        pool: CandidatePool,
        vectors: VectorSearch | None,
        vector: QueryVector | None,
        coverages: Mapping[int, float],
        candidates: Mapping[int, SearchCandidate],
        scope: SearchScope,
        at: int,
    ) -> None:
        self._pool, self._vectors, self._vector = pool, vectors, vector
        self._coverages, self._candidates, self._scope, self._at = coverages, candidates, scope, at

    def judge(
        self, query: Query, ranked: Sequence[FusedScore], *, hybrid: bool, names_time: Callable[[], bool]
    ) -> JudgedHits:
        asks = bool(query.text.strip()) and query.pivot is None
        answered = judge_answered(ranked, self._coverages) if hybrid and asks else None
        if answered is not None:
            ranked = rescale(ranked, answered)
        if not query.newer_first_in:
            return JudgedHits(ranked, answered)
        marks = self._read_marks([each.evidence.id for each in ranked[: query.limit + TUNING.marked_hits]])
        if not asks and query.pivot is None:  # a list, in the order of time
            return JudgedHits(ranked, answered, marks=marks)
        if marks.outdated and not names_time():
            ranked = sorted((_put_back(each, marks.outdated) for each in ranked), key=attrgetter("sort_key"))
        guessed, written = self._guess_versions(query, ranked, marks) if asks else ({}, {})
        successors = {**{older: newer.id for older, newer in guessed.items()}, **marks.successors}
        if not successors:
            return JudgedHits(ranked, answered, marks=marks)
        brought = self._bring_in(ranked, successors) if query.min_similarity is None else {}
        items = put_newer_first(ranked, successors, written, brought)
        before = {each.evidence.id: each.score for each in ranked}
        moved = (each for each in items if before.get(each.evidence.id, each.score) != each.score)
        own_scores = {each.evidence.id: before[each.evidence.id] for each in moved}
        sure = {older: newer.id for older, newer in guessed.items() if newer.is_sure}
        return JudgedHits(items, answered, sure, own_scores, marks)

    def _read_marks(self, ids: Sequence[int]) -> HitMarks:
        rows = self._pool.fetch_marks(ids)
        if not rows:
            return HitMarks()
        numbers = {address: number for number, address, *_ in rows}
        found = read_successors(self._pool.rows, numbers, compile_filter(SearchFilter(), self._scope, self._at))
        numbers |= {each.address: each.id for each in found.values()}
        last = find_last(found, list(numbers))
        return HitMarks(
            {numbers[older]: newer.id for older, newer in found.items() if older in last},
            {numbers[older]: newer for older, newer in last.items()},
            {
                number: (begin, end)
                for number, _, begin, end in rows
                if (begin is not None and begin > self._at) or (end is not None and end < self._at)
            },
        )

    def _bring_in(self, ranked: Sequence[FusedScore], successors: Mapping[int, int]) -> dict[int, FusedScore]:
        """The last versions that are not among the hits, as far as the filter admits them."""
        found = {each.evidence.id for each in ranked}
        last = {path[-1] for number in found & successors.keys() if (path := follow(successors, number))}
        return {
            each.id: FusedScore(MatchEvidence(each.id, each.at), 0.0, 1.0) for each in self._pool.fetch(last - found)
        }

    def _guess_versions(
        self, query: Query, ranked: Sequence[FusedScore], marks: HitMarks
    ) -> tuple[dict[int, GuessedVersion], dict[int, int]]:
        """Who succeeds whom by the look of them, and when each was written. Of what was replaced nothing is guessed."""
        best = {each.evidence.id: each.evidence for each in ranked[: TUNING.version_hits]}
        language = detect_language(query.text)
        levels = {
            number: level for number, found in best.items() if (level := self._get_level(found, language)) is not None
        }
        notes = self._read_notes([number for number in best if number not in marks.last], query.newer_first_in)
        written = self._read_times(notes)
        if not _span_long_enough(notes, written):
            return {}, written
        places = {number: place for place, number in enumerate(best)}
        versions = [
            _to_version(each, written[each.id], best[each.id])._replace(
                coverage=self._coverages.get(each.id, 0.0), rank=places[each.id]
            )
            for each in notes
        ]
        return find_successors(versions, self._compare(list(written)), levels), written

    def _read_notes(self, ids: Sequence[int], modules: Collection[str]) -> list[SearchCandidate]:
        """Without turns of conversations and long texts, which are no notes of one fact. Terms of hidden words look
        like all others: a record in which something is hidden from this caller is compared with none."""
        known = [self._candidates[number] for number in ids if number in self._candidates]
        read = self._pool.fetch([number for number in ids if number not in self._candidates])
        notes = [
            each
            for each in (*known, *read)
            if each.module in modules and not each.thread and count_packed_terms(each.data) <= TUNING.version_terms
        ]
        hidden = set[int]() if self._scope.private else self._pool.list_masked([each.id for each in notes])
        return [each for each in notes if each.id not in hidden]

    def _read_times(self, notes: Sequence[SearchCandidate]) -> dict[int, int]:
        """When they were written: what their facts say, if that is days before they were saved, as in notes of old."""
        written = {each.id: each.at for each in notes}
        dates = self._pool.fetch_dates(list(written))
        if dates:
            from tokonoma.search.dates import parse_moment  # late: its patterns take long to compile

            for number, text, value in dates:
                moment = parse_moment(text, value)
                if moment is not None and moment < written[number] - _DAY:
                    written[number] = moment
        return written

    def _compare(self, ids: Sequence[int]) -> dict[int, dict[int, float]]:
        if self._vectors is None or self._vector is None or not ids:
            return {}
        return self._vectors.compare_each_other(self._pool.rows, self._vector.model, ids)

    def _get_level(self, found: MatchEvidence, language: str) -> float | None:
        """How near it is to a query in this language, on the scale of its model, also where only vectors were
        searched."""
        if self._vector is None:
            return found.text
        if found.vector_level is not None or found.similarity is None:
            return found.vector_level
        return self._vector.scale.get_range(language, found.language).calibrate(found.similarity)


def _to_version(note: SearchCandidate, written: int, found: MatchEvidence) -> NoteVersion:
    place, terms = (note.module, note.namespace), list_packed_terms(note.data)
    return NoteVersion(note.id, written, place, terms, found.language, found.date_factor)


def _put_back(hit: FusedScore, outdated: Collection[int]) -> FusedScore:
    if hit.evidence.id not in outdated:
        return hit
    return hit._replace(score=round(hit.score * TUNING.not_valid, 6))


def _span_long_enough(notes: Sequence[SearchCandidate], written: Mapping[int, int]) -> bool:
    """Whether two of them may be versions of each other by the times at which they were written."""
    times: dict[str, list[int]] = {}
    for each in notes:
        times.setdefault(each.namespace, []).append(written[each.id])
    return any(max(each) - min(each) >= TUNING.version_gap for each in times.values())

"""Which records are like one that was just saved: near in meaning, with rare words in common.

Vectors propose, words help to choose: of the memos that were corrected in other words, the nearest three by vectors
alone hold two in three. How rare a word is shows among the proposed records, so nothing else is read.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from tokonoma.core.query import LikeRecord, SearchFilter, SearchScope
from tokonoma.search.candidates import CandidatePool, LikeCandidate
from tokonoma.search.filters import compile_filter
from tokonoma.search.fusion import is_cross_language
from tokonoma.search.marks import find_last, read_successors
from tokonoma.search.text.tokenize import count_packed_terms, find_packed_terms, list_packed_terms
from tokonoma.search.tuning import TUNING
from tokonoma.search.vectors.store import VectorMatch


class ComparedRecord(NamedTuple):
    """One that was just saved."""

    address: str
    namespace: str | None
    language: str


def find_like(
    pool: CandidatePool,
    scope: SearchScope,
    record: ComparedRecord,
    near: Mapping[int, VectorMatch],
    waiting: Mapping[str, VectorMatch],
    least: float,
    most: int,
) -> list[LikeRecord]:
    """The likest in this very namespace, without those that were replaced. `near`, `waiting`: how near documents are,
    and records whose vectors are not stored yet. Those were made of whole texts: one in which something is hidden is
    left out."""
    read = pool.fetch_like(near, {record.address, *waiting})
    own = next((each for each in read if each.address == record.address), None)
    found = [(each, match) for each in read if each is not own and (match := _get_match(each, near, waiting))]
    shared = _compare_words(own, [each for each, _ in found], scope)
    like = [
        (LikeRecord(each.address, each.author, match.similarity, likeness - _weigh_language(record, match)), each)
        for each, match in found
        if (likeness := match.similarity + shared[each.id]) >= least and each.namespace == record.namespace
    ]
    like.sort(key=lambda each: -each[0].likeness)
    replaced = _find_replaced(pool, scope, [each.address for _, each in like if each.is_replaced])
    return [each for each, _ in like if each.address not in replaced][:most]


def _get_match(
    each: LikeCandidate, near: Mapping[int, VectorMatch], waiting: Mapping[str, VectorMatch]
) -> VectorMatch | None:
    return near.get(each.id) or (None if each.is_masked else waiting.get(each.address))


def _weigh_language(record: ComparedRecord, match: VectorMatch) -> float:
    """People mostly correct themselves in the language in which they wrote: others come after."""
    return TUNING.like_across if is_cross_language(record.language, match.language) else 0.0


def _compare_words(own: LikeCandidate | None, others: Sequence[LikeCandidate], scope: SearchScope) -> dict[int, float]:
    """The share of an earlier one's words that the new one holds, by what they weigh, less part of the share of the new
    one's: a long text holds some words of any other. Terms of hidden words look like all others: where something is
    hidden from this caller, words are not compared."""
    shares = dict.fromkeys((each.id for each in others), 0.0)
    if own is None or (own.is_masked and not scope.private):
        return shares
    terms = list_packed_terms(own.data)
    shown = [each for each in others if scope.private or not each.is_masked]
    common = [find_packed_terms(each.data, terms) for each in shown]
    counted = Counter(chain.from_iterable(common))
    many = len(shown) + TUNING.version_prior
    weights = {term: math.log(1.0 + many / count) for term, count in counted.items()}
    alone = math.log(1.0 + many)  # the weight of a word that only one of them holds
    whole = sum(weights.values()) + alone * (len(terms) - len(weights))
    of_earlier, of_new = TUNING.like_shares
    for each, held in zip(shown, common, strict=True):
        if held:
            both = sum([weights[term] for term in held])
            shares[each.id] = both * (of_earlier / (alone * count_packed_terms(each.data)) + of_new / whole)
    return shares


def _find_replaced(pool: CandidatePool, scope: SearchScope, addresses: Sequence[str]) -> Mapping[str, str]:
    """Of these records, those that were replaced by one that the caller may see."""
    if not addresses:
        return {}
    return find_last(read_successors(pool.rows, addresses, compile_filter(SearchFilter(), scope)), addresses)

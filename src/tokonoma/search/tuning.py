"""Every fitted number of ranking.

The numbers were chosen together on the development sets of `python -m bench.quality`, with no exception for any set.
A change of any of them changes what searches return: run the benchmark before and after.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class EvidenceWeight(NamedTuple):
    """How much vectors, or titles, count within one language."""

    undecided: float  # where the fifth text score equals the best
    steepness: int  # how fast that falls as the fifth falls behind
    least: float  # never zero: a record that only vectors find must stay findable
    lost: float  # where text search found next to nothing


_VECTORS_WITHIN, _TITLES_WITHIN = EvidenceWeight(0.1, 8, 0.03, 0.65), EvidenceWeight(0.4, 1, 0.05, 0.2)


def _term_weights() -> dict[str, float]:
    """Weight of a query term by its kind. A pair of half grammar (を食) is `mixed`; a pair of hiragana is `soft`."""
    ones = dict.fromkeys(("word", "number", "counted", "whole", "sign", "pair", "soft"), 1.0)
    return ones | {"part": 0.5, "family": 0.3, "stop": 0.0, "mixed": 0.4, "han": 0.7, "katakana": 0.5, "hangul": 0.5}


@dataclass(frozen=True, slots=True)
class Tuning:
    # Query terms: docs/adr/0013-words.md.
    term_weights: Mapping[str, float] = field(default_factory=_term_weights)
    steepness: float = 0.2  # how steeply a frequent term loses weight
    soft_steepness: float = 2.0  # hiragana alone is grammar where it is frequent, a word where it is rare
    looked_up_terms: int = 500  # of a query; of a long pasted text, its beginning
    scored_terms: int = 32  # of a query, those that are worth most

    # Text score: docs/adr/0013-words.md.
    k1: float = 1.0
    b: float = 0.5
    coverage_exponent: float = 0.5
    title_gain: float = 2.0
    speaker_gain: float = 0.5
    question_factor: float = 0.9  # for a text that asks a question itself: the answer is elsewhere
    neighbour_weight: float = 0.4  # of the terms of the two documents on either side in the thread
    thread_share: float = 0.2  # of the distance to the best document of the thread
    thread_hits: int = 60  # of the best, those whose neighbours are scored

    # Proposals of the term index: docs/adr/0013-words.md, "bench.search".
    posting_share: float = 0.10  # of the index: postings that are read before anything is scored
    min_postings: int = 2000
    max_proposed: int = 300
    proposed_per_hit: int = 8
    first_batch: int = 80  # proposals that are scored at a time
    next_batch: int = 40
    widest_batch: int = 4096
    tag_share: float = 0.4  # a tag that a larger share of the documents carries saves no work
    few_documents: int = 500  # if a filter lets no more through, all of them are scored

    # Fusion of text and vectors: docs/adr/0018-words-and-vectors.md.
    fused_hits: int = 64  # of the best by text, at least, those whose vectors are compared
    vector_hits: int = 64  # of the nearest by vectors, at least
    blended_hits: int = 60  # of the best by text, those that take part of their neighbours' similarity
    neighbour_shares: Mapping[int, float] = field(default_factory=lambda: {-2: 0.2, -1: 0.4, 1: 0.4, 2: 0.2})
    unrelated: float = 0.22  # cosine of two texts that have nothing in common
    unrelated_titles: float = 0.2
    same: float = 0.83  # cosine of two texts that say the same
    japanese_share: float = 0.1  # Japanese manuals are full of English names; English that quotes Japanese has less
    cross_language_text: float = 0.2
    cross_language_vectors: float = 0.95
    max_weight: float = 0.95  # of vectors, or titles, within a language
    text_weak: float = 0.08  # best text score from which text counts,
    text_sure: float = 0.35  # and from which it is trusted
    compared_rank: int = 4  # the fifth: how far it falls behind shows how sure text is
    nearest_compared: int = 20  # how far the last of them falls behind shows how sure vectors are
    outstanding: float = 0.75  # distance at which the nearest is plainly meant
    vector_raise: float = 4.5  # then vectors weigh so much more
    raise_when_sure: float = 0.2  # share of that which stays where text is trusted
    turn_vectors: float = 0.15  # most for a turn of a thread: it says little by itself
    vectors_within: EvidenceWeight = _VECTORS_WITHIN
    titles_within: EvidenceWeight = _TITLES_WITHIN

    # Dates in queries: docs/adr/0022-times.md.
    days_before: int = 7  # after so many days before or after the time, a fit has fallen to a third
    days_after: int = 14
    date_part: float = 0.5  # a factor between 2/3 and 1
    dated_spans: int = 3  # of a month without a year: the next one and the last two
    dated_documents: int = 200  # of each span, scored whatever they say

    # Candidates from one-bit codes: docs/adr/0019-vectors.md, "bench.vectors".
    rescored: int = 60  # vectors that are compared exactly: this, twice the limit, and one in `rescored_one_in`
    rescored_one_in: int = 10_000
    coded: int = 1_000  # codes that are compared in full: this, eight times the wanted, or one in `coded_one_in`
    coded_one_in: int = 400


TUNING = Tuning()

"""Every fitted number of ranking.

The numbers were chosen together on the development sets of `python -m bench.quality`, with no exception for any set.
A change of any of them changes what searches return: run the benchmark before and after.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Signs(NamedTuple):
    """What speaks for a record being the answer; also the weights of that, and 0 where a sign is not looked at."""

    vector: float = 0.0  # how near its nearest vector is: 0 unrelated, 1 the same; from -1 to 2
    subwords: float = 0.0  # how well it holds the parts of the query's words, each by its nearest: up to 1
    words: float = 0.0  # its text score, in tens
    coverage: float = 0.0  # the share of the query's words that it holds, of a turn also its neighbours
    length: float = 0.0  # the power of ten of the number of its words
    title: float = 0.0  # how near its title is, divided by how many of those compared have the same
    one_word: float = 0.0  # 1: the query is one word, and it holds it
    word_share: float = 0.0  # its text score, of the best one's
    name: float = 0.0  # its coverage, if it has a name of the query in another script
    # Of a turn of a conversation:
    level: float = 0.0  # its text score from 0 to 1, neighbours and thread included
    own_coverage: float = 0.0  # the share of the query's words that it holds itself
    around: float = 0.0  # how near it and its neighbours are together
    thread: float = 0.0  # what its thread added to its text score, in tens
    thread_vector: float = 0.0  # how near the nearest of its thread is
    speaker: float = 0.0  # 1: the query names who says it
    asks: float = 0.0  # 1: it asks a question itself
    reply: float = 0.0  # 1: the turn before it asks a question
    when: float = 0.0  # 1: the query asks for a time, and it names one
    constant: float = 0.0  # always 1: what brings the sums of the three sets of weights to one scale


class VersionSigns(NamedTuple):
    """What speaks for the newer of two hits being a later version of the older; also the weights of that."""

    cosine: float = 0.0  # how near the two are in meaning
    shared: float = 0.0  # the share of rare words that both hold
    changed: float = 0.0  # 1: the newer one says that something changed
    changed_like: float = 0.0  # the same, by how alike they are
    nearer: float = 0.0  # how much nearer to the question the newer one is
    holds_more: float = 0.0  # how much more of the question's words it holds
    closer: float = 0.0  # how much more like another hit one of them is
    best: float = 0.0  # how near the nearest hit is to the question
    apart: float = 0.0  # how many places lie between them
    longer: float = 0.0  # the logarithm of how many times as many words the newer one has
    asked: float = 0.0  # 1: of all hits these two are nearest to the question
    constant: float = 0.0


# What a record of about thirty words weighs, and how much that grows with each power of ten: of a short note meaning
# says more, of a long section its words and its title.
_WITHIN = Signs(7.83, 10.97, 0.02, 2.42, -1.32, -1.3, 1.35, -0.99, 8.0)
_WITHIN_LONGER = Signs(-5.27, -1.27, 0.04, -0.85, 0.0, 5.47, 0.0, 4.67)
_ACROSS = Signs(10.5, 11.7, coverage=2.05, length=-0.13, word_share=1.84, name=8.0, constant=-2.51)
_TURN = Signs(
    vector=1.86,
    subwords=1.34,
    words=2.03,
    coverage=4.87,
    length=2.57,
    level=13.18,
    own_coverage=-4.38,
    around=2.04,
    thread=7.82,
    thread_vector=1.99,
    speaker=0.56,
    asks=-0.54,
    reply=0.96,
    when=3.1,
    constant=-3.5,
)


_VERSION = VersionSigns(2.15, 1.74, -0.4, 1.91, -0.92, -0.31, -0.42, 0.39, -0.16, 0.19, 0.39, -2.4)


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

    # Names in other scripts: docs/adr/0061-names-across-scripts.md.
    expanded_names: int = 8  # of a query
    expanded_forms: int = 16  # of a name: as many in kanji, and as many in all again
    name_share: float = 0.7  # of an occurrence as it is asked for, what one in another script counts
    name_rest: float = 0.1  # of what the other words are worth, what a text that has the name is measured by
    less_likely_name: float = 0.7  # of that, where the spelling rather means another name: Ono for 大野

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
    # Of the built-in model; those of another model are measured: vectors/scale.py.
    unrelated: float = 0.22  # cosine of two texts that have nothing in common
    unrelated_titles: float = 0.2
    same: float = 0.83  # cosine of two texts that say the same
    fewest_measured: int = 8  # texts, of a language too: with fewer, the numbers above are used
    measured_vectors: int = 400  # at most
    measured_growth: float = 1.25  # then it is measured again
    most_alike: float = 0.3  # share of the way from the probe's cosine to 1 that unrelated texts reach at most
    japanese_share: float = 0.1  # Japanese manuals are full of English names; English that quotes Japanese has less
    # One sum of signs: docs/adr/0063-one-sum-of-signs.md, fitted by bench/fit_ranking.py.
    within_signs: Signs = _WITHIN
    within_longer: Signs = _WITHIN_LONGER
    usual_length: float = 1.5  # the power of ten of the number of words for which `within_signs` are
    across_signs: Signs = _ACROSS
    turn_signs: Signs = _TURN
    middle: float = 9.0  # the sum that gives a score of a half
    softness: float = 4.0  # how far from there the sum must be for e : 1
    guessed_vector: float = 0.6  # of the coverage: for a record without a vector
    guessed_subwords: tuple[float, float, float] = (0.25, 0.22, 0.55)  # a constant, of the vector, of the coverage

    # Versions of a note, and questions without an answer: docs/adr/0051-newer-notes-and-honest-scores.md.
    version_hits: int = 16  # of the best, those that are compared with each other
    version_terms: int = 150  # a note with more different words is no note of one fact
    version_gap: int = 60_000  # milliseconds: what was saved together was meant to stand together
    version_prior: int = 32  # other notes that are assumed where words are weighed
    version_cosine: float = 0.55  # between versions of a note, at least
    version_changed: float = 1.0  # cosine and shared words of two notes, the newer of which says that something changed
    version_repeated: float = 1.6  # without such a word
    version_places: tuple[int, int] = (2, 7)  # the older one is among the first two, the newer one among so many
    version_same_words: float = 0.6  # of what the older one holds of the question, what the newer one must hold
    version_level: float = 0.1  # how near to the question notes are that are asked for
    guessed_cosine: tuple[float, float] = (0.4, 0.8)  # where there is no vector: a constant, of the shared words
    version_signs: VersionSigns = _VERSION  # from a sum of 0 on the newer one comes first: bench/fit_newer.py
    version_closest: float = 0.8  # of the likeness of one of them to another note, what they must have
    like_proposed: int = 32  # records that may be like a new one, by their codes,
    like_shares: tuple[float, float] = (1.6, -0.8)  # what shared words are worth, of those of the earlier one, and of
    # those of the new one
    like_across: float = 0.2  # what a record in another language must be nearer by
    like_recent: float = 0.25  # and of those saved a moment ago, the cosine from which they are read
    not_valid: float = 0.6  # what is left of the score of a note that does not hold now: ADR 0058
    marked_hits: int = 16  # beyond the limit, those that may come up when others go down
    compared_rank: int = 4  # the fifth nearest: how far it falls behind shows whether the best ones stand out
    answer_hits: int = 5  # of the best, those that may be the answer
    outstanding: float = 0.05  # what it is worth that the sum of the best is larger by 1 than that of the fifth
    no_answer: float = 0.25  # vector level, coverage and that together, up to which nothing answers
    sure_answer: float = 1.5  # and from which something surely does
    least_answered: float = 0.05  # the best score where nothing answers: the order still shows

    # Dates in queries: docs/adr/0022-times.md, docs/adr/0060-reading-times.md.
    date_slack: int = 7  # so many days before the time, or twice as many after it, a fit has fallen to a third; fewer
    # for a time that is shorter itself
    date_least: float = 0.2  # what is left of a score far from the day that was named,
    date_least_more: float = 0.2  # and how much more far from a year
    date_share: float = 0.3  # what it is worth to be of that time,
    date_share_alone: float = 0.6  # the same where the query asks for nothing else,
    date_share_days: int = 40  # half of it for a time of so many days
    date_share_apart: float = 0.8  # of the share, for a record whose meaning has nothing to do with the query,
    date_share_near: float = 0.5  # and how much more for one that says the same,
    date_share_range: tuple[float, float] = (0.05, 1.4)  # at least and at most
    other_reading: float = 0.5  # of a month without a year: how much other years count than the likeliest
    time_words: float = 0.3  # weight of the words that name the time, beside the others
    dated_spans: int = 3  # of a month without a year: the likeliest three
    dated_documents: int = 200  # of each span, scored whatever they say

    # Candidates from one-bit codes: docs/adr/0019-vectors.md, "bench.vectors".
    rescored: int = 60  # vectors that are compared exactly: this, twice the limit, and one in `rescored_one_in`
    rescored_one_in: int = 10_000
    crowded: float = 0.025  # on PostgreSQL: cosine within which many more than are wanted are searched more widely
    coded: int = 1_000  # codes that are compared in full: this, eight times the wanted, or one in `coded_one_in`
    coded_one_in: int = 400


TUNING = Tuning()

"""One ranking, from forms alone."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.text.score import (
    NEIGHBOUR_OFFSETS,
    TextScore,
    WeightedQuery,
    compute_gain,
    lift_threads,
    match_terms,
    score_document,
    weigh_query,
)
from tokonoma.search.text.tokenize import count_terms, look_up_terms, parse_query_terms
from tokonoma.search.tuning import TUNING

TEXTS = st.lists(st.text(alphabet="アイ漢字仮abc 、", min_size=1, max_size=40), min_size=1, max_size=8)


class ScoringCandidate(NamedTuple):
    key: int
    packed: bytes
    thread: str | None = None
    position: int = 0


def score_candidates(query: WeightedQuery, candidates: Sequence[ScoringCandidate]) -> list[TextScore]:
    """The candidates that hold any of the query's terms, or border on one that does, best first."""
    positions = {(each.thread, each.position): each.key for each in candidates if each.thread is not None}
    matches = {each.key: match_terms(query, each.packed) for each in candidates}
    found: dict[int, TextScore] = {}
    for each in candidates:
        thread = each.thread or ""
        keys = [positions.get((thread, each.position + offset)) for offset in NEIGHBOUR_OFFSETS]
        score = score_document(query, each.key, matches[each.key], [matches[key] for key in keys if key is not None])
        if score is not None:
            found[each.key] = score
    found |= lift_threads(query, found, {each.key: each.thread for each in candidates if each.thread is not None})
    return sorted(found.values(), key=lambda each: (-each.score, each.key))


def corpus(*texts: str | tuple[str, str]) -> list[ScoringCandidate]:
    """Documents numbered in order; a pair is a title and a text."""
    pairs = [(text, "") if isinstance(text, str) else (text[1], text[0]) for text in texts]
    return [ScoringCandidate(key, count_terms(*pair).packed) for key, pair in enumerate(pairs)]


def asked(question: str, documents: list[ScoringCandidate], frequencies: dict[str, int] | None = None) -> WeightedQuery:
    average = sum(look_up_terms(each.packed, frozenset(), []).length for each in documents) / len(documents)
    known = {term.text: 1 for term in parse_query_terms(question)} if frequencies is None else frequencies
    return weigh_query(parse_query_terms(question), known, max(10, len(documents)), average)


def order(question: str, *texts: str | tuple[str, str], frequencies: dict[str, int] | None = None) -> list[int]:
    documents = corpus(*texts)
    return [each.key for each in score_candidates(asked(question, documents, frequencies), documents)]


def test_only_what_holds_a_term_is_found():
    assert order("cat", "a dog", "a cat", "") == [1]
    assert order("鍵", "鍵を替えた", "錠を替えた") == [0]
    assert order("zebra", "a dog", "a cat") == []


def test_a_rare_term_is_worth_more_than_a_frequent_one():
    assert order("cat dog", "a cat", "a dog", frequencies={"cat": 9, "dog": 1}) == [1, 0]


def test_who_holds_more_of_the_question_is_first():
    assert order("cat dog bird", "cat cat cat cat cat", "cat dog bird")[0] == 1


def test_a_short_text_is_before_a_long_one_that_says_the_same():
    assert order("cat", "cat " + "and dogs and birds " * 20, "cat and dogs") == [1, 0]


def test_a_title_that_the_question_names_counts_most():
    assert order("how to install the agent", ("Install", "Run it."), ("Upgrade", "Install it again."))[0] == 0


def test_the_more_of_a_title_is_named_the_better():
    assert order("install the agent", ("Install plugins for old editors", "x"), ("Install", "x")) == [1, 0]


def test_equals_come_in_the_order_of_their_keys():
    assert order("cat", "a cat", "a cat", "a cat") == [0, 1, 2]


def threaded(*texts: str) -> list[ScoringCandidate]:
    return [each._replace(thread="talk", position=seat) for seat, each in enumerate(corpus(*texts))]


def test_neighbours_lend_to_each_other():
    documents = threaded("where did you buy the violin", "in Kyoto", "how nice", "see you", "bye")
    found = {each.key: each for each in score_candidates(asked("violin", documents), documents)}
    assert found.keys() == {0, 1, 2}  # two on each side, no further
    assert found[0].score > found[1].score
    assert found[1].coverage < found[0].coverage == 1.0


def test_a_text_among_matching_neighbours_is_before_one_that_stands_alone():
    documents = threaded("my violin", "the violin", "a violin")
    documents += [ScoringCandidate(3, documents[0].packed), ScoringCandidate(4, documents[0].packed, "other", 0)]
    assert [each.key for each in score_candidates(asked("violin", documents), documents)] == [0, 1, 2, 3, 4]


def test_neighbours_can_be_named_instead():
    documents = threaded("my violin", "in Kyoto", "how nice")
    question = asked("violin", documents)
    reads = [match_terms(question, each.packed) for each in documents]
    named = [score_document(question, key, reads[key], [*reads[:key], *reads[key + 1 :]]) for key in range(3)]
    unlifted = [each._replace(score=0.0, level=0.0, thread=0.0) for each in score_candidates(question, documents)]
    assert [each and each._replace(score=0.0, level=0.0) for each in named] == unlifted
    assert score_document(question, 1, reads[1], [reads[2]]) is None


def test_a_thread_lifts_its_own_towards_its_best_and_nobody_falls():
    talk = threaded("the violin is a violin", "see you", "bye", "well", "my violin and much else that is not asked for")
    alone = [ScoringCandidate(key + 10, each.packed) for key, each in enumerate(talk)]
    question = asked("violin", talk)
    found = {each.key: each for each in score_candidates(question, talk + alone)}
    assert found[0].thread == 0.0
    assert found[14].score < found[4].score < found[0].score
    assert found[4].thread == pytest.approx(TUNING.thread_share * (found[0].score - (found[4].score - found[4].thread)))


def test_who_asks_comes_behind_who_answers():
    assert order("violin", "Is it a violin?", "It is a violin.") == [1, 0]
    assert order("鍵", "鍵はどこですか。", "鍵はここですよ。") == [1, 0]


def test_what_somebody_says_is_before_what_is_said_about_them():
    frequencies = {"aiko": 5, "violin": 5}
    assert order("Aiko violin", "Ben: Aiko has a violin", "Aiko: Ben has a violin", frequencies=frequencies) == [1, 0]


@given(TEXTS, st.text(alphabet="アイ漢字仮abc ", min_size=1, max_size=12))
def test_the_level_lies_between_0_and_1_and_keeps_the_order(texts, question):
    documents = corpus(*texts)
    found = score_candidates(asked(question, documents), documents)
    levels = [each.level for each in found]
    assert all(0 < level < 1 for level in levels)
    assert levels == sorted(levels, reverse=True)
    assert all(each.score == pytest.approx(each.words * each.coverage**0.5 + each.title) for each in found)
    assert all(0 < each.coverage <= 1 + 1e-9 for each in found)


def test_a_question_without_terms_or_without_documents_finds_nothing():
    assert score_candidates(weigh_query([], {}, 5, 3.0), corpus("a cat")) == []
    assert score_candidates(weigh_query(parse_query_terms("cat"), {"cat": 1}, 1, 3.0), []) == []
    assert score_candidates(weigh_query(parse_query_terms("cat"), {}, 0, 0.0), []) == []


def test_frequencies_that_have_aged_do_no_harm():
    assert all(compute_gain(term, 99, 3) > 0 for term in parse_query_terms("cat りんご"))


def test_of_a_long_question_the_terms_that_are_worth_most_are_kept():
    words = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}q" for number in range(200)]
    frequencies = {word: number + 1 for number, word in enumerate(words)}
    question = weigh_query(parse_query_terms(" ".join(words)), frequencies, 1000, 10.0)
    assert len(question.gains) == TUNING.scored_terms
    assert min(question.gains.values()) > compute_gain(parse_query_terms(words[-1])[0], 200, 1000)


def test_the_parts_say_where_a_score_comes_from():
    documents = corpus(("Keys", "a violin"), "a violin")
    first = score_candidates(asked("violin keys", documents), documents)[0]
    assert isinstance(first, TextScore)
    assert first.key == 0
    assert first.title > 0
    assert first.words > 0

"""Questions that ask for a time, and texts that name one. Pure."""

import pytest

from tokonoma.search.text.tokenize import count_terms
from tokonoma.search.text.when import asks_when, names_time


@pytest.mark.parametrize(
    "query",
    [
        "When did Ann paint it?",
        "Since when does she sing?",
        "What year was that?",
        "いつ引っ越した?",
        "面接は何日だった?",
    ],
)
def test_a_question_for_a_time_is_seen(query: str):
    assert asks_when(query)


@pytest.mark.parametrize(
    "query", ["What did Ann do when it rained?", "Whenever", "What does Ann paint?", "何を描いた?"]
)
def test_other_questions_are_not(query: str):
    assert not asks_when(query)


@pytest.mark.parametrize(
    "text", ["I went there yesterday", "Ann: last WEEKEND was fun", "in August", "昨日行ってきた", "先週の土曜"]
)
def test_a_text_that_names_a_time_is_seen(text: str):
    assert names_time(count_terms(text).packed)


def test_a_text_without_a_time_names_none():
    assert not names_time(count_terms("I paint with my children").packed)
    assert not names_time(count_terms("子どもと絵を描く").packed)

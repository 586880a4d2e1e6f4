"""The time that a question names, by itself."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.candidates import CandidatePool
from tokonoma.search.dates import DateBoost, compute_factor, compute_fit, find_spans, parse_moment


def at(*date: int) -> int:
    return int(datetime(*date, tzinfo=UTC).timestamp() * 1000)


NOW = at(2026, 11, 15, 12)
DAY = 86_400_000


@pytest.mark.parametrize(
    ("question", "inside", "outside"),
    [
        ("What did we decide on 25 May 2022?", (2022, 5, 25), (2022, 6, 20)),
        ("the talk of May 25th, 2022", (2022, 5, 25), (2021, 5, 25)),
        ("minutes of 2022-05-25", (2022, 5, 25), (2022, 5, 1)),
        ("2022/05 の経費", (2022, 5, 31), (2022, 8, 1)),
        ("2022年5月25日の会議", (2022, 5, 25), (2022, 4, 1)),
        ("２０２２年５月の会議", (2022, 5, 3), (2023, 5, 3)),
        ("the trip in June", (2024, 6, 10), (2024, 9, 10)),
        ("sept 5 dinner", (2025, 9, 5), (2025, 10, 5)),
        ("what happened in May?", (2023, 5, 9), (2023, 8, 9)),
        ("7月の旅行", (2019, 7, 7), (2019, 10, 7)),
        ("the state she visited in summer 2021", (2021, 8, 31), (2021, 12, 1)),
        ("2021年の冬", (2022, 1, 15), (2021, 8, 1)),
        ("everything in 2023", (2023, 12, 24), (2024, 3, 1)),
        ("2023年の抱負", (2023, 1, 1), (2022, 6, 1)),
        ("what I said yesterday", (2026, 11, 14), (2026, 10, 1)),
        ("昨日の電話", (2026, 11, 14), (2026, 10, 1)),
        ("一昨日の電話", (2026, 11, 13), (2026, 10, 1)),
        ("decisions of last week", (2026, 11, 4), (2026, 9, 4)),
        ("先週の決定", (2026, 11, 4), (2026, 9, 4)),
        ("先月の請求書", (2026, 10, 31), (2026, 6, 1)),
        ("去年の健康診断", (2025, 6, 1), (2024, 6, 1)),
        ("what broke three days ago", (2026, 11, 12), (2026, 10, 1)),
        ("2週間前の件", (2026, 11, 1), (2026, 8, 1)),
        ("三日前の電話", (2026, 11, 12), (2026, 10, 1)),
        ("3ヶ月前の件", (2026, 8, 17), (2026, 4, 1)),
    ],
)
def test_a_question_names_its_time(question, inside, outside):
    named = find_spans(question, NOW)
    assert compute_fit(at(*inside, 12), named) == 1.0
    assert compute_fit(at(*outside, 12), named) < 0.5


@pytest.mark.parametrize(
    "question",
    [
        "May I ask where the keys are?",
        "the march of the penguins",
        "Cyberpunk 2077",
        "13月",
        "31 February 2022",
        "9999年12月31日 and 0000-00-00",
        "0001-01-01, 9999-12-30 and 999 years ago",
        "room 2022",
        "解約の手順",
        "",
    ],
)
def test_what_only_looks_like_a_time_names_none(question):
    assert find_spans(question, NOW) == []


@given(st.text(max_size=80), st.integers(at(1990, 1, 1), at(2090, 1, 1)))
def test_no_text_breaks_it(text, now):
    named = find_spans(text, now)
    assert named == sorted(named, reverse=True)
    assert all(at(1899, 12, 31) <= span.begin < span.end <= at(2200, 1, 2) for span in named)


@given(st.integers(-400, 400), st.integers(-400, 400))
def test_the_nearer_to_the_time_the_better_the_fit(one, other):
    named = find_spans("25 May 2022", NOW)
    near, far = sorted((one, other), key=abs)
    if near * far >= 0:  # on one side
        fits = [compute_fit(at(2022, 5, 25) + days * DAY, named) for days in (near, far)]
        assert fits[0] >= fits[1]
        assert 0.6 < compute_factor(fits[1]) <= compute_factor(fits[0]) <= 1.0


def looked_through(text: str, now: int) -> list[int]:
    """The years of the times whose documents are proposed."""
    begins: list[int] = []
    pool = SimpleNamespace(find_between=lambda begin, _end, _most: begins.append(begin) or [])
    assert DateBoost(cast(CandidatePool, pool), find_spans(text, now)).propose() == []
    return [datetime.fromtimestamp(each / 1000, UTC).year for each in begins]


def test_only_short_times_are_looked_through_and_the_latest_first():
    assert looked_through("in 2022", NOW) == []
    assert looked_through("in June", NOW - 300 * DAY) == [2027, 2026, 2025]


def test_dates_are_read_as_people_store_them():
    assert parse_moment("2022-05-25", None) == at(2022, 5, 25)
    assert parse_moment("2022-05-25T09:00:00+09:00", None) == at(2022, 5, 25)
    seconds = datetime(2022, 5, 25, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    assert parse_moment(None, seconds / timedelta(seconds=1)) == parse_moment(None, seconds / timedelta(milliseconds=1))
    assert parse_moment("next week", None) is None


@pytest.mark.parametrize("number", [-1.7e308, 1.7e308, 0.0, 5.0, -3.0, 20220525.0])
def test_a_number_that_is_hardly_a_time_is_none(number):
    assert parse_moment(None, number) is None
    assert parse_moment("true", 1.0) is None

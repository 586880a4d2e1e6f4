"""What a record's time does to its score, where a query names one."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.candidates import CandidatePool
from tokonoma.search.dates import DateBoost, DateEffect, parse_moment
from tokonoma.search.times import read_times

DAY = 86_400_000


def at(year: int, month: int, day: int, hour: int = 0) -> int:
    return int(datetime(year, month, day, hour).timestamp() * 1000)


NOW = at(2026, 11, 15, 12)


def build_boost(text: str, dates: dict[int, str], now: int = NOW) -> DateBoost:
    rows = [(number, day, None) for number, day in dates.items()]
    pool = SimpleNamespace(fetch_dates=lambda _: rows, find_between=lambda begin, end, _: [begin, end])
    return DateBoost(cast(CandidatePool, pool), read_times(text, now), now)


def measure(text: str, *dates: str) -> list[DateEffect]:
    numbered = dict(enumerate(dates))
    effects = build_boost(text, numbered).compute_effects({}, numbered)
    return [effects[number] for number in numbered]


def test_the_time_that_is_named_comes_before_others():
    inside, day_after, week_after, far = measure(
        "on 25 May 2022", "2022-05-25", "2022-05-26", "2022-06-01", "2021-05-25"
    )
    assert inside.factor == 1.0
    assert inside > day_after > week_after > far
    assert far.factor == pytest.approx(0.2, abs=0.01)
    assert far.share == pytest.approx(0.0, abs=0.01)


def test_a_longer_time_counts_less():
    (day, _), (month, _), (year, _) = (
        measure(text, "2022-05-25", "2019-01-01") for text in ("on 25 May 2022", "in May 2022", "in 2022")
    )
    assert day.factor == month.factor == year.factor == 1.0
    assert day.share > month.share > year.share > 0
    far = [measure(text, "2019-01-01")[0].factor for text in ("on 25 May 2022", "in May 2022", "in 2022")]
    assert far == sorted(far)
    assert far[0] < 0.21
    assert far[2] == pytest.approx(0.4, abs=0.01)


def test_other_readings_count_less_than_the_likeliest():
    last, earlier, none = measure("the trip in June", "2026-06-10", "2023-06-10", "2023-11-10")
    assert last > earlier > none


def test_the_time_counts_more_if_nothing_else_is_asked_for():
    (alone,) = measure("what did I do on 25 May 2022?", "2022-05-25")
    (beside,) = measure("the boat on 25 May 2022", "2022-05-25")
    assert alone.share > 1.5 * beside.share > 0


def test_of_records_of_that_time_the_nearer_in_meaning_are_worth_more():
    (effect,) = measure("the boat on 25 May 2022", "2022-05-25")
    worth = [effect.weigh_share(place) for place in (-9.0, -0.5, 0.0, 0.5, 1.0, 9.0)]
    assert worth == sorted(worth)
    assert 0 < worth[0] < worth[1] < worth[2] < effect.share < worth[4] < worth[5] < 0.5
    assert effect.weigh_share(None) == effect.share


def test_an_open_side_has_no_end():
    early, late, before = measure("since 3 March 2026", "2026-03-03", "2026-11-14", "2026-02-01")
    assert early.factor == late.factor == 1.0
    assert before.factor < 0.5
    long_ago, after = measure("before 2020", "1999-05-05", "2021-05-05")
    assert long_ago.factor == 1.0
    assert after.factor < 0.6


@given(st.integers(-400, 400), st.integers(-400, 400))
def test_the_nearer_to_the_time_the_better_the_fit(one, other):
    near, far = sorted((one, other), key=abs)
    if near * far >= 0:  # on one side
        days = [(datetime(2022, 5, 25) + timedelta(days=each)).date().isoformat() for each in (near, far)]
        nearer, farther = measure("25 May 2022", *days)
        assert nearer >= farther
        assert 0.2 <= farther.factor <= 1.0


def list_proposed(text: str, now: int = NOW) -> list[tuple[datetime, datetime]]:
    found = build_boost(text, {}, now).propose()
    moments = [datetime.fromtimestamp(each / 1000) for each in found]
    return [*zip(moments[::2], moments[1::2], strict=True)]


def test_only_short_times_are_looked_through_and_the_likeliest_first():
    assert list_proposed("in 2022") == []
    assert list_proposed("before 5 May 2022") == []
    assert [begin.year for begin, _ in list_proposed("in June", NOW - 300 * DAY)] == [2025, 2026, 2024]


def test_what_is_open_and_began_lately_is_looked_through_with_what_is_to_come():
    ((begin, end),) = list_proposed("since 10 November 2026")
    assert begin.date().isoformat() == "2026-11-09"  # somewhere the day had begun
    assert end.year == 2027
    assert list_proposed("since 10 November 2025") == []


def test_dates_are_read_as_people_store_them():
    assert parse_moment("2022-05-25T09:00:00+09:00", None) == int(datetime(2022, 5, 25, tzinfo=UTC).timestamp() * 1000)
    assert parse_moment("2022-05-25T09:00", None) == at(2022, 5, 25, 9)  # here
    assert parse_moment("2022-05-25", None) == at(2022, 5, 25, 12)  # some time of that day
    seconds = datetime(2022, 5, 25, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    assert parse_moment(None, seconds / timedelta(seconds=1)) == parse_moment(None, seconds / timedelta(milliseconds=1))
    assert parse_moment("next week", None) is None


@pytest.mark.parametrize("number", [-1.7e308, 1.7e308, 0.0, 5.0, -3.0, 20220525.0])
def test_a_number_that_is_hardly_a_time_is_none(number):
    assert parse_moment(None, number) is None
    assert parse_moment("true", 1.0) is None

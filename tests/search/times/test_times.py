"""The times that texts name, in both languages."""

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search.times.expressions import ENGLISH, JAPANESE, NO_TIME, list_expressions

from tokonoma.search.times import OPEN_BEGIN, OPEN_END, DateSpan, english_words, find_spans, japanese_words, read_times


@pytest.fixture(autouse=True)
def _zone(monkeypatch):
    set_zone(monkeypatch, "UTC")
    yield
    monkeypatch.undo()
    time.tzset()


def set_zone(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()


def at(year: int, month: int, day: int, hour: int = 0) -> int:
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp() * 1000)


NOW = at(2026, 3, 18, 15)  # a Wednesday


def show(span: DateSpan) -> tuple[str, str]:
    """The first and the last day; `..` is an open side."""
    days = [datetime(1970, 1, 1) + timedelta(milliseconds=each) for each in (span.begin, span.end - 1)]
    first, last = (day.date().isoformat() for day in days)
    return ".." if span.begin == OPEN_BEGIN else first, ".." if span.end == OPEN_END else last


@pytest.mark.parametrize(
    ("text", "first", "last"), [*list_expressions(ENGLISH), *list_expressions(JAPANESE)], ids=lambda each: str(each)
)
def test_a_text_names_its_time(text, first, last):
    assert [show(each) for each in find_spans(text, NOW)][:1] == [(first, last)]


@pytest.mark.parametrize("text", NO_TIME.strip().splitlines())
def test_what_only_looks_like_a_time_names_none(text):
    assert read_times(text, NOW) == ([], text, False)


def list_days(text: str, now: int = NOW) -> list[str]:
    return [show(each)[0] for each in find_spans(text, now)]


def test_a_month_without_a_year_is_first_the_last_one_and_then_that_of_other_years():
    assert list_days("the trip in June")[:4] == ["2025-06-01", "2026-06-01", "2024-06-01", "2023-06-01"]
    assert list_days("6月の旅行")[:3] == ["2025-06-01", "2026-06-01", "2024-06-01"]
    assert list_days("where will we be in June?")[:2] == ["2026-06-01", "2025-06-01"]
    assert list_days("6月の予定")[:2] == ["2026-06-01", "2025-06-01"]
    assert list_days("June 2024") == ["2024-06-01"]


def test_only_the_first_reading_has_the_first_rank():
    assert [each.rank for each in find_spans("the trip in June", NOW)][:3] == [0, 1, 2]
    assert [each.rank for each in find_spans("from 3 May 2024 to 7 May 2024, and on 9 May 2025", NOW)] == [0, 0]


def test_digits_are_read_by_the_language_of_the_text():
    assert list_days("10/8の昼食")[0] == "2025-10-08"
    assert list_days("lunch on 10/8")[:2] == ["2025-10-08", "2025-08-10"]
    assert [each.rank for each in find_spans("the receipt of 3/4/2025", NOW)] == [0, 0]
    assert list_days("the receipt of 3/4/2025") == ["2025-03-04", "2025-04-03"]
    assert list_days("from 3/4/2025 to 5/4/2025") == ["2025-03-04", "2025-04-03"]
    assert list_days("the receipt of 13/4/2025") == ["2025-04-13"]


def test_a_weekday_in_a_question_about_the_past_lies_in_the_past():
    friday = at(2026, 3, 20, 9)
    assert list_days("what did I say on Monday", friday)[0] == "2026-03-16"
    assert list_days("last Friday", friday) == ["2026-03-13"]
    assert list_days("next Monday", friday) == ["2026-03-23"]
    assert list_days("金曜の飲み会", friday)[0] == "2026-03-20"


def test_leap_days_and_the_turn_of_a_year():
    assert list_days("a year ago today", at(2024, 2, 29, 12)) == ["2023-02-28"]
    assert list_days("29 February") == ["2024-02-29", "2020-02-29", "2016-02-29"]
    assert list_days("昨日", at(2026, 1, 1, 1)) == ["2025-12-31"]
    assert list_days("last month", at(2026, 1, 31)) == ["2025-12-01"]
    assert list_days("先週", at(2026, 1, 2)) == ["2025-12-22"]


def test_several_times_are_all_named():
    assert list_days("compare 2 March 2025 with 2 March 2026") == ["2025-03-02", "2026-03-02"]
    assert list_days("in March and May")[:2] == ["2026-03-01", "2025-05-01"]


def test_the_rest_of_a_text_names_no_time():
    assert read_times("How was my run yesterday?", NOW).rest == "how was my run  ?"
    assert read_times("先週の会議の議題", NOW).rest == " の会議の議題"
    assert read_times("昨日", NOW).rest == "昨日"  # there is nothing else to search for
    assert read_times("Reset the Router", NOW).rest == "Reset the Router"
    long = "yesterday " + "word " * 200 + "Monday"
    assert read_times(long, NOW).rest.endswith("Monday")


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("what is planned for next week?", True),
        ("anything from today?", True),
        ("来週の予定", True),
        ("昨日は何をしたっけ", True),
        ("昨日", True),
        ("what did Omar promise yesterday", False),
        ("来週の会議の予定", False),
        ("先月の電気代", False),
    ],
)
def test_a_text_may_ask_for_nothing_but_its_time(text, alone):
    assert read_times(text, NOW).alone is alone


@pytest.mark.parametrize(
    ("zone", "day"), [("Asia/Tokyo", "2026-03-18"), ("America/Los_Angeles", "2026-03-17"), ("UTC", "2026-03-17")]
)
def test_yesterday_is_that_of_the_machine(zone, day, monkeypatch):
    set_zone(monkeypatch, zone)
    now = at(2026, 3, 18, 20)  # already the 19th in Tokyo
    (span,) = find_spans("yesterday", now)
    begin = datetime.fromtimestamp(span.begin / 1000)
    assert begin.isoformat() == f"{day}T00:00:00"
    assert span.end - span.begin == 86_400_000


def test_a_day_on_which_clocks_change_is_as_long_as_it_is(monkeypatch):
    set_zone(monkeypatch, "Europe/Berlin")
    (span,) = find_spans("29 March 2026", NOW)
    assert span.end - span.begin == 23 * 3_600_000


def test_every_word_of_the_tables_is_read():
    """The quick check before the reader knows the words of its tables."""
    for word in (*japanese_words.WORDS, *japanese_words.SHORT_WORDS, *japanese_words.FEASTS, *japanese_words.RECENT):
        assert find_spans(f"{word}の記録", NOW), word
    for word in (*english_words.DAYS, *english_words.RECENT):
        assert find_spans(f"notes of {word}", NOW), word
    for word in english_words.FEASTS:
        assert find_spans(f"what happened at {word}", NOW), word


def test_most_questions_load_no_reader():
    code = (
        "import sys; from tokonoma.search.times import find_spans; found = find_spans('how do I reset the router', 0);"
        "print(found, 'tokonoma.search.times.reader' in sys.modules);"
        "find_spans('what about yesterday', 0);"
        "print('tokonoma.search.times.english' in sys.modules, 'tokonoma.search.times.japanese' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[] False", "True False"]


PIECES = [
    *"年月日週曜春夏秋冬の〜-/. 、(),半数度末先来前", "昨日", "令和", "元年", "r6.5.1", "上旬", "第2", "四半期",
    "から", "まで", "以降", "gw", "10", "31", "2", "2025", "9999", "0", "last ", "next ", "friday ", "may ", "of ",
    "between ", "and ",
    "to ", "since ", "before ", "ago ", "weeks ", "the ", "end of ", "year ", "q3 ", "29 february ", "first ",
]  # fmt: skip


@given(
    st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=14).map("".join)),
    st.integers(at(1902, 1, 1), at(2190, 1, 1)),
)
def test_no_text_breaks_it(text, now):
    spans = find_spans(text, now)
    assert [each.rank for each in spans] == sorted(each.rank for each in spans)
    assert all(OPEN_BEGIN <= each.begin < each.end <= OPEN_END for each in spans)
    assert len({each[:2] for each in spans}) == len(spans)


@pytest.mark.parametrize("piece", [each for each in PIECES if each.strip()])
def test_a_long_text_takes_little_time(piece):
    """Only its beginning is read, however much is normalized to more characters."""
    before = time.thread_time()
    find_spans(piece * 5_000, NOW)
    find_spans(("ﷺ" + piece) * 5_000, NOW)
    assert time.thread_time() - before < 2

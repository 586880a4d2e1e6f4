"""The timeline page: the picture of a year, spans, filters, and the records of a span."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest

from tokonoma.core.clock import now
from tokonoma.core.reach import Reach
from tokonoma.server.web.pages.timeline import find_span, find_year
from tokonoma.server.web.pages.year import draw_year, grade


@pytest.mark.parametrize(
    ("at", "zoom", "first", "last"),
    [
        ("2026-03-04", "day", "2026-03-04", "2026-03-04"),
        ("2026-03-04", "week", "2026-03-02", "2026-03-08"),
        ("2026-03-01", "week", "2026-02-23", "2026-03-01"),
        ("2024-02-10", "month", "2024-02-01", "2024-02-29"),
        ("2026-12-31", "month", "2026-12-01", "2026-12-31"),
    ],
)
def test_a_day_lies_in_its_span(at, zoom, first, last):
    assert find_span(date.fromisoformat(at), zoom) == (date.fromisoformat(first), date.fromisoformat(last))


def test_the_picture_ends_today_or_with_the_year_of_an_older_day():
    today = date(2026, 11, 18)
    assert find_year(date(2026, 1, 5), today) == (date(2025, 11, 10), date(2026, 11, 22))
    assert find_year(date(2024, 5, 1), today)[1] == date(2025, 1, 5)
    for year in range(1971, 2100):
        for day in (date(year, 1, 1), date(year, 12, 31)):
            first, last = find_year(day, today)
            assert first <= day <= last
            assert (last - first).days == 54 * 7 - 1
            assert first.weekday() == 0


def test_squares_are_links_where_there_is_something():
    first = date(2026, 1, 5)
    picture = str(
        draw_year(
            first,
            first + timedelta(days=370),
            {"2026-01-06": 4, "2026-02-01": 1},
            lambda day: f"/to/{day}?a&b",
            (first, first),
        )
    )
    assert picture.count("<rect") == 371
    assert re.findall(r'href="([^"]+)" aria-label="([^"]+)"', picture) == [
        ("/to/2026-01-06?a&amp;b", "2026-01-06: 4"),
        ("/to/2026-02-01?a&amp;b", "2026-02-01: 1"),
    ]
    assert picture.count("day-chosen") == 1
    assert [grade(count, 100) for count in (0, 1, 10, 40, 100)] == [0, 1, 1, 3, 4]


@pytest.fixture
def filled(site):
    site.sign_in()
    for place in ("/work", "/work/ops", "/home"):
        site.call("memory", "save", content=f"A memo in {place}", title=f"Memo of {place}", namespace=place)
    site.call("items", "create_item", type="issue", title="An item")
    return site


def list_titles(text: str) -> set[str]:
    return set(re.findall(r'<a class="title" href="[^"]+">([^<]+)</a>', text))


ALL = {"Memo of /work", "Memo of /work/ops", "Memo of /home", "An item"}


def test_the_records_of_a_span(filled):
    today = datetime.fromtimestamp(now() / 1000, UTC).date()
    for zoom in ("day", "week", "month"):
        text = filled.get(f"/admin/timeline?zoom={zoom}&at={today}").text
        assert list_titles(text) == ALL
        assert "4 changes" in text
        assert f'aria-label="{today}: 4"' in text
    before = filled.get(f"/admin/timeline?zoom=day&at={today - timedelta(days=3)}").text
    assert list_titles(before) == set()
    assert "Nothing was stored or changed in this span." in before
    assert f'aria-label="{today}: 4"' in before
    assert filled.get("/admin/timeline?zoom=year&at=never").status_code == 200


def test_filters_hold_for_the_picture_and_the_records(filled):
    text = filled.get("/admin/timeline?namespace=/work").text
    assert list_titles(text) == {"Memo of /work", "Memo of /work/ops"}
    assert re.search(r'namespace=%2Fwork&amp;zoom=day&amp;at=[0-9-]+" aria-label="[0-9-]+: 2"', text)
    items = filled.get("/admin/timeline?module=items").text
    assert list_titles(items) == {"An item"}
    assert "1 changes" in items
    assert filled.get("/admin/timeline?module=nothing").status_code == 404
    assert filled.get("/admin/timeline?namespace=../up").status_code == 400


def test_many_records_have_more_pages(filled):
    for number in range(120):
        filled.call("memory", "save", content=f"number {number}", title=f"Number {number}")
    first = filled.get("/admin/timeline").text
    more = re.search(r'<a class="button" href="([^"]+cursor[^"]+)"', first)
    assert more is not None
    second = filled.get(more[1].replace("&amp;", "&")).text
    assert len(list_titles(first)) == 100
    assert len(list_titles(first) | list_titles(second)) == 124


def test_a_person_sees_the_days_of_one_namespace(filled):
    modules = frozenset({"memory", "system"})
    filled.add_person("ada", reach=Reach("/work", "/work", modules, frozenset(), frozenset()))
    filled.cookies.clear()
    filled.sign_in("ada")
    text = filled.get("/admin/timeline").text
    assert list_titles(text) == {"Memo of /work", "Memo of /work/ops"}
    assert "2 changes" in text

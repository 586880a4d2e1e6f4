"""`/admin/timeline`: what was stored and changed when. A year as squares, and the records of a day, week or month."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

from starlette.routing import BaseRoute, Route

from tokonoma.core.clock import now
from tokonoma.core.errors import Invalid, Missing
from tokonoma.server.web.page_parts import PageParts
from tokonoma.server.web.pages.handler import PROBLEMS, PageHandler
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path
from tokonoma.server.web.pages.year import WEEKS, draw_year

PATH = "/admin/timeline"
ZOOMS = (("day", "Day"), ("week", "Week"), ("month", "Month"))
_PAGE = 100
_DAY = timedelta(days=1)


def list_routes(pages: PageParts) -> list[BaseRoute]:
    return [Route(PATH, PageHandler(pages, show_timeline, needs_session=True))]


def show_timeline(request: PageRequest) -> PageResponse:
    today = datetime.fromtimestamp(now() / 1000, UTC).date()
    at, zoom = _read_day(request.get_parameter("at"), today), _read_zoom(request)
    namespace, module = request.get_parameter("namespace").strip(), request.get_parameter("module").strip()
    first, last = find_span(at, zoom)
    begin, end = find_year(at, today)
    filters: dict[str, Any] = {"namespace": namespace or None, "modules": [module] if module else None}
    link = partial(build_path, PATH, namespace=namespace, module=module)
    values: dict[str, Any] = {
        "zoom": zoom,
        "zooms": ZOOMS,
        "at": at.isoformat(),
        "first": first.isoformat(),
        "last": last.isoformat(),
        "namespace": namespace,
        "module": module,
        "modules": [],
        "link": link,
        "before": link(zoom=zoom, at=first - _DAY),
        "after": link(zoom=zoom, at=last + _DAY) if last < today else "",
        "year_before": link(zoom=zoom, at=begin - _DAY),
        "days": [],
        "total": 0,
        "counts": [],
        "picture": "",
        "problem": "",
        "more": "",
    }
    try:
        year = {"since": begin.isoformat(), "until": end.isoformat()}
        counts = request.ask("system", "days", {"items": []}, **year, **filters)["items"]
        span = {"since": first.isoformat(), "until": last.isoformat(), "limit": _PAGE}
        cursor = request.get_parameter("cursor") or None
        found = request.call("system", "timeline", **span, cursor=cursor, **filters)
    except (Invalid, Missing) as error:
        return PageResponse("explore/timeline.html", {**values, "problem": error.message}, PROBLEMS[error.kind][1])
    by_day, shown = {each["day"]: each["count"] for each in counts}, found["items"]
    values |= {
        "picture": draw_year(begin, end, by_day, lambda day: link(zoom="day", at=day), (first, last)),
        "begin": begin.isoformat(),
        "end": end.isoformat(),
        "counts": list(reversed(counts)),
        "modules": sorted({name for each in counts for name in each["modules"]} | ({module} - {""})),
        # At least what is shown: a person may have the one tool without the other.
        "total": max(sum(by_day[day] for day in by_day if first.isoformat() <= day <= last.isoformat()), len(shown)),
        "days": _group(shown),
        "more": link(zoom=zoom, at=at, cursor=found["next_cursor"]) if found["has_more"] else "",
    }
    return PageResponse("explore/timeline.html", values)


def find_span(at: date, zoom: str) -> tuple[date, date]:
    """The first and the last day of the day, week (from Monday) or month that holds `at`."""
    if zoom == "day":
        return at, at
    if zoom == "week":
        monday = at - timedelta(days=at.weekday())
        return monday, monday + timedelta(days=6)
    following = at.replace(day=28) + timedelta(days=4)
    return at.replace(day=1), following - timedelta(days=following.day)


def find_year(at: date, today: date) -> tuple[date, date]:
    """The weeks that the picture shows: until this week, or for an older day until the last one of its year."""
    for last in (today, date(at.year, 12, 31)):
        sunday = last + timedelta(days=6 - last.weekday())
        monday = sunday - timedelta(days=7 * WEEKS - 1)
        if monday <= at <= sunday:
            return monday, sunday
    raise AssertionError("every day lies in its year")


def _group(items: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    return [(day, list(entries)) for day, entries in groupby(items, key=lambda each: each["at"][:10])]


def _read_day(text: str, today: date) -> date:
    """A day that the calendar has room around; today for anything else."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return today
    return day if 1971 <= day.year <= 9000 else today


def _read_zoom(request: PageRequest) -> str:
    asked = request.get_parameter("zoom")
    return asked if asked in dict(ZOOMS) else "week"

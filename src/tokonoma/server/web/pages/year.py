"""A year as squares, a column for each week."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta

from markupsafe import Markup

WEEKS = 54  # that a leap year can touch
_STEP, _SIZE, _TOP = 12, 10, 14  # of the picture's own units
_SVG = Markup('<svg class="year" viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg>')
_SQUARE = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1.5"/>')
_LINK = Markup('<a href="{}" aria-label="{}"><title>{}</title>{}</a>')
_LABEL = Markup('<text x="{}" y="9">{}</text>')


def draw_year(
    first: date, last: date, counts: Mapping[str, int], link: Callable[[str], str], chosen: tuple[date, date]
) -> Markup:
    """`counts` by day; a day that has some is a link. `chosen`: the span that the page shows."""
    highest, drawn, day = max(counts.values(), default=1), Markup(""), first
    while day <= last:
        week, weekday = divmod((day - first).days, 7)
        name, count = day.isoformat(), counts.get(day.isoformat(), 0)
        if weekday == 0 and day.day <= 7:
            drawn += _LABEL.format(week * _STEP, name[:7] if day.month == 1 else name[5:7])
        classes = f"day-{grade(count, highest)}" + (" day-chosen" if chosen[0] <= day <= chosen[1] else "")
        square = _SQUARE.format(classes, week * _STEP, _TOP + weekday * _STEP, _SIZE, _SIZE)
        text = f"{name}: {count}"
        drawn += _LINK.format(link(name), text, text, square) if count else square
        day += timedelta(days=1)
    return _SVG.format(WEEKS * _STEP, _TOP + 7 * _STEP, f"{first.isoformat()} – {last.isoformat()}", drawn)


def grade(count: int, highest: int) -> int:
    """0 for none, else 1 to 4. By the root, because one day with an import would make all others look empty."""
    return 0 if count == 0 else max(1, min(4, round(4 * (count / highest) ** 0.5)))

"""Small pictures as SVG, made on the server: they need no script, print well, and their text can be tested.

Colours come from classes of the style sheet, because the policy of the pages allows no inline style."""

from collections.abc import Sequence

from markupsafe import Markup

_SVG = Markup('<svg class="{}" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>')
_RECT = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')


def draw_bar(share: float, label: str) -> Markup:
    """A share from 0 to 1 as a bar. `label` is what a screen reader says."""
    width = round(100 * min(1.0, max(0.0, share)), 1)
    drawn = _RECT.format("bar-rest", 0, 0, 100, 10) + _RECT.format("bar-share", 0, 0, width, 10)
    return _SVG.format("bar", 100, 10, label, drawn)


def draw_strip(parts: Sequence[tuple[int, int, str]], total: int, label: str) -> Markup:
    """Lines of a file as a strip: `parts` are (first line, last line, state) with lines from 1. The states are classes
    of the style sheet: read, cited, unread, changed. Lines that were only read are lower, so that the strip can be
    understood without its colours."""
    total = max(1, total)
    drawn = _RECT.format("strip-rest", 0, 0, 1000, 20)
    for first, last, state in parts:
        start, width = round(1000 * (first - 1) / total, 2), round(1000 * (last - first + 1) / total, 2)
        top = 8 if state == "read" else 0
        # A later state covers an earlier one, also where that is higher.
        drawn += _RECT.format("strip-rest", start, 0, width, 20) + _RECT.format(
            f"strip-{state}", start, top, width, 20 - top
        )
    return _SVG.format("strip", 1000, 20, label, drawn)


def draw_sparkline(values: Sequence[float], label: str) -> Markup:
    """Values over time as columns."""
    highest, width, drawn = max([*values, 1]), 100 / max(1, len(values)), Markup("")
    for place, value in enumerate(values):
        height = round(30 * value / highest, 2)
        drawn += _RECT.format(
            "bar-share", round(place * width, 2), round(30 - height, 2), round(width * 0.8, 2), height
        )
    return _SVG.format("sparkline", 100, 30, label, drawn)

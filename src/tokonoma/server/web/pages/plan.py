"""The plan of a batch as a picture: a column for each wave, and a line from each step to those that wait for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 168, 46, 56, 16
_MARGIN = 8
_LETTERS = 21  # of a text that fits into a box
_SVG = Markup(
    '<svg class="plan" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">{body}</svg>'
)
_BOX = Markup(
    '<g class="step step-{state}"><title>{title}</title><rect x="{x}" y="{y}" width="{w}" height="{h}" rx="2"/>'
    '<text class="id" x="{tx}" y="{y1}">{id}</text><text x="{tx}" y="{y2}">{tool}</text></g>'
)
_LINE = Markup('<path class="wire" d="M{} {}C{} {} {} {} {} {}"/>')


def draw_plan(steps: Sequence[Mapping[str, Any]], label: str) -> Markup:
    """Steps as a dry run of `batch` lists them, or with the status in which they ended."""
    places: dict[str, tuple[int, int]] = {}
    filled: dict[int, int] = {}
    for step in steps:
        row = filled.get(step["wave"], 0)
        filled[step["wave"]] = row + 1
        x = _MARGIN + (step["wave"] - 1) * (_WIDTH + _GAP_X)
        places[step["id"]] = x, _MARGIN + row * (_HEIGHT + _GAP_Y)
    body = Markup("")
    for step in steps:
        for before in step["after"]:
            body += _draw_line(places[before], places[step["id"]])
    for step in steps:
        body += _draw_step(step, *places[step["id"]])
    width = 2 * _MARGIN + len(filled) * (_WIDTH + _GAP_X) - _GAP_X
    height = 2 * _MARGIN + max(filled.values(), default=0) * (_HEIGHT + _GAP_Y) - _GAP_Y
    return _SVG.format(w=max(width, 1), h=max(height, 1), label=label, body=body)


def _draw_line(start: tuple[int, int], end: tuple[int, int]) -> Markup:
    x, y = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    to_x, to_y = end[0], end[1] + _HEIGHT // 2
    middle = (x + to_x) // 2
    return _LINE.format(x, y, middle, y, middle, to_y, to_x, to_y)


def _draw_step(step: Mapping[str, Any], x: int, y: int) -> Markup:
    tool = f"{step['module']}.{step['tool']}"
    return _BOX.format(
        state=step["status"],
        title=f"{step['id']}: {tool} ({step['status']})",
        x=x, y=y, w=_WIDTH, h=_HEIGHT, tx=x + 10, y1=y + 19, y2=y + 36,
        id=_shorten(step["id"]), tool=_shorten(tool),
    )  # fmt: skip


def _shorten(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"

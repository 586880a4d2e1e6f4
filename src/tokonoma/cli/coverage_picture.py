"""A strip of a file as SVG: its lines from top to bottom, those cited, those read, those never seen. Pure."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal

CoverageKind = Literal["cited", "read", "never seen"]
LineSpan = tuple[int, int]

_WIDTH, _LEFT, _TOP = 290, 60, 44
_NAME = 44  # characters of a name
_PAPER = "#fffdf8"
_LINE = 4  # points a line, of a file that is short enough
_MOST = 1200  # points of the whole strip, at most
_FONT = 'font-family="sans-serif" font-size="11"'
_COLOURS: dict[CoverageKind, str] = {"cited": "#2f6f4f", "read": "#c9b458", "never seen": "#c8c4bc"}


def draw_coverage(name: str, total: int, seen: Mapping[CoverageKind, Sequence[LineSpan]]) -> str:
    """`seen` has the lines of each kind. A line that was cited may have been read, too: it shows as cited."""
    scale = min(float(_LINE), _MOST / total) if total else 1.0
    height = _TOP + max(24.0, total * scale) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" {_FONT}>',
        f"<title>{escape(name)}: lines read and cited</title>",
        f'<rect width="{_WIDTH}" height="{height:.0f}" fill="{_PAPER}"/>',  # it may lie on something dark
        f'<text x="8" y="16">{escape(name if len(name) <= _NAME else "…" + name[1 - _NAME :])}</text>',
        *_draw_legend(total, seen),
        *(_draw_bar(kind, each, scale) for kind in reversed(_COLOURS) for each in seen.get(kind, ())),
        *_draw_line_numbers(total, scale),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _draw_legend(total: int, seen: Mapping[CoverageKind, Sequence[LineSpan]]) -> list[str]:
    told: list[str] = []
    for place, (kind, colour) in enumerate(_COLOURS.items()):
        lines = sum(end - start + 1 for start, end in seen.get(kind, ()))
        share = f" {100 * lines / total:.0f}%" if total else ""
        left = 8 + place * 88
        told.append(
            f'<rect x="{left}" y="24" width="10" height="10" fill="{colour}"/>'
            f'<text x="{left + 14}" y="33">{kind}{share}</text>'
        )
    return told


def _draw_bar(kind: CoverageKind, lines: LineSpan, scale: float) -> str:
    start, end = lines
    top, height = _TOP + (start - 1) * scale, max(0.5, (end - start + 1) * scale)
    return (
        f'<rect class="{kind.replace(" ", "-")}" x="{_LEFT}" y="{top:.2f}" width="{_WIDTH - _LEFT - 12}"'
        f' height="{height:.2f}" fill="{_COLOURS[kind]}"><title>{kind}: {start}-{end}</title></rect>'
    )


def _draw_line_numbers(total: int, scale: float) -> list[str]:
    step = max(1, total // 10)
    shown = sorted({1, *range(step, total + 1, step), total}) if total else []
    return [
        f'<text x="{_LEFT - 6}" y="{_TOP + (line - 1) * scale + 9:.2f}" text-anchor="end">{line}</text>'
        for place, line in enumerate(shown)
        if place == 0 or (line - shown[place - 1]) * scale >= 10 or line == shown[0]
    ]

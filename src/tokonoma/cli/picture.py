"""A strip of a file as SVG: its lines from top to bottom, those cited, those read, those never seen. Pure."""

from collections.abc import Sequence
from html import escape

Range = tuple[int, int]

_WIDTH, _LEFT, _TOP = 260, 60, 44
_LINE = 4  # points a line, of a file that is short enough
_MOST = 1200  # points of the whole strip, at most
_FONT = 'font-family="sans-serif" font-size="11"'
_COLOURS = {"cited": "#2f6f4f", "read": "#c9b458", "never seen": "#c8c4bc"}


def picture(name: str, total: int, read: Sequence[Range], cited: Sequence[Range]) -> str:
    scale = min(float(_LINE), _MOST / total) if total else 1.0
    height = max(24.0, total * scale)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_TOP + height + 12:.0f}" {_FONT}>',
        f"<title>{escape(name)}: lines read and cited</title>",
        f'<text x="8" y="16">{escape(name[-40:])}</text>',
        *_legend(),
        _bar("never seen", (1, total), scale) if total else "",
        *(_bar("read", each, scale) for each in read),
        *(_bar("cited", each, scale) for each in cited),
        *_numbers(total, scale),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _legend() -> list[str]:
    return [
        f'<rect x="{8 + place * 84}" y="24" width="10" height="10" fill="{colour}"/>'
        f'<text x="{22 + place * 84}" y="33">{kind}</text>'
        for place, (kind, colour) in enumerate(_COLOURS.items())
    ]


def _bar(kind: str, lines: Range, scale: float) -> str:
    start, end = lines
    top, height = _TOP + (start - 1) * scale, max(0.5, (end - start + 1) * scale)
    return (
        f'<rect class="{kind.replace(" ", "-")}" x="{_LEFT}" y="{top:.2f}" width="{_WIDTH - _LEFT - 12}"'
        f' height="{height:.2f}" fill="{_COLOURS[kind]}"><title>{kind}: {start}-{end}</title></rect>'
    )


def _numbers(total: int, scale: float) -> list[str]:
    step = max(1, total // 10)
    shown = sorted({1, *range(step, total + 1, step), total}) if total else []
    return [
        f'<text x="{_LEFT - 6}" y="{_TOP + (line - 1) * scale + 9:.2f}" text-anchor="end">{line}</text>'
        for place, line in enumerate(shown)
        if place == 0 or (line - shown[place - 1]) * scale >= 10 or line == shown[0]
    ]

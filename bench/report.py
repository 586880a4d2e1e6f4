"""Rows, goals, the table on the screen and the file."""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .rounds import Samples, middle, tidy

HEADS = ("what", "tokonoma", "SDK", "floor", "ratio", "goal", "")


@dataclass(frozen=True)
class Goal:
    """`against` names the peer that the value is divided by; without one the value itself is judged."""

    sign: Literal["≤", "≥", "="]
    limit: float
    against: Literal["sdk", "floor"] | None = None

    def met(self, value: float) -> bool:
        if self.sign == "=":
            return value == self.limit
        return value <= self.limit if self.sign == "≤" else value >= self.limit


@dataclass
class Row:
    what: str
    unit: str
    values: dict[str, float]  # peer → value
    goal: Goal | None = None
    samples: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @property
    def ratio(self) -> float | None:
        """Beside the peer that the goal names; beside the SDK's server where no goal does."""
        if not self.unit:
            return None  # a count or a share: to be read as it is
        other = self.values.get((self.goal and self.goal.against) or ("sdk" if "sdk" in self.values else "floor"))
        mine = self.values.get("tokonoma")
        return mine / other if mine is not None and other else None

    @property
    def ok(self) -> bool | None:
        if self.goal is None or "tokonoma" not in self.values:
            return None
        judged = self.ratio if self.goal.against else self.values["tokonoma"]
        return None if judged is None else self.goal.met(judged)


def row(samples: Samples, key: str, what: str, unit: str, goal: Goal | None = None) -> Row:
    return Row(what, unit, middle(samples, key), goal, samples.get(key, {}))


def table(rows: Sequence[Row]) -> str:
    lines = [list(HEADS), *(_cells(row) for row in rows)]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(HEADS))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(_pad(cell, widths[i], i) for i, cell in enumerate(line)).rstrip() for line in lines)


def save(path: Path, rows: Sequence[Row], facts: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**facts, "rows": [_plain(row) for row in rows]}, ensure_ascii=False, indent=1)
    # One list of samples a line: a file of results is read by people too.
    text = re.sub(r"\[\s+([-+\d.e,\s]+?)\s+\]", lambda found: "[" + " ".join(found[1].split()) + "]", text)
    path.write_text(text + "\n")


def _cells(row: Row) -> list[str]:
    goal, ratio = row.goal, row.ratio
    shown = [_figure(row.values.get(name), row.unit) for name in ("tokonoma", "sdk", "floor")]
    verdict = {True: "ok", False: "MISS", None: ""}[row.ok]
    return [row.what, *shown, "" if ratio is None else f"{ratio:.2f}", _goal(goal, row.unit), verdict]


def _goal(goal: Goal | None, unit: str) -> str:
    if goal is None:
        return ""
    if goal.against:
        return f"{goal.sign} {goal.limit:g} × {'SDK' if goal.against == 'sdk' else goal.against}"
    return f"{goal.sign} {goal.limit:g} {unit}".rstrip()


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    digits = 0 if value >= 1000 or value == int(value) else 1 if value >= 100 else 2
    return f"{value:,.{digits}f} {unit}".replace(",", " ").rstrip()


def _plain(row: Row) -> dict[str, Any]:
    return {
        "what": row.what,
        "unit": row.unit,
        **{name: tidy(value) for name, value in row.values.items()},
        "ratio": None if row.ratio is None else tidy(row.ratio),
        "goal": _goal(row.goal, row.unit) or None,
        "ok": row.ok,
        "samples": {name: [tidy(value) for value in values] for name, values in row.samples.items()},
    }


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _pad(text: str, width: int, column: int) -> str:
    gap = " " * (width - _width(text))
    return gap + text if 1 <= column <= 4 else text + gap

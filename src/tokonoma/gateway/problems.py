"""What is wrong with a batch, line by line. Everything is found before anything runs, and all of it is told at once."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from tokonoma.core.errors import Invalid
from tokonoma.core.suggestions import find_nearest

MAX_PROBLEMS = 100  # faults told; the rest are counted
_COMPARED = 20  # faults for which near names are looked up: each costs a comparison with every known name


class BatchProblems:
    def __init__(self) -> None:
        self._problems: list[dict[str, Any]] = []
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, line: int, message: str, *, id: str = "", field: str = "", **more: Any) -> None:
        """One fault. `more` may hold `allowed`, `nearest`, `signature`, …; what is empty is left out."""
        self._count += 1
        if len(self._problems) < MAX_PROBLEMS:
            told = {"line": line, "id": id, "field": field, "message": message, **more}
            self._problems.append({key: value for key, value in told.items() if value not in (None, "", [])})

    def find_near(self, name: str, known: Iterable[str]) -> list[str]:
        """The known names that may have been meant."""
        return find_nearest(name, islice(known, 1000)) if self._count < _COMPARED else []

    def to_refusal(self, lines: int) -> Invalid:
        told = sorted(self._problems, key=lambda fault: fault["line"])
        first = f"Line {told[0]['line']}: {told[0]['message']}"
        count = f"{self._count} faults in {lines} lines" if self._count > 1 else "a fault"
        details: dict[str, Any] = {"errors": told}
        if self._count > len(told):
            details["errors_total"] = self._count
        return Invalid(f"Nothing was run: the batch has {count}. {first}", reason="plan", **details)

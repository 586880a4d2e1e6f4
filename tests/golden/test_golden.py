"""Everything that a client sees on the wire is what was recorded, byte by byte but for ids, times and scores.

To record anew, after a change that clients are meant to see: `TOKONOMA_RECORD=1 .venv/bin/pytest tests/golden`, and
read `git diff tests/golden/recorded` before you commit it.
"""

import difflib
import json
import os
from pathlib import Path

import pytest
from golden.play import play
from golden.scenarios import SCENARIOS, Scenario

RECORDED = Path(__file__).parent / "recorded"
RECORDING = os.environ.get("TOKONOMA_RECORD") == "1"
CASES = [pytest.param(each, kind, id=f"{each.name}-{kind}") for each in SCENARIOS for kind in each.databases]


@pytest.mark.parametrize(("scenario", "kind"), CASES)
def test_a_client_sees_what_was_recorded(scenario: Scenario, kind: str, tmp_path: Path, request) -> None:
    database = request.getfixturevalue("sqlite_at" if kind == "sqlite" else "postgres_at")
    (tmp_path / "data").mkdir(exist_ok=True)
    got = play(scenario, tmp_path, database)
    file = RECORDED / f"{scenario.name}.jsonl"
    if RECORDING and kind == scenario.databases[0]:
        file.write_text("".join(line + "\n" for line in got), encoding="utf-8", newline="\n")
    expected = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    difference = first_difference(expected, got)
    assert difference is None, difference


def first_difference(expected: list[str], got: list[str]) -> str | None:
    """The first step that was answered otherwise, as a diff; None if there is none."""
    for number, (before, after) in enumerate(zip(expected, got, strict=False), 1):
        if before != after:
            name = json.loads(before)["step"]
            diff = difflib.unified_diff(shown(before), shown(after), "recorded", "got", n=4, lineterm="")
            return f"step {number}, {name!r}, is not answered as recorded:\n" + "\n".join(diff)
    if len(expected) != len(got):
        return f"{len(expected)} steps were recorded, and {len(got)} were played"
    return None


def shown(line: str) -> list[str]:
    return json.dumps(json.loads(line), ensure_ascii=False, indent=1).split("\n")

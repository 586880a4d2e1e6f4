"""Every command of docs/benchmarks.md can be run, and every figure in it has a source."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from docs.markdown import ROOT, blocks, prose

PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
COMMANDS = [
    line.partition("#")[0].strip()
    for block in blocks(PAGE)
    if block.language == "sh"
    for line in block.text.splitlines()
]
AREAS = [
    "Start and memory", "Calls", "Search quality", "Speed at sizes", "Library", "Detection", "Services", "OAuth",
    "MCP servers", "Pages", "Durability",
]  # fmt: skip
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
MODULES = sorted(set(re.findall(r"python -m ([\w.]+)", PAGE)))


def find_file(module: str) -> Path:
    """The file that `python -m` runs."""
    path = ROOT / module.replace(".", "/")
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")


def test_every_module_can_be_imported():
    """All in one process: each of them loads the program."""
    assert {"bench", "bench.recall", "bench.detection"} <= set(MODULES)
    command = [sys.executable, "-c", f"import {', '.join(MODULES)}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_exists_with_its_options(command):
    words = [word for word in shlex.split(command) if "=" not in word]
    if words[0] == "make":
        assert words[1] in TARGETS
        return
    assert words[:2] == [".venv/bin/python", "-m"]
    code = find_file(words[2]).read_text(encoding="utf-8")
    assert [word for word in words[3:] if word.startswith("--") and f'"{word}"' not in code] == []
    if words[2] == "bench" and "--only" in words:
        parts = words[words.index("--only") + 1].split(",")
        assert [part for part in parts if f'    "{part}": ' not in code] == []


def test_modules_that_the_text_names_have_a_file():
    named = set(re.findall(r"`(?:python -m )?(bench(?:\.\w+)+)", prose(PAGE)))
    assert [name for name in named if not find_file(name).exists()] == []


@pytest.mark.parametrize("area", AREAS)
def test_every_area_has_a_command_and_a_table_whose_rows_have_a_source(area):
    section = PAGE.split(f"\n## {area}\n")[1].split("\n## ")[0]
    assert blocks(section)
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert rows
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 5, row
        assert re.match(r"(A|B|\[?ADR \d{4}|\[model card|\[changelog|model card)", cells[4]), row

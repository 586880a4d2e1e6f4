"""A copy of the package with one line changed, and the tests that must notice it."""

import os
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tokonoma"
LIST = Path(__file__).parent / "mutations.toml"
_NOTICED = 1  # pytest's exit status: tests ran, and at least one failed


@dataclass(frozen=True, slots=True)
class Mutation:
    """`old` stands once in `file` (below src/tokonoma); with `new` in its place one of `tests` must fail."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {self.old.strip()[:60]!r} → {self.new.strip()[:60]!r}"


@dataclass(frozen=True, slots=True)
class Outcome:
    noticed: bool
    report: str


def load_mutations() -> list[Mutation]:
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutation"]
    return [Mutation(each["file"], each["old"], each["new"], tuple(each["tests"])) for each in listed]


def run_mutant(mutation: Mutation) -> Outcome:
    """Run the tests of a mutation on a package that has it. The files of the project are not touched."""
    with tempfile.TemporaryDirectory() as folder:
        _copy_package(Path(folder), mutation)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0", *mutation.tests],
            cwd=ROOT,
            env={**_clean_environment(), "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    return Outcome(done.returncode == _NOTICED, f"exit status {done.returncode}\n{done.stdout[-3000:]}")


def _clean_environment() -> dict[str, str]:
    """Without what the outer pytest left for its own workers."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TOKONOMA_"))}


def _copy_package(folder: Path, mutation: Mutation) -> None:
    """Links to every file, compiled ones too; only the mutated one is a file of its own."""
    for here, folders, files in os.walk(SOURCE):
        there = folder / "tokonoma" / Path(here).relative_to(SOURCE)
        there.mkdir(parents=True)
        if "__pycache__" in folders:
            folders.remove("__pycache__")
            (there / "__pycache__").symlink_to(Path(here) / "__pycache__")
        for name in files:
            (there / name).symlink_to(Path(here) / name)
    mutated = folder / "tokonoma" / mutation.file
    text = mutated.read_text(encoding="utf-8")
    mutated.unlink()
    mutated.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")

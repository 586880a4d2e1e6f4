"""The rules of the house that import-linter cannot see."""

import ast
import statistics
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tokonoma"
FILES = sorted(SOURCE.rglob("*.py"))


def names(file: Path) -> str:
    return str(file.relative_to(SOURCE))


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("file", [file for file in FILES if file.relative_to(SOURCE).parts[0] == "core"], ids=names)
def test_the_core_imports_the_standard_library_and_itself(file):
    roots = {
        each.split(".")[0] for each in imported(ast.parse(file.read_text())) if not each.startswith("tokonoma.core")
    }
    assert roots <= sys.stdlib_module_names


def test_only_the_composition_root_reads_the_environment():
    reading = [
        names(file)
        for file in FILES
        if any(word in file.read_text() for word in ("os.environ", "os.getenv", "getenv("))
    ]
    assert reading == ["app/__init__.py"]


def test_files_and_functions_stay_small():
    lengths = [file.read_text().count("\n") for file in FILES if file.stat().st_size]
    assert statistics.median(lengths) < 200
    assert max(lengths) <= 300
    functions = [
        (node.end_lineno or 0) - node.lineno + 1
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert max(functions) <= 60


def test_the_package_stays_small():
    """Weights of models are nearly all of its size: the wheel has at most 20 MB."""
    files = [file for file in SOURCE.rglob("*") if file.is_file() and file.suffix not in (".py", ".pyc")]
    assert sum(file.stat().st_size for file in files) <= 20_000_000


@pytest.mark.parametrize("file", FILES, ids=names)
def test_every_file_says_what_it_is_for(file):
    text = file.read_text()
    assert not text.strip() or ast.get_docstring(ast.parse(text))

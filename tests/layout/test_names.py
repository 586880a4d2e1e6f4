"""Names and layout: words that every engineer knows, one meaning each, and a place for everything."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from tokonoma.catalogue import BUILT_IN_MODULES, load_module

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tokonoma"
FILES = sorted(SOURCE.rglob("*.py"))
TREES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}
ROOMS = sorted(folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists())
MODULES = sorted(folder.name for folder in (SOURCE / "modules").iterdir() if (folder / "__init__.py").exists())

# Past forms that do not end in -ed. `read`, `put`, `set`, `cut`, `run` are verbs as they stand.
IRREGULAR = frozenset(
    [
        "told",
        "made",
        "kept",
        "shown",
        "found",
        "sought",
        "said",
        "given",
        "taken",
        "held",
        "known",
        "seen",
        "led",
        "left",
        "lent",
        "sent",
        "built",
        "begun",
        "bound",
        "brought",
        "caught",
        "chosen",
        "drawn",
        "driven",
        "felt",
        "gone",
        "got",
        "heard",
        "hidden",
        "laid",
        "lost",
        "meant",
        "met",
        "paid",
        "sold",
        "spoken",
        "stood",
        "taught",
        "thought",
        "thrown",
        "torn",
        "won",
        "worn",
        "written",
        "woken",
        "born",
        "broken",
        "done",
        "grown",
        "hung",
        "lain",
        "spent",
        "spun",
        "stuck",
        "struck",
        "swept",
    ]
)
VERBS_IN_ED = frozenset({"embed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed", "exceed", "heed"})


def is_past_form(name: str) -> bool:
    """Whether a function is named by a bare past participle: `told`, `parsed`, but not `is_parsed` or `embed`."""
    return "_" not in name and (name in IRREGULAR or (name.endswith("ed") and name not in VERBS_IN_ED))


def describe(file: Path, node: ast.stmt) -> str:
    return f"{file.relative_to(SOURCE)}:{node.lineno}"


def test_class_names_are_unique():
    places: dict[str, list[str]] = defaultdict(list)
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(describe(file, node))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_function_is_named_by_a_past_participle():
    found = [
        f"{describe(file, node)} {node.name}"
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not any(ast.unparse(each).endswith("property") for each in node.decorator_list)
        and is_past_form(node.name.strip("_"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("name", "past"),
    [("told", True), ("parsed", True), ("embed", False), ("is_parsed", False), ("feed", False), ("parse", False)],
)
def test_past_forms_are_recognised(name, past):
    assert is_past_form(name) is past


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_is_described(room):
    assert f"`{room}/`" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES)
def test_every_module_is_described_and_has_its_tests(module):
    assert f"`{module}`" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert list((ROOT / "tests" / "modules" / module).glob("test_*.py"))


def test_nothing_lies_loose_at_the_top():
    assert sorted(file.name for file in SOURCE.glob("*.py")) == ["__init__.py", "__main__.py"]


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ("app", "modules")])
def test_tests_mirror_the_rooms(room):
    assert list((ROOT / "tests" / room).glob("test_*.py")), f"tests/{room} holds no test"


@pytest.mark.parametrize("module", MODULES)
def test_modules_have_the_same_skeleton(module):
    """A module has no records of its own, or is small, or keeps types, tables and hooks where every module does."""
    names = {file.name for file in (SOURCE / "modules" / module).glob("*.py")}
    if len(names) > 3 and load_module(BUILT_IN_MODULES[module]).tables:
        assert {"__init__.py", "model.py", "tables.py", "hooks.py"} <= names

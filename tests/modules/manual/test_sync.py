"""What a process keeps of the manuals: the sections as they are now, and nothing of how they were."""

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
from conftest import SOAK
from talk import Lines

from tokonoma.app import App
from tokonoma.modules.manual.corpus import ManualCorpus

EDITS = 1_000 if SOAK else 12
MAX_GROWTH = 20  # MB, in a thousand edits


@pytest.fixture
def manuals(tmp_path) -> Path:
    folder = tmp_path / "home" / "workspace" / "manuals"
    for name, files in (("large", 30 if SOAK else 5), ("small", 1)):
        (folder / name).mkdir(parents=True)
        for file in range(files):
            parts = (f"# Part {file} {part}\n\n" + f"設定 server{part} " * 100 + "\n" for part in range(20))
            (folder / name / f"part{file}.md").write_text("".join(parts), encoding="utf-8")
    return folder


@pytest.fixture
def talk(tmp_path) -> Generator[Lines]:
    app = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    yield Lines(app)
    app.close()


def resident_megabytes() -> float:
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


def edit_and_find(talk: Lines, manuals: Path, number: int) -> None:
    (manuals / "small" / "note.md").write_text(f"# Note\nedit{number} is here.\n", encoding="utf-8")
    found = talk.call("manual", "find", query=f"edit{number}", manual_id="small")
    assert found["summary"]["candidates"] >= 1
    talk.call("manual", "find", query="server7", manual_id="large")


@pytest.mark.soak
def test_an_edit_leaves_nothing_of_the_sections_before_it(talk, manuals):
    edit_and_find(talk, manuals, 0)
    gc.collect()
    gc.disable()  # only a cycle would need it
    try:
        for number in range(1, EDITS // 10):  # until the caches of the process are filled
            edit_and_find(talk, manuals, number)
        before = resident_megabytes()
        for number in range(EDITS // 10, EDITS):
            edit_and_find(talk, manuals, number)
        kept = [each for each in gc.get_objects() if isinstance(each, ManualCorpus)]
    finally:
        gc.enable()
    assert len({id(each.sections) for each in kept}) == 1
    assert len(kept) == 3  # all of them, and one part for each manual
    assert resident_megabytes() - before <= MAX_GROWTH

"""One bad file is a problem of its own manual, with a name; every other manual and call works."""

from collections.abc import Generator
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App
from tokonoma.files.text import MAX_SEARCHED, MAX_SECTIONS

pytestmark = pytest.mark.migrated

BAD = {
    "deep lists": "[" * 50_000,
    "deep maps": "{a: " * 20_000,
    "deep keys": "".join(" " * depth + "a:\n" for depth in range(400)),
    "a number": f"title: {'9' * 20_000}",
    "a date": "title: 2024-99-99",
    "an alias": "a: &a x\ntitle: *a",
    "no mapping": "- a",
    "a control character": "title: \x01",
    "too large": "a" * 600_000,
}


@pytest.fixture
def app(database_url, tmp_path) -> Generator[App]:
    opened = App({"home": str(tmp_path), "database_url": database_url, "durable": False, "embed_provider": "none"}, {})
    yield opened
    opened.close()


@pytest.fixture
def manuals(app) -> Path:
    return Path(app.server_info.locations()["manuals"])


@pytest.mark.parametrize("file", ["manual.yml", "glossary.yml"])
def test_yaml_that_cannot_be_read_is_a_problem_of_its_manual(app, manuals, file):
    for name, text in {**BAD, "good": "title: Good"}.items():
        (manuals / name).mkdir(parents=True)
        (manuals / name / "a.md").write_text("# Heading\ntopic\n")
        (manuals / name / file).write_text(text)
    talk = Lines(app)
    listed = {each["manual_id"]: each for each in talk.call("manual", "list")["items"]}
    assert listed.keys() == {*BAD, "good"}
    assert {name for name, each in listed.items() if each.get("problems")} == set(BAD)
    assert all(each["problems"][0].startswith(f"{file}: ") for name, each in listed.items() if name in BAD)
    assert talk.call("manual", "find", query="topic")["summary"]["candidates"] == len(listed)
    for name in listed:
        assert talk.call("manual", "toc", manual_id=name)["total"] == 1


def test_a_file_of_very_many_headings_is_searched_and_said_to_be_cut(app, manuals):
    (manuals / "m").mkdir(parents=True)
    (manuals / "m" / "a.md").write_text("# h\n" * (MAX_SECTIONS + 500) + "needle\n")
    talk = Lines(app)
    assert talk.call("manual", "toc", manual_id="m")["total"] == MAX_SECTIONS
    (file,) = talk.call("manual", "ls", manual_id="m")["items"]
    assert file["problem"].startswith(
        f"{MAX_SECTIONS} headings or more: what follows line {MAX_SECTIONS} is one section"
    )
    assert talk.call("manual", "find", query="needle")["summary"]["candidates"] == 1


def test_a_section_that_is_too_long_is_said_not_to_be_searched_to_its_end(app, manuals):
    (manuals / "m").mkdir(parents=True)
    (manuals / "m" / "a.md").write_text("early " + "x" * MAX_SEARCHED + " late")
    talk = Lines(app)
    # A file of this size is indexed by the job, and this caller waits for it.
    found = talk.call("manual", "find", query="early", budget={"time_ms": 120_000})["summary"]
    assert (found["candidates"], found["cutoff_reason"], found["unscanned_sections_count"]) == (1, "hard_limit", 1)
    assert found["warnings"][0].startswith("m/a.md: too long")


def test_a_term_that_is_too_long_is_refused(app):
    error = Lines(app).refused("manual", "find", query="x", must_include=["a" * 2001])
    assert (error["code"], error["details"]["field"]) == ("invalid_parameter", "must_include")

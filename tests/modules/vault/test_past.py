"""Earlier contents: read by version, listed after a deletion, hidden like the file itself; and whole audit reports."""

from pathlib import Path

import pytest
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth.api_keys import create_key
from tokonoma.core.reach import Reach

pytestmark = pytest.mark.migrated


@pytest.fixture
def app(database_url, tmp_path):
    house = App({"home": str(tmp_path / "home"), "database_url": database_url, "durable": False}, {})
    yield house
    house.close()


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "home" / "workspace" / "vault"
    folder.mkdir(parents=True)
    return folder


def test_an_earlier_content_can_be_read_and_does_not_count_as_read(app, root):
    talk = Lines(app)
    first = talk.call("vault", "create", path="a.md", content="one\ntwo\n")["version"]
    second = talk.call("vault", "write", path="a.md", content="three\n", mode="overwrite")["version"]
    old = talk.call("vault", "read", path="a.md", full=True, version=first[:12])
    assert (old["text"], old["version"], old["total_lines"]) == ("one\ntwo\n", first, 2)
    assert talk.call("vault", "read", path="a.md", full=True, version=second)["text"] == "three\n"
    assert talk.call("vault", "coverage", path="a.md")["read_ranges"] == []
    assert talk.refused("vault", "read", path="a.md", full=True, version="0" * 12)["code"] == "not_found"
    talk.call("vault", "move", from_path="a.md", to_path="b/c.md")
    assert talk.call("vault", "read", path="b/c.md", full=True, version=first)["text"] == "one\ntwo\n"


def test_deleted_files_are_listed_until_something_is_there_again(app, root):
    talk = Lines(app)
    for name in ("a.md", "b.md", "c.md"):
        talk.call("vault", "create", path=name, content=f"{name}\n")
        talk.call("vault", "delete", path=name)
    page = talk.call("vault", "history", limit=2)
    assert ([each["path"] for each in page["items"]], page["has_more"]) == (["c.md", "b.md"], True)
    rest = talk.call("vault", "history", limit=2, cursor=page["next_cursor"])
    assert ([each["path"] for each in rest["items"]], rest["has_more"]) == (["a.md"], False)
    (root / "b.md").write_text("by another program\n")
    talk.call("vault", "restore", path="c.md", version=page["items"][0]["previous_version"])
    assert [each["path"] for each in talk.call("vault", "history")["items"]] == ["a.md"]


def test_a_key_sees_only_deleted_files_of_its_folder(app, root):
    talk = Lines(app)
    versions = {}
    for name in ("team/a.md", "other/b.md"):
        versions[name] = talk.call("vault", "create", path=name, content=f"{name}\n")["version"]
        talk.call("vault", "delete", path=name)
    with app.database.writing() as statements:
        secret = create_key(statements, "k", Reach("/team", "/team"))
    key = Http(app, secret)
    assert [each["path"] for each in key.call("vault", "history")["items"]] == ["team/a.md"]
    read = key.call("vault", "read", path="team/a.md", full=True, version=versions["team/a.md"])
    assert read["text"] == "team/a.md\n"
    refused = key.refused("vault", "read", path="other/b.md", full=True, version=versions["other/b.md"])
    assert refused["code"] == "out_of_scope"


def test_asking_for_coverage_stores_nothing(app, root):
    talk = Lines(app)
    talk.call("vault", "create", path="a.md", content="one\ntwo\n")
    talk.call("vault", "coverage", path="a.md")
    with app.database.reading() as rows:
        assert rows.rows("select tool from vault_gain") == []
    talk.call("vault", "coverage", path="a.md", cited_ranges=[{"start_line": 1, "end_line": 1}])
    with app.database.reading() as rows:
        assert rows.rows("select tool from vault_gain") == [("coverage",)]


def test_a_whole_report_has_every_element_in_order_with_what_it_cites(app, root):
    talk = Lines(app)
    talk.call("vault", "create", path="tea.md", content="# Tea\nSteep for two minutes.\nUse soft water.\n")
    text = "# Tea (source_lines: 1)\n\n- Steep for two minutes. (source_lines: 2)\n- Add sugar. (source_lines: 3)\n- No"
    talk.call("vault", "create", path="artifacts/a.md", content=f"{text}.\n")
    talk.call("vault", "read", path="tea.md", full=True)
    short = talk.call("vault", "audit", artifact_path="artifacts/a.md", source_path="tea.md")
    whole = talk.call("vault", "audit", artifact_path="artifacts/a.md", source_path="tea.md", report="all")
    assert [each["status"] for each in whole["judged"]] == ["supported", "supported", "unsupported", "unsupported"]
    cited = [each.get("cited") for each in whole["judged"]]
    assert cited == [["tea.md:1-1"], ["tea.md:2-2"], ["tea.md:3-3"], None]
    assert {each["status"] for each in short["judged"]} == {"unsupported"}


def test_the_figures_of_a_search_can_be_asked_for_again(app, root):
    talk = Lines(app)
    talk.call("vault", "create", path="tea.md", content="# Tea\nSteep for two minutes.\n")
    found = talk.call("vault", "find", query="steep")
    again = talk.call("vault", "hits", trace_id=found["trace_id"], kind="summary")
    assert (again["items"], again["total"], again["summary"]) == ([], 1, found["summary"])
    (root.parent / "manuals" / "kitchen").mkdir(parents=True)
    (root.parent / "manuals" / "kitchen" / "tea.md").write_text("# Tea\nSteep for two minutes.\n")
    found = talk.call("manual", "find", query="steep")
    again = talk.call("manual", "hits", trace_id=found["trace_id"], kind="summary")
    assert (again["items"], again["total"], again["summary"]) == ([], 1, found["summary"])


def test_a_folder_is_listed_alone_with_its_folders(app, root):
    talk = Lines(app)
    for name in ("a.md", "notes/b.md", "notes/deep/c.md", "notes/deep/er/d.md", "notes.md"):
        talk.call("vault", "create", path=name, content=f"{name}\n")
    top = talk.call("vault", "ls", shallow=True)
    assert ([each["path"] for each in top["items"]], top["total"]) == (["a.md", "notes.md"], 2)
    assert top["folders"] == [{"path": "notes", "files": 3}]
    notes = talk.call("vault", "ls", shallow=True, relative_dir="notes")
    assert [each["path"] for each in notes["items"]] == ["notes/b.md"]
    assert notes["folders"] == [{"path": "notes/deep", "files": 2}]
    assert "folders" not in talk.call("vault", "ls")

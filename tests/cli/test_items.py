"""`tokonoma items`: list, show, add, edit, graph, and a folder of Markdown files that goes there and back."""

import json
import re
import stat
import sys
from pathlib import Path

import pytest


@pytest.fixture
def shelf(run, value):
    """Three items: docs-1 — issue-2, issue-2 blocks issue-3."""
    value("items", "add", "docs", "床の間の設計書", "--tag", "設計", "--content", "# 目的\n軸。", "--json")
    assert run("items", "add", "issue", 'A "quoted" <b>', "--related", "docs-1").stdout == "issue-2\n"
    run("items", "add", "issue", "later", "--priority", "low", "--status", "waiting")
    value("call", "items", "add_relation", '{"type": "issue", "id": 2, "target": "issue-3", "kind": "blocks"}')


def test_list_and_show(run, value, shelf):
    told = run("items", "list")
    assert told.exit_code == 0
    assert told.stdout.splitlines()[0].split() == ["ADDRESS", "STATUS", "PRIORITY", "TITLE", "TAGS"]
    assert re.search(r"docs-1 +Open +MEDIUM +床の間の設計書 +設計\n", told.stdout)
    assert [each["address"] for each in value("items", "list", "--type", "issue", "--json")["items"]] == [
        "issue-2", "issue-3",
    ]  # fmt: skip
    assert [each["address"] for each in value("items", "list", "軸 type:docs", "--json")["items"]] == ["docs-1"]
    assert [each["address"] for each in value("items", "list", "--ready", "--json")["items"]] == ["docs-1", "issue-2"]
    shown = run("items", "show", "issue-2").stdout
    assert shown.startswith('issue-2  A "quoted" <b>\n')
    assert "  related:     docs-1  床の間の設計書" in shown
    assert "  blocks:      issue-3  later" in shown


def test_mistakes_are_told_without_a_trace(run, shelf):
    for words, told in (
        (("show", "nowhere"), "'nowhere' is not the address of an item, such as docs-12."),
        (("show", "docs-99"), "Item docs-99 not found."),
        (("add", "Bad Type", ""), "type: A type consists of a-z, 0-9 and _; title: Title is required"),
        (("list", "status:shut"), "status must be one of Open"),
        (("list", "(a"), "(a\n^"),
    ):
        result = run("items", *words)
        assert result.exit_code == 1
        assert told in result.stderr
        assert "Traceback" not in result.output


def test_graphs_are_drawn_and_titles_stay_text(run, shelf):
    drawn = run("items", "graph", "docs-1").stdout
    assert drawn.splitlines()[0] == "graph LR"
    assert "  docs_1 --- issue_2" in drawn
    assert "  issue_2 -->|blocks| issue_3" in drawn
    assert 'issue_2["issue-2 (Open)<br/>A #quot;quoted#quot; #lt;b#gt;"]' in drawn
    dot = run("items", "graph", "docs-1", "--format", "dot").stdout
    assert '  "issue-2" -> "issue-3" [label="blocks"];' in dot
    assert r"A \"quoted\" <b>" in dot
    cut = run("items", "graph", "docs-1", "--most", "1")
    assert "more than 1" in cut.stderr


@pytest.fixture
def editor(tmp_path):
    """An editor that runs a line of Python over the text."""

    def made(line: str) -> str:
        script = tmp_path / "editor.py"
        script.write_text(
            f"#!{sys.executable}\nimport sys, pathlib, time, os\nfile = pathlib.Path(sys.argv[1])\n"
            f"text = file.read_text()\n{line}\nfile.write_text(text)\n"
            "later = time.time() + 9\nos.utime(file, (later, later))\n"
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    return made


def test_an_item_is_edited_and_only_what_changed_is_sent(run, value, shelf, editor):
    line = "text = text.replace('status: Open', 'status: Review').replace('軸。', '軸を選ぶ。')"
    result = run("items", "edit", "docs-1", EDITOR=editor(line), VISUAL=None)
    assert result.exit_code == 0, result.output
    assert "changed status, content" in result.stderr
    item = value("items", "show", "docs-1", "--json")
    assert (item["status"], item["content"], item["related"]) == ("Review", "# 目的\n軸を選ぶ。", ["issue-2"])
    untouched = run("items", "edit", "docs-1", EDITOR=editor("pass"), VISUAL=None)
    assert untouched.stderr == "Nothing was changed.\n"


def test_an_edit_that_cannot_be_saved_is_kept(run, value, shelf, editor):
    before = value("items", "show", "docs-1", "--json")
    result = run("items", "edit", "docs-1", EDITOR=editor("text = text.replace('Open', 'Shut')"), VISUAL=None)
    assert result.exit_code == 1
    assert "Unknown status" in result.stderr
    kept = re.search(r"kept in (\S+\.md)\.", result.stderr)
    assert "status: Shut" in Path(kept[1]).read_text()
    Path(kept[1]).unlink()
    assert value("items", "show", "docs-1", "--json") == before


def everything(value):
    """All that an export holds, by uid, without what names this house."""
    listed = value("items", "list", "--all", "--limit", "100", "--json")["items"]
    return {each["address"]: value("items", "show", each["address"], "--json") for each in listed}


def test_there_and_back_without_loss(run, value, shelf, tmp_path):
    value("call", "items", "change_item_type", '{"from_type": "issue", "from_id": 3, "to_type": "idea"}')
    memo = value("call", "memory", "save", '{"content": "a memo"}')["memo_id"]
    params = {
        "type": "docs", "id": 1, "description": "二行の\n説明 --- ", "start_date": "2026-01-02T03:04:05.678Z",
        "category": "yes", "version": "1.0", "related": ["issue-2", f"tokonoma://memory/{memo}"], "tags": ["null", "3"],
    }  # fmt: skip
    value("call", "items", "update_item", json.dumps(params))
    value("call", "items", "delete_item", '{"type": "idea", "id": 3}')
    folder = tmp_path / "kept"
    told = run("items", "export", str(folder), "--trash")
    assert told.exit_code == 0, told.output
    assert "3 files written" in told.stderr
    assert sorted(path.name for path in folder.rglob("*.md")) == [
        "1 床の間の設計書.md", "2 A quoted b.md", "3 later.md",
    ]  # fmt: skip
    other = {"TOKONOMA_HOME": str(tmp_path / "other")}
    assert value("items", "import", str(folder), "--json", **other)["saved"] == 3
    again = tmp_path / "again"
    run("items", "export", str(again), "--trash", **other)
    for path in folder.rglob("*.md"):
        assert (again / path.relative_to(folder)).read_bytes() == path.read_bytes()
    assert value("items", "import", str(folder), "--json", **other)["unchanged"] == 3
    restored = json.loads(run("call", "items", "restore_item", '{"type": "issue", "id": 3}', **other).stdout)
    assert (restored["address"], restored["related"]) == ("idea-3", ["issue-2"])
    fresh = json.loads(run("items", "add", "docs", "new", "--json", **other).stdout)
    assert fresh["id"] == 4


def page(folder: Path, number: int) -> Path:
    return next(folder.rglob(f"{number} *.md"))


def test_edited_files_come_in_and_conflicts_are_reported(run, value, shelf, tmp_path):
    folder = tmp_path / "kept"
    run("items", "export", str(folder))
    first = page(folder, 1)
    first.write_text(first.read_text().replace("軸。", "軸を選ぶ。").replace("- to: issue-2", "- to: issue-3"))
    text = first.read_text()
    first.write_text(re.sub(r"- to: issue-3\n  uid: \S+\n  kind: related\n", "- issue-3\n", text))
    rehearsed = value("items", "import", str(folder), "--dry-run", "--json")
    assert (rehearsed["changed"], rehearsed["unchanged"]) == (1, 2)
    assert value("items", "show", "docs-1", "--json")["content"] == "# 目的\n軸。"
    told = run("items", "import", str(folder))
    assert told.exit_code == 0, told.output
    assert "1 changed, 2 unchanged" in told.stdout
    item = value("items", "show", "docs-1", "--json")
    assert (item["content"], item["related"]) == ("# 目的\n軸を選ぶ。", ["issue-3"])
    # Now the file is behind: edited there and changed here is a conflict, and nothing is overwritten.
    value("call", "items", "update_item", '{"type": "docs", "id": 1, "title": "changed here"}')
    first.write_text(first.read_text().replace("軸を選ぶ。", "そこで変えた。"))
    told = run("items", "import", str(folder))
    assert told.exit_code == 1
    assert "1 conflict" in told.stdout
    assert "The file was edited at revision" in told.stderr
    assert value("items", "show", "docs-1", "--json")["title"] == "changed here"
    again = run("items", "export", str(folder))
    assert again.exit_code == 1
    assert "edited since it was exported" in again.stderr
    assert "そこで変えた。" in first.read_text()


def test_an_export_into_the_same_folder_follows_what_changed(run, value, shelf, tmp_path):
    folder = tmp_path / "kept"
    run("items", "export", str(folder))
    (folder / "README.md").write_text("mine")
    value("call", "items", "update_item", '{"type": "issue", "id": 3, "title": "renamed"}')
    value("call", "items", "delete_item", '{"type": "docs", "id": 1}')
    told = run("items", "export", str(folder))
    assert told.stderr.splitlines()[0].endswith("1 file written, 1 unchanged, 1 removed, 0 conflicts.")
    assert sorted(path.name for path in folder.rglob("*.md")) == ["2 A quoted b.md", "3 renamed.md", "README.md"]
    # What was deleted here does not come back by itself.
    assert value("items", "import", str(folder), "--json")["unchanged"] == 2


def test_a_file_by_hand_and_files_that_are_wrong(run, value, tmp_path):
    folder = tmp_path / "mine"
    (folder / "x").mkdir(parents=True)
    (folder / "x" / "hand.md").write_text("---\ntokonoma_item: 1\ntype: idea\ntitle: by hand\ntags: [a]\n---\nbody\n")
    (folder / "bad.md").write_text("---\ntokonoma_item: 1\ntype: Not Ok\ntitle: x\nstatus: Shut\n---\n")
    (folder / "odd.md").write_text("---\ntokonoma_item: 1\ntype: a\ntitle: x\ncolour: red\n---\n")
    (folder / "plain.md").write_text("# nothing of ours\n")
    told = run("items", "import", str(folder), "--json")
    assert told.exit_code == 1
    summary = json.loads(told.stdout)
    assert (summary["saved"], summary["skipped"]) == (1, 1)
    why = {each["place"]: each["why"] for each in summary["remarks"]}
    assert "type: A type consists of" in why["bad.md"]
    assert "status: Unknown status" in why["bad.md"]
    assert "unknown key 'colour'" in why["odd.md"]
    assert "not an item" in why["plain.md"]
    item = value("items", "show", "idea-1", "--json")
    assert (item["title"], item["content"], item["tags"]) == ("by hand", "body", ["a"])
    assert value("items", "list", "--json")["items"][0]["address"] == "idea-1"
    assert json.loads(run("items", "import", str(folder), "--json").stdout)["unchanged"] == 1


def test_a_number_that_is_taken_becomes_another_and_links_follow(run, value, shelf, tmp_path):
    folder = tmp_path / "kept"
    run("items", "export", str(folder))
    other = {"TOKONOMA_HOME": str(tmp_path / "other")}
    run("items", "add", "docs", "already here", **other)
    told = run("items", "import", str(folder), **other)
    assert told.exit_code == 0, told.output
    assert "docs-1 is taken by another item; it became docs-4." in told.stderr
    moved = json.loads(run("items", "list", "床の間", "--json", **other).stdout)["items"][0]
    shown = json.loads(run("items", "show", moved["address"], "--json", **other).stdout)
    assert [each["title"] for each in shown["relations"]] == ['A "quoted" <b>']
    assert json.loads(run("items", "show", "docs-1", "--json", **other).stdout)["title"] == "already here"

"""`tokonoma items import --format …`: issues of other trackers become items, once, with their relations."""

import pytest
from transfer import tracker_files as files


@pytest.fixture(params=["github", "linear", "beads", "beads-sqlite"])
def source(request, tmp_path):
    if request.param == "github":
        return files.write_json(tmp_path / "issues.json", [*files.GH, files.REST[1]])
    if request.param == "linear":
        return files.write_linear(tmp_path / "linear.csv", files.LINEAR)
    if request.param == "beads":
        return files.write_beads_lines(tmp_path / ".beads" / "issues.jsonl", files.BEADS)
    return files.write_beads_database(tmp_path / "beads.db", files.BEADS)


def read_all(value):
    listed = value("call", "items", "get_items", '{"includeClosedStatuses": true, "sort": "id"}')["items"]
    return [value("items", "show", item["address"], "--json") for item in listed]


def test_an_import_can_be_repeated(run, value, source):
    rehearsal = run("items", "import", str(source), "--dry-run", "--json")
    assert '"saved":3' in rehearsal.stdout
    assert value("call", "items", "get_items")["items"] == []
    first = run("items", "import", str(source))
    assert "3 saved, 0 changed, 0 unchanged, 0 kept, 0 conflict, 0 skipped" in first.stdout
    before = read_all(value)
    assert len(before) == 3
    assert sum(len(item["relations"]) for item in before) >= 2
    again = run("items", "import", str(source))
    assert "0 saved, 0 changed, 3 unchanged, 0 kept, 0 conflict, 0 skipped" in again.stdout
    assert read_all(value) == before


def test_changes_of_the_source_arrive_and_changes_made_here_stay(run, value, tmp_path):
    path = tmp_path / "issues.jsonl"
    run("items", "import", str(files.write_beads_lines(path, files.BEADS)))
    lamp = next(item for item in read_all(value) if item["title"] == "A lamp")
    assert {(each["kind"], each["title"][:4]) for each in lamp["relations"]} == {
        ("child_of", "Epic"),
        ("blocked_by", "xxxx"),
    }
    value("call", "items", "update_item", f'{{"type": "task", "id": {lamp["id"]}, "title": "My lamp"}}')
    issues = [dict(each) for each in files.BEADS]
    issues[0]["description"] = "Some of them."
    told = run("items", "import", str(files.write_beads_lines(path, issues)))
    assert "0 saved, 1 changed, 1 unchanged, 1 kept, 0 conflict" in told.stdout
    assert "It was changed here since it was imported." in told.stderr
    issues[1]["title"], issues[1]["updated_at"] = "Their lamp", "2126-01-01T00:00:00Z"
    told = run("items", "import", str(files.write_beads_lines(path, issues)))
    assert "0 changed, 2 unchanged, 0 kept, 1 conflict" in told.stdout
    assert told.exit_code == 1
    items = {item["title"]: item for item in read_all(value)}
    assert items["Epic of lamps"]["content"].startswith("Some of them.")
    assert items["My lamp"]["revision"] == 2


def test_what_is_left_out_is_reported(run, tmp_path):
    told = run("items", "import", str(files.write_beads_lines(tmp_path / "issues.jsonl", files.BEADS)))
    assert "There is no item at bd-gone; the link was skipped." in told.stderr
    assert "bd-t was deleted." in told.stderr
    assert told.exit_code == 1
    circle = [dict(each, dependencies=[]) for each in files.BEADS[:2]]
    for one, other in ((0, 1), (1, 0)):
        circle[one]["dependencies"] = [{"depends_on_id": circle[other]["id"], "type": "blocks"}]
        circle[one]["id"] = files.BEADS[one]["id"]
    told = run("items", "import", str(files.write_beads_lines(tmp_path / "circle.jsonl", circle)))
    assert "would close a circle" in told.stderr


def test_comments_and_assignees_travel_through_markdown(run, value, tmp_path):
    run("items", "import", str(files.write_json(tmp_path / "issues.json", files.GH)))
    run("items", "export", str(tmp_path / "notes"))
    again = run("items", "import", str(tmp_path / "notes"))
    assert "0 saved, 0 changed, 2 unchanged" in again.stdout
    page = next((tmp_path / "notes" / "issue").glob("*Printer*"))
    text = page.read_text()
    assert "assignee: mia" in text
    page.write_text(text.replace("assignee: mia", "assignee: ken").replace("床の間 too", "床の間"))
    assert "1 changed, 1 unchanged" in run("items", "import", str(tmp_path / "notes")).stdout
    item = next(each for each in read_all(value) if each["title"] == "Printer is offline")
    assert (item["assignee"], [each["text"] for each in item["comments"]]) == ("ken", ["床の間"])

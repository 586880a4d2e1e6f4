"""The readers of other trackers: what an issue becomes, and what is told about the rest."""

import pytest
from transfer import tracker_files as files

from tokonoma.core.errors import Invalid, Missing
from tokonoma.transfer.model import Remark
from tokonoma.transfer.trackers import find_reader


def read(path, kind="auto"):
    """The format, the items by title, and the remarks."""
    found, reader = find_reader(path, kind)
    pages = list(reader(path))
    items = {each[1]["title"]: each[1] for each in pages if not isinstance(each, Remark)}
    return found, items, [each for each in pages if isinstance(each, Remark)]


def links_of(items, title):
    titles = {item["uid"]: name for name, item in items.items()}
    return [(link["kind"], titles.get(link["uid"], link["to"])) for link in items[title]["links"]]


def pick(item, names):
    return {name: item[name] for name in names.split()}


def test_issues_of_github_keep_their_fields_and_relations(tmp_path):
    found, items, remarks = read(files.write_json(tmp_path / "issues.json", files.GH))
    assert (found, remarks) == ("github", [])
    issue = items["Printer is offline"]
    assert issue["comments"] == [{"at": 1769990400000, "by": "mia", "text": "床の間 too"}]
    assert pick(issue, "type status version assignee tags created_by") == {
        "type": "issue", "status": "Open", "version": "v2", "assignee": "mia", "tags": ["Bug"], "created_by": "taro",
    }  # fmt: skip
    assert (issue["created_at"], issue["end_at"]) == (1769938200000, 1798675200000)
    assert issue["description"] == "GitHub acme/lamp#7 https://github.com/acme/lamp/issues/7"
    assert links_of(items, "Printer is offline") == [("blocked_by", "Buy paper")]
    assert items["Buy paper"]["status"] == "Canceled"


def test_both_interfaces_of_github_mean_the_same_issue(tmp_path):
    _, one, _ = read(files.write_json(tmp_path / "gh.json", files.GH))
    _, other, _ = read(files.write_json(tmp_path / "rest.json", files.REST[:1], files.REST[1:]))
    assert one["Printer is offline"]["uid"] == other["Printer is offline"]["uid"]
    assert (other["Printer is offline"]["type"], other["Fix"]["type"]) == ("bug", "pull_request")
    assert links_of(other, "Printer is offline") == [("child_of", "Fix")]
    assert other["Fix"]["status"] == "Completed"
    found = files.write_json(tmp_path / "search.json", {"total_count": 1, "items": files.REST[:1]})
    assert list(read(found)[1]) == ["Printer is offline"]


def test_the_csv_of_linear_keeps_fields_and_relations(tmp_path):
    found, items, remarks = read(files.write_linear(tmp_path / "export.csv", files.LINEAR))
    assert found == "linear"
    issue = items["Rebuild pages"]
    assert pick(issue, "status priority category version assignee tags content") == {
        "status": "Review", "priority": "CRITICAL", "category": "Site", "version": "Launch",
        "assignee": "mia@acme.test",
        "tags": ["agent-ready", "seo"], "content": 'Line one\nline "two", ✓',
    }  # fmt: skip
    assert (issue["created_at"], issue["end_at"]) == (1778671301000, 1782428400000)
    assert links_of(items, "Rebuild pages") == [("blocked_by", "Child"), ("blocked_by", "Odd"), ("related", "Odd")]
    assert links_of(items, "Child") == [("child_of", "Rebuild pages")]
    assert items["Child"]["status"] == "Completed"
    assert [(each.lost, "'Shipped?'" in each.why) for each in remarks] == [(False, True)]


@pytest.mark.parametrize("shape", ["folder", "lines", "database"])
def test_beads_keeps_fields_and_relations(tmp_path, shape):
    if shape == "database":
        path = files.write_beads_database(tmp_path / "beads.db", files.BEADS)
    else:
        path = files.write_beads_lines(tmp_path / ".beads" / "issues.jsonl", files.BEADS)
    found, items, remarks = read(tmp_path if shape == "folder" else path)
    assert found == "beads"
    lamp, epic, long = items["A lamp"], items["Epic of lamps"], items["x" * 199 + "…"]
    assert pick(lamp, "type status priority assignee tags end_at description") == {
        "type": "task", "status": "In Progress", "priority": "MEDIUM", "assignee": "mia", "tags": ["light", "Light"],
        "end_at": 1769904000000, "description": "beads bd-b2; gh-9",
    }  # fmt: skip
    assert [(each["by"], each["text"]) for each in lamp["comments"]] == [("dave", "Use oil.")]
    assert links_of(items, "A lamp") == [
        ("child_of", "Epic of lamps"),
        ("blocked_by", long["title"]),
        ("related", "bd-gone"),
    ]
    assert epic["content"] == "All of them.\n\n## Design\n\nRound.\n\n## Acceptance criteria\n\nThey glow."
    assert (epic["priority"], epic["type"], long["status"]) == ("CRITICAL", "epic", "Completed")
    assert long["content"].startswith("x" * 300 + "\n\n## Notes")
    assert sorted(each.why for each in remarks) == [
        "Its title has 300 characters: the whole title is in the content.", "bd-t was deleted.",
    ]  # fmt: skip


def test_what_is_no_issue_is_told(tmp_path):
    twice = [*files.GH, files.GH[0], {"number": 3}, "text"]
    assert [each.lost for each in read(files.write_json(tmp_path / "a.json", twice))[2]] == [True, True, True]
    lines = files.write_beads_lines(
        tmp_path / "b.jsonl", [*files.BEADS[:1], files.BEADS[0], {"_type": "memory", "key": "k"}]
    )
    assert [each.lost for each in read(lines)[2]] == [True, False]
    rows = [*files.LINEAR[:1], files.LINEAR[0], {"Title": "no id"}]
    assert [each.lost for each in read(files.write_linear(tmp_path / "c.csv", rows))[2]] == [True, True]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.json", "[{", "is not JSON"),
        ("x.json", "[" * 100_000, "is not JSON"),
        ("x.csv", "a,b\n1,2\n", "no column ID, Title, Status"),
        ("x.csv", 'ID,Title,Status\n"a', "cannot be read as CSV"),
        ("x.db", "SQLite format 3\0 but no more", "cannot be read as a database of beads"),
        ("x.txt", "hello", "--format"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, name, content, told):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(Invalid, match=told):
        read(path)


def test_a_folder_without_issues_of_beads_says_so(tmp_path):
    with pytest.raises(Missing, match=r"issues\.jsonl"):
        read(tmp_path, "beads")

"""The ten batches of examples/batches, each run as an agent runs it, against the stand-ins of its services."""

import json
import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from connectors.connected import ConnectedServices, connect_all
from docs.markdown import blocks, links, prose

FOLDER = Path(__file__).parents[2] / "examples" / "batches"
FILES = sorted(file.stem for file in FOLDER.glob("*.jsonl"))
VALUES = {
    "OWNER": "mio",
    "REPO": "garden",
    "PROJECT": "GARDEN",
    "SINCE": "2026-03-01",
    "BEFORE": "2026-12-01",
    "TODAY": "2026-04-01",
    "DAY": "2026-04-01",
    "ZONE": "+09:00",
    "SPACE_ID": "65001",
    "VERSION": "1.2",
    "PROJECT_REF": "abcdefghijklmnopqrst",
    "TABLE": "plants",
    "LIST": "Tasks",
    "NOTE": "notes/meeting.md",
    "ISSUE_1": "GARDEN-1",
    "ISSUE_2": "GARDEN-2",
}
Result = dict[str, Any]


@pytest.fixture(scope="module")
def services(tmp_path_factory) -> Generator[ConnectedServices]:
    with connect_all(tmp_path_factory.mktemp("batches") / "home") as connected:
        prepare(connected)
        yield connected


def prepare(services: ConnectedServices) -> None:
    """What the batches look for, and beside it something that they must leave out."""
    github, calendar = services.state("github"), services.state("google_calendar")
    repo = github.repositories[0]
    for title in ("Moles", "Hedge"):
        github.add_issue(repo, {"title": title, "body": f"About {title.lower()}."})
    github.change_issue(github.add_issue(repo, {"title": "Weeds"}), {"state": "closed"})
    repo.commit("feature", "Yellow roses", {"roses.md": b"Yellow ones.\n"}, github.now())
    github.add_pull(repo, {"title": "Not yet merged", "head": "feature", "base": "main"})
    repo.pulls[3] |= {"merged": True, "state": "closed", "merged_at": github.now()}
    github.change_issue(repo.issues[3], {"state": "closed"})
    services.talk.call("jira", "transition_issue", issueIdOrKey="GARDEN-2", transition={"id": "31"})
    times = {"start": {"dateTime": "2026-04-01T15:00:00+09:00"}, "end": {"dateTime": "2026-04-01T16:00:00+09:00"}}
    calendar.add_event("mio@example.org", {"summary": "Tea", **times})
    rows = "insert into plants (name) values ('moss'), ('iris')"
    services.talk.call("supabase", "execute_sql", ref=VALUES["PROJECT_REF"], query=rows)
    services.talk.call(
        "vault", "create", path="notes/meeting.md", content="# Meeting\n\nCopper tape against **snails**.\n"
    )


def fill(name: str, values: dict[str, str]) -> str:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return re.sub(r"@([A-Z0-9_]+)@", lambda found: values[found[1]], text)


def run(services: ConnectedServices, name: str, **more: Any) -> Result:
    values = {**VALUES, "PAGE_ID": services.state("notion").ids["page"]}
    return services.talk.value("batch", jsonl=fill(name, values), **more)


def read_page(services: ConnectedServices, page_id: str) -> str:
    return services.talk.call("notion", "get_page_markdown", page_id=page_id)["markdown"]


def check_report(services: ConnectedServices, results: Result) -> None:
    text = read_page(services, results["report"]["id"])
    assert '"title":"Roses"' in text
    assert '"summary":"Fence"' in text
    assert "Not yet merged" not in text
    assert "Snails" not in text
    assert services.talk.call("notion", "get_page", page_id=results["report"]["id"])["name"] == "Week since 2026-03-01"


def check_note(services: ConnectedServices, results: Result) -> None:
    text = services.talk.call("vault", "read", path="artifacts/daily/2026-04-01.md", full=True)["text"]
    assert re.findall(r'"summary":"(\w+)"', text) == ["Sow", "Water", "Tea"]
    assert results["note"]["path"] == "artifacts/daily/2026-04-01.md"


def list_open_issues(services: ConnectedServices) -> list[Any]:
    """As GitHub keeps them, what changed last first."""
    repo = services.state("github").repositories[0]
    rows = [row for row in repo.issues.values() if row["state"] == "open" and row["number"] not in repo.pulls]
    return sorted(rows, key=lambda row: row["updated_at"], reverse=True)


def read_item(services: ConnectedServices, result: Result) -> Result:
    kind, _, number = result["address"].rpartition("-")
    return services.talk.call("items", "get_item_detail", type=kind, id=int(number))


def check_issues(services: ConnectedServices, results: Result) -> None:
    issues = list_open_issues(services)
    assert len(issues) > 3
    items = [read_item(services, results[name]) for name in ("first", "second", "third")]
    assert [each["title"] for each in items] == [each["title"] for each in issues[:3]]
    assert [each["content"] for each in items] == [each["body"] or "" for each in issues[:3]]
    assert [each["description"] for each in items] == [each["html_url"] for each in issues[:3]]


def check_memo(services: ConnectedServices, results: Result) -> None:
    memo = services.talk.call("memory", "get", memo_id=results["memo"]["memo_id"])
    assert "Sow in April." in memo["content"]
    assert (memo["title"], memo["namespace"]) == ("Garden", "/notion")
    assert memo["metadata"]["source"].startswith("https://www.notion.so/")


def list_tasks(services: ConnectedServices, list_id: str) -> list[Any]:
    return list(services.state("microsoft_todo").tasks[list_id].values())


def check_todo(services: ConnectedServices, results: Result) -> None:
    tasks = list_tasks(services, results["list"]["id"])
    assert sorted(each["title"] for each in tasks) == ["Prepare: Sow", "Prepare: Tea", "Prepare: Water"]
    assert {each["dueDateTime"]["dateTime"] for each in tasks} == {"2026-04-01T00:00:00"}
    assert all(each["linkedResources"][0]["webUrl"].startswith("https://www.google.com/calendar/") for each in tasks)


def check_notes_of_release(services: ConnectedServices, results: Result) -> None:
    page = services.talk.call("confluence", "get_page", id=results["page"]["id"])
    text = page["body"]["storage"]["value"]
    assert page["title"] == "Release 1.2"
    assert page["status"] == "draft"
    assert '"title":"Roses"' in text
    assert "Not yet merged" not in text
    issue = services.state("github").repositories[0].issues[results["issue"]["number"]]
    assert page["id"] in issue["body"]


def check_rows(services: ConnectedServices, results: Result) -> None:
    assert [results[name]["title"] for name in ("first", "second", "third")] == ["iris", "moss", "fern"]
    assert read_item(services, results["first"])["description"] == "plants 4"


def check_stale(services: ConnectedServices, results: Result) -> None:
    oldest = list_open_issues(services)[:-4:-1]
    tasks = list_tasks(services, services.state("microsoft_todo").ids["list"])
    made = [next(each for each in tasks if each["id"] == results[name]["id"]) for name in ("first", "second", "third")]
    assert [each["title"] for each in made] == [f"#{each['number']} {each['title']}" for each in oldest]
    assert [each["linkedResources"][0]["webUrl"] for each in made] == [each["html_url"] for each in oldest]


def check_comments(services: ConnectedServices, results: Result) -> None:
    for key, name in (("GARDEN-1", "one"), ("GARDEN-2", "two")):
        found = services.talk.call("jira", "list_comments", issueIdOrKey=key)["items"]
        comment = next(each for each in found if each["id"] == results[name]["id"])
        assert "Copper tape against **snails**." in comment["body"]
    text = services.talk.call("vault", "read", path="notes/meeting.md", full=True)["text"]
    assert f"GARDEN-2 (comment {results['two']['id']})" in text


def check_backup(services: ConnectedServices, results: Result) -> None:
    for page, name in zip(results["found"]["items"], ("first", "second", "third"), strict=True):
        path = results[name]["path"]
        assert path == f"backup/notion/2026-04-01/{page['id']}.md"
        text = services.talk.call("vault", "read", path=path, full=True)["text"]
        assert text.strip() == read_page(services, page["id"]).strip()


CHECKS: dict[str, Callable[[ConnectedServices, Result], None]] = {
    "weekly-report": check_report,
    "daily-note": check_note,
    "issues-to-items": check_issues,
    "notion-page-to-memo": check_memo,
    "calendar-to-todo": check_todo,
    "release-notes": check_notes_of_release,
    "supabase-rows-to-items": check_rows,
    "stale-issues-to-todo": check_stale,
    "meeting-notes-to-jira": check_comments,
    "notion-backup": check_backup,
}


def test_there_are_ten_batches():
    assert sorted(CHECKS) == FILES
    assert len(FILES) == 10


@pytest.mark.parametrize("name", FILES)
def test_a_batch_is_right_before_it_runs(services, name):
    """Tools, parameters and references; nothing is asked of a service."""
    before = {service: len(standin.requests) for service, standin in services.standins.items()}
    planned = run(services, name, dry_run=True)
    assert {step["status"] for step in planned["steps"]} == {"planned"}
    assert {service: len(standin.requests) for service, standin in services.standins.items()} == before


@pytest.mark.parametrize("name", FILES)
def test_a_batch_does_what_its_description_says(services, name):
    done = run(services, name)
    assert done["ok"], [step for step in done["steps"] if step["status"] != "ok"]
    CHECKS[name](services, done["results"])


def test_a_memo_is_made_of_a_page_whose_text_is_in_no_answer(services):
    assert "Sow in April" not in json.dumps(run(services, "notion-page-to-memo"))


def test_rows_that_are_not_there_fail_alone(services):
    values = {**VALUES, "TABLE": "plants where id < 3"}
    done = services.talk.value("batch", jsonl=fill("supabase-rows-to-items", values))
    assert [step["status"] for step in done["steps"]] == ["ok", "ok", "ok", "error"]
    assert "items[2]" in done["steps"][3]["error"]["message"]


@pytest.mark.parametrize("file", ["README.md", "README.ja.md"])
def test_the_readme_says_what_each_batch_does(file):
    text = (FOLDER / file).read_text(encoding="utf-8")
    assert set(FILES) <= {Path(link).stem for link in links(text)}
    assert prose(text).count("\n|") == len(FILES) + 2


def test_the_readme_shows_the_same_code_in_both_languages():
    english, japanese = (blocks((FOLDER / file).read_text(encoding="utf-8")) for file in ("README.md", "README.ja.md"))
    assert english == japanese

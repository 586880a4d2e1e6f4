"""specs/001 over the wire: a ref that was given before an edit leads to the text it was given for, or says where that
is now. It never leads to its neighbour."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from policy.houses import enforce
from talk import Lines, Talk

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
ROUNDS = 500 if SOAK else 12  # on each database
Pages = dict[str, list[list[str]]]
"""path → sections → lines"""


@pytest.fixture
def talk(app) -> Talk:  # the transport makes no difference here
    return Lines(app)


@pytest.fixture
def guide(app) -> Path:
    folder = Path(app.server_info.locations()["manuals"]) / "guide"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("# One\ntopic one\n## Same\ntopic two\n# Three\ntopic three\n## Same\ntopic four\n")
    return folder


def find_refs(talk) -> tuple[str, dict[str, dict[str, Any]]]:
    """The trace, and the refs of all hits by the last word of their text."""
    trace_id = talk.call("manual", "find", query="topic", manual_id="guide")["trace_id"]
    items = talk.call("manual", "hits", trace_id=trace_id, limit=200)["items"]
    return trace_id, {each["lines"][0][1].split()[-1]: each["ref"] for each in items}


def stale(talk, ref) -> tuple[str, dict[str, Any] | None]:
    error = talk.refused("manual", "read", ref=ref, scope="section")
    assert error["code"] == "conflict"
    return error["details"]["reason"], error["details"]["current"]


def test_a_ref_says_where_its_section_is_now(talk, guide):
    _, refs = find_refs(talk)
    text = (guide / "a.md").read_text()
    assert talk.call("manual", "read", ref=refs["three"], scope="section", expand=False)["text"].startswith("# Three")
    # One line above: every section has moved.
    (guide / "a.md").write_text("intro\n" + text)
    reason, current = stale(talk, refs["three"])
    assert (reason, current) == ("moved", {**refs["three"], "target": "manual", "start_line": 6})
    assert "topic three" in talk.call("manual", "read", ref=current, scope="section")["text"]
    # Other words under the same headings.
    (guide / "a.md").write_text(text.replace("topic four", "topic 4"))
    reason, current = stale(talk, refs["four"])
    assert (reason, current["start_line"]) == ("changed", 7)
    # Another heading above the same words.
    (guide / "a.md").write_text(text.replace("# Three", "# Tres"))
    reason, current = stale(talk, refs["three"])
    assert (reason, current["start_line"]) == ("changed", 5)
    # Another file.
    (guide / "a.md").write_text("# One\ntopic one\n")
    (guide / "b.md").write_text("# Three\ntopic three\n")
    assert stale(talk, refs["three"])[1]["path"] == "b.md"
    (guide / "b.md").unlink()
    assert stale(talk, refs["three"]) == ("gone", None)
    assert (
        "topic one"
        in talk.call("manual", "read", ref={**refs["three"], "start_line": 1, "hash": refs["one"]["hash"]})["text"]
    )


def test_a_ref_without_a_hash_is_a_line(talk, guide):
    _, refs = find_refs(talk)
    ref = {name: value for name, value in refs["three"].items() if name != "hash"}
    (guide / "a.md").write_text("# New\nx\n" + (guide / "a.md").read_text())
    assert talk.call("manual", "read", ref=ref, scope="snippet")["text"] == "## Same\ntopic two\n"


def test_the_rest_of_a_text_is_refused_when_it_has_moved(talk, guide):
    _, refs = find_refs(talk)
    part = talk.call("manual", "read", ref=refs["three"], scope="section", limits={"max_chars": 10})
    following = part["next_ref"]
    assert following["hash"] == refs["three"]["hash"] + "+1"
    assert talk.call("manual", "read", ref=following)["text"].startswith("topic three")
    (guide / "a.md").write_text("intro\n" + (guide / "a.md").read_text())
    reason, current = stale(talk, following)
    assert (reason, current["start_line"]) == ("moved", 6)


def test_hits_after_an_edit_are_where_they_are_now(talk, guide):
    trace_id, _ = find_refs(talk)
    (guide / "a.md").write_text("# Zero\nother\n# Three\ntopic three\nand more\n# One\ntopic one\n")
    listed = talk.call("manual", "hits", trace_id=trace_id)
    shown = {each["title"]: (each["ref"]["start_line"], each.get("changed")) for each in listed["items"]}
    assert shown == {"One": (6, None), "Three": (3, True)}
    assert listed["gone"] == 2
    for each in listed["items"]:
        assert "topic" in talk.call("manual", "read", ref=each["ref"])["text"]


def test_a_hidden_section_is_gone_for_who_may_not_see_it(talk, app, guide):
    _, refs = find_refs(talk)
    (guide / "a.md").unlink()
    (guide / "hidden").mkdir()
    (guide / "hidden" / "b.md").write_text("# Three\ntopic three\n")
    hiding = "version: 7\nboundary_classes: { secret: { allow: ['nobody'] } }\n"
    enforce(app, hiding + "labels:\n  - { module: manual, path: 'guide/hidden/**', class: secret }\n")
    assert stale(talk, refs["three"]) == ("gone", None)


def test_a_copy_of_a_stale_ref_is_refused(talk, guide, app):
    _, refs = find_refs(talk)
    told = talk.call("bridge", "copy_section", from_ref=refs["two"], to_path="a.md")
    assert told["copied_lines"] == 2
    (guide / "a.md").write_text("# New\n" + (guide / "a.md").read_text())
    error = talk.refused("bridge", "copy_section", from_ref=refs["two"], to_path="b.md")
    assert (error["code"], error["details"]["current"]["start_line"]) == ("conflict", 4)
    assert not (Path(app.server_info.locations()["vault"]) / "b.md").exists()


def write_rows(guide: Path, rows: list[dict[str, str]]) -> None:
    """A minified file in which every row is a part."""
    (guide / "rows.json").write_text(json.dumps({"rows": rows}, separators=(",", ":")))


def test_a_value_of_a_json_file_is_refused_when_it_is_another(talk, app, guide):
    (guide / "a.md").unlink()
    rows = [{"name": f"row {number}", "text": f"topic {number}\n" + "x " * 300} for number in range(5)]
    write_rows(guide, rows)
    trace_id = talk.call("manual", "find", query="topic", manual_id="guide")["trace_id"]
    items = talk.call("manual", "hits", trace_id=trace_id)["items"]
    refs = {each["ref"].get("json_path"): each["ref"] for each in items}
    ref = refs["/rows/3"]
    assert set(ref) == {"manual_id", "path", "start_line", "json_path", "hash"}
    part = talk.call("manual", "read", ref=ref)
    assert json.loads(part["text"].strip().removesuffix(",")) == rows[3]
    assert part["ref"] == {"target": "manual", **ref}
    inside = talk.call("manual", "read", ref={**ref, "json_path": "/rows/3/text", "hash": ref["hash"]})["ref"]
    assert inside["hash"].startswith(ref["hash"] + "+")
    talk.call("bridge", "copy_section", from_ref=ref, to_path="old.json")
    talk.call("bridge", "copy_section", from_ref=inside, to_path="text.json")
    # The pointer leads to another row, and the lines have moved.
    write_rows(guide, [{"name": "new", "text": "y " * 300}, *rows])
    for stale_ref in (ref, inside):
        reason, current = stale(talk, stale_ref)
        assert (reason, current["json_path"], current["hash"]) == ("moved", "/rows/4", ref["hash"])
        error = talk.refused("bridge", "copy_section", from_ref=stale_ref, to_path="new.json")
        assert (error["code"], error["details"]["current"]) == ("conflict", current)
    assert json.loads(talk.call("manual", "read", ref=current)["text"].strip().removesuffix(",")) == rows[3]
    moved = talk.call("manual", "hits", trace_id=trace_id)["items"]
    assert {each["ref"]["json_path"] for each in moved} == {f"/rows/{number}" for number in range(1, 6)}
    # The same lines under another key: only the pointer leads elsewhere.
    (guide / "rows.json").write_text((guide / "rows.json").read_text().replace('"rows"', '"wors"'))
    assert stale(talk, current)[1]["json_path"] == "/wors/4"
    # Another text.
    write_rows(guide, rows)
    assert talk.call("manual", "read", ref=ref)["text"] == part["text"]
    write_rows(guide, [*rows[:3], {**rows[3], "text": "topic z " * 90}, rows[4]])
    assert stale(talk, ref)[0] == "changed"
    assert not (Path(app.server_info.locations()["vault"]) / "new.json").exists()


def test_hits_that_moved_are_copied_from_where_they_are_now(talk, app, guide):
    trace_id, _ = find_refs(talk)
    (guide / "a.md").write_text("# New\nother\n" + (guide / "a.md").read_text().replace("topic two", "topic 2"))
    told = talk.call("bridge", "copy_trace", trace_id=trace_id, to_path="all.md")
    text = (Path(app.server_info.locations()["vault"]) / "all.md").read_text()
    assert (told["hits"], told["left_out"]) == (3, {"changed": 1})
    assert ("topic one" in text, "topic 2" in text, "other" in text) == (True, False, False)
    assert "lines 7-8, " in text


def test_a_stale_line_of_the_vault_is_refused(talk):
    talk.call("vault", "create", path="n.md", content="# A\ntopic\n")
    found = talk.call("vault", "find", query="topic")
    ref = talk.call("vault", "hits", trace_id=found["trace_id"])["items"][0]["ref"]
    asked = {"path": ref["path"], "range": {"start_line": 1, "end_line": 1}, "expected_version": ref["version"]}
    assert talk.call("vault", "read", **asked)["version"].startswith(ref["version"])
    talk.call("vault", "write", path="n.md", content="# B\n# A\ntopic\n", mode="overwrite")
    error = talk.refused("vault", "read", **asked)
    assert error["code"] == "conflict"
    assert error["details"]["current_version"] == talk.call("vault", "read", path="n.md", full=True)["version"]
    talk.call("vault", "read", **asked | {"expected_version": error["details"]["current_version"]})


def insert(random: random.Random, pages: Pages) -> None:
    page = random.choice([*pages.values()])
    section = random.choice(page)
    section.insert(random.randint(1, len(section)), f"inserted {random.random()}\n")


def insert_section(random: random.Random, pages: Pages) -> None:
    page = random.choice([*pages.values()])
    page.insert(random.randint(0, len(page)), [f"## {random.choice(['Same', 'New'])}\n", f"topic {random.random()}\n"])


def delete(random: random.Random, pages: Pages) -> None:
    page = random.choice([page for page in pages.values() if len(page) > 1])
    page.pop(random.randrange(len(page)))


def rename(random: random.Random, pages: Pages) -> None:
    section = random.choice(random.choice([*pages.values()]))
    section[0] = f"{section[0].split()[0]} Renamed {random.randint(0, 9)}\n"


def move(random: random.Random, pages: Pages) -> None:
    page = random.choice([page for page in pages.values() if len(page) > 1])
    section, goal = page.pop(random.randrange(len(page))), random.choice([*pages.values()])
    goal.insert(random.randint(0, len(goal)), section)


def swap(random: random.Random, pages: Pages) -> None:
    page = random.choice([page for page in pages.values() if len(page) > 1])
    first, second = random.sample(range(len(page)), 2)
    page[first], page[second] = page[second], page[first]


EDITS: list[Callable[[random.Random, Pages], None]] = [insert, insert_section, delete, rename, move, swap]


def write_pages(folder: Path, pages: Pages) -> None:
    for path, sections in pages.items():
        (folder / path).write_text("".join(line for section in sections for line in section))


def make_pages(random: random.Random, count: int) -> Pages:
    """Sections with headings that repeat, each with a number of its own."""
    pages: Pages = {"a.md": [], "b.md": [], "c.md": []}
    for number in range(count):
        heading = f"{'#' * random.randint(1, 3)} {random.choice(['Same', 'Fees', 'Notes'])}\n"
        body = [f"topic number-{number}.\n", *(f"text {random.random()}\n" for _ in range(random.randint(0, 4)))]
        random.choice([*pages.values()]).append([heading, *body])
    for path, sections in pages.items():
        sections.append(["# Last\n", f"topic end-{path}.\n"])
    return pages


@pytest.mark.soak
def test_edits_between_find_and_read_never_show_another_text(talk, app):
    chance = random.Random(16)
    folder = Path(app.server_info.locations()["manuals"]) / "guide"
    folder.mkdir(parents=True)
    pages: Pages = {}
    for number in range(ROUNDS):
        if number % 10 == 0:
            pages = make_pages(chance, 12)
        write_pages(folder, pages)
        trace_id = talk.call("manual", "find", query="topic", manual_id="guide")["trace_id"]
        items = talk.call("manual", "hits", trace_id=trace_id, limit=200, evidence=False)["items"]
        known = {id(section): "".join(section) for page in pages.values() for section in page}
        found = {"".join(section): section for page in pages.values() for section in page}
        refs = chance.sample([each["ref"] for each in items], 4)
        before = [talk.call("manual", "read", ref=ref, scope="section", expand=False)["text"] for ref in refs]
        chance.choice(EDITS)(chance, pages)
        write_pages(folder, pages)
        now = {id(section): "".join(section) for page in pages.values() for section in page}
        told = talk.call("manual", "read", refs=refs, scope="section", expand=False)["items"]
        for text, answer in zip(before, told, strict=True):
            assert known[id(found[text])] == text
            if "error" not in answer:
                assert answer["text"] == text
                continue
            assert answer["error"]["code"] == "conflict"
            current = answer["error"]["current"]
            if current is None:
                assert id(found[text]) not in now, "it is still there"
            else:
                read = talk.call("manual", "read", ref=current, scope="section", expand=False)
                assert read["text"] == now[id(found[text])]
        listed = talk.call("manual", "hits", trace_id=trace_id, limit=200)["items"]
        left = sorted(now[key] for key in known if key in now)
        again = [talk.call("manual", "read", ref=each["ref"], scope="section", expand=False)["text"] for each in listed]
        assert sorted(again) == left

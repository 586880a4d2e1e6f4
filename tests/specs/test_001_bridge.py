"""specs/001 over the wire: copies into the vault from anywhere in the house, with the text never shown."""

import json
from pathlib import Path

import pytest
from policy.houses import enforce

TEXT = "# One\nCANARY first\n\n# Two\nCANARY second\n"


@pytest.fixture
def places(app) -> dict[str, Path]:
    found = {name: Path(app.server_info.locations()[name]) for name in ("vault", "manuals")}
    (found["manuals"] / "guide").mkdir(parents=True)
    (found["manuals"] / "guide" / "a.md").write_text(TEXT)
    found["vault"].mkdir(parents=True, exist_ok=True)
    return found


def code(talk, tool, **params) -> str:
    return talk.refused("bridge", tool, **params)["code"]


def test_a_section_of_a_manual_is_copied_unread(talk, places):
    ref = {"target": "manual", "manual_id": "guide", "path": "a.md", "start_line": 4}
    told = talk.call("bridge", "copy_section", from_ref=ref, to_path="artifacts/two.md")
    assert (places["vault"] / "artifacts" / "two.md").read_text() == "# Two\nCANARY second\n"
    assert "CANARY" not in json.dumps(told)
    assert (told["copied_lines"], told["copied_chars"], told["source"]) == (2, 20, "tokonoma://manual/guide/a.md#L4")
    talk.call("bridge", "copy_section", from_ref=ref, to_path="artifacts/two.md", mode="append")
    assert (places["vault"] / "artifacts" / "two.md").read_text().count("CANARY") == 2
    assert talk.call("vault", "search", query="canary second")["items"][0]["path"] == "artifacts/two.md"


def test_a_whole_file_of_a_manual_is_copied_and_then_changed_in_the_vault(talk, places):
    told = talk.call("bridge", "copy_file", manual_id="guide", from_path="a.md", to_path="drafts/a.md")
    assert (places["vault"] / "drafts" / "a.md").read_text() == TEXT
    assert "CANARY" not in json.dumps(told)
    talk.call("vault", "replace", path="drafts/a.md", find="first", replace="1st")
    assert (places["manuals"] / "guide" / "a.md").read_text() == TEXT


def test_memos_items_and_files_of_the_vault_can_be_copied(talk, places):
    memo = talk.call("memory", "save", content="CANARY memo")
    item = talk.call("items", "create_item", type="docs", title="t", content="CANARY item")
    talk.call("vault", "create", path="v.md", content=TEXT)
    sources = {
        f"tokonoma://memory/{memo['memo_id']}": "CANARY memo",
        f"tokonoma://items/{item['id']}": "CANARY item",
        "tokonoma://vault/v.md#L4-L5": "# Two\nCANARY second\n",
    }
    for number, (source, text) in enumerate(sources.items()):
        told = talk.call("bridge", "copy_section", from_ref={"address": source}, to_path=f"c{number}.md")
        assert text in (places["vault"] / f"c{number}.md").read_text()
        assert "CANARY" not in json.dumps(told)


def test_bad_copies_change_nothing(talk, places):
    talk.call("vault", "create", path="there.md", content="x")
    ref = {"manual_id": "guide", "path": "a.md", "start_line": 4}
    assert code(talk, "copy_section", from_ref=ref, to_path="there.md") == "conflict"
    assert code(talk, "copy_section", from_ref=ref, to_path="new.md", mode="append") == "not_found"
    assert code(talk, "copy_section", from_ref=ref, to_path="new.md", mode="overwrite") == "not_found"
    assert code(talk, "copy_section", from_ref=ref, to_path="new.md", limits={"max_chars": 5}) == "invalid_parameter"
    assert code(talk, "copy_section", from_ref=ref, to_path="artifacts/x.txt") == "forbidden"
    day = "artifacts/daily/2026-03-01.md"
    assert code(talk, "copy_section", from_ref=ref, to_path=day, mode="overwrite") == "forbidden"
    assert code(talk, "copy_section", from_ref=ref, to_path="../x.md") == "invalid_path"
    assert code(talk, "copy_section", from_ref={}, to_path="x.md") == "invalid_parameter"
    both = {**ref, "address": "tokonoma://items/1"}
    assert code(talk, "copy_section", from_ref=both, to_path="x.md") == "invalid_parameter"
    assert code(talk, "copy_section", from_ref={"address": "tokonoma://memory/none"}, to_path="x.md") == "not_found"
    assert code(talk, "copy_section", from_ref={"address": "/etc/passwd"}, to_path="x.md") == "invalid_parameter"
    assert code(talk, "copy_file", manual_id="guide", from_path="none.md", to_path="x.md") == "not_found"
    assert code(talk, "copy_file", manual_id="guide", from_path="../../x", to_path="x.md") == "invalid_path"
    assert code(talk, "copy_file", manual_id="..", from_path="a.md", to_path="x.md") == "invalid_path"
    assert [each["path"] for each in talk.call("vault", "ls")["items"]] == ["there.md"]


def test_a_daily_file_may_be_added_to(talk, places):
    day, ref = "artifacts/daily/2026-03-01.md", {"manual_id": "guide", "path": "a.md", "start_line": 1}
    talk.call("bridge", "copy_section", from_ref=ref, to_path=day)
    talk.call("bridge", "copy_section", from_ref=ref, to_path=day, mode="append")
    assert talk.call("vault", "history", path=day)["items"][0]["action"] == "append"


def test_a_copy_counts_for_the_search_that_led_to_it(talk, app, places):
    trace = talk.call("manual", "find", query="second", manual_id="guide")["trace_id"]
    ref = {"manual_id": "guide", "path": "a.md", "start_line": 4}
    for name in ("one.md", "two.md"):
        talk.call("bridge", "copy_section", from_ref=ref, to_path=name, trace_id=trace)
    with app.database.reading() as rows:
        assert rows.row("select used, hit from manual_run where id = :id", id=trace) == (1, 1)
    assert code(talk, "copy_section", from_ref=ref, to_path="three.md", trace_id="none") == "not_found"
    assert not (places["vault"] / "three.md").exists()


def test_files_are_copied_as_they_are_now_and_a_secret_never(talk, places):
    ref = {"manual_id": "guide", "path": "a.md", "start_line": 1}
    talk.call("bridge", "copy_section", from_ref=ref, to_path="one.md")
    (places["manuals"] / "guide" / "a.md").write_text("# One\nnew text\n")
    talk.call("bridge", "copy_section", from_ref=ref, to_path="two.md")
    assert "new text" in (places["vault"] / "two.md").read_text()
    (places["manuals"] / "guide" / "a.md").write_text("# One\nkey AKIAQ3EGRT5ZL2PWX7VN\n")
    talk.call("bridge", "copy_section", from_ref=ref, to_path="three.md")
    assert (places["vault"] / "three.md").read_text() == "# One\nkey [masked:aws_access_key]\n"
    (places["vault"] / "mine.md").write_text("written behind our back\n")
    talk.call("bridge", "copy_section", from_ref={"address": "tokonoma://vault/mine.md"}, to_path="four.md")
    assert "behind" in (places["vault"] / "four.md").read_text()


def test_a_file_is_copied_only_by_who_sees_each_of_its_parts(talk, places, app):
    """Also where a policy lets a stricter class be seen and a milder one not."""
    mixed = "# One\nCANARY a@example.com\n\n# Two\nCANARY 090-1234-5678\n"
    (places["manuals"] / "guide" / "mixed.md").write_text(mixed)
    talk.call("vault", "create", path="mixed.md", content=mixed)
    enforce(
        app,
        "version: 1\nkinds: { phone: secret }\n"
        "boundary_classes: { secret: { allow: ['*'] }, pii: { allow: ['nobody:else'] } }",
    )
    assert code(talk, "copy_file", manual_id="guide", from_path="mixed.md", to_path="a.md") == "not_found"
    whole = {"address": "tokonoma://vault/mixed.md"}
    assert code(talk, "copy_section", from_ref=whole, to_path="b.md") == "not_found"
    seen = {"manual_id": "guide", "path": "mixed.md", "start_line": 4}
    assert talk.call("bridge", "copy_section", from_ref=seen, to_path="c.md")["copied_lines"] == 2

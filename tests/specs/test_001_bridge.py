"""specs/001 over the wire: copies into the vault from anywhere in the house, with the text never shown."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from policy.houses import enforce, key
from talk import Http, Lines

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


def test_lines_of_a_manual_are_copied_exactly_or_not_at_all(talk, places):
    ref = {"manual_id": "guide", "path": "a.md", "start_line": 2, "end_line": 4}
    told = talk.call("bridge", "copy_section", from_ref=ref, to_path="lines.md")
    assert (places["vault"] / "lines.md").read_text() == "CANARY first\n\n# Two\n"
    assert (told["copied_lines"], told["source"]) == (3, "tokonoma://manual/guide/a.md#L2-L4")
    talk.call("vault", "create", path="v.md", content=TEXT)
    for target in ({"manual_id": "guide", "path": "a.md"}, {"target": "vault", "path": "v.md"}):
        for lines in ({"start_line": 4, "end_line": 6}, {"start_line": 6}, {"start_line": 6, "end_line": 6}):
            error = talk.refused("bridge", "copy_section", from_ref={**target, **lines}, to_path="no.md")
            assert error["code"] == "invalid_parameter"
            assert "has 5 lines" in error["message"]
        for lines in ({"start_line": 4, "end_line": 3}, {"end_line": 3}):
            assert code(talk, "copy_section", from_ref={**target, **lines}, to_path="no.md") == "invalid_parameter"
    hidden = {"manual_id": "guide", "path": "none.md", "start_line": 400, "end_line": 500}
    assert code(talk, "copy_section", from_ref=hidden, to_path="no.md") == "not_found"
    assert not (places["vault"] / "no.md").exists()


def test_a_value_of_a_json_file_is_copied_by_its_pointer(talk, places):
    value = {"a/b": [{"名": "CANARY \n 語"}, 2], "big": "x" * 3000}
    (places["manuals"] / "guide" / "d.json").write_text(json.dumps(value))
    ref = {"manual_id": "guide", "path": "d.json", "json_path": "/a~1b/0", "start_line": 1}
    told = talk.call("bridge", "copy_section", from_ref=ref, to_path="artifacts/part.json")
    assert json.loads((places["vault"] / "artifacts" / "part.json").read_text()) == value["a/b"][0]
    assert "CANARY" not in json.dumps(told)
    assert code(talk, "copy_section", from_ref={**ref, "json_path": "/x"}, to_path="no.md") == "not_found"
    vault = {"target": "vault", "path": "artifacts/part.json", "json_path": "/名"}
    assert code(talk, "copy_section", from_ref=vault, to_path="no.md") == "invalid_parameter"
    talk.call("bridge", "copy_file", manual_id="guide", from_path="d.json", to_path="d.json")
    assert json.loads((places["vault"] / "d.json").read_text()) == value


def test_several_refs_become_one_file_in_their_order(talk, places):
    memo = talk.call("memory", "save", content="CANARY memo")
    refs = [
        {"manual_id": "guide", "path": "a.md", "start_line": 4},
        {"address": f"tokonoma://memory/{memo['memo_id']}"},
        {"manual_id": "guide", "path": "a.md", "start_line": 2, "end_line": 2},
    ]
    told = talk.call("bridge", "copy_section", from_refs=refs, separator="---\n", to_path="all.md")
    expected = "# Two\nCANARY second\n---\nCANARY memo\n---\nCANARY first\n"
    assert (places["vault"] / "all.md").read_text() == expected
    assert (len(told["sources"]), told["copied_lines"], "source" in told) == (3, 6, False)
    assert "CANARY" not in json.dumps(told)
    gone = [*refs, {"manual_id": "guide", "path": "none.md"}]
    assert code(talk, "copy_section", from_refs=gone, to_path="no.md") == "not_found"
    assert code(talk, "copy_section", from_refs=refs, to_path="no.md", limits={"max_chars": 9}) == "invalid_parameter"
    assert code(talk, "copy_section", from_refs=refs, from_ref=refs[0], to_path="no.md") == "invalid_parameter"
    assert code(talk, "copy_section", to_path="no.md") == "invalid_parameter"
    assert not (places["vault"] / "no.md").exists()


def test_a_ref_with_the_hash_of_another_text_is_a_conflict(talk, places):
    own = hashlib.sha256(b"# Two\nCANARY second\n").hexdigest()[:8]
    ref = {"manual_id": "guide", "path": "a.md", "start_line": 4, "hash": own}
    talk.call("bridge", "copy_section", from_ref=ref, to_path="one.md")
    (places["manuals"] / "guide" / "a.md").write_text("new line\n" + TEXT)
    assert code(talk, "copy_section", from_ref=ref, to_path="two.md") == "conflict"
    assert not (places["vault"] / "two.md").exists()


MANY = """# Pumps
Intro.

## Start
Turn the valve.

## Stop
Turn it back.

# Other
A pump is here too.

# Far
Nothing.
"""
COMMENT = re.compile(r"<!-- source: tokonoma://manual/guide/(.*), lines (\d+)-(\d+), sha256 (\w{12}) -->")


def parts_of(text: str) -> list[tuple[str, str]]:
    """The comments of a copied trace, and the text after each."""
    found = re.split(r"(<!-- source: [^\n]* -->)\n", text)
    return list(zip(found[1::2], found[2::2], strict=True))


def test_all_hits_of_a_search_are_copied_with_where_they_come_from(talk, places):
    (places["manuals"] / "guide" / "p.md").write_text(MANY)
    (places["manuals"] / "guide" / "d.json").write_text(json.dumps({"rows": [{"name": "pump", "n": 1}] * 2}, indent=1))
    trace = talk.call("manual", "find", query="pump", manual_id="guide", max_stage=3)["trace_id"]
    told = talk.call("bridge", "copy_trace", trace_id=trace, to_path="artifacts/pumps.md", min_score=0.6)
    text = (places["vault"] / "artifacts" / "pumps.md").read_text()
    assert "valve" not in json.dumps(told)
    assert (told["left_out"], told["parts"]) == ({}, len(parts_of(text)))
    assert told["hits"] <= told["parts"] == len(told["sources"])
    for line in ("Turn the valve.", "Turn it back.", "Intro.", "A pump is here too."):
        assert text.count(line) == 1, line
    assert "Nothing." not in text
    for comment, part in parts_of(text):
        match = COMMENT.fullmatch(comment)

        assert match is not None
        lines = (places["manuals"] / "guide" / match[1]).read_text().splitlines(keepends=True)
        expected = "".join(lines[int(match[2]) - 1 : int(match[3])])
        assert part.removesuffix("\n") == expected.removesuffix("\n") or part == expected + "\n"
        assert hashlib.sha256(expected.encode()).hexdigest()[:12] == match[4]
    only = talk.call("bridge", "copy_trace", trace_id=trace, to_path="only.md", signals=["heading"])
    assert "A pump is here too." not in (places["vault"] / "only.md").read_text()
    assert only["hits"] < told["hits"]


def test_hits_that_changed_or_are_hidden_since_are_left_out_and_counted(talk, app, places):
    for number in range(4):
        (places["manuals"] / "guide" / f"f{number}.md").write_text(f"# F{number}\nabout pumps {number} KEEP{number}\n")
    trace = talk.call("manual", "find", query="pumps", manual_id="guide", max_stage=3)["trace_id"]
    (places["manuals"] / "guide" / "f1.md").write_text("# F1\nabout pumps, other text KEEP1\n")
    (places["manuals"] / "guide" / "f2.md").unlink()
    told = talk.call("bridge", "copy_trace", trace_id=trace, to_path="t.md", min_score=0.6)
    text = (places["vault"] / "t.md").read_text()
    assert [word for word in ("KEEP0", "KEEP1", "KEEP2", "KEEP3") if word in text] == ["KEEP0", "KEEP3"]
    assert (told["hits"], told["left_out"]) == (2, {"changed": 1, "missing": 1})
    enforce(
        app,
        "version: 7\nboundary_classes: { secret: { allow: ['nobody'] } }\n"
        "labels:\n  - { module: manual, space: /, class: secret }\n",
    )
    assert code(talk, "copy_trace", trace_id=trace, to_path="u.md") in ("invalid_parameter", "not_found")
    assert not (places["vault"] / "u.md").exists()


def test_hits_in_the_vault_are_copied_too(talk, places):
    talk.call("vault", "create", path="one.md", content="# A\npumps KEEP1\n\n# B\nnothing\n")
    talk.call("vault", "create", path="two.md", content="# C\npumps KEEP2\n")
    trace = talk.call("vault", "find", query="pumps")["trace_id"]
    ref = talk.call("vault", "hits", trace_id=trace)["items"][0]["ref"]
    talk.call("bridge", "copy_section", from_ref=ref, to_path="line.md")
    two = {"target": "vault", "path": "two.md", "start_line": 9, "version": "0" * 8}
    for source in (two, {**two, "start_line": 1}, {"target": "vault", "path": "two.md", "version": "0" * 8}):
        assert code(talk, "copy_section", from_ref=source, to_path="no.md") == "conflict"
    wrong = {"manual_id": "guide", "path": "a.md", "version": "0" * 8}
    assert code(talk, "copy_section", from_ref=wrong, to_path="no.md") == "invalid_parameter"
    none = {"target": "vault", "path": "none.md", "version": "0" * 8}
    assert code(talk, "copy_section", from_ref=none, to_path="no.md") == "not_found"
    talk.call("vault", "write", path="two.md", content="# C\npumps KEEP3\n", mode="overwrite")
    told = talk.call("bridge", "copy_trace", trace_id=trace, to_path="t.md")
    text = (places["vault"] / "t.md").read_text()
    assert (told["hits"], told["left_out"], told["sources"]) == (1, {"changed": 1}, ["tokonoma://vault/one.md#L1-L3"])
    assert "KEEP1" in text
    assert "KEEP3" not in text
    assert text.startswith("<!-- source: tokonoma://vault/one.md, lines 1-3, sha256 ")


def test_bad_copies_of_a_trace_change_nothing(talk, places):
    (places["manuals"] / "guide" / "x--y.md").write_text("# Pumps\nabout pumps\n")
    trace = talk.call("manual", "find", query="pumps", manual_id="guide")["trace_id"]
    talk.call("vault", "create", path="there.md", content="x")
    assert code(talk, "copy_trace", trace_id="none", to_path="a.md") == "not_found"
    assert code(talk, "copy_trace", trace_id=trace, to_path="a.json") == "invalid_parameter"
    assert code(talk, "copy_trace", trace_id=trace, to_path="there.md") == "conflict"
    assert code(talk, "copy_trace", trace_id=trace, to_path="../a.md") == "invalid_path"
    assert code(talk, "copy_trace", trace_id=trace, to_path="a.md", limits={"max_chars": 9}) == "invalid_parameter"
    assert code(talk, "copy_trace", trace_id=trace, to_path="a.md", signals=["none"]) == "invalid_parameter"
    talk.call("bridge", "copy_trace", trace_id=trace, to_path="a.md")
    assert "manual/guide/x-%2Dy.md, lines" in (places["vault"] / "a.md").read_text()


def test_a_copied_trace_holds_no_secret_and_only_its_callers_traces_count(app, places):
    (places["manuals"] / "guide" / "k.md").write_text("# Pumps\nkey AKIAQ3EGRT5ZL2PWX7VN of pumps\n")
    talk, other = Lines(app), Http(app, token=key(app, "other"))
    trace = talk.call("manual", "find", query="pumps", manual_id="guide")["trace_id"]
    talk.call("bridge", "copy_trace", trace_id=trace, to_path="a.md")
    assert "key [masked:aws_access_key] of pumps" in (places["vault"] / "a.md").read_text()
    assert code(other, "copy_trace", trace_id=trace, to_path="b.md") == "not_found"

"""specs/001 over the wire: hits with the lines that match, several parts in one call, and texts that go on."""

import json
from pathlib import Path
from typing import Any

import pytest
from policy.houses import MASKING, enforce
from talk import Lines, Talk

TEXT = (
    "# Return\nA return takes days.\n\nNothing.\n## Fees\nThe RETURN fee, see (return@example.com).\n# Other\nText.\n"
)


@pytest.fixture
def talk(app) -> Talk:  # the transport makes no difference here
    return Lines(app)


@pytest.fixture
def guide(app) -> Path:
    folder = Path(app.server_info.locations()["manuals"]) / "guide"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(TEXT)
    return folder


def hits(talk, query: str, **more) -> dict[str, Any]:
    found = talk.call("manual", "find", query=query, manual_id="guide")
    return talk.call("manual", "hits", trace_id=found["trace_id"], **more)


def test_hits_carry_the_lines_that_match(talk, guide):
    first, second = hits(talk, "return", signals=["normalized"])["items"]
    assert first["lines"] == [[1, ""], [2, "A return takes days."]]
    assert second["lines"] == [[6, "The RETURN fee, see (return@example.com)."]]
    assert set(first) == {"ref", "title", "signals", "score", "lines"}
    around = hits(talk, "return", signals=["normalized"], context=1)["items"]
    assert around[1]["lines"] == [[6, "## Fees\nThe RETURN fee, see (return@example.com)."]]
    without = hits(talk, "return", evidence=False)["items"]
    assert not any("lines" in each for each in without)
    (grouped,) = hits(talk, "return", signals=["normalized"], by="file")["items"]
    assert grouped["ref"] == {"manual_id": "guide", "path": "a.md"}
    assert grouped["sections"][1][4:] == [[[6, "The RETURN fee, see (return@example.com)."]], 0]


def test_lines_of_hits_are_masked_as_the_caller_sees_them(talk, app, guide):
    enforce(app, MASKING)
    told = json.dumps(hits(talk, "return", context=2))
    assert "return@example.com" not in told
    assert "[masked:email]" in told


def test_synonyms_and_other_spellings_show_their_own_line(talk, guide):
    (guide / "b.md").write_text("# B\nText.\nデータ・\nベースを作る。\n# C\nThe help-desk opens.\n")
    (guide / "glossary.yml").write_text("terms:\n  - [help desk, カスタマー窓口]\n")
    (item,) = hits(talk, "データベース", signals=["loose", "normalized"])["items"]
    assert (item["ref"]["start_line"], item["lines"]) == (1, [[3, "データ・"]])
    (item,) = hits(talk, "カスタマー窓口", signals=["synonym"])["items"]
    assert (item["ref"]["start_line"], item["lines"]) == (5, [[6, "The help-desk opens."]])


def test_several_parts_are_read_in_one_call(talk, guide):
    items = hits(talk, "return", signals=["normalized"])["items"]
    wrong = {"manual_id": "guide", "path": "none.md"}
    lines = {"manual_id": "guide", "path": "a.md", "start_line": 7, "end_line": 8}
    refs = [items[0]["ref"], wrong, items[1]["ref"], lines, {**lines, "end_line": 9}]
    told = talk.call("manual", "read", refs=refs, scope="section", expand=False)["items"]
    assert told[0] == {"lines": [1, 4], "text": "# Return\nA return takes days.\n\nNothing.\n"}
    assert told[1]["error"]["code"] == "not_found"
    assert told[2]["text"].startswith("## Fees\n")
    assert (told[3]["text"], len(told[3]["hash"])) == ("# Other\nText.\n", 8)
    assert told[4]["error"]["code"] == "invalid_parameter"
    assert "end_line is 9" in told[4]["error"]["message"]


def test_several_parts_share_one_limit_and_the_rest_is_named(talk, guide):
    refs = [{"manual_id": "guide", "path": "a.md", "start_line": line} for line in (1, 5, 7)]
    limits = {"max_chars": 60}
    first = talk.call("manual", "read", refs=refs, scope="section", expand=False, limits=limits)
    assert [each["lines"] for each in first["items"]] == [[1, 4]]
    assert first["rest"] == 2
    second = talk.call("manual", "read", refs=refs[-first["rest"] :], scope="section", expand=False, limits=limits)
    assert [each["lines"] for each in second["items"]] == [[5, 6]]
    cut = talk.call("manual", "read", refs=refs, scope="section", expand=False, limits={"max_chars": 10})
    assert [each["text"] for each in cut["items"]] == ["# Return\n"]
    assert cut["items"][0]["next_ref"]["end_line"] == 4
    assert cut["rest"] == 2


def test_one_ref_or_several_are_given(talk, guide):
    ref = {"manual_id": "guide", "path": "a.md"}
    for params in ({}, {"ref": ref, "refs": [ref]}, {"refs": [ref] * 21}):
        assert talk.refused("manual", "read", **params)["code"] == "invalid_parameter"


def test_a_ref_that_cannot_be_right_is_refused(talk, guide):
    for wrong in (
        {"end_line": 2}, {"start_line": 3, "end_line": 2}, {"start_line": 1, "hash": "x"}, {"hash": "a1b2c3d4"},
        {"start_line": 1, "start_column": 0}, {"json_path": 1}, {"start_line": 1, "column": 2},
    ):  # fmt: skip
        error = talk.refused("manual", "read", ref={"manual_id": "guide", "path": "a.md", **wrong})
        assert error["code"] == "invalid_parameter"


def test_a_long_section_is_read_to_its_end(talk, guide):
    long = "# Long\n" + "".join(f"line {number}\n" for number in range(300)) + "x" * 30_000 + "\n## Below\nend\n"
    (guide / "long.md").write_text(long + "# After\n")
    wanted = {"snippet": long.partition("## Below")[0], "section": long, "sections": long + "# After\n"}
    for scope in wanted:
        ref, texts, places = {"manual_id": "guide", "path": "long.md", "start_line": 1}, [], []
        while ref is not None:
            part = talk.call("manual", "read", ref=ref, scope=scope, limits={"max_chars": 7000})
            texts.append(part["text"])
            places.append((part["start_line"], ref.get("start_column", 1)))
            assert part.get("next_start_line", part["start_line"] + 1) > part["start_line"]
            ref = part.get("next_ref")
        assert places == sorted(set(places))
        assert "".join(texts) == wanted[scope]


def test_every_part_of_a_minified_file_can_be_read(talk, guide):
    text = json.dumps({"key": ["value"] * 5000, "long": "x" * 30_000}, separators=(",", ":"))
    (guide / "min.json").write_text(text)
    ref, texts = {"manual_id": "guide", "path": "min.json"}, []
    while ref is not None:
        part = talk.call("manual", "read", ref=ref, limits={"max_chars": 20_000})
        texts.append(part["text"])
        ref = part.get("next_ref")
    assert "".join("".join(texts).split()) == text  # read with one member per line


def test_what_a_search_proposes_to_read_counts_for_the_search(talk, app, guide):
    found = talk.call("manual", "find", query="return", manual_id="guide")
    listed = talk.call("manual", "hits", trace_id=found["trace_id"])
    assert listed["read_with"] == {"trace_id": found["trace_id"]}
    (proposed,) = [each["params"] for each in found["next_actions"] if each["type"] == "manual_read"]
    assert proposed["ref"] == listed["items"][0]["ref"]
    talk.call("manual", "read", **proposed)
    talk.call("manual", "read", refs=[each["ref"] for each in listed["items"][:2]], **listed["read_with"])
    with app.database.reading() as rows:
        assert rows.row("select used, hit from manual_run where id = :id", id=found["trace_id"]) == (2, 2)

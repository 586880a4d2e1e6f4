"""specs/001: the manual tools over the wire, on both databases, with files that people change behind our back."""

import json
import os
from pathlib import Path

import pytest
from policy.houses import MASKING, enforce
from talk import Talk

RULES = """---
title: 利用規約
---
前文です。

# 第1条 定義
サービス利用契約（以下「本契約」という）をいう。

## 第３条 返品
利用者は返品を30日前に通知する。ただし、別表第1に定める場合はこの限りでない。詳しくは[料金](fees.md#fee)を参照。

# 別表第1
返品の例外: 天災。

# 連絡
窓口は平日に開く。
"""
FEES = "# 料金 {#fee}\n返品手数料は1,000円。返品は14日前まで。[無い](nothing.md)\n"
SUMMARY = {
    "scanned_files", "scanned_nodes", "candidates", "warnings", "max_stage_applied", "scope_expanded",
    "unscanned_sections_count", "integrated_nodes", "signal_coverage", "file_bias_ratio", "conflict_count", "gap_count",
    "sufficiency_score", "integration_status",
}  # fmt: skip


@pytest.fixture
def manuals(tmp_path) -> Path:
    folder = tmp_path / "home" / "workspace" / "manuals"
    (folder / "rules").mkdir(parents=True)
    (folder / "rules" / "terms.md").write_text(RULES, encoding="utf-8")
    (folder / "rules" / "fees.md").write_text(FEES, encoding="utf-8")
    (folder / "rules" / "data.json").write_text('{"返品": {"days": 30}}', encoding="utf-8")
    (folder / "other").mkdir()
    (folder / "other" / "a.md").write_text("# Printers\nHow to return a printer.\n", encoding="utf-8")
    return folder


def refs(talk: Talk, trace_id: str, **more) -> list[tuple[str, int]]:
    items = talk.call("manual", "hits", trace_id=trace_id, limit=200, **more)["items"]
    return [(item["ref"]["path"], item["ref"]["start_line"]) for item in items]


def test_lists_name_manuals_files_and_headings(talk, manuals):
    assert talk.call("manual", "list") == {
        "items": [
            {"manual_id": "other", "files": 1, "sections": 1},
            {"manual_id": "rules", "files": 3, "sections": 7},
        ],
        "total": 2,
        "has_more": False,
    }
    files = talk.call("manual", "manual_ls", manual_id="rules")
    assert [(each["path"], each["kind"]) for each in files["items"]] == [
        ("data.json", "json"), ("fees.md", "md"), ("terms.md", "md"),
    ]  # fmt: skip
    nodes = talk.call("manual", "toc", manual_id="rules")["items"]
    assert len(nodes[0].pop("hash")) == 8
    assert nodes[0] == {
        "kind": "json_file", "node_id": "data.json#L1", "path": "data.json", "title": "data.json", "level": 0,
        "parent_id": None, "line_start": 1, "line_end": 1,
    }  # fmt: skip
    child = next(node for node in nodes if node["title"] == "第３条 返品")
    assert (child["parent_id"], child["line_start"], child["line_end"]) == ("terms.md#L6", 9, 11)


def test_find_answers_with_figures_and_hits_with_places(talk, manuals):
    found = talk.call("manual", "manual_find", query="返品について網羅的に取得して", manual_id="rules")
    summary = found["summary"]
    assert set(summary) - {"pending_vectors"} == {*SUMMARY, "hidden_by_policy"}
    assert summary["scanned_files"] == 3
    assert summary["scanned_nodes"] + summary["unscanned_sections_count"] == 7
    assert len(json.dumps(found, ensure_ascii=False)) < 1500
    places = refs(talk, found["trace_id"])
    assert {("terms.md", 9), ("terms.md", 12), ("fees.md", 1), ("data.json", 1)} <= set(places)
    assert len(places) == summary["candidates"]
    listed = talk.call("manual", "hits", trace_id=found["trace_id"])["items"]
    assert {each["ref"].get("json_path") for each in listed if each["ref"]["path"] == "data.json"} == {"/返品"}
    lexical = refs(talk, found["trace_id"], signals=["heading", "normalized"])
    assert ("terms.md", 15) not in lexical
    assert lexical[0] == ("terms.md", 9)


def test_hits_by_file_say_the_same_in_less(talk, manuals):
    for number in range(3):
        text = "".join(f"# 返品{number}-{each}\n返品\n" for each in range(10))
        (manuals / "rules" / f"more-{number}.md").write_text(text, encoding="utf-8")
    found = talk.call("manual", "find", query="返品", manual_id="rules")
    (proposed,) = [each["params"] for each in found["next_actions"] if "limit" in (each["params"] or ())]
    listed = talk.call("manual", "hits", **proposed)
    assert listed["items"][-1]["score"] >= 0.6
    assert proposed["limit"] == len(listed["items"]) >= 30
    assert all(len(each["signals"]) == 1 for each in listed["items"])
    grouped = talk.call("manual", "hits", **proposed, by="file")
    assert grouped["total"] == listed["total"]
    said = [(each["ref"]["path"], *section) for each in grouped["items"] for section in each["sections"]]
    told = [
        (ref["path"], ref["start_line"], each["title"], each["score"], ref["hash"], each["lines"], each.get("more", 0))
        for each in listed["items"]
        for ref in [each["ref"]]
    ]
    assert sorted(said) == sorted(told)
    assert len(json.dumps(grouped)) < 0.7 * len(json.dumps(listed))
    gaps = talk.call("manual", "hits", trace_id=found["trace_id"], kind="gaps", by="file")["items"]
    assert {"title", "reason"} <= set(gaps[0])


def test_a_search_leaves_the_vectors_of_new_sections_to_the_worker(talk, app, manuals, monkeypatch):
    embedded = []
    worker = app.search.worker
    monkeypatch.setattr(worker, "catch_up", lambda: embedded.append("by the search"))
    monkeypatch.setattr(worker, "wake", lambda: embedded.append("by the worker"))
    talk.call("manual", "find", query="返品")
    assert set(embedded) == {"by the worker"}


def test_one_of_two_words_is_another_topic(talk, manuals):
    (manuals / "other" / "b.md").write_text(
        "# Paper\nA printer takes paper.\n# Ink\nA printer takes ink.\n", encoding="utf-8"
    )
    found = talk.call("manual", "find", query="printer ink", manual_id="other")
    by_words = refs(talk, found["trace_id"], signals=["heading", "normalized", "loose", "synonym"])
    assert by_words == [("b.md", 3)]


def test_contradictions_gaps_and_what_to_do_next_are_told(talk, manuals):
    (manuals / "rules" / "more.md").write_text("# 返品の通知\n利用者は返品を14日前に通知する。\n", encoding="utf-8")
    found = talk.call("manual", "find", query="返品", manual_id="rules", must_include=["深海魚"])
    summary, trace_id = found["summary"], found["trace_id"]
    assert summary["conflict_count"] == 1
    conflicts = talk.call("manual", "hits", trace_id=trace_id, kind="conflicts")["items"]
    assert any("30 日" in each["reason"] and "14 日" in each["reason"] for each in conflicts)
    gaps = {each["title"] for each in talk.call("manual", "hits", trace_id=trace_id, kind="gaps")["items"]}
    assert gaps == {"深海魚", "nothing.md"}
    assert {"resolve_conflicts", "fill_gaps"} <= {action["intent"] for action in found["next_actions"]}
    assert all(set(action) == {"type", "intent", "confidence", "params"} for action in found["next_actions"])


def test_references_are_followed(talk, manuals):
    found = talk.call("manual", "find", query="通知する", manual_id="rules")
    followed = refs(talk, found["trace_id"], signals=["reference"])
    assert {("fees.md", 1), ("terms.md", 12)} <= set(followed)


def test_every_section_is_a_candidate_or_rejected_or_named_as_unscanned(talk, manuals):
    first = talk.call("manual", "find", query="返品", manual_id="rules", budget={"max_candidates": 1})
    assert first["summary"]["cutoff_reason"] == "candidate_cap"
    seen, trace_id, left = set(refs(talk, first["trace_id"])), first["trace_id"], -1
    total = first["summary"]["candidates"] + first["summary"]["unscanned_sections_count"]
    for _ in range(20):
        unscanned = talk.call("manual", "hits", trace_id=trace_id, kind="unscanned", limit=200)["items"]
        assert {each["reason"] for each in unscanned} <= {"candidate_cap"}
        left = len(unscanned)
        if not left:
            break
        again = talk.call(
            "manual", "find", query="返品", only_unscanned_from_trace_id=trace_id, budget={"max_candidates": 1}
        )
        new = set(refs(talk, again["trace_id"]))
        assert not new & seen
        assert new <= {(each["ref"]["path"], each["ref"]["start_line"]) for each in unscanned}
        seen |= new
        trace_id = again["trace_id"]
    assert left == 0
    assert len(seen) == total


def test_a_time_budget_cuts_and_says_so(talk, manuals):
    found = talk.call("manual", "find", query="返品", budget={"time_ms": 1})
    assert found["summary"]["cutoff_reason"] == "time_budget"
    assert found["summary"]["max_stage_applied"] == 0
    assert found["summary"]["unscanned_sections_count"] > 0


def test_too_little_widens_to_other_manuals_unless_stage_3_is_the_last(talk, manuals):
    wide = talk.call("manual", "find", query="printer", manual_id="rules")["summary"]
    assert (wide["scope_expanded"], wide["max_stage_applied"]) == (True, 4)
    narrow = talk.call("manual", "find", query="printer", manual_id="rules", max_stage=3)["summary"]
    assert (narrow["scope_expanded"], narrow["cutoff_reason"]) == (False, "stage_cap")


def test_a_glossary_beside_the_files_joins_words(talk, manuals):
    (manuals / "rules" / "glossary.yml").write_text("terms:\n  - [窓口, カスタマーデスク]\n", encoding="utf-8")
    found = talk.call("manual", "find", query="カスタマーデスク", manual_id="rules")
    assert ("terms.md", 15) in refs(talk, found["trace_id"], signals=["synonym"])
    (manuals / "rules" / "glossary.yml").write_text("terms: [", encoding="utf-8")
    warned = talk.call("manual", "find", query="返品", manual_id="rules")["summary"]["warnings"]
    assert any("glossary.yml" in each for each in warned)


def test_what_the_text_calls_it_is_found_by_its_long_name(talk, manuals):
    (manuals / "rules" / "more.md").write_text("# 期間\n本契約は一年とする。\n", encoding="utf-8")
    found = talk.call("manual", "find", query="サービス利用契約", manual_id="rules")
    assert ("more.md", 1) in refs(talk, found["trace_id"], signals=["synonym"])


def test_files_are_the_truth(talk, manuals):
    talk.call("manual", "list")
    file = manuals / "rules" / "fees.md"
    file.write_text("# 送料\n送料は無料。\n", encoding="utf-8")
    found = talk.call("manual", "find", query="送料", manual_id="rules")
    assert ("fees.md", 1) in refs(talk, found["trace_id"], signals=["heading"])
    file.unlink()
    assert talk.call("manual", "ls", manual_id="rules")["total"] == 2
    assert talk.refused("manual", "read", ref={"manual_id": "rules", "path": "fees.md"})["code"] == "not_found"


def test_a_change_of_the_same_size_and_time_is_noticed(talk, manuals):
    file = manuals / "rules" / "fees.md"
    talk.call("manual", "list")
    before = file.stat()
    file.write_text(FEES.replace("手数料", "送料金"), encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    found = talk.call("manual", "find", query="送料金", manual_id="rules")
    assert ("fees.md", 1) in refs(talk, found["trace_id"], signals=["normalized"])


def test_reading_goes_from_a_snippet_to_sections(talk, manuals):
    place = {"manual_id": "rules", "path": "terms.md", "start_line": 6}
    snippet = talk.call("manual", "read", ref=place)
    assert (snippet["scope"], snippet["start_line"], snippet["end_line"]) == ("snippet", 6, 8)
    own = talk.call("manual", "read", ref=place, scope="section", expand=False)
    assert own["end_line"] == 8
    whole = talk.call("manual", "read", ref=place, scope="section")
    assert "第３条" in whole["text"]
    assert not whole["truncated"]
    two = talk.call("manual", "read", ref=place, scope="sections", limits={"max_sections": 2})
    assert (two["end_line"], two["truncated_reason"], two["next_start_line"]) == (11, "max_sections", 12)
    short = talk.call("manual", "read", ref=place, scope="section", limits={"max_chars": 20})
    assert short["truncated_reason"] == "max_chars"
    assert len(short["text"]) <= 20
    data = talk.call("manual", "read", ref={"manual_id": "rules", "path": "data.json"})
    assert (data["scope"], json.loads(data["text"])) == ("file", {"返品": {"days": 30}})


def test_a_whole_markdown_file_needs_the_owner_and_the_caller(talk, manuals):
    asked = {"ref": {"manual_id": "rules", "path": "terms.md"}, "scope": "file"}
    assert talk.refused("manual", "read", **asked, limits={"allow_file": True})["code"] == "forbidden"
    (manuals / "rules" / "manual.yml").write_text("allow_file: true\n", encoding="utf-8")
    assert talk.refused("manual", "read", **asked)["code"] == "forbidden"
    assert talk.call("manual", "read", **asked, limits={"allow_file": True})["text"] == RULES


@pytest.mark.parametrize(
    ("tool", "params", "code"),
    [
        ("find", {"query": "x", "manual_id": "none"}, "not_found"),
        ("find", {"query": " "}, "invalid_parameter"),
        ("find", {"query": "x", "max_stage": 2}, "invalid_parameter"),
        ("find", {"query": "x", "intent": "guess"}, "invalid_parameter"),
        ("find", {"query": "x", "only_unscanned_from_trace_id": "tr_none"}, "not_found"),
        ("find", {"query": "x", "budget": {"max_candidates": 0}}, "invalid_parameter"),
        ("hits", {"trace_id": "tr_none"}, "not_found"),
        ("hits", {"trace_id": "tr_none", "kind": "all"}, "invalid_parameter"),
        ("toc", {"manual_id": "none"}, "not_found"),
        ("ls", {"manual_id": "../rules"}, "invalid_parameter"),
        ("read", {"ref": {"manual_id": "rules", "path": "../x.md"}}, "invalid_path"),
        ("read", {"ref": {"manual_id": "rules", "path": "/etc/passwd"}}, "invalid_path"),
        ("read", {"ref": {"manual_id": "rules", "path": "none.md"}}, "not_found"),
        ("read", {"ref": {"manual_id": "rules", "path": "terms.md", "start_line": 999}}, "invalid_parameter"),
        ("read", {"ref": {"manual_id": "rules", "path": "terms.md", "start_line": 0}}, "invalid_parameter"),
        ("read", {"ref": {"manual_id": "rules"}}, "invalid_parameter"),
        ("read", {"ref": {"target": "vault", "manual_id": "rules", "path": "terms.md"}}, "invalid_scope"),
        ("read", {"ref": {"manual_id": "rules", "path": "data.json"}, "scope": "section"}, "invalid_scope"),
        (
            "read",
            {"ref": {"manual_id": "rules", "path": "terms.md"}, "limits": {"max_chars": 20_001}},
            "invalid_parameter",
        ),
        ("excepts", {"ref": {"manual_id": "rules", "path": "none.md"}}, "not_found"),
    ],
)
def test_bad_input_is_named(talk, manuals, tool, params, code):
    error = talk.refused("manual", tool, **params)
    assert error["code"] == code
    assert error["message"]


def test_links_out_of_the_manuals_are_not_followed(talk, manuals, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("# secret\n返品\n", encoding="utf-8")
    (manuals / "rules" / "link.md").symlink_to(outside)
    (manuals / "linked").symlink_to(tmp_path, target_is_directory=True)
    os.link(outside, manuals / "rules" / "hard.md")
    listed = talk.call("manual", "ls")["items"]
    assert not {each["path"] for each in listed} & {"link.md", "hard.md", "outside.md"}
    for path in ("link.md", "hard.md"):
        error = talk.refused("manual", "read", ref={"manual_id": "rules", "path": path})
        assert error["code"] == "not_found"


def test_exceptions_are_listed_with_their_words(talk, manuals):
    found = talk.call("manual", "manual_excepts", manual_id="rules")
    assert [(each["ref"]["start_line"], each["words"]) for each in found["items"]] == [
        (9, ["ただし", "この限りでない"]), (12, ["例外"]),
    ]  # fmt: skip
    one = talk.call("manual", "excepts", ref={"manual_id": "rules", "path": "terms.md", "start_line": 12})
    assert one["total"] == 1


def test_what_is_wrong_beside_the_files_is_told_with_the_list(talk, manuals):
    folder = manuals / "rules"
    (folder / "manual.yml").write_text("titel: 規約\nallow_file: maybe\n", encoding="utf-8")
    (folder / "glossary.yml").write_text("terms: [\n", encoding="utf-8")
    other, rules = talk.call("manual", "list")["items"]
    assert "problems" not in other
    wrong, unread = rules["problems"]
    assert wrong.startswith("manual.yml: unknown: titel; allowed: title, space, allow_file")
    assert "allow_file must be true or false" in wrong
    assert unread.startswith("glossary.yml: not YAML at line")
    (folder / "manual.yml").write_text("title: 規約\nspace: team\n", encoding="utf-8")
    (folder / "glossary.yml").unlink()
    problems = talk.call("manual", "list")["items"][1]["problems"]
    assert problems == ["manual.yml: space must be an absolute namespace, like /team"]
    (folder / "manual.yml").write_text("title: 規約\n", encoding="utf-8")
    assert talk.call("manual", "list")["items"][1] == {
        "manual_id": "rules", "title": "規約", "files": 3, "sections": 7,
    }  # fmt: skip


def test_a_trace_ends_after_half_an_hour(talk, manuals, frozen_clock):
    trace_id = talk.call("manual", "find", query="返品")["trace_id"]
    frozen_clock.advance(31 * 60_000)
    assert talk.refused("manual", "hits", trace_id=trace_id)["code"] == "not_found"


def test_what_is_read_under_a_trace_feeds_the_figures(talk, app, manuals):
    trace_id = talk.call("manual", "find", query="返品", manual_id="rules")["trace_id"]
    for line in (9, 9, 15):
        talk.call(
            "manual", "read", ref={"manual_id": "rules", "path": "terms.md", "start_line": line}, trace_id=trace_id
        )
    with app.database.reading() as rows:
        row = rows.row("select used, hit, cutoff from manual_run where id = :id", id=trace_id)
        kept = rows.rows("select * from manual_run")
    assert row is not None
    assert row[0] == 2
    assert "返品" not in str(kept)


def test_the_address_of_a_section_leads_to_its_text(talk, app, manuals):
    talk.call("manual", "list")
    with app.database.reading() as rows:
        section = app.registry.read_record(rows, "tokonoma://manual/rules/terms.md#L9")
        whole = app.registry.read_record(rows, "tokonoma://manual/rules/terms.md")
        gone = app.registry.read_record(rows, "tokonoma://manual/rules/none.md")
    assert section is not None
    assert section.title == "第３条 返品"
    assert whole is not None
    assert whole.text == RULES
    assert gone is None


def test_large_and_broken_files_are_told_of_and_stop_nobody(talk, manuals):
    (manuals / "rules" / "broken.md").write_bytes(b"# \xff\xfe broken\n")
    with (manuals / "rules" / "huge.md").open("wb") as file:
        file.truncate(17 * 2**20)
    found = talk.call("manual", "find", query="返品", manual_id="rules")["summary"]
    assert found["cutoff_reason"] == "hard_limit"
    assert found["left_out_files"] == {"encoding": 1, "too_large": 1}
    problems = {each["path"]: each.get("problem") for each in talk.call("manual", "ls", manual_id="rules")["items"]}
    assert "UTF-8" in problems["broken.md"]
    assert problems["huge.md"]


def test_a_class_that_is_masked_is_masked_in_the_list_of_hits_too(talk, app, manuals):
    enforce(app, MASKING)
    (manuals / "rules" / "who.md").write_text("# 返品は taro@yamada.co.jp まで\n返品の窓口\n", encoding="utf-8")
    found = talk.call("manual", "find", query="返品", manual_id="rules")
    for kind in ("candidates", "integrated_top", "conflicts", "gaps"):
        listed = talk.call("manual", "hits", trace_id=found["trace_id"], kind=kind, limit=200)
        assert "taro@yamada" not in json.dumps(listed)
    assert "[masked:email]" in json.dumps(talk.call("manual", "hits", trace_id=found["trace_id"], limit=200))


def test_a_policy_counts_for_searches_from_the_moment_it_is_in_force(talk, app, manuals):
    assert ("terms.md", 9) in refs(talk, talk.call("manual", "find", query="返品", manual_id="rules")["trace_id"])
    hiding = "version: 7\nboundary_classes: { secret: { allow: ['nobody'] } }\n"
    enforce(app, hiding + "labels:\n  - { module: manual, space: /, class: secret }\n")
    assert talk.call("manual", "list")["items"] == []
    enforce(app, hiding.replace("7", "8"))
    assert talk.call("manual", "list")["total"] == 2


def test_what_has_vanished_is_no_longer_among_the_hits(talk, manuals):
    found = talk.call("manual", "find", query="返品", manual_id="rules")
    assert any(path == "fees.md" for path, _ in refs(talk, found["trace_id"]))
    (manuals / "rules" / "fees.md").unlink()
    assert not any(path == "fees.md" for path, _ in refs(talk, found["trace_id"]))


def test_a_manual_moves_to_another_namespace_with_its_settings_file(app, manuals, talk):
    assert [each["manual_id"] for each in talk.call("manual", "list")["items"]] == ["other", "rules"]
    (manuals / "rules" / "manual.yml").write_text("space: /team\n", encoding="utf-8")
    talk.call("manual", "list")
    with app.database.reading() as rows:
        assert rows.rows("select distinct space from manual_section where manual = 'rules'") == [("/team",)]
        indexed = rows.rows("select address from document where space = '/team'")
    assert len(indexed) == 7


def test_the_index_made_anew_is_the_same(app, manuals, talk):
    talk.call("manual", "list")

    def kept() -> list[tuple[str, str, str]]:
        with app.database.reading() as rows:
            return sorted(rows.rows("select address, title, space from document"))

    before = kept()
    with app.database.reading() as rows:
        made = app.registry.get_module("manual").documents(rows, None, 1000)
    assert sorted((each.address, each.title, each.namespace) for each in made) == before

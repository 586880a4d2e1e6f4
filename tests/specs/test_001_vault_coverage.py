"""specs/001 over the wire: everything about a topic, walking through a file, coverage, and the audit of artifacts."""

import json
from pathlib import Path

import pytest
from talk import Lines

from tokonoma.app import App

MERMAID = """flowchart TD
    %% source_lines: 1-2
    A([Start]) --> B{Ready?}
    %% source_lines: 3
    B -- yes --> C[Ship it]
    B -->|no| D[Fix it]  %% source_lines: 4-5
    D --> B %% source_lines: 6
    %% source_lines: 7
    X[Nobody comes here] --> Y[The attic]
    Z["No evidence (yet)"]
"""

FLOW = """The flow starts with a question.
Start: is it ready?
If it is ready, ship it.
Otherwise the flow goes on.
If it is not ready, fix it.
If you fix it, ask again whether it is ready.
Nobody comes here or into the attic.
"""


@pytest.fixture
def root(app) -> Path:
    folder = Path(app.server_info.locations()["vault"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def lines(count: int) -> str:
    return "".join(f"line {number} of the source\n" for number in range(1, count + 1))


def code(talk, tool, **params) -> str:
    return talk.refused("vault", tool, **params)["code"]


# vault_find


def test_find_answers_figures_and_hits_list_the_places(talk, root):
    (root / "notes").mkdir()
    (root / "notes" / "a.md").write_text("# データベース\n設定の方法\n\n# 別の話\n何もない\n")
    (root / "notes" / "b.md").write_text("# Setup\nデータ・ベースの設定はこちら\n")
    (root / "notes" / "c.md").write_text("# 設定\nデータベース\n")
    found = talk.call("vault", "find", query="データベースの設定")
    assert len(json.dumps(found, ensure_ascii=False)) < 2_500
    assert "こちら" not in json.dumps(found, ensure_ascii=False)
    summary = found["summary"]
    assert (summary["scanned_files"], summary["candidates"], summary["scanned_nodes"]) == (3, 3, 4)
    assert summary["integration_status"] == "ready"
    assert "cutoff_reason" not in summary
    assert found["next_actions"][-1] == {
        "type": "stop",
        "confidence": summary["sufficiency_score"],
        "params": None,
        "intent": "vault_completed",
    }
    hits = talk.call("vault", "hits", trace_id=found["trace_id"])
    assert {each["ref"]["path"] for each in hits["items"]} == {"notes/a.md", "notes/b.md", "notes/c.md"}
    assert all(each["ref"]["target"] == "vault" for each in hits["items"])
    assert hits["items"] == sorted(hits["items"], key=lambda each: -each["score"])


def test_loose_spelling_is_found_in_stage_one(talk, root):
    (root / "a.md").write_text("e-mail の申し込み\n")
    found = talk.call("vault", "find", query="email 申込み")
    assert found["summary"]["candidates"] == 1
    assert found["summary"]["signal_coverage"]["loose"] == 1
    assert found["summary"]["gap_count"] == 0


def test_gaps_and_bias_become_next_actions(talk, root):
    (root / "a.md").write_text("".join(f"# part {number}\napple\n" for number in range(6)))
    found = talk.call("vault", "find", query="apple zebra")
    intents = [each["intent"] for each in found["next_actions"]]
    assert found["summary"]["file_bias_ratio"] == 1.0
    assert {"fill_gaps", "reduce_file_bias", "verify_coverage"} <= set(intents)
    for action in found["next_actions"]:  # each can be called as it stands
        if action["type"] != "stop":
            talk.call("vault", action["type"].removeprefix("vault_"), **action["params"])
    nothing = talk.call("vault", "find", query="xyzzy")
    assert (nothing["summary"]["integration_status"], nothing["summary"]["candidates"]) == ("blocked", 0)


def test_a_budget_that_cuts_says_so_and_the_sums_agree(talk, root):
    for number in range(10):
        (root / f"n{number}.md").write_text("# one\napple\n# two\napple\n# three\npear\n")
    found = talk.call("vault", "find", query="apple", budget={"max_candidates": 5})
    summary = found["summary"]
    assert summary["cutoff_reason"] == "candidate_cap"
    assert summary["candidates"] == 5
    assert summary["scanned_nodes"] + summary["unscanned_sections_count"] == 30
    left = talk.call("vault", "hits", trace_id=found["trace_id"], kind="unscanned")
    assert {each["reason"] for each in left["items"]} == {"candidate_cap"}
    assert code(talk, "find", query="x", budget={"max_candidates": 201}) == "invalid_parameter"
    assert code(talk, "find", query="x", budget={"time_ms": 60_001}) == "invalid_parameter"
    assert code(talk, "hits", trace_id="nothing") == "not_found"


def test_daily_notes_can_be_left_out(talk):
    talk.call("vault", "create", path="artifacts/daily/2026-03-01.md", content="apple")
    talk.call("vault", "create", path="notes/a.md", content="apple")
    every = talk.call("vault", "find", query="apple")["summary"]["candidates"]
    some = talk.call("vault", "find", query="apple", scope={"glob": "!artifacts/daily/**"})["summary"]["candidates"]
    below = talk.call("vault", "find", query="apple", scope={"relative_dir": "notes"})["summary"]["candidates"]
    assert (every, some, below) == (2, 1, 1)


def test_another_process_lists_what_this_one_found(talk, app, root):
    (root / "a.md").write_text("apple\n")
    found = talk.call("vault", "find", query="apple")
    other = App({"home": str(app.home), "database_url": app.database_url(), "durable": False}, {})
    try:
        assert Lines(other).call("vault", "hits", trace_id=found["trace_id"])["total"] == 1
    finally:
        other.close()


# vault_scan


def walked(talk, **params):
    steps = [talk.call("vault", "scan", **params)]
    while not steps[-1]["eof"]:
        steps.append(talk.call("vault", "scan", **{**params, "cursor": steps[-1]["next_cursor"]}))
    return steps


def test_the_first_walk_reads_every_line_once(talk, root):
    (root / "a.txt").write_text(lines(200))
    steps = walked(talk, path="a.txt")
    assert "".join(step["text"] for step in steps) == lines(200)
    assert [step["applied_range"]["end_line"] for step in steps] == [80, 160, 200]
    assert [step["coverage_ratio"] for step in steps] == [0.4, 0.8, 1.0]
    assert all(step["marginal_gain"] > 0.02 for step in steps)
    assert steps[0]["next_actions"][0]["type"] == "vault_scan"
    assert steps[-1]["next_actions"][0]["intent"] == "verify_coverage"
    assert len(walked(talk, path="a.txt", chunk_lines=200)) == 1


def test_the_second_walk_goes_to_what_nothing_cited(talk, root):
    (root / "a.txt").write_text(lines(100))
    walked(talk, path="a.txt")
    talk.call(
        "vault",
        "coverage",
        path="a.txt",
        cited_ranges=[{"start_line": 1, "end_line": 40}, {"start_line": 61, "end_line": 90}],
    )
    steps = walked(talk, path="a.txt")
    ranges = [tuple(step["applied_range"].values()) for step in steps]
    assert ranges == [(41, 60), (91, 100)]
    assert {step["round"] for step in steps} == {"uncited"}
    assert all(step["marginal_gain"] == 0 for step in steps)  # nothing new: all of it was read before


def test_a_walk_goes_on_with_what_was_not_read_yet(talk, root):
    (root / "a.txt").write_text(lines(100))
    talk.call("vault", "read", path="a.txt", range={"start_line": 1, "end_line": 30})
    step = talk.call("vault", "scan", path="a.txt")
    assert (step["round"], step["applied_range"]["start_line"]) == ("unread", 31)


def test_another_content_goes_on_with_its_own_lines_and_an_old_cursor_is_a_conflict(talk, root):
    (root / "a.txt").write_text(lines(100))
    step = talk.call("vault", "scan", path="a.txt")
    (root / "a.txt").write_text(lines(120))
    assert code(talk, "scan", path="a.txt", cursor=step["next_cursor"]) == "conflict"
    assert (
        talk.call("vault", "scan", path="a.txt")["applied_range"]["start_line"] == 81
    )  # the lines before are the same
    (root / "b.txt").write_text("x\n")
    assert code(talk, "scan", path="b.txt", cursor=step["next_cursor"]) == "invalid_parameter"
    assert code(talk, "scan", path="a.txt", cursor="x") == "invalid_parameter"
    assert code(talk, "scan", path="a.txt", chunk_lines=0) == "invalid_parameter"
    assert code(talk, "scan", path="a.txt", chunk_lines=201) == "invalid_parameter"


def test_a_line_longer_than_an_answer_is_walked_in_pieces(talk, root):
    text = "short\n" + "x" * 45_000 + "\nend\n"
    (root / "a.txt").write_text(text)
    steps = walked(talk, path="a.txt")
    assert "".join(step["text"] for step in steps) == text
    assert max(len(step["text"]) for step in steps) <= 20_000
    assert "long_line" in {step["truncated_reason"] for step in steps}
    assert steps[-1]["coverage_ratio"] == 1.0


# vault_coverage


def test_coverage_merges_ranges_and_says_what_is_left(talk, root):
    (root / "a.txt").write_text(lines(100))
    walked(talk, path="a.txt")
    told = talk.call(
        "vault",
        "coverage",
        path="a.txt",
        cited_ranges=[{"start_line": s, "end_line": e} for s, e in [(50, 60), (1, 10), (11, 20), (15, 25)]],
    )
    assert told["covered_ranges"] == [{"start_line": 1, "end_line": 25}, {"start_line": 50, "end_line": 60}]
    assert told["uncovered_ranges"] == [{"start_line": 26, "end_line": 49}, {"start_line": 61, "end_line": 100}]
    assert told["coverage_ratio"] == 0.36
    assert told["next_actions"][0]["type"] == "vault_scan"
    again = talk.call("vault", "coverage", path="a.txt")
    assert (again["coverage_ratio"], again["added_evidence_count"], again["marginal_gain"]) == (0.36, 0, 0.0)
    whole = talk.call("vault", "coverage", path="a.txt", cited_ranges=[{"start_line": 1, "end_line": 100}])
    assert (whole["coverage_ratio"], whole["uncovered_ranges"]) == (1.0, [])
    assert whole["next_actions"] == [{"type": "stop", "confidence": 0.9, "params": None, "intent": "vault_completed"}]


def test_coverage_of_nothing_is_whole_and_wrong_ranges_are_refused(talk, root):
    (root / "empty.txt").write_text("")
    assert talk.call("vault", "coverage", path="empty.txt", cited_ranges=[])["coverage_ratio"] == 1.0
    (root / "a.txt").write_text(lines(10))
    for start, end in [(5, 4), (1, 11), (0, 3)]:
        wrong = [{"start_line": start, "end_line": end}]
        assert code(talk, "coverage", path="a.txt", cited_ranges=wrong) == "invalid_parameter"


# artifact_audit


def test_the_audit_of_a_flowchart(talk, root):
    (root / "source.txt").write_text(FLOW)
    (root / "chart.md").write_text(f"# Flow\nsource_lines: 1-7\n\n```mermaid\n{MERMAID}```\n")
    walked(talk, path="source.txt")
    told = talk.value("artifact_audit", artifact_path="chart.md", source_path="source.txt")
    assert {each["title"] for each in told["rootless"]} == {"No evidence (yet)"}
    assert {each["title"] for each in told["orphan"]} == {"Nobody comes here", "The attic", "No evidence (yet)"}
    assert told["counts"] == {"rootless": 1, "orphan": 3, "one_way": 0}
    assert told["coverage_ratio"] == 1.0
    assert (told["statuses"]["unsupported"], told["statuses"]["unread"]) == (1, 0)  # the one that cites nothing
    assert {each["kind"] for each in told["judged"] if each["status"] == "weak"} <= {"edge"}
    assert told["needs_forced_full_scan"] is True
    assert told["next_actions"][0]["type"] == "vault_scan"


def test_a_sound_artifact_needs_nothing(talk, root):
    (root / "source.txt").write_text(FLOW)
    sound = (
        "# The flow\nsource_lines: 1-4\n- If it is not ready, fix it (source_lines: 5)\n"
        "- Nobody comes into the attic [L6-L7]\n"
    )
    (root / "a.md").write_text(sound)
    walked(talk, path="source.txt")
    talk.call("vault", "audit", artifact_path="a.md", source_path="source.txt")
    told = talk.call("vault", "audit", artifact_path="a.md", source_path="source.txt")
    assert (told["coverage_ratio"], told["evidence_ratio"], told["elements"]) == (1.0, 1.0, 3)
    assert (told["needs_forced_full_scan"], told["reasons"]) == (False, [])
    assert (told["statuses"]["supported"], told["judged"]) == (3, [])
    assert told["next_actions"][0]["intent"] == "vault_completed"


def test_the_audit_of_an_outline(talk, root):
    (root / "source.txt").write_text(lines(10))
    outline = (
        "- before any heading (source_lines: 1)\n\n# One\nsource_lines: 2-3\n\nRelated: [two](#two), [gone](#gone)\n\n"
        "# Two\nsource_lines: 90\n\n```\n# no heading\n```\n- plain item\n"
    )
    (root / "a.md").write_text(outline)
    told = talk.call("vault", "audit", artifact_path="a.md", source_path="source.txt")
    assert {each["id"] for each in told["rootless"]} == {"two", "L14"}  # beyond the end; nothing said
    assert [each["id"] for each in told["orphan"]] == ["L1"]
    assert [(each["from_id"], each["to_id"], each.get("missing", False)) for each in told["one_way"]] == [
        ("one", "two", False),
        ("one", "gone", True),
    ]


def test_the_audit_of_json(talk, root):
    (root / "source.txt").write_text(lines(10))
    graph = {
        "start": "a",
        "nodes": [
            {"id": "a", "source_lines": "1-2", "children": ["b"], "related": ["c"]},
            {"id": "b", "source_lines": [3, 4], "parent": "a"},
            {"id": "c", "source_lines": [[5, 6], [8, 8]], "parent": "a"},
            {"id": "d", "title": "a"},
        ],
        "edges": [{"from": "b", "to": "c"}, {"from": "b", "to": "zzz"}],
    }
    (root / "a.json").write_text(json.dumps(graph))
    told = talk.call("vault", "audit", artifact_path="a.json", source_path="source.txt")
    assert [each["id"] for each in told["rootless"]] == ["d"]
    assert [each["id"] for each in told["orphan"]] == ["d"]
    assert {(each["from_id"], each["to_id"], each.get("relation")) for each in told["one_way"]} == {
        ("a", "c", "related"),
        ("c", "a", "parent"),
        ("b", "zzz", None),
    }
    (root / "broken.json").write_text("{")
    assert code(talk, "audit", artifact_path="broken.json", source_path="source.txt") == "forbidden"
    (root / "deep.json").write_text("[" * 70 + "]" * 70)
    assert code(talk, "audit", artifact_path="deep.json", source_path="source.txt") == "forbidden"
    (root / "a.csv").write_text("x")
    assert code(talk, "audit", artifact_path="a.csv", source_path="source.txt") == "forbidden"
    assert code(talk, "audit", artifact_path="none.json", source_path="source.txt") == "not_found"

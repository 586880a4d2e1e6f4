"""specs/001 over the wire: coverage counts what was read, and an audit checks what an artifact says."""

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from specs.audit_cases import ATTEMPTS, HANDBOOK, HONEST, JSON_ATTEMPTS, KISOKU
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.auth import api_keys

SOURCES = {"en": ("handbook.md", HANDBOOK), "ja": ("kisoku.md", KISOKU)}


@pytest.fixture
def root(app) -> Path:
    folder = Path(app.server_info.locations()["vault"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def manual(app) -> Path:
    folder = Path(app.server_info.locations()["manuals"]) / "book"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def owner(app) -> Lines:
    return Lines(app)


def ranges(*pairs: tuple[int, int]) -> list[dict[str, int]]:
    return [{"start_line": start, "end_line": end} for start, end in pairs]


def read_all(talk, path: str) -> None:
    talk.call("vault", "read", path=path, full=True, limits={"max_chars": 20_000})


def audit(talk, root: Path, text: str, source: str = "source.md", name: str = "artifact.md"):
    (root / name).write_text(text)
    return talk.call("vault", "audit", artifact_path=name, source_path=source)


def audit_with(talk, root: Path, text: str, sources: list[dict[str, str]]):
    (root / "artifact.md").write_text(text)
    return talk.call("vault", "audit", artifact_path="artifact.md", sources=sources)


def statuses(told) -> dict[str, str]:
    return {each["title"]: f"{each['status']} {each.get('reason', '')}".strip() for each in told["judged"]}


# Coverage


def test_lines_that_were_cited_and_never_read_are_not_covered(talk, root):
    (root / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    told = talk.call("vault", "coverage", path="a.txt", cited_ranges=ranges((1, 10)))
    assert (told["coverage_ratio"], told["covered_ranges"], told["cited_unread_ranges"]) == (0.0, [], ranges((1, 10)))
    assert told["uncovered_ranges"] == ranges((1, 10))
    talk.call("vault", "read", path="a.txt", range={"start_line": 3, "end_line": 5})
    told = talk.call("vault", "coverage", path="a.txt", cited_ranges=ranges((1, 4)))
    assert (told["coverage_ratio"], told["covered_ranges"]) == (0.2, ranges((3, 4)))
    assert (told["read_ranges"], told["cited_unread_ranges"]) == (ranges((3, 5)), ranges((1, 2)))
    assert (told["cited_ranges"], told["never_seen_ranges"]) == (ranges((1, 4)), ranges((6, 10)))


def test_a_line_is_read_when_all_of_it_was_shown(talk, root):
    (root / "a.txt").write_text("x" * 45_000 + "\nshort\n")
    talk.call("vault", "read", path="a.txt", full=True, limits={"max_chars": 1})
    talk.call("vault", "search", query="xxx")  # shows 240 characters of it
    assert talk.call("vault", "coverage", path="a.txt")["read_ranges"] == []
    step = talk.call("vault", "scan", path="a.txt")
    while not step["eof"]:
        assert step["applied_range"]["start_line"] > 1 or step["coverage_ratio"] < 1
        step = talk.call("vault", "scan", path="a.txt", cursor=step["next_cursor"])
    assert talk.call("vault", "coverage", path="a.txt")["read_ranges"] == ranges((1, 2))


def test_a_found_line_that_is_shown_whole_was_read(owner, root):
    (root / "a.txt").write_text("one apple\ntwo\nan apple\n")
    owner.call("vault", "search", query="apple")
    assert owner.call("vault", "coverage", path="a.txt")["read_ranges"] == ranges((1, 1), (3, 3))


def test_an_edit_keeps_what_is_known_of_the_lines_that_stayed(talk, root):
    (root / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    read_all(talk, "a.txt")
    talk.call("vault", "coverage", path="a.txt", cited_ranges=ranges((1, 10)))
    edited = ["new 1", "new 2", *(f"line {number}" for number in range(1, 5)), "line five", "line 6", "line 10"]
    (root / "a.txt").write_text("\n".join(edited) + "\n")
    told = talk.call("vault", "coverage", path="a.txt")
    assert told["read_ranges"] == told["cited_ranges"] == ranges((3, 6), (8, 9))
    assert told["never_seen_ranges"] == ranges((1, 2), (7, 7))
    assert told["changed_ranges"] == ranges((7, 7))
    assert talk.call("vault", "scan", path="a.txt")["applied_range"] == ranges((1, 2))[0]
    (root / "a.txt").write_text("".join(f"other {number}\n" for number in range(1, 11)))
    assert talk.call("vault", "coverage", path="a.txt")["read_ranges"] == []


def test_each_caller_has_its_own_log(app, owner, root):
    (root / "a.txt").write_text("one\ntwo\n")
    with app.database.writing() as statements:
        other = Http(app, api_keys.create_key(statements, "other", api_keys.build_reach()))
    read_all(owner, "a.txt")
    assert other.call("vault", "coverage", path="a.txt")["read_ratio"] == 0.0
    assert owner.call("vault", "coverage", path="a.txt")["read_ratio"] == 1.0


def test_old_lines_and_old_logs_are_not_kept(app, owner, root):
    for number in range(20):
        (root / "a.txt").write_text("same\n" + f"line {number}\n")
        read_all(owner, "a.txt")
    with app.database.reading() as rows:
        assert rows.rows("select count(*) from file_ledger") == [(1,)]
        assert rows.rows("select count(*) from file_lines") == [(1,)]


def test_manuals_have_the_same_log(talk, manual):
    (manual / "a.md").write_text("# One\nfirst\n\n# Two\n" + "y" * 30_000 + "\n")
    ref = {"manual_id": "book", "path": "a.md", "start_line": 1}
    talk.call("manual", "read", ref=ref, scope="section")
    told = talk.call("manual", "coverage", manual_id="book", path="a.md", cited_ranges=ranges((1, 5)))
    assert (told["read_ranges"], told["cited_unread_ranges"]) == (ranges((1, 3)), ranges((4, 5)))
    assert (told["coverage_ratio"], told["path"], told["manual_id"]) == (0.6, "a.md", "book")
    action = told["next_actions"][0]
    assert action["type"] == "manual_read"
    talk.call("manual", "read", **action["params"])  # the last line is longer than an answer
    told = talk.call("manual", "coverage", manual_id="book", path="a.md")
    assert (told["read_ranges"], told["cited_ranges"]) == (ranges((1, 4)), ranges((1, 5)))
    part = talk.call("manual", "read", ref={**ref, "start_line": 5}, scope="sections")
    assert talk.call("manual", "coverage", manual_id="book", path="a.md")["read_ranges"] == ranges((1, 4))
    while "next_ref" in part:
        part = talk.call("manual", "read", ref=part["next_ref"], scope="sections")
    assert talk.call("manual", "coverage", manual_id="book", path="a.md")["read_ranges"] == ranges((1, 5))
    (manual / "a.md").write_text("# Zero\n\n# One\nfirst\n\n# Two\nchanged\n")
    told = talk.call("manual", "coverage", manual_id="book", path="a.md")
    assert (told["read_ranges"], told["never_seen_ranges"]) == (ranges((3, 6)), ranges((1, 2), (7, 7)))
    assert talk.refused("manual", "coverage", manual_id="book", path="none.md")["code"] == "not_found"
    beyond = {"manual_id": "book", "path": "a.md", "cited_ranges": ranges((1, 99))}
    assert talk.refused("manual", "coverage", **beyond)["code"] == "invalid_parameter"


# Audit


@pytest.mark.parametrize(("name", "text", "language"), ATTEMPTS, ids=[each[0] for each in ATTEMPTS])
def test_the_audit_is_not_fooled(embedding_talk, name, text, language):
    talk, root = embedding_talk
    path, source = SOURCES[language]
    (root / path).write_text(source)
    read_all(talk, path)
    told = audit(talk, root, text, path)
    assert told["needs_forced_full_scan"], name
    assert told["statuses"]["supported"] < told["elements"], told
    assert any(each["status"] != "supported" for each in told["judged"])


@pytest.mark.parametrize(("name", "value"), JSON_ATTEMPTS, ids=[each[0] for each in JSON_ATTEMPTS])
def test_the_audit_is_not_fooled_by_json(embedding_talk, name, value):
    talk, root = embedding_talk
    (root / "handbook.md").write_text(HANDBOOK)
    read_all(talk, "handbook.md")
    whole = [{"start_line": 1, "end_line": len(HANDBOOK.splitlines())}]
    (root / "a.json").write_text(json.dumps(value, ensure_ascii=False))
    given = {"artifact_path": "a.json", "source_path": "handbook.md", "cited_ranges": whole}
    told = talk.call("vault", "audit", **given)
    assert told["coverage_ratio"] == 1.0
    assert told["needs_forced_full_scan"], name
    assert told["supported_ratio"] < 1.0
    assert told["next_actions"][0]["type"] != "stop"


def test_true_and_false_are_said_not_to_be_audited(owner, root):
    (root / "source.md").write_text("alpha beta\n")
    read_all(owner, "source.md")
    value = {"text": "alpha beta", "source_lines": 1, "flag": True, "more": [False, [True]]}
    told = audit(owner, root, json.dumps(value), name="a.json")
    assert told["warnings"] == ["true and false are not audited: 3"]
    assert told["statuses"]["supported"] == 1


@pytest.fixture(scope="module")
def embedding_talk(tmp_path_factory):
    """One server for all attempts: none of them changes what the others see."""
    home = tmp_path_factory.mktemp("attempts")
    app = App({"home": str(home), "durable": False}, {})
    root = Path(app.server_info.locations()["vault"])
    root.mkdir(parents=True, exist_ok=True)
    yield Lines(app), root
    app.close()


def test_honest_artifacts_are_not_refused(embedding_talk):
    talk, root = embedding_talk
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    for _, text, language in HONEST:
        path, source = SOURCES[language]
        (root / path).write_text(source)
        read_all(talk, path)
        told = audit(talk, root, text, path)
        counted.update(told["statuses"])
        wrong += [f"{each}: {text}" for each in statuses(told).values() if not each.startswith("weak")]
    assert len(HONEST) >= 40
    assert wrong == []
    assert counted["supported"] >= 0.5 * sum(counted.values()), counted


def test_one_wide_citation_supports_no_more_than_a_narrow_one(owner, root):
    (root / "source.md").write_text("".join(f"Item {number} is made of wood.\n" for number in range(1, 251)))
    for start in range(1, 251, 100):
        owner.call("vault", "read", path="source.md", range={"start_line": start, "end_line": min(start + 99, 250)})
    told = audit(
        owner, root, "- The moon is cheese (source_lines: 1-250)\n- Item 7 is made of wood (source_lines: 1-250)\n"
    )
    assert statuses(told) == {"The moon is cheese": "unsupported words", "Item 7 is made of wood": "weak broad"}
    assert told["coverage_ratio"] < 0.05
    assert [each["found_in"] for each in told["judged"] if each["title"].startswith("Item")] == ["source.md:7-7"]


def test_lines_that_were_not_read_support_nothing(owner, root):
    (root / "source.md").write_text(HANDBOOK)
    text = "- Alice reports to Bob (source_lines: 12)\n"
    assert statuses(audit(owner, root, text)) == {"Alice reports to Bob": "unread cited_unread"}
    owner.call("vault", "read", path="source.md", range={"start_line": 12, "end_line": 12}, limits={"max_chars": 5})
    assert statuses(audit(owner, root, text)) == {"Alice reports to Bob": "unread cited_unread"}
    owner.call("vault", "read", path="source.md", range={"start_line": 12, "end_line": 12})
    assert audit(owner, root, text)["statuses"]["supported"] == 1


def test_a_source_that_changed_since_it_was_read_makes_an_element_stale(owner, root):
    (root / "source.md").write_text(HANDBOOK)
    read_all(owner, "source.md")
    text = "- Alice reports to Bob (source_lines: 12)\n- Overdue books cost 50 yen per day (source_lines: 13)\n"
    assert audit(owner, root, text)["statuses"]["supported"] == 2
    (root / "source.md").write_text(HANDBOOK.replace("Alice reports to Bob.", "Alice reports to Bob, sometimes."))
    assert statuses(audit(owner, root, text)) == {"Alice reports to Bob": "stale changed_since_read"}
    version = owner.call("vault", "read", path="source.md", full=True)["version"]
    dated = "- Overdue books cost 50 yen per day (source_lines: 13@{})\n"
    assert audit(owner, root, dated.format(version[:12]))["statuses"]["supported"] == 1
    (root / "source.md").write_text(HANDBOOK)
    read_all(owner, "source.md")
    assert statuses(audit(owner, root, dated.format(version[:12]))) == {
        "Overdue books cost 50 yen per day": "stale version"
    }


def test_sources_may_be_manuals_and_several(talk, root, manual):
    (manual / "setup.md").write_text("# Setup\n\nInstall the package with pip.\n")
    (root / "source.md").write_text(HANDBOOK)
    sources = [{"path": "source.md"}, {"manual_id": "book", "path": "setup.md"}]
    text = (
        "# Setup (source_lines: setup.md:1)\n"
        "- Install the package with pip (source_lines: book/setup.md:3)\n"
        "- Alice reports to Bob (source_lines: 12)\n"
        "- Install the package with conda (source_lines: setup.md:3)\n"
        "- Nobody reads this (source_lines: other.md:1)\n"
    )
    assert audit_with(talk, root, text, sources)["statuses"]["unread"] >= 3
    read_all(talk, "source.md")
    talk.call("manual", "read", ref={"manual_id": "book", "path": "setup.md"}, scope="section")
    told = audit_with(talk, root, text, sources)
    assert told["statuses"]["supported"] == 3
    assert statuses(told) == {
        "Install the package with conda": "weak words",
        "Nobody reads this": "unsupported unknown_source",
    }
    only = audit_with(talk, root, "- Install the package with pip (source_lines: 3)\n", sources[1:])
    assert (only["statuses"]["supported"], only["coverage_ratio"]) == (1, 0.333333)
    assert only["next_actions"][0]["type"] == "manual_read"
    none = [{"manual_id": "book", "path": "none.md"}]
    assert talk.refused("vault", "audit", artifact_path="artifact.md", sources=none)["code"] == "not_found"
    assert talk.refused("vault", "audit", artifact_path="artifact.md")["code"] == "invalid_parameter"


def test_a_source_that_a_caller_may_not_see_supports_nothing(app, root, manual):
    (root / "team").mkdir()
    (root / "team" / "artifact.md").write_text("- Alice reports to Bob (source_lines: 12)\n")
    (root / "source.md").write_text(HANDBOOK)
    (manual / "setup.md").write_text(HANDBOOK)
    with app.database.writing() as statements:
        reach = api_keys.build_reach(root="/team")
        key = Http(app, api_keys.create_key(statements, "team", reach))
    refused = key.refused("vault", "audit", artifact_path="team/artifact.md", source_path="source.md")
    assert refused["code"] == "out_of_scope"
    hidden = [{"manual_id": "book", "path": "setup.md"}]
    assert key.refused("vault", "audit", artifact_path="team/artifact.md", sources=hidden)["code"] == "not_found"


def test_an_artifact_is_not_its_own_source(owner, root):
    (root / "a.md").write_text("- The moon is cheese (source_lines: 1)\n")
    (root / "copy.md").write_text("- The moon is cheese (source_lines: 1)\n")
    for source in ("a.md", "copy.md"):
        refused = owner.refused("vault", "audit", artifact_path="a.md", source_path=source)
        assert refused["code"] == "invalid_parameter"


def test_front_matter_is_no_element_and_a_heading_keeps_its_anchor(owner, root):
    (root / "source.md").write_text("alpha beta\n")
    read_all(owner, "source.md")
    text = "---\ntitle: The moon is cheese\n---\n\n# Alpha (source_lines: 1)\n\nSee also: [alpha](#alpha)\n"
    told = audit(owner, root, text)
    assert (told["elements"], told["statuses"]["supported"], told["one_way"]) == (1, 1, [])


def test_every_kind_of_element_needs_lines(owner, root):
    (root / "source.md").write_text("alpha beta gamma delta\n")
    charts = "".join(
        f"```mermaid\n{chart}\n```\n\n"
        for chart in (
            "flowchart TD\nA[alpha] -->|x| B[beta]",
            "sequenceDiagram\nparticipant C as gamma\nC->>D: y\nNote over C: delta",
            'stateDiagram-v2\nE --> F : z\nstate "alpha" as G',
            "classDiagram\nH <|-- I\nclass J {\n+int size\n}",
            "erDiagram\nK ||--o{ L : has\nM {\nstring name\n}",
            'pie\n"alpha" : 30',
        )
    )
    told = audit(owner, root, f"# alpha\n\nA paragraph.\n\n- an item\n\n| a |\n|---|\n| row |\n\n> quoted\n\n{charts}")
    kinds = Counter(each["kind"] for each in told["rootless"])
    assert kinds == {
        "heading": 1, "paragraph": 2, "list_item": 1, "table_row": 1, "node": 13, "edge": 5, "note": 1, "member": 2,
        "line": 1,
    }  # fmt: skip
    assert told["warnings"] == []
    graph = {"nodes": [{"id": "a", "text": "alpha"}, {"text": "beta"}], "edges": [{"from": "a", "to": "b"}]}
    told = audit(owner, root, json.dumps(graph), name="a.json")
    assert [each["id"] for each in told["rootless"]] == ["a", "$.nodes[1]", "$.edges[0]"]


def test_json_with_a_key_or_an_id_twice_hides_nothing(owner, root):
    (root / "source.md").write_text("alpha beta\n")
    read_all(owner, "source.md")
    (root / "a.json").write_text('{"text": "The moon is cheese", "text": "alpha", "source_lines": 1}')
    assert owner.refused("vault", "audit", artifact_path="a.json", source_path="source.md")["code"] == "forbidden"
    twice = [
        {"id": "a", "text": "alpha beta", "source_lines": 1},
        {"id": "a", "text": "The moon is cheese", "source_lines": 1},
    ]
    told = audit(owner, root, json.dumps(twice), name="a.json")
    assert (told["statuses"]["supported"], told["statuses"]["unsupported"]) == (1, 1)
    assert "another object has the id 'a'" in told["warnings"][0]
    assert "parts of the artifact were not understood" in told["reasons"]


def test_without_a_model_another_language_is_weak_and_other_words_are_not(tmp_path):
    app = App({"home": str(tmp_path / "home"), "durable": False, "embed_provider": "none"}, {})
    try:
        root = Path(app.server_info.locations()["vault"])
        root.mkdir(parents=True, exist_ok=True)
        talk = Lines(app)
        (root / "source.md").write_text(HANDBOOK)
        read_all(talk, "source.md")
        told = audit(talk, root, "- パスワードは変更する (source_lines: 5)\n- The moon is cheese (source_lines: 5)\n")
    finally:
        app.close()
    assert statuses(told) == {"パスワードは変更する": "weak no_model", "The moon is cheese": "unsupported words"}


def test_a_large_audit_is_quick(owner, root):
    words = [
        "server",
        "account",
        "backup",
        "key",
        "update",
        "member",
        "book",
        "room",
        "export",
        "import",
        "limit",
        "report",
        "invoice",
        "log",
        "harbour",
    ]
    lines = [f"The {words[n % 15]} {n} of the {words[n % 7]} is kept for {n % 90} days.\n" for n in range(5000)]
    (root / "source.md").write_text("".join(lines))
    made = [f"- {lines[n * 10].strip()} (source_lines: {n * 10 + 1}-{n * 10 + 4})\n" for n in range(450)]
    made += [f"- The {words[n % 15]} number {n} is thrown away (source_lines: 1-5000)\n" for n in range(50)]
    (root / "artifact.md").write_text("".join(made))
    owner.call("vault", "audit", artifact_path="artifact.md", source_path="source.md")  # loads the model
    before = time.process_time()
    told = owner.call("vault", "audit", artifact_path="artifact.md", source_path="source.md")
    assert told["elements"] == 500
    assert time.process_time() - before < 4  # about 1 s on an idle core

"""specs/001: what a search does with what it found by name: stage 4, its thresholds, the cap, the status, the log."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from talk import Json, Lines, Talk

from tokonoma.modules.manual.judge import DAY_MS
from tokonoma.modules.manual.stages import NAMED


@pytest.fixture
def manuals(tmp_path) -> Path:
    """Printers that take paper, in forty files: whatever is asked about paper, the shared index knows sections."""
    folder = tmp_path / "home" / "workspace" / "manuals"
    for number in range(40):
        write(folder, f"office/page{number}.md", f"# Page {number}\nPrinter {number} takes paper.\n")
    return folder


@pytest.fixture
def line(app) -> Talk:
    return Lines(app)


def write(folder: Path, path: str, text: str) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def write_topic(folder: Path, topic: str, spread: Iterable[int], text: str = "") -> None:
    """Sections about a topic: as many in each file as `spread` says."""
    for number, count in enumerate(spread):
        sections = (f"# Part {part}\nThe {topic} is grey. {text}\n" for part in range(count))
        write(folder, f"office/{topic.replace(' ', '-')}{number}.md", "".join(sections))


def stage(talk: Talk, query: str, **more) -> float:
    return talk.call("manual", "find", query=query, manual_id="office", **more)["summary"]["max_stage_applied"]


def find_action(found, type: str):
    return next(each for each in found["next_actions"] if each["type"] == type)


def list_hits(talk: Talk, trace_id: str, **more) -> Iterator[Json]:
    seen, total = 0, 1
    while seen < total:
        page = talk.call("manual", "hits", trace_id=trace_id, offset=seen, limit=200, **more)
        yield from page["items"]
        seen, total = seen + 200, page["total"]


def test_nothing_by_name_widens_though_the_index_proposes_much(talk, manuals):
    found = talk.call("manual", "find", query="paper zeppelin", manual_id="office")
    assert found["summary"]["candidates"] >= 30
    assert found["summary"]["max_stage_applied"] == 4
    assert found["summary"]["integration_status"] == "needs_followup"
    assert found["summary"]["sufficiency_score"] == 0


def test_fewer_than_the_threshold_by_name_widens(talk, manuals):
    write_topic(manuals, "paper tray", (1, 1))
    assert stage(talk, "paper tray") == 4
    write_topic(manuals, "paper tray", (1, 1, 1))
    assert stage(talk, "paper tray") == 3


def test_nearly_all_by_name_in_one_file_widens(talk, manuals):
    write_topic(manuals, "paper tray", (4, 1))
    found = talk.call("manual", "find", query="paper tray", manual_id="office")
    assert (found["summary"]["file_bias_ratio"], found["summary"]["max_stage_applied"]) == (0.8, 4)
    assert "reduce_file_bias" in {action["intent"] for action in found["next_actions"]}
    write_topic(manuals, "paper tray", (4, 2))
    assert stage(talk, "paper tray") == 3
    write_topic(manuals, "paper tray", (4, 0))  # four are too few to be biased
    assert stage(talk, "paper tray") == 3


def test_no_exceptions_where_the_topic_is_named_widens(talk, manuals):
    write_topic(manuals, "paper tray", (1, 1, 1))
    write(manuals, "office/other.md", "# Paper\nPaper is white, except for labels.\n")
    assert stage(talk, "paper tray", intent="exceptions") == 4
    write_topic(manuals, "paper tray", (1, 1, 1), "It holds paper, except for labels.")
    assert stage(talk, "paper tray", intent="exceptions") == 3


def test_a_search_that_may_not_widen_is_cut_off_and_not_ready(talk, manuals):
    write_topic(manuals, "paper tray", (1, 1))
    summary = talk.call("manual", "find", query="paper tray", manual_id="office", max_stage=3)["summary"]
    assert (summary["cutoff_reason"], summary["integration_status"]) == ("stage_cap", "needs_followup")


def test_what_only_widening_finds_is_clearly_below_what_is_named(talk, manuals):
    write_topic(manuals, "paper tray", (1, 1))
    write(manuals, "shop/tray.md", "# Spare parts\nThe paper tray costs 20 euros.\n")
    write(manuals, "office/coffee.md", "# Kitchen\nA tray for coffee.\n")
    found = talk.call("manual", "find", query="paper tray", manual_id="office")
    assert found["summary"]["scope_expanded"] is True
    scores = {hit["ref"]["path"]: hit["score"] for hit in list_hits(talk, found["trace_id"])}
    named = {path for path, score in scores.items() if score >= NAMED}
    assert named == {"paper-tray0.md", "paper-tray1.md"}
    assert scores["tray.md"] <= NAMED - 0.1
    assert scores["coffee.md"] <= NAMED - 0.1
    assert find_action(found, "manual_hits")["params"]["limit"] == 2


def test_a_search_is_ready_if_it_names_the_topic_and_nothing_was_left_out(talk, manuals):
    write_topic(manuals, "paper tray", (1, 1, 1))
    whole = talk.call("manual", "find", query="paper tray", manual_id="office")
    assert whole["summary"]["integration_status"] == "ready"
    assert find_action(whole, "manual_hits")["intent"] == "manual_completed"
    cut = talk.call("manual", "find", query="paper tray", manual_id="office", budget={"max_candidates": 5})
    assert (cut["summary"]["cutoff_reason"], cut["summary"]["integration_status"]) == (
        "candidate_cap",
        "needs_followup",
    )
    assert find_action(cut, "manual_hits")["intent"] == "insufficient_candidates"


def test_contradictions_do_not_change_the_status(talk, manuals):
    write_topic(manuals, "paper tray", (1, 1, 1))
    write(manuals, "office/a.md", "# Paper tray\nThe paper tray warranty is 24 months.\n")
    before = talk.call("manual", "find", query="paper tray", manual_id="office")["summary"]
    write(manuals, "office/b.md", "# Warranty\nThe paper tray warranty is 12 months.\n")
    found = talk.call("manual", "find", query="paper tray", manual_id="office")
    assert (before["conflict_count"], found["summary"]["conflict_count"]) == (0, 1)
    assert found["summary"]["integration_status"] == before["integration_status"] == "ready"
    assert found["summary"]["sufficiency_score"] == before["sufficiency_score"]
    hint = next(action for action in found["next_actions"] if action["intent"] == "resolve_conflicts")
    assert hint["confidence"] < 0.5


def follow(talk: Talk, found: Json) -> set[tuple[str, str, int]]:
    """What an agent finds by name that lists each result and does the first search that is proposed."""
    named: set[tuple[str, str, int]] = set()
    for _ in range(10):
        for hit in list_hits(talk, found["trace_id"]):
            if hit["score"] >= NAMED:
                named.add((hit["ref"]["manual_id"], hit["ref"]["path"], hit["ref"]["start_line"]))
        proposed = [action["params"] for action in found["next_actions"] if action["type"] == "manual_find"]
        if "cutoff_reason" not in found["summary"]:
            return named
        found = talk.call("manual", "find", **proposed[0])
    raise AssertionError("the proposed searches do not end")


def test_a_cap_that_cuts_what_is_named_proposes_a_larger_one(talk, manuals):
    write_topic(manuals, "paper tray", (30, 30))
    found = talk.call("manual", "find", query="paper tray", manual_id="office", budget={"max_candidates": 20})
    params = found["next_actions"][0]["params"]
    assert params["budget"]["max_candidates"] >= 60
    assert params["manual_id"] == "office"
    assert len(follow(talk, found)) == 60


def test_beyond_the_largest_cap_the_rest_and_each_manual_are_proposed(line, manuals):
    sections = "".join(f"# Part {part}\nThe paper tray.\n" for part in range(510))
    write(manuals, "office/tray.md", sections)
    write(manuals, "shop/tray.md", sections)
    found = line.call("manual", "find", query="paper tray")
    raised = found["next_actions"][0]["params"]
    assert raised == {"query": "paper tray", "budget": {"max_candidates": 1000}}
    again = line.call("manual", "find", **raised)
    proposed = [action["params"] for action in again["next_actions"] if action["type"] == "manual_find"]
    assert proposed[0]["only_unscanned_from_trace_id"] == again["trace_id"]
    assert [each["manual_id"] for each in proposed[1:]] == ["office", "shop"]
    assert len(follow(line, found)) == 1020
    narrowed = line.call("manual", "find", **proposed[2])
    assert len([hit for hit in list_hits(line, narrowed["trace_id"]) if hit["score"] >= NAMED]) == 510


class Days:
    """Searches over days, through the tools; the thresholds are seen by what they do."""

    def __init__(self, talk: Talk, folder: Path, clock) -> None:
        self.talk, self.clock = talk, clock
        topics = {"paper": [2, 2, 2], "slot": [3, 1, 1], "lamp": [4, 1], "cover": [5, 1], "wheel": [9, 1]}
        topics |= {f"tray{count}": [1] * count for count in range(2, 7)}
        for number in range(6):
            sections = (
                f"# Part {part}\nThe {topic} is grey.\n"
                for topic, spread in topics.items()
                for part in range(*spread[number : number + 1] or [0])
            )
            write(folder, f"office/page{number}.md", "".join(sections))
        write(folder, "shop/beans.md", "# Beans\nThey are brown.\n")
        self.search()

    def search(self, cut: bool = False, read: str = "", seconds: int = 1) -> None:
        self.clock.advance(seconds * 1000)
        budget = {"max_candidates": 1 if cut else 1000}
        found = self.talk.call("manual", "find", query="paper", manual_id="office", budget=budget)
        if read:
            manual, _, path = read.partition("/")
            ref = {"manual_id": manual, "path": path, "start_line": 1}
            self.talk.call("manual", "read", ref=ref, trace_id=found["trace_id"])

    def pass_day(self, searches: int = 1, cuts: int = 0) -> None:
        """A day's searches, and the first one of the next day, which moves the thresholds."""
        for number in range(searches):
            self.search(number < cuts)
        self.search(seconds=DAY_MS // 1000 - searches)

    @property
    def low(self) -> int:
        """The number of sections by name from which on a search does not widen."""
        return next(count for count in range(2, 7) if stage(self.talk, f"tray{count}") == 3)

    def is_biased(self, topic: str) -> bool:
        return stage(self.talk, topic) == 4


@pytest.fixture
def days(line, tmp_path, frozen_clock) -> Days:
    return Days(line, tmp_path / "home" / "workspace" / "manuals", frozen_clock)


def test_after_a_day_without_cut_offs_a_search_widens_more_readily_and_bears_more_bias(days):
    assert (days.low, days.is_biased("lamp")) == (3, True)  # 0.80 of five
    days.clock.advance(DAY_MS - 60_000)
    assert days.low == 3
    days.clock.advance(60_000)
    assert (days.low, days.is_biased("lamp"), days.is_biased("cover")) == (4, False, True)  # 0.83 of six
    assert days.low == 4  # one step a day


def test_after_a_day_with_many_cut_offs_a_search_widens_less_readily(days):
    days.pass_day(10, cuts=3)
    assert days.low == 2
    days.pass_day(10, cuts=10)
    assert days.low == 2  # its lowest


def test_between_a_twentieth_and_a_fifth_nothing_moves(days):
    days.pass_day(10, cuts=1)
    assert days.low == 3


def test_the_thresholds_stay_within_their_ranges(days):
    for _ in range(6):
        days.pass_day()
    assert (days.low, days.is_biased("wheel")) == (6, True)  # 0.90 of ten is the highest share
    for _ in range(8):
        days.pass_day(cuts=1)
    assert (days.low, days.is_biased("lamp"), days.is_biased("slot")) == (2, True, False)  # 0.60 is below the lowest


def test_more_cut_offs_in_the_last_hundred_searches_reset_the_thresholds(days):
    for _ in range(3):
        days.pass_day()
    assert days.low == 6
    days.pass_day(100)
    days.pass_day(100, cuts=5)
    assert days.low == 3


def test_a_fall_of_the_recall_figure_resets_the_thresholds(days):
    for _ in range(3):
        days.pass_day()
    assert days.low == 6
    for number in range(100):
        days.search(read="office/page0.md" if number % 25 == 0 else "")
    for number in range(100):
        days.search(read="shop/beans.md" if number % 25 == 0 else "")  # no candidate
    days.pass_day(0)
    assert days.low == 3


def test_what_is_read_or_copied_under_a_trace_feeds_the_recall_figure(talk, app, manuals):
    write(manuals, "office/coffee.md", "# Kitchen\nBeans.\n")
    found = talk.call("manual", "find", query="printer 7 takes", manual_id="office")
    first = next(list_hits(talk, found["trace_id"]))["ref"]
    talk.call("manual", "read", ref=first, trace_id=found["trace_id"])
    elsewhere = {"target": "manual", "manual_id": "office", "path": "coffee.md", "start_line": 1}
    talk.call(
        "bridge", "copy_section", from_ref=elsewhere, to_path="notes/a.md", mode="create", trace_id=found["trace_id"]
    )
    with app.database.reading() as rows:
        assert rows.row("select used, hit from manual_run where id = :id", id=found["trace_id"]) == (2, 1)


def test_each_find_writes_one_line_to_stderr_without_what_was_asked(talk, manuals, capsys):
    talk.call("vault", "create", path="notes/a.md", content="The zebra is striped.\n")
    capsys.readouterr()
    talk.call("manual", "find", query="zebra paper", manual_id="office")
    talk.call("vault", "find", query="zebra")
    said = capsys.readouterr()
    assert said.out == ""
    finds = [each for each in map(json.loads, said.err.splitlines()) if each["event"].endswith("_find")]
    assert [(each["level"], each["event"]) for each in finds] == [("info", "manual_find"), ("info", "vault_find")]
    common = {"at", "level", "event", "scanned", "candidates", "unscanned", "stage", "cutoff", "status", "ms"}
    assert [set(each) for each in finds] == [common | {"manual", "named"}, common]
    assert (finds[0]["named"], finds[0]["stage"], finds[1]["candidates"]) == (0, 4, 1)
    assert "zebra" not in said.err

"""memory.search: the newer of notes that say the same first, and honest scores, over the wire, on both databases."""

from collections.abc import Generator
from itertools import product

import pytest
from policy.houses import MASKING, enforce, key
from talk import Http, Json, Lines

from tokonoma.app import App

# date, content; the last line of each pair corrects the first.
NOTES = [
    ("2026-01-10", "Choir practice is on Tuesday at 19:00 in the chapel."),
    ("2026-01-12", "図書当番は月曜の昼休み、二階の窓口で。"),
    ("2026-01-15", "The spare tent is in the attic behind the suitcases."),
    ("2026-01-20", "Pottery class is on Wednesday at 18:00, bring an apron."),
    ("2026-02-02", "梅干しの塩は梅の重さの18%。"),
    ("2026-02-11", "Choir practice has moved to Thursday, 18:30, still in the chapel."),
    ("2026-02-14", "図書当番は月曜の昼休みから水曜の放課後に変更、二階の窓口で。"),
    ("2026-02-20", "Neighbours borrowed the drill until Easter."),
]
CHOIR_OLD, CHOIR, POTTERY = NOTES[0][1], NOTES[5][1], NOTES[3][1]


@pytest.fixture
def line(app) -> Lines:
    return Settled(app)


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Generator[Lines]:
    """One house with the notes, for questions that do not depend on the database."""
    app = App({"home": str(tmp_path_factory.mktemp("newer")), "durable": False}, {})
    line = Settled(app)
    fill(line)
    yield line
    app.close()


class Settled(Lines):
    """Searches when every vector is made: on a busy machine a search does not wait for all of them."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._worker = app.search.worker

    def search(self, query: str, **params) -> list[Json]:
        told = self.call("memory", "search", query=query, **params)
        while told.get("not_yet_embedded"):
            assert self._worker is not None
            self._worker.run_batch()
            told = self.call("memory", "search", query=query, **params)
        return told["items"]


def fill(line) -> dict[str, str]:
    return {text: save(line, text, date) for date, text in NOTES}


def save(line, text: str, date: str, **more) -> str:
    return line.call("memory", "save", content=text, metadata={"date": date}, **more)["memo_id"]


def test_a_corrected_fact_comes_first_and_the_older_one_names_it(line):
    ids = fill(line)
    asked = (
        ("When is choir practice?", 5, 0),
        ("図書当番は何曜日?", 6, 1),
        ("On which day is the choir practice?", 5, 0),
    )
    for (query, newer, older), mode in product(asked, ("hybrid", "vector")):
        hits = line.search(query, mode=mode)
        places = {hit["content"]: place for place, hit in enumerate(hits)}
        assert places[NOTES[newer][1]] == 0
        assert hits[places[NOTES[older][1]]]["superseded_by"] == ids[NOTES[newer][1]]
        assert {hit["content"] for hit in hits if "superseded_by" in hit} <= {NOTES[0][1], NOTES[1][1]}
        assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


def test_a_note_that_only_looks_alike_replaces_nothing(line):
    fill(line)
    save(line, "Fencing practice is on Friday at 17:00 in the gym.", "2026-03-01")
    assert line.search("When is choir practice?")[0]["content"] == CHOIR
    hits = line.search("When is the pottery class?")
    assert hits[0]["content"] == POTTERY
    assert "superseded_by" not in hits[0]


def test_three_versions_come_newest_first(line):
    fill(line)
    last = "Choir practice moved again: now Monday at 20:00 in the town hall."
    save(line, last, "2026-03-05")
    hits = [hit for hit in line.search("When is choir practice?") if "Choir" in hit["content"]]
    assert [hit["content"] for hit in hits] == [last, CHOIR, CHOIR_OLD]
    assert [hit.get("superseded_by") for hit in hits] == [None, hits[0]["memo_id"], hits[1]["memo_id"]]


def test_a_note_that_says_the_same_pattern_of_something_else_is_no_version(line):
    """The likest notes of all: without a word of change they are two facts."""
    rows = [
        ("2026-01-01", "Car insurance: Aviary Mutual, 412 a year, renews on 1 March."),
        ("2026-02-01", "House insurance: Aviary Mutual, 298 a year, renews on 1 April."),
    ]
    for date, text in rows:
        save(line, text, date)
    hits = line.search("When does the car insurance renew?")
    assert hits[0]["content"] == rows[0][1]
    assert not any("superseded_by" in hit for hit in hits)


def test_what_is_less_alike_comes_first_where_the_question_asks_for_both_and_is_not_marked(line):
    fill(line)
    newer = "We moved the tent: look under the stairs."
    save(line, newer, "2026-03-06")
    first, second = line.search("Where is the spare tent?")[:2]
    assert (first["content"], second["content"]) == (newer, NOTES[2][1])
    assert "superseded_by" not in second


def test_a_version_in_another_language_is_one_if_its_writer_says_so(line):
    ids = fill(line)
    newer = save(line, "予備のテントは車庫の棚に移した。", "2026-03-06")
    assert not any("superseded_by" in hit for hit in line.search("Where is the spare tent?"))
    line.call("memory", "save", memo_id=newer, supersedes=ids[NOTES[2][1]])
    first, second = line.search("Where is the spare tent?")[:2]
    assert first["memo_id"] == newer
    assert (second["content"], second["superseded_by"]) == (NOTES[2][1], newer)


def test_what_was_saved_together_and_what_lies_elsewhere_stands_side_by_side(line):
    pair = [{"content": CHOIR_OLD}, {"content": CHOIR}]
    line.call("memory", "save", memos=pair)
    save(line, CHOIR_OLD, "2026-01-01", namespace="club")
    hits = line.search("When is choir practice?", namespace="/")
    assert len(hits) == 3
    assert not any("superseded_by" in hit for hit in hits)


def test_a_turn_of_a_conversation_is_no_version(house):
    rows = [
        ("2026-01-10", "Rowing is on Sunday at 7 by the boathouse."),
        ("2026-02-11", "Rowing is now at 8 by the boathouse."),
    ]
    for (date, text), kind in product(rows, ("turns", "plain")):
        save(house, text, date, namespace=f"rowing/{kind}", **({"thread": "talk"} if kind == "turns" else {}))
    marked = [
        sum("superseded_by" in hit for hit in house.search("When is rowing?", namespace=f"rowing/{kind}"))
        for kind in ("turns", "plain")
    ]
    assert marked == [0, 1]


def test_a_question_that_names_the_older_time_gets_the_older_note(house):
    hits = house.search("When was choir practice in January 2026?")
    assert hits[0]["content"] == CHOIR_OLD
    assert "superseded_by" not in hits[0]


def test_the_explanation_says_whose_place_a_note_took(house):
    newer, older, *_ = house.search("図書当番の窓口は?", explain=True, detail="full")
    assert (newer["content"], older["content"]) == (NOTES[6][1], NOTES[1][1])
    assert newer["score_details"]["own_score"] == older["score"]
    assert older["score_details"]["own_score"] == newer["score"] == newer["score_details"]["answered"]


@pytest.mark.parametrize(
    ("answered", "nothing"),
    [
        ("Where is the spare tent?", "Where is the fire extinguisher?"),
        ("梅干しの塩は何パーセント?", "運転免許の更新はいつ?"),
        ("Who borrowed the drill?", "Who painted the portrait in the office?"),
        ("テントはどこ?", "献血の予約番号は?"),
    ],
)
def test_the_best_score_is_low_where_nothing_answers(house, answered, nothing):
    best = [max((hit["score"] for hit in house.search(query)), default=0.0) for query in (answered, nothing)]
    assert best[1] < 0.35 < best[0] <= 1.0
    assert best[1] < best[0] / 2


def test_versions_do_not_show_what_is_hidden_from_the_caller(app, line):
    save(line, "Contact for the choir: mail to taro.yamada@example.jp", "2026-01-10")
    save(line, "The contact for the choir changed: mail to hana.suzuki@example.jp now", "2026-02-11")
    asked = {"query": "contact for the choir", "namespace": "/"}
    assert any("superseded_by" in hit for hit in line.call("memory", "search", **asked)["items"])
    enforce(app, MASKING)
    other = Http(app, key(app, "guest"))
    hits = other.call("memory", "search", **asked)["items"]
    assert len(hits) == 2
    assert not any("superseded_by" in hit for hit in hits)


def test_a_newer_translation_does_not_stand_above_the_text_that_was_asked_for(line):
    rows = [
        ("2026-01-01", "The boiler is serviced in May."),
        ("2026-02-01", "ボイラーの点検は5月です。"),
        ("2026-01-01", "猫はソファで寝る。"),
        ("2026-02-01", "The cat sleeps on the sofa."),
    ]
    for date, text in rows:
        save(line, text, date)
    for text in (rows[0][1], rows[2][1]):
        assert line.search(text)[0]["content"] == text


def test_the_turn_that_names_a_time_comes_first_if_a_time_is_asked_for(line):
    turns = [
        "Ann: I painted the harbour, it took long.",
        "Bob: Lovely! Which colours?",
        "Bob: And the frame?",
        "Bob: I see.",
        "Ann: I painted the harbour yesterday, long.",
    ]
    for turn in turns:
        line.call("memory", "save", content=turn, thread="chat")
    asked = line.search("When did Ann paint the harbour?", explain=True)
    assert asked[0]["content"] == turns[4]
    assert "when" in asked[0]["score_details"]["signs"]
    others = line.search("What did Ann paint in the harbour?", explain=True)
    assert all("when" not in hit["score_details"]["signs"] for hit in others)

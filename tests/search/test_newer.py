"""Versions of a note: who succeeds whom, and in which order they come. Pure."""

from typing import Any

from tokonoma.search.fusion import FusedScore, MatchEvidence
from tokonoma.search.newer import find_successors, put_newer_first
from tokonoma.search.text.tokenize import count_terms, list_packed_terms
from tokonoma.search.tuning import TUNING, VersionSigns
from tokonoma.search.versions import NoteVersion, PairReader, weigh_versions

DAY = 86_400_000


def note(number: int, text: str, *, day: int | None = None, **known: Any) -> NoteVersion:
    terms = list_packed_terms(count_terms(text).packed)
    made = NoteVersion(number, DAY * (number if day is None else day), "notes", terms, "en", 1.0)
    return made._replace(**known)


OLD = note(1, "Swimming lessons are on Monday at four")
NEW = note(2, "Swimming lessons are now on Friday at five")
UNALIKE = note(2, "The pool has moved Ann's class to Friday, one hour later than before")


def near(cosine: float, *others: float) -> dict[int, dict[int, float]]:
    """Between the first note and the second; `others`: of the third to the first and the second."""
    told = {1: {2: cosine}, 2: {1: cosine}}
    if others:
        told[3] = {}
        for number, each in zip((1, 2), others, strict=True):
            told[number][3] = told[3][number] = each
    return told


def guess(
    notes: list[NoteVersion], cosines: dict[int, dict[int, float]], **levels: float
) -> dict[int, tuple[int, bool]]:
    """The older, the newer, and whether the older one is marked. `levels` as n1, n2, …"""
    found = find_successors(notes, cosines, {int(name[1:]): level for name, level in levels.items()})
    return {older: (newer.id, newer.is_sure) for older, newer in found.items()}


def test_the_newer_of_two_notes_that_are_alike_succeeds_the_older():
    assert guess([OLD, NEW], near(0.6)) == {1: (2, True)}
    assert guess([NEW, OLD], near(0.6)) == {1: (2, True)}


def test_each_condition_can_keep_two_notes_apart():
    for other in (
        NEW._replace(place="elsewhere"),
        NEW._replace(at=OLD.at + 59_999),  # saved together
        NEW._replace(date_factor=0.7),  # the question names another time
        NEW._replace(language="ja"),
        note(2, "Swimming lessons are on Friday at five"),  # it does not say that something changed
    ):
        assert guess([OLD, other], near(0.6)) == {}
    assert guess([OLD, NEW], near(0.54)) == {}
    assert guess([OLD, UNALIKE], near(0.6)) == {}


def test_a_word_of_change_counts_only_if_the_older_note_lacks_it():
    assert guess([note(1, "Swimming lessons are now on Monday at four"), NEW], near(0.6)) == {}


def test_notes_that_say_almost_the_same_need_no_word_of_change():
    again = note(2, "Swimming lessons: on Monday at four")
    assert guess([OLD, again], near(0.9)) == {1: (2, True)}
    assert guess([OLD, again], near(0.58)) == {}


def test_a_note_that_is_more_like_a_third_one_is_no_version():
    third = note(3, "Swimming lessons are on Friday at five", day=0)
    assert guess([OLD, NEW, third], near(0.6, 0.3, 0.3)) == {1: (2, True)}
    assert guess([OLD, NEW, third], near(0.6, 0.3, 0.54)) == {}
    assert guess([OLD, NEW, third._replace(place="elsewhere")], near(0.6, 0.3, 0.54)) == {1: (2, True)}


def test_less_is_enough_to_put_the_newer_of_the_best_hits_first_but_marks_nothing():
    less = note(2, "Swimming lessons for the class of Ann", rank=1)
    assert guess([OLD, less], near(0.7), n1=0.6, n2=0.5) == {1: (2, False)}
    assert guess([OLD, less], near(0.2), n1=0.6, n2=0.5) == {}
    assert guess([OLD, less._replace(language="ja")], near(0.7), n1=0.6, n2=0.5) == {}
    asked_for = OLD._replace(coverage=1.0)  # the question names what only the older note holds
    assert guess([asked_for, less._replace(coverage=0.0)], near(0.7), n1=0.6, n2=0.5) == {}


def test_only_the_best_hits_change_places_without_a_mark():
    first, last = TUNING.version_places
    less = note(2, "Swimming lessons for the class of Ann", rank=first)
    assert guess([OLD._replace(rank=first - 1), less], near(0.8), n1=0.6, n2=0.5) == {1: (2, False)}
    assert guess([OLD._replace(rank=first), less._replace(rank=first + 1)], near(0.8), n1=0.6, n2=0.5) == {}
    assert guess([OLD, less._replace(rank=last)], near(0.8), n1=0.6, n2=0.5) == {}
    assert guess([OLD._replace(rank=1), less._replace(rank=0)], near(0.8), n1=0.5, n2=0.6) == {}  # it is first already


def read(notes: list[NoteVersion], cosines: dict[int, dict[int, float]], **levels: float) -> VersionSigns:
    reader = PairReader(notes, cosines, {int(name[1:]): level for name, level in levels.items()})
    return reader.read(notes[0], notes[1])


def test_each_sign_of_a_version_is_read():
    newer = note(2, "Swimming lessons for Ann are now on Friday at five, in the large hall", rank=3, coverage=0.4)
    signs = read([OLD, newer], near(0.6), n1=0.5, n2=0.7, n9=0.8)
    assert signs.cosine == 0.6
    assert 0 < signs.shared < 1
    assert signs.changed == 1.0
    assert signs.changed_like == 0.6 + signs.shared
    assert round(signs.nearer, 6) == 0.2
    assert round(signs.holds_more, 6) == -0.6
    assert (signs.closer, signs.best, signs.apart) == (0.0, 0.8, 3)
    assert signs.longer > 0
    assert signs.asked == 0.0  # a third hit is nearer to the question
    assert read([OLD, newer], near(0.6), n1=0.5, n2=0.7).asked == 1.0
    assert read([OLD, newer], near(0.6), n1=0.05, n2=0.7).asked == 0.0


def test_being_more_like_a_third_hit_speaks_against_a_version():
    third = note(3, "Swimming lessons are on Friday at five", day=0)
    signs = read([OLD, NEW, third], near(0.3, 0.2, 0.9))
    assert signs.closer > 0
    assert weigh_versions(signs) < weigh_versions(signs._replace(closer=0.0))


def test_without_vectors_words_decide_and_mark_nothing():
    assert guess([OLD, NEW], {}) == {1: (2, False)}
    assert guess([OLD, note(2, "The ferry now leaves at nine")], {}) == {}


def test_of_two_newer_versions_the_one_that_is_more_alike_is_the_next():
    last = note(3, "Swimming lessons moved again, on Sunday at six")
    assert guess([OLD, NEW, last], near(0.7, 0.6, 0.65)) == {1: (2, True), 2: (3, True)}


def hit(number: int, score: float) -> FusedScore:
    return FusedScore(MatchEvidence(number, 0), score, 1.0)


def test_versions_exchange_places_and_scores_stay_with_the_places():
    ranked = [hit(1, 0.9), hit(7, 0.8), hit(3, 0.7), hit(2, 0.6), hit(8, 0.5)]
    moved = put_newer_first(ranked, {1: 2, 2: 3}, {1: 1, 2: 2, 3: 3, 7: 7})
    assert [(each.evidence.id, each.score) for each in moved] == [(3, 0.9), (7, 0.8), (2, 0.7), (1, 0.6), (8, 0.5)]
    assert put_newer_first(ranked, {}, {1: 1, 2: 2, 3: 3, 7: 7}) == ranked


def test_two_older_notes_may_have_one_successor():
    ranked = [hit(1, 0.9), hit(2, 0.8), hit(3, 0.7)]
    assert [each.evidence.id for each in put_newer_first(ranked, {1: 3, 2: 3}, {1: 1, 2: 2, 3: 3})] == [3, 2, 1]


def list_ids(hits: list[FusedScore]) -> list[int]:
    return [each.evidence.id for each in hits]


def test_what_is_said_to_be_newer_comes_first_though_it_was_written_before():
    ranked = [hit(1, 0.9), hit(2, 0.8), hit(3, 0.7)]
    assert list_ids(put_newer_first(ranked, {2: 3, 1: 2}, {1: 30, 2: 20, 3: 10})) == [3, 2, 1]


def test_a_successor_that_was_not_found_comes_in_where_the_older_one_stands():
    ranked = [hit(7, 0.9), hit(1, 0.8), hit(8, 0.7)]
    moved = put_newer_first(ranked, {1: 2}, {}, {2: hit(2, 0.0)})
    assert [(each.evidence.id, each.score) for each in moved] == [(7, 0.9), (2, 0.8), (1, 0.8), (8, 0.7)]


def test_notes_that_succeed_each_other_in_a_circle_stay_where_they_are():
    ranked = [hit(1, 0.9), hit(2, 0.8)]
    assert list_ids(put_newer_first(ranked, {1: 2, 2: 1}, {})) == [1, 2]

"""Which records are like one that was just saved. Pure, but for the read of marks."""

from collections.abc import Collection, Mapping
from typing import Any, cast

from tokonoma.core.query import SearchScope
from tokonoma.search.candidates import CandidatePool, LikeCandidate
from tokonoma.search.like import ComparedRecord, find_like
from tokonoma.search.text.tokenize import count_terms
from tokonoma.search.vectors.store import VectorMatch

ALL, MASKED = SearchScope("/", ("internal",), True), SearchScope("/", ("internal",), False)
NEW = "Parcelhub answers 429 beyond 200 calls"
TEXTS = ["Parcelhub: 600 calls", "The client waits for a reply", "Over the hill is the sea"]


class Marks:
    """Rows of (older, id, address, time) of what replaces it."""

    def __init__(self, *marks: tuple[str, int, str, int]) -> None:
        self._marks = marks

    def rows(self, *_: Any, texts: str, **__: Any) -> list[tuple[str, int, str, int]]:
        return [each for each in self._marks if f'"{each[0]}"' in texts]


class Pool:
    """Holds the new record at the address `new`, and others at their numbers."""

    def __init__(self, *others: LikeCandidate, new: LikeCandidate | None = None, marks: Marks | None = None) -> None:
        self._held = [new or note(0, NEW, address="new"), *others]
        self.rows = marks or Marks()

    def fetch_like(self, ids: Collection[int], addresses: Collection[str]) -> list[LikeCandidate]:
        return [each for each in self._held if each.id in ids or each.address in addresses]


def note(number: int, text: str, **known: Any) -> LikeCandidate:
    made = LikeCandidate(number, str(number), "/", "owner", False, count_terms(text).packed, False)
    return made._replace(**known)


OTHERS = [note(number, text) for number, text in enumerate(TEXTS, 1)]
NEAR = {1: 0.4, 2: 0.5, 3: 0.45}
NONE: Mapping[Any, Any] = {}


def find(
    pool: Pool,
    scope: SearchScope = ALL,
    near: Mapping[int, float] = NEAR,
    waiting: Mapping[str, float] = NONE,
    least: float = 0.0,
    languages: Mapping[int, str] = NONE,
) -> list[str]:
    matches = {number: VectorMatch(cosine, languages.get(number, "en")) for number, cosine in near.items()}
    late = {address: VectorMatch(cosine, "en") for address, cosine in waiting.items()}
    record = ComparedRecord("new", "/", "en")
    return [each.address for each in find_like(cast(CandidatePool, pool), scope, record, matches, late, least, 3)]


def test_rare_words_that_both_hold_come_before_what_is_only_nearer_in_meaning():
    assert find(Pool(*OTHERS))[0] == "1"
    assert find(Pool(*OTHERS, new=note(0, "Something else", address="new"))) == ["2", "3", "1"]
    assert find(Pool(*OTHERS), least=0.6) == ["1"]


def test_a_long_record_is_not_alike_because_it_holds_some_of_the_words():
    long = note(4, "Parcelhub answers " + " ".join(f"word{number}" for number in range(80)))
    assert find(Pool(*OTHERS, long), near={**NEAR, 4: 0.4}) == ["1", "2", "3"]


def test_a_record_in_another_language_must_be_nearer():
    assert find(Pool(*OTHERS), languages={2: "ja"}) == ["1", "3", "2"]
    assert find(Pool(*OTHERS), languages={2: "other"}) == ["1", "2", "3"]
    assert find(Pool(*OTHERS), near={**NEAR, 2: 0.9}, languages={2: "ja"}) == ["1", "2", "3"]


def test_the_record_itself_and_other_namespaces_are_left_out():
    assert "0" not in find(Pool(*OTHERS), near={**NEAR, 0: 1.0})
    assert "new" not in find(Pool(*OTHERS), near={**NEAR, 0: 1.0})
    assert find(Pool(OTHERS[0]._replace(namespace="/deeper"), *OTHERS[1:])) == ["2", "3"]


def test_words_are_not_compared_where_something_is_hidden_from_the_caller():
    hidden = Pool(OTHERS[0]._replace(is_masked=True), *OTHERS[1:])
    assert find(hidden) == find(Pool(*OTHERS))
    assert find(hidden, MASKED) == ["2", "3", "1"]
    own = Pool(*OTHERS, new=note(0, NEW, address="new", is_masked=True))
    assert find(own)[0] == "1"
    assert find(own, MASKED) == ["2", "3", "1"]


def test_a_vector_that_is_not_stored_yet_is_of_the_whole_text_and_counts_only_where_nothing_is_hidden():
    late = note(9, "Later", address="late")
    assert "late" in find(Pool(*OTHERS, late), waiting={"late": 0.99})
    hidden = Pool(*OTHERS, late._replace(is_masked=True))
    assert "late" not in find(hidden, waiting={"late": 0.99})


def test_what_was_replaced_by_something_the_caller_sees_is_left_out():
    replaced = OTHERS[0]._replace(is_replaced=True)
    assert find(Pool(replaced, *OTHERS[1:], marks=Marks(("1", 5, "5", 0)))) == ["2", "3"]
    assert find(Pool(replaced, *OTHERS[1:]))[0] == "1"  # the caller may not see what replaces it

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.text.search import plan_terms
from tokonoma.search.tuning import TUNING

FREQUENCIES = st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 50_000), max_size=30)


def test_the_rarest_propose_until_a_tenth_of_the_index_is_read():
    frequencies = [("the", 90_000), ("cat", 4000), ("violin", 12), ("dog", 5000), ("bird", 3000)]
    assert plan_terms(frequencies, 100_000) == ["violin", "bird", "cat"]


def test_what_does_not_occur_proposes_nothing():
    assert plan_terms([("zebra", 0), ("cat", 3)], 10) == ["cat"]
    assert plan_terms([("zebra", 0)], 10) == []


def test_a_frequent_term_proposes_if_it_is_all_there_is():
    assert plan_terms([("the", 90_000), ("a", 95_000)], 100_000) == ["the"]


def test_a_small_index_is_read_whole():
    assert plan_terms([("the", 900), ("cat", 90)], 1000) == ["cat", "the"]


@given(FREQUENCIES, st.integers(1, 1_000_000))
def test_the_plan_keeps_within_its_room_and_prefers_the_rare(frequencies, documents):
    planned = plan_terms(frequencies.items(), documents)
    occurring = [term for term in frequencies if frequencies[term]]
    assert bool(planned) == bool(occurring)
    assert sum(frequencies[term] for term in planned[1:]) <= max(TUNING.min_postings, TUNING.posting_share * documents)
    left_out = [frequencies[term] for term in occurring if term not in planned]
    assert not planned or not left_out or max(frequencies[term] for term in planned) <= min(left_out)

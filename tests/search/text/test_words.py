import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.text.words import stem

FAMILIES = [
    "connect connects connected connecting connection connections",
    "run runs running ran",
    "go goes going went gone",
    "write writes writing wrote written",
    "child children",
    "happy happiness",
    "organise organize organised organizing organisation organization",
    "colour color colours colored",
    "analyse analyze analysing",
    "try tries tried trying",
    "hope hoped hoping",
    "relate relates related relating",
    "add adds added adding",
    "national nationally",
    "hopeful hopefully hopefulness",
]
APART = [("news", "new"), ("organ", "organize"), ("univers", "universal"), ("past", "pasta"), ("hoping", "hopping")]


@pytest.mark.parametrize("family", FAMILIES)
def test_forms_of_one_word_share_a_stem(family):
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(("one", "other"), APART)
def test_words_that_only_look_alike_do_not(one, other):
    assert stem(one) != stem(other)


@given(st.text(alphabet="abcdeghilmnorstuyz", min_size=1, max_size=24))
def test_any_word_has_a_stem_and_none_grows_by_more_than_a_letter(word):
    assert 1 <= len(stem(word)) <= len(word) + 1

"""What a name in a query also stands for."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.text.readings import find_names
from tokonoma.search.text.tokenize import split_query


def forms(query: str) -> set[str]:
    return {"".join(form.terms) for name in find_names(*split_query(query)) for form in name.forms}


def test_several_names_with_one_reading_are_all_meant():
    assert {"優子", "裕子", "祐子"} <= forms("Yuko")
    assert {"優子", "裕子", "祐子"} <= forms("ゆうこさん")


def test_one_kanji_is_a_name_only_with_a_title():
    assert "林サ" in forms("Hayashi")
    assert "林" not in forms("Hayashi")
    assert "hayashi" in forms("林さん")
    assert "hayashi" not in forms("森林さん")


@pytest.mark.parametrize("query", ["take", "sudo apt", "AI", "Take one", "いちばん", "it is", "と", "", "1234"])
def test_common_words_stand_for_themselves(query):
    assert forms(query) == set()


def test_a_word_that_the_table_does_not_know_is_read_if_it_looks_like_a_name():
    [name] = find_names(*split_query("Mekarusuri"))
    assert (name.kind, ["".join(form.terms) for form in name.forms]) == ("sound", ["メカカルルススリ"])
    assert forms("mekarusuri") == set()


def test_many_names_are_bounded():
    found = find_names(*split_query("Yamada Sato Suzuki Tanaka Ito " * 400))
    assert len(found) <= 8
    assert all(len(name.forms) <= 32 for name in found)


@given(st.text(alphabet="早川林さんの先生ハヤカワーはやかJun'ichi- ", max_size=30))
def test_every_form_is_made_of_terms(query):
    assert all(
        form.terms and all(form.terms) and 0 < form.share <= 1
        for n in find_names(*split_query(query))
        for form in n.forms
    )


def test_the_table_is_small_and_says_where_it_comes_from():
    data = files("tokonoma.search.text") / "data"
    assert len((data / "readings.bin").read_bytes()) < 150_000
    assert "UniDic" in (data / "NOTICE.md").read_text("utf-8")

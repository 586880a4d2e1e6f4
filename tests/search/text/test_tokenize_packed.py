import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.text.tokenize import (
    TITLE_COUNT,
    PackedMatch,
    count_terms,
    find_speaker,
    hash_term,
    is_question,
    look_up_terms,
    look_up_terms_many,
    tokenize,
)

TEXT = st.text(alphabet="アイウエオ漢字仮名文aeiou rst", max_size=300)


def read(form: bytes, tokens: list[str]) -> dict[int, int]:
    wanted = frozenset(map(hash_term, tokens))
    return look_up_terms(form, wanted, sorted(wanted)).counts


def header(form: bytes) -> PackedMatch:
    return look_up_terms(form, frozenset(), [])


@given(TEXT, TEXT)
def test_a_form_gives_back_every_count_and_the_length(text, title):
    form = count_terms(text, title)
    assert read(form.packed, [*form.counts]) == {hash_term(token): count for token, count in form.counts.items()}
    assert header(form.packed).length == form.length == tokenize(text).length + TITLE_COUNT * tokenize(title).length
    assert set(header(form.packed).title) == {hash_term(token) for token in tokenize(title).counts}
    assert header(form.packed).counts == {}


@given(st.lists(st.tuples(TEXT, TEXT), max_size=12), TEXT)
def test_many_are_looked_up_together_as_each_by_itself(texts, asked):
    forms = [count_terms(text, title).packed for text, title in texts]
    wanted = frozenset(map(hash_term, tokenize(asked).counts))
    singly = [look_up_terms(form, wanted, sorted(wanted)) for form in forms]
    assert look_up_terms_many(forms, sorted(wanted)) == singly


@given(TEXT, TEXT)
def test_what_is_not_in_the_text_is_not_in_its_form(text, other):
    counts = count_terms(text).counts
    absent = [token for token in tokenize(other).counts if token not in counts]
    assert read(count_terms(text).packed, absent) == {}


def test_short_and_long_forms_are_read_alike():
    words = [f"word{number}" for number in range(1000)]
    for size in (1, 10, 127, 128, 129, 1000):
        form = count_terms(" ".join(words[:size]))
        there = [word for word in ("word0", "word999") if word in form.counts]
        assert [*read(form.packed, ["word0", "word999"])] == sorted(map(hash_term, there))


def test_a_title_counts_more_and_a_count_is_bounded():
    form = count_terms("cat " * 1000 + "dog", "dog")
    assert read(form.packed, ["cat", "dog"]) == {hash_term("cat"): 255, hash_term("dog"): 1 + TITLE_COUNT}
    assert [*header(form.packed).title] == [hash_term("dog")]


def test_who_speaks_stands_for_a_title():
    assert [*header(count_terms("Aiko: in Kyoto").packed).title] == [hash_term("aiko")]
    titled = count_terms("Aiko: in Kyoto", "Journeys").packed
    assert set(header(titled).title) == {hash_term(token) for token in tokenize("Journeys").counts}
    assert count_terms("Aiko: in Kyoto").counts == tokenize("Aiko: in Kyoto").counts
    assert header(count_terms("Aiko: in Kyoto").packed).has_speaker
    assert not header(titled).has_speaker


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Aiko: in Kyoto", "Aiko"),
        ("田中：明日にします", "田中"),
        ("Anna-Lena O'Neill: hello", "Anna-Lena O'Neill"),
        ("Dr. Who: run", "Dr. Who"),
        ("https://example.org is down", ""),
        ("12: twelve", ""),
        ("What we found out is this: nothing", ""),
        ("Aiko:", ""),
        (": nobody", ""),
        ("no colon at all", ""),
    ],
)
def test_who_speaks(text, speaker):
    assert find_speaker(text) == speaker


@pytest.mark.parametrize("text", ["Where?", "どこ？", "どこですか。", "行きますか", 'She said "where?"', "Where? \n"])
def test_what_asks(text):
    assert header(count_terms(text).packed).is_question
    assert is_question(text)


@pytest.mark.parametrize("text", ["", "Here.", "Where? Here.", "これか。", "ここです。"])
def test_what_does_not_ask(text):
    assert not header(count_terms(text).packed).is_question


def test_an_empty_text_has_a_form():
    form = count_terms("")
    assert (form.counts, form.length, [*header(form.packed).title]) == ({}, 0, [])
    assert read(form.packed, ["cat"]) == {}


def test_a_form_takes_about_five_bytes_a_term():
    form = count_terms("解約の申し込みは書面で行うものとする。")
    assert len(form.packed) == 12 + 5 * len(form.counts)


def test_the_same_number_on_every_machine():
    assert (hash_term("解約"), hash_term("cat")) == (0x10DD2781, 0x9E5E43A8)
    assert count_terms("cat").packed == bytes.fromhex("01000000 00000000 01000000 a8435e9e 01")

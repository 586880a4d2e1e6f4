import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.term_counts import (
    TITLE,
    asking,
    asks,
    form_of,
    length_of,
    looked_up,
    looked_up_together,
    number_of,
    speaker_of,
    speaking,
    title_of,
)
from tokonoma.search.tokenize import cut

TEXT = st.text(alphabet="アイウエオ漢字仮名文aeiou rst", max_size=300)


def read(form: bytes, tokens: list[str]) -> dict[int, int]:
    wanted = frozenset(map(number_of, tokens))
    return looked_up(form, wanted, sorted(wanted))[0]


@given(TEXT, TEXT)
def test_a_form_gives_back_every_count_and_the_length(text, title):
    form = form_of(text, title)
    assert read(form.packed, [*form.counts]) == {number_of(token): count for token, count in form.counts.items()}
    assert length_of(form.packed) == form.length == cut(text).length + TITLE * cut(title).length
    assert set(title_of(form.packed)) == {number_of(token) for token in cut(title).counts}
    assert looked_up(form.packed, frozenset(), []) == ({}, form.length, len(title_of(form.packed)))


@given(st.lists(st.tuples(TEXT, TEXT), max_size=12), TEXT)
def test_many_are_looked_up_together_as_each_by_itself(texts, asked):
    forms = [form_of(text, title).packed for text, title in texts]
    wanted = frozenset(map(number_of, cut(asked).counts))
    singly = [looked_up(form, wanted, sorted(wanted)) for form in forms]
    assert looked_up_together(forms, sorted(wanted)) == singly


@given(TEXT, TEXT)
def test_what_is_not_in_the_text_is_not_in_its_form(text, other):
    counts = form_of(text).counts
    absent = [token for token in cut(other).counts if token not in counts]
    assert read(form_of(text).packed, absent) == {}


def test_short_and_long_forms_are_read_alike():
    words = [f"word{number}" for number in range(1000)]
    for size in (1, 10, 127, 128, 129, 1000):
        form = form_of(" ".join(words[:size]))
        there = [word for word in ("word0", "word999") if word in form.counts]
        assert [*read(form.packed, ["word0", "word999"])] == sorted(map(number_of, there))


def test_a_title_counts_more_and_a_count_is_bounded():
    form = form_of("cat " * 1000 + "dog", "dog")
    assert read(form.packed, ["cat", "dog"]) == {number_of("cat"): 255, number_of("dog"): 1 + TITLE}
    assert [*title_of(form.packed)] == [number_of("dog")]


def test_who_speaks_stands_for_a_title():
    assert [*title_of(form_of("Aiko: in Kyoto").packed)] == [number_of("aiko")]
    titled = form_of("Aiko: in Kyoto", "Journeys").packed
    assert set(title_of(titled)) == {number_of(token) for token in cut("Journeys").counts}
    assert form_of("Aiko: in Kyoto").counts == cut("Aiko: in Kyoto").counts
    assert speaking(form_of("Aiko: in Kyoto").packed)
    assert not speaking(titled)


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
    assert speaker_of(text) == speaker


@pytest.mark.parametrize("text", ["Where?", "どこ？", "どこですか。", "行きますか", 'She said "where?"', "Where? \n"])
def test_what_asks(text):
    assert asking(form_of(text).packed)
    assert asks(text)


@pytest.mark.parametrize("text", ["", "Here.", "Where? Here.", "これか。", "ここです。"])
def test_what_does_not_ask(text):
    assert not asking(form_of(text).packed)


def test_an_empty_text_has_a_form():
    form = form_of("")
    assert (form.counts, form.length, [*title_of(form.packed)]) == ({}, 0, [])
    assert read(form.packed, ["cat"]) == {}


def test_a_form_takes_about_five_bytes_a_term():
    form = form_of("解約の申し込みは書面で行うものとする。")
    assert len(form.packed) == 12 + 5 * len(form.counts)


def test_the_same_number_on_every_machine():
    assert (number_of("解約"), number_of("cat")) == (0x10DD2781, 0x9E5E43A8)
    assert form_of("cat").packed == bytes.fromhex("01000000 00000000 01000000 a8435e9e 01")

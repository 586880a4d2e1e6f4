"""Readings in Latin letters: every usual spelling is read, and every reading is written in all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.text.romaji import mark_long_vowels, read_romaji, spell_reading


@pytest.mark.parametrize(
    ("word", "kana"),
    [
        ("Hayakawa", "ハヤカワ"), ("Shinji", "シンジ"), ("Sinzi", "シンジ"), ("Fukuda", "フクダ"), ("Hukuda", "フクダ"),
        ("Tsuchiya", "ツチヤ"), ("Tutiya", "ツチヤ"), ("Ohno", "オーノ"), ("Oono", "オーノ"), ("Ono", "オノ"),
        ("Satoh", "サトー"), ("Toukyou", "トーキョー"), ("Namba", "ナンバ"), ("Nanba", "ナンバ"), ("Homma", "ホンマ"),
        ("Nippori", "ニッポリ"), ("matcha", "マッチャ"), ("Jun'ichi", "ジュンイチ"), ("Junichi", "ジュンイチ"),
        ("Shinya", "シンヤ"), ("Ohara", "オハラ"), ("Inoue", "イノーエ"),
    ],
)  # fmt: skip
def test_a_word_in_latin_letters_is_read(word, kana):
    assert kana in read_romaji(word)


@pytest.mark.parametrize("word", ["Schmidt", "hello", "the", "", "x", "ー", "'-'", "ñ", "早川", "a" * 25, "na" * 400])
def test_other_words_are_no_romaji(word):
    assert read_romaji(word) == []


@pytest.mark.parametrize(
    ("reading", "exact", "short"),
    [
        ("オオノ", {"oono", "ohno"}, {"ono"}),
        ("オノ", {"ono"}, set[str]()),
        ("サイトウ", {"saitou", "saitoh"}, {"saito"}),
        ("ショウタ", {"shouta", "shohta", "syouta", "syohta"}, {"shota", "syota"}),
        ("ナンバ", {"nanba", "namba"}, set[str]()),
        ("ニッポリ", {"nippori"}, set[str]()),
        ("マッチャ", {"matcha", "mattya"}, set[str]()),
        ("ホイコーロー", {"hoikooroo", "hoikohroh"}, {"hoikoro"}),
    ],
)
def test_a_reading_is_written_in_every_usual_way(reading, exact, short):
    assert tuple(map(set, spell_reading(reading))) == (exact, short)


@given(st.text(alphabet="アイウエオカキクケコシチツトニノハフホマミヤユヨラリルワガジダバ", min_size=1, max_size=8))
def test_what_is_written_is_read_again(reading):
    exact, short = spell_reading(reading)
    wanted = mark_long_vowels(reading)
    assert all(wanted.replace("ー", "") in {kana.replace("ー", "") for kana in read_romaji(form)} for form in exact[:1])
    assert short or exact


@given(st.text(max_size=40))
def test_any_text_is_accepted(text):
    assert len(read_romaji(text)) <= 4
    spell_reading(text)

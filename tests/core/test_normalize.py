"""Two forms of a text: what a reader takes for the same, and what a patient reader still does."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.normalize import normalize, normalize_case, normalize_loose

# Every str that Python can hold, halves of surrogate pairs too; and texts thick with what is folded.
ANY = st.text(alphabet=st.characters(), max_size=80)
JAPANESE = st.text(alphabet="アバヴァー・-=ｶﾞﾞﾟかがゐヂ々申し込みに漢髙㈱(株)３3Ⅲ. 、/「」eé\u0301\u3099", max_size=40)

SAME = [
    ("第３条", "第3条"),
    ("ﾊﾟｽﾜｰﾄﾞ", "パスワード"),
    ("か\u3099く", "がく"),
    ("サーバー", "サーバ"),
    ("データ・ベース", "データベース"),
    ("ﾃﾞｰﾀ･ﾍﾞｰｽ", "データベース"),
    ("データ-ベース", "データベース"),
    ("㈱東京", "株式会社東京"),
    ("(株)東京", "株式会社東京"),
    ("Ⅲ", "III"),
    ("ヴァイオリン", "バイオリン"),
    ("ボヂー", "ボジー"),
    ("ゐど", "いど"),
    ("髙橋", "高橋"),
    ("國學院", "国学院"),
    ("Straße", "STRASSE"),
    ("Café", "cafe"),
    ("Łódź", "lodz"),
    ("cœur", "coeur"),
    ("ё", "е"),
    ("٣", "3"),
    ("well‐known", "well-known"),
    ("it’s", "it's"),
    ("soft\u00adhyphen", "softhyphen"),
]
LOOSELY_SAME = [
    ("申込み", "申し込み"),
    ("受付", "受け付"),
    ("りんご", "リンゴ"),
    ("キャノン", "キヤノン"),
    ("e-mail", "email"),
    ("データ ベース", "データベース"),
    ("（注）第3条", "注第3条"),
    ("A/B", "ab"),
    ("foo_bar", "foobar"),
]
NOT_THE_SAME = [("カバー", "カバ"), ("ビール", "ビル"), ("1.23", "12.3"), ("山に登る", "山登る"), ("foo bar", "foobar")]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_text_have_one_first_form(one, other):
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(("one", "other"), SAME + LOOSELY_SAME)
def test_and_one_second_form(one, other):
    assert normalize_loose(one) == normalize_loose(other)


@pytest.mark.parametrize(("one", "other"), NOT_THE_SAME)
def test_what_differs_stays_different_even_loosely(one, other):
    assert normalize_loose(one) != normalize_loose(other)


def test_case_is_kept_until_the_text_is_folded():
    assert normalize_case("ＧｅｔＵｓｅｒ") == "GetUser"
    assert normalize("ＧｅｔＵｓｅｒ") == "getuser"


@given(st.one_of(ANY, JAPANESE))
def test_any_text_has_stable_forms_that_can_be_written(text):
    for form in (normalize_case, normalize, normalize_loose):
        once = form(text)
        assert form(once) == once or text.isascii()
    assert normalize_loose(normalize(text)) == normalize_loose(text)
    if not text.isascii():
        normalize(text).encode()


@given(st.integers(0, 0x10FFFF).map(chr))
def test_every_character_folds_to_a_stable_form_among_others(character):
    for text in (character, f"ア{character}ア", f"a{character}", f"漢{character}字"):
        assert normalize(normalize(text)) == normalize(text)
        assert normalize_loose(normalize_loose(text)) == normalize_loose(text)


def test_a_tower_of_accents_is_cut_down_before_it_is_sorted():
    tower = "a" + "\u3099\u0323" * 100_000
    assert sum(map(unicodedata.combining, normalize_case(tower))) > 0
    assert len(normalize_case(tower)) <= 31


def test_ordinary_marks_in_a_row_are_kept():
    khmer = "ក្ម្មុំ" * 20
    assert len(normalize_case(khmer)) == len(unicodedata.normalize("NFKC", khmer))

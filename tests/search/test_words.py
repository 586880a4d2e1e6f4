"""Folding, cutting and scoring, as functions."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.cut import LONGEST, counted, weighed
from tokonoma.search.fold import fold
from tokonoma.search.score import asked_of, proposing, score, wording_of

SAME = [
    ("サーバー", "サーバ"),
    ("ﾊﾟｽﾜｰﾄﾞ", "パスワード"),
    ("データ・ベース", "データベース"),
    ("第３条", "第3条"),
    ("㈱", "株式会社"),
    ("(株)", "株式会社"),
    ("Ⅲ", "iii"),
    ("ヴァイオリン", "バイオリン"),
    ("ｅ－ｍａｉｌ", "e-mail"),
    ("Straße", "strasse"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_thing_fold_together(one, other):
    assert fold(one) == fold(other)


@given(st.text(alphabet=st.characters(), max_size=200))
def test_folding_is_stable_and_never_refuses(text):
    once = fold(text)
    assert fold(once) == once
    once.encode()


@given(st.text(alphabet="ァアヴーェィ・-=ﾊﾟ㈱()株ー", max_size=30))
def test_folding_of_katakana_is_stable(text):
    assert fold(fold(text)) == fold(text)


FOUND = [
    ("玄関の鍵を替えた", "鍵"),
    ("契約を解約したい", "解約"),
    ("サーバーが落ちた", "サーバ"),
    ("call getUserById(3)", "user"),
    ("call getUserById(3)", "getUserById"),
    ("call getUserById(3)", "getuserbyid"),
    ("the foo_bar table", "foo bar"),
    ("the foo_bar table", "foo_bar"),
    ("import k8s.io/api", "k8s.io/api"),
    ("import k8s.io/api", "api"),
    ("error E1234 again", "e1234"),
    ("write to a@example.com", "a@example.com"),
    ("running connections", "connect run"),
    ("version 2.10.3", "2.10.3"),
    ("e-mail", "email"),
    ("한국어 문서", "한국어"),
    ("Привет, мир", "привет"),
    ("café", "CAFÉ"),
]


@pytest.mark.parametrize(("text", "query"), FOUND)
def test_what_is_asked_for_is_among_the_tokens(text, query):
    tokens = counted(text)
    assert any(token in tokens for token in weighed(query))
    wanted = weighed(query)
    assert score(asked_of(wanted, dict.fromkeys(tokens, 1), 10), wording_of("", text).data, 5, 5).score > 0


def test_a_question_of_stop_words_alone_still_asks_for_them():
    assert weighed("to be or not to be")
    assert weighed("これはそれ")


@given(st.text(max_size=300))
def test_tokens_are_short_and_storable(text):
    for token in counted(text):
        assert 0 < len(token) <= LONGEST
        assert "\x00" not in token
        assert " " not in token
        token.encode()


def test_a_megabyte_is_cut():
    assert counted("吾輩は猫である。名前はまだ無い。The cat runs. " * 20_000)


@given(st.text(max_size=80), st.text(max_size=200))
def test_a_record_answers_with_itself(title, text):
    wording = wording_of(title, text)
    wanted = weighed(f"{title} {text}")
    scored = score(asked_of(wanted, dict.fromkeys(wanted, 1), 3), wording.data, wording.length, wording.length or 1)
    assert 0 <= scored.share < 1
    common = [token for token in wanted if token in wording.counts]
    assert (scored.score > 0) == bool(common)


def test_rare_words_weigh_more_and_the_whole_question_more_than_a_part():
    both, one = wording_of("", "red apple"), wording_of("", "red red red")
    asked = asked_of(weighed("red apple"), {"red": 90, "appl": 2}, 100)
    assert score(asked, both.data, 2, 2).score > score(asked, one.data, 3, 2).score
    assert score(asked, both.data, 2, 2).parts["coverage"] == 1.0


def test_neighbours_lend_weight_and_alone_they_are_not_worth_more():
    asked = asked_of(weighed("apple"), {"appl": 2}, 100)
    empty, full = wording_of("", "yes"), wording_of("", "an apple")
    alone = score(asked, empty.data, 1, 2).score
    lent = score(asked, empty.data, 1, 2, [(full.data, 2)], 0.5).score
    assert alone == 0 < lent < score(asked, full.data, 2, 2).score


def test_the_rarest_propose_until_a_tenth_of_the_index():
    frequencies = {"rare": 3, "some": 6_000, "often": 9_000, "all": 90_000, "none": 0}
    weights = dict.fromkeys(frequencies, 1.0)
    assert proposing(frequencies, weights, 100_000) == ["rare", "some"]
    assert proposing({"all": 90_000}, {"all": 1.0}, 100_000) == ["all"]
    assert proposing({}, {"x": 1.0}, 100) == []


@given(st.text(alphabet="ぁあガか\u3099\u309aﾊﾟｱ", max_size=20))
def test_composed_and_decomposed_are_one(text):
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))

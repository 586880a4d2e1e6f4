"""Text → tokens: what is found by what, and that tokens are safe wherever they go."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.search.text.tokenize import parse_query_terms, tokenize
from tokonoma.search.text.words import MAX_TOKEN, truncate_token

ANY = st.text(alphabet=st.characters(), max_size=120)
MIXED = st.text(alphabet="aBéßЖ3９_-./:@'’+#&=%~ \\\"\n\0アｱあ々漢申し込Ⅲ한ไव😀ー・,", max_size=60)

FOUND = [
    ("玄関の鍵を替えた", "鍵"),
    ("契約を解約したい", "解約"),
    ("サーバーが落ちた", "サーバ"),
    ("サーバが落ちた", "サーバー"),
    ("ｻｰﾊﾞｰ室", "サーバ"),
    ("データ・ベースの設計", "データベース"),
    ("申し込みの受付", "申込み"),
    ("申込書", "申し込み"),
    ("りんごを買う", "リンゴ"),
    ("リンゴを買う", "りんご"),
    ("ありがとう", "ありがとう"),
    ("ヴァイオリンの弓", "バイオリン"),
    ("第３条の規定", "第3条"),
    ("㈱東京", "株式会社"),
    ("第Ⅲ章", "III"),
    ("渡邊さん", "渡辺"),
    ("あ", "あ"),
    ("call getUserById(3)", "getUserById"),
    ("call getUserById(3)", "getuserbyid"),
    ("call getUserById(3)", "user"),
    ("the HTTPServer class", "server"),
    ("the foo_bar table", "foo_bar"),
    ("the foo_bar table", "foobar"),
    ("the foo_bar table", "bar"),
    ("import k8s.io/api", "k8s.io/api"),
    ("import k8s.io/api", "k8s.io"),
    ("import k8s.io/api", "api"),
    ("look into /etc/hosts", "etc/hosts"),
    ("since v1.2.3", "v1.2.3"),
    ("error E1234 again", "e1234"),
    ("error E1234 again", "1234"),
    ("write to ann@example.com", "ann@example.com"),
    ("write to ann@example.com", "example.com"),
    ("written in C++", "c++"),
    ("written in C#", "C#"),
    ("e-mail", "email"),
    ("email", "e-mail"),
    ("Ann's book", "ann"),
    ("running connections", "connected"),
    ("she went home", "going"),
    ("the programmer", "programming"),
    ("1,234,567 yen", "1234567"),
    ("café", "cafe"),
    ("한국어 문서", "한국어"),
    ("책을 읽다", "책"),
    ("中文文檔", "中文"),
    ("ภาษาไทย", "ไทย"),
    ("русские книги", "книгу"),
    ("Ελλάδα", "ελλαδα"),
    ("हिन्दी भाषा", "हिन्दी"),
    ("party 🎉 time", "🎉"),
    ("to be or not to be", "to be"),
    ("The Who", "the who"),
]
NOT_FOUND = [("the C language", "c++"), ("v1.23", "v12.3"), ("cat", "dog"), ("鍵", "錠"), ("", "x"), ("!?", "…")]


def weights(question: str) -> dict[str, float]:
    return {term.text: term.weight for term in parse_query_terms(question) if term.weight}


@pytest.mark.parametrize(("text", "question"), FOUND)
def test_found(text, question):
    assert weights(question).keys() & tokenize(text).counts.keys()


@pytest.mark.parametrize(("text", "question"), NOT_FOUND)
def test_not_found_as_such(text, question):
    whole = max(weights(question), key=len, default="")
    assert whole not in tokenize(text).counts


def test_a_name_is_there_whole_and_in_its_parts():
    counts = tokenize("getUserById foo_bar k8s.io/api v1.2.3").counts
    assert {
        "getuserbyid",
        "get",
        "user",
        "id",
        "foobar",
        "foo",
        "bar",
        "k8s.io/api",
        "k8s.io",
        "api",
        "v1.2.3",
    } <= counts.keys()


def test_stop_words_count_only_where_there_is_nothing_else():
    assert weights("what is the time").keys() == {"time"}
    assert weights("what is it").keys() == {"what", "is", "it"}
    assert "it" in weights("IT department")


def test_kinds_weigh_differently():
    found = weights("解約を申し込む Server")
    assert found["解約"] > found["解"] > found["約ヲ"]
    assert found["申込"] == 1.0
    assert found["server"] > found["serve~"]


def test_hiragana_falls_off_steeply_where_it_is_frequent():
    assert {term.text for term in parse_query_terms("りんごと蜜柑") if term.steepness > 1} == {"リン", "ンゴ", "ゴト"}


def test_length_counts_words_and_pairs_but_not_grammar():
    assert tokenize("three small words").length == 3
    assert tokenize("解約").length == 1
    assert tokenize("解約してください").length == tokenize("解約した").length
    assert tokenize("").length == 0


@given(st.one_of(ANY, MIXED))
def test_tokens_are_safe_wherever_they_go(text):
    asked = parse_query_terms(text)
    for token in [*tokenize(text).counts, *(term.text for term in asked)]:
        assert 0 < len(token.encode()) <= MAX_TOKEN
        assert not re.search(r"[\s\x00-\x1f\"'\ud800-\udfff]", token)


@given(st.one_of(ANY, MIXED))
def test_a_text_is_found_by_itself_and_by_nothing_that_is_not_in_it(text):
    counts = tokenize(text).counts
    assert {term.text for term in parse_query_terms(text)} == counts.keys()
    assert bool(weights(text)) == bool(counts)


@given(MIXED)
def test_a_text_has_no_more_tokens_than_a_few_for_each_character(text):
    assert sum(tokenize(text).counts.values()) <= 8 * len(text)


def test_a_long_token_keeps_its_beginning_and_a_sum_of_the_rest():
    one, other = "漢" * 200 + "a", "漢" * 200 + "b"
    assert truncate_token(one) != truncate_token(other)
    assert truncate_token(one)[:10] == "漢" * 10
    assert len(truncate_token(one).encode()) <= MAX_TOKEN
    assert truncate_token("short") == "short"


def test_data_that_looks_like_one_long_word_is_not_taken_apart():
    assert len(tokenize("aB3" * 10_000).counts) == 1

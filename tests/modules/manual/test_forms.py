"""The same word in another form: inflected, with its number in other signs, with more or less okurigana."""

import pytest
from modules.manual.test_corpus import corpus_of

from tokonoma.modules.manual.inflection import MAX_FORMS, find_inflections
from tokonoma.modules.manual.numerals import parse_number, rewrite_numbers
from tokonoma.modules.manual.okurigana import find_bare_spellings, find_spellings
from tokonoma.modules.manual.terms import make_term
from tokonoma.modules.manual.variants import Variants, expand_term


def find_places(asked: str, *texts: str) -> list[str]:
    """The texts that contain the term or a form of it."""
    corpus, term = corpus_of(*texts), make_term(asked)
    others = expand_term(term, Variants(), corpus, by_sound=False)
    found = [corpus.find_exact(each) | corpus.find_loose(each) for each in (term, *others)]
    return [texts[position] for position in sorted(frozenset[int]().union(*found))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dependency", "dependencies"), ("entry", "entries"), ("class", "classes"), ("box", "boxes"),
        ("branch", "branches"), ("echo", "echoes"),
        ("key", "keys"), ("status", "statuses"), ("child", "children"), ("index", "indices"),
        ("matrix", "matrices"), ("analysis", "analyses"), ("criterion", "criteria"), ("half", "halves"),
        ("log", "logging"), ("log", "logged"), ("plan", "planned"), ("format", "formatting"), ("limit", "limited"),
        ("cancel", "cancelled"), ("cancel", "canceled"), ("configure", "configuring"), ("cache", "cached"),
        ("tie", "tying"),
        ("apply", "applied"), ("deploy", "deployed"), ("free", "freed"), ("write", "written"), ("embed", "embedded"),
        ("operating", "operates"), ("network policy", "network policies"), ("scheduled job", "scheduled jobs"),
    ],
)  # fmt: skip
def test_inflections_are_found_in_both_directions(one, other):
    assert find_places(one, f"about {other} here") == [f"about {other} here"]
    assert find_places(other, f"about {one} here") == [f"about {one} here"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("generate", "general"), ("policy", "police"), ("policies", "police"), ("operation", "operator"),
        ("string", "str"),
        ("operate", "operation"), ("caring", "car"), ("rating", "rat"), ("planes", "planned"), ("news", "new"),
        ("bus", "bu"),
        ("thing", "the"), ("evening", "even"), ("hoping", "hop"), ("contained", "container"),
        ("universe", "university"),
        ("feed", "fee"), ("based", "basis"), ("cases", "cas case"),
    ],
)  # fmt: skip
def test_words_that_only_look_alike_are_not_joined(one, other):
    has_word = {*one.split(), *other.split()}.__contains__
    assert other.split()[0] not in find_inflections(one, has_word)
    assert one not in find_inflections(other.split()[0], has_word)


def test_a_name_in_one_word_is_found_in_two():
    assert find_places("LivenessProbes", "a liveness probe") == find_places("LivenessProbe", "a liveness probe") != []
    assert find_places("liveness probe", "LivenessProbes") == ["LivenessProbes"]


def test_a_form_is_a_whole_word():
    assert find_places("planning", "a plan", "a planet", "the plans", "planar", "unplanned") == ["a plan", "the plans"]


def test_only_forms_that_the_manual_contains_are_searched():
    assert find_inflections("entries", {"entry"}.__contains__) == ["entry"]
    assert find_inflections("entry", set[str]().__contains__) == []
    assert len(find_inflections("testing planning logging caching", lambda _: True)) <= MAX_FORMS


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("第三条", "第3条"), ("第3条", "第三条"), ("第３条", "第三条"), ("第三条", "第３条"),
        ("第二十条の二", "第20条の2"),
        ("20日", "二十日"), ("二十日", "20日"), ("120名", "百二十名"), ("百二十名", "120名"), ("2024年", "二〇二四年"),
        ("1日", "月一日"), ("20万円", "二十万円"), ("平成3年", "平成三年"), ("第11章", "第十一章"),
    ],
)  # fmt: skip
def test_numbers_in_kanji_and_in_digits_are_one(asked, written):
    assert find_places(asked, f"これは{written}による") == [f"これは{written}による"]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("第三条", "第13条"), ("第3条", "第三十条"), ("第3条", "第十三条"), ("二十日", "120日"), ("20日", "百二十日"),
        ("1日", "統一日程"), ("1日", "十一日"), ("10分", "十分に"), ("1部", "一部の"),
    ],
)  # fmt: skip
def test_other_numbers_are_others(asked, written):
    assert find_places(asked, written) == []


@pytest.mark.parametrize(
    "word", ["一般", "三角", "四国", "十分", "千葉", "万一", "一部", "数十人", "3.5倍", "三", "12"]
)
def test_a_numeral_in_a_word_is_no_number(word):
    assert rewrite_numbers(word) == []


def test_numbers_are_read():
    assert [parse_number(each) for each in ("七", "十", "二十", "百二十", "三千二百一", "二〇二四", "42")] == [
        7, 10, 20, 120, 3201, 2024, 42,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("問合せ", "問い合わせ"), ("問い合わせ", "問合せ"), ("問合わせ", "問い合わせ"), ("問い合わせ", "問合せ先"),
        ("問合せ先", "お問い合わせ先"), ("組合せ", "組み合わせ"), ("打ち合わせ", "打合せ"), ("申込み", "申込フォーム"),
        ("申込み", "申し込み書"), ("申し込み", "申込。"), ("見積もり", "見積"), ("見積り", "見積もり"),
        ("手続き", "手続の"),
        ("取扱い", "取り扱い"), ("割り当て", "割当て"), ("割り当て", "割当を"), ("申込みの方法", "申込の方法"),
    ],
)  # fmt: skip
def test_compounds_with_more_or_less_okurigana_are_one(asked, written):
    assert find_places(asked, f"この{written}です") == [f"この{written}です"]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("組み合わせ", "組合員"), ("組合せ", "労働組合"), ("手当て", "通勤手当"), ("立ち上げ", "立ち上がり"),
        ("日当たり", "日当を払う"),
        ("売り上げ", "売り上がり"), ("引き上げ", "引上がり"),
    ],
)  # fmt: skip
def test_compounds_that_mean_something_else_are_not_joined(asked, written):
    assert find_places(asked, written) == []


def test_spellings_of_a_compound():
    assert find_spellings("問い合わせ") == ["問い合せ", "問合せ"]
    assert find_bare_spellings("申し込み") == ["申込"]
    assert find_spellings("会議室") == find_bare_spellings("会議室") == []

"""Searches in the sections: exact, loose, and in one manual only."""

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.modules.manual.corpus import IndexedSection, ManualCorpus
from tokonoma.modules.manual.edges import find_word_edges
from tokonoma.modules.manual.joined_text import build_search_texts
from tokonoma.modules.manual.terms import make_term


def corpus_of(*texts: str) -> ManualCorpus:
    pairs = [build_search_texts("", text) for text in texts]
    sections = [
        IndexedSection("m", "f.md", place + 1, 0, 0, 1, "", "", None, len(text)) for place, text in enumerate(texts)
    ]
    return ManualCorpus(sections, [pair[0] for pair in pairs], [pair[1] for pair in pairs])


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("第３条による", "第3条"),
        ("ﾊﾟｽﾜｰﾄﾞを入れる", "パスワード"),
        ("サーバーを止める", "サーバ"),
        ("申込みの方法", "申し込み"),
        ("㈱山田", "株式会社山田"),
        ("(株)山田", "株式会社山田"),
        ("第Ⅲ章", "III"),
        ("データ・ベース", "データベース"),
        ("データベース", "データ-ベース"),
        ("E-mail を送る", "email"),
        ("ServiceDesk に頼む", "service desk"),
        ("電話 ０３－１２３４", "03-1234"),
    ],
)
def test_spellings_that_readers_take_for_one_are_found(written, asked):
    corpus, wanted = corpus_of("何もない", written), make_term(asked)
    assert 1 in corpus.find_exact(wanted) | corpus.find_loose(wanted)
    assert 0 not in corpus.find_exact(wanted) | corpus.find_loose(wanted)


@pytest.mark.parametrize(
    ("asked", "found", "not_found"),
    [
        ("imaged", ["Imaged", "image-d"], ["the image does", "an image. Data", "unimagedThings"]),
        (
            "respond",
            ["respond", "responding", "autoRespond, auto", "lateAutoRespond, late auto"],
            ["it corresponds", "a correspondent"],
        ),
        (
            "service desk",
            ["ServiceDesk", "service-desks", "myServiceDeskName"],
            ["service, deskless", "service ... desk"],
        ),
    ],
)
def test_letters_that_two_words_share_are_no_word(asked, found, not_found):
    corpus, wanted = corpus_of(*found, *not_found), make_term(asked)
    assert corpus.find_exact(wanted) | corpus.find_loose(wanted) == set(range(len(found)))


def test_a_part_of_the_corpus_is_looked_through_alone():
    sections = [IndexedSection(manual, "f.md", 1, 0, 0, 1, "", "", None, 4) for manual in ("a", "b", "c")]
    corpus = ManualCorpus(sections, ["term one"] * 3, ["termone"] * 3)
    assert corpus.limit_to("b").find_exact(make_term("term")) == {1}
    assert corpus.limit_to("b").find_loose(make_term("term-one")) == {1}
    assert corpus.limit_to("none").find_exact(make_term("term")) == frozenset()
    assert corpus.limit_to(None).find_exact(make_term("term")) == {0, 1, 2}


def test_a_short_word_is_not_found_inside_another():
    corpus = corpus_of("a script", "the CRI here", "CRIs are many")
    assert corpus.find_exact(make_term("CRI")) == {1, 2}


def test_a_corpus_is_freed_as_soon_as_nothing_uses_it():
    corpus = corpus_of("コンテナを止める", "stop the container")
    term = make_term("container")
    for each in (corpus, corpus.limit_to("m"), corpus.limit_to("m")):
        assert each.find_exact(term) == {1}
        assert each.find_loose(term) == {1}
        assert each.by_sound
        assert each.katakana_words
        assert each.readings is None or each.readings
    alive = [weakref.ref(corpus), weakref.ref(corpus.limit_to("m"))]
    gc.disable()  # only a cycle would need it
    try:
        del corpus, each
        assert [ref() for ref in alive] == [None, None]
    finally:
        gc.enable()


def test_results_of_earlier_searches_are_kept_up_to_a_size(monkeypatch):
    monkeypatch.setattr("tokonoma.modules.manual.search_results._MAX_CACHED", 1_000)
    corpus = corpus_of(*["one two three"] * 100)
    for number in range(300):
        assert not corpus.find_exact(make_term(f"missing{number}"))
        assert len(corpus.limit_to("m").find_exact(make_term("three"))) == 100
    kept = corpus._results._found
    assert kept
    assert sum(map(len, kept.values())) + 50 * len(kept) <= 1_000


@given(
    st.lists(st.text("ab1 .-_・ー猫しΩÆ\n", max_size=30), min_size=1, max_size=6),
    st.text("ab1 .-猫し", min_size=1, max_size=6),
)
def test_an_exact_search_finds_what_a_plain_scan_finds(texts, asked):
    wanted, edges = make_term(asked), find_word_edges(make_term(asked).folded)
    needle = wanted.folded

    def scan(text: str) -> bool:
        starts = [at for at in range(len(text)) if needle and text.startswith(needle, at)]
        return any(edges is None or edges(text, at, at + len(needle)) for at in starts)

    expected = {place for place, text in enumerate(texts) if scan(build_search_texts("", text)[0])}
    assert corpus_of(*texts).find_exact(wanted) == expected

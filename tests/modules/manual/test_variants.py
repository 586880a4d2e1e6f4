"""Other names of a term."""

from modules.manual.test_corpus import corpus_of

from tokonoma.modules.manual.terms import make_term
from tokonoma.modules.manual.variants import Variants, expand_term, find_definitions


def test_abbreviations_that_a_text_defines():
    found = dict(
        find_definitions("the annual general meeting (agm) is sections. 業務委託契約(以下「本契約」という)を結ぶ。")
    )
    assert found == {"annual general meeting": "agm", "業務委託契約": "本契約"}


def test_a_remark_in_brackets_defines_nothing():
    assert list(find_definitions("the name (optional) and 名前(必須)")) == []


def test_katakana_and_what_stands_beside_it_in_brackets_must_sound_alike():
    text = "リクエスト(outbound)、ロードバランサ(load balancer)、ファイルシステム(fs)、受付(desk)"
    assert dict(find_definitions(text)) == {"ロードバランサ": "load balancer", "ファイルシステム": "fs", "受付": "desk"}


def test_words_found_by_their_sound_do_not_bring_others():
    corpus = corpus_of("container", "コンテナ", "containing", "continue")
    assert [each.folded for each in expand_term(make_term("container"), [], corpus)] == ["コンテナ"]
    tents = corpus_of("tent", "テント", "テナント")
    assert [each.folded for each in expand_term(make_term("tent"), [], tents)] == ["テント"]


def test_every_name_of_a_term():
    corpus = corpus_of("annual general meeting (agm)", "年次総会 (annual general meeting)", "the agm", "テンプレート")
    defined = Variants(pair for place in range(len(corpus)) for pair in find_definitions(corpus.folded_text(place)))
    names = {each.folded for each in expand_term(make_term("AGM"), [defined], corpus)}
    assert "annual general meeting" in names
    assert {each.folded for each in expand_term(make_term("templates"), [defined], corpus)} >= {
        "template",
        "テンプレート",
    }
    assert {each.folded for each in expand_term(make_term("総務部(GA)"), [], corpus)} >= {"総務部", "ga"}


def test_a_group_holds_for_all_of_its_words():
    known = Variants([("解約", "契約解除", "cancellation")])
    assert known.find("cancellations") == ["解約", "契約解除"]
    assert known.find("返品") == []

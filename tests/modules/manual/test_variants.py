"""Other names of a term."""

import pytest
from modules.manual.test_corpus import corpus_of

from tokonoma.modules.manual.corpus import IndexedSection, ManualCorpus
from tokonoma.modules.manual.definitions import find_definitions
from tokonoma.modules.manual.joined_text import build_search_texts
from tokonoma.modules.manual.terms import make_term
from tokonoma.modules.manual.variants import ManualDefinitions, Variants, expand_term, shorten_term


def definitions_of(manual: str, *texts: str) -> dict[str, ManualDefinitions]:
    defined = ManualDefinitions()
    for text in texts:
        for pair in find_definitions(text):
            defined.add(pair)
    return {manual: defined}


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
    assert [each.folded for each in expand_term(make_term("container"), Variants(), corpus)] == ["コンテナ"]
    tents = corpus_of("tent", "テント", "テナント")
    assert [each.folded for each in expand_term(make_term("tent"), Variants(), tents)] == ["テント"]


def test_every_name_of_a_term():
    corpus = corpus_of("annual general meeting (agm)", "年次総会 (annual general meeting)", "the agm", "テンプレート")
    defined = definitions_of("m", *(corpus.folded_text(place) for place in range(len(corpus))))
    names = {each.folded for each in expand_term(make_term("AGM"), Variants(), corpus, defined)}
    assert "annual general meeting" in names
    assert {each.folded for each in expand_term(make_term("templates"), Variants(), corpus, defined)} >= {
        "template",
        "テンプレート",
    }
    assert {each.folded for each in expand_term(make_term("総務部(GA)"), Variants(), corpus)} >= {"総務部", "ga"}


def test_a_group_holds_for_all_of_its_words():
    known = Variants([("解約", "契約解除", "cancellation")])
    assert known.find("cancellations") == ["解約", "契約解除"]
    assert known.find("返品") == []


@pytest.mark.parametrize(
    "text",
    [
        'Add it with `route("main")` or `annual general meeting (agm)`.',
        '```python\napp.route("main")  # annual general meeting (agm)\n```',
        '~~~\nroute ("main")\n~~~',
        'Like this:\n\n    route ("main")\n    # annual general meeting (agm)\n',
        'A call of route("main") in prose.',
        "| name | type |\n|---|---|\n| annual general meeting (agm) | text |",
        "See https://example.org/annual-general-meeting (agm) or [it](annual-general-meeting(agm)).",
        "<!-- annual general meeting (agm) -->",
        "- a list\n  ```\n  annual general meeting (agm)\n  ```",
    ],
)
def test_code_tables_and_addresses_define_nothing(text):
    assert list(find_definitions(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "The **annual general meeting** (AGM).",
        "The [annual general meeting](agm.md) (AGM).",
        "```\ncode\n```\nThe annual general meeting (AGM).",
        "An `unclosed span.\n\nThe annual general meeting (AGM).",
        "Use `code` and then the annual general meeting (AGM).",
    ],
)
def test_prose_beside_code_defines(text):
    assert list(find_definitions(text)) == [("annual general meeting", "agm")]


def test_a_definition_counts_in_its_own_manual():
    texts = "the annual general meeting (agm)", "an agm", "an agm in another manual"
    pairs = [build_search_texts("", text) for text in texts]
    sections = [
        IndexedSection("ab"[place // 2], "f.md", place + 1, 0, 0, 1, "", "", None, 9) for place in range(len(texts))
    ]
    corpus = ManualCorpus(sections, *([pair[form] for pair in pairs] for form in (0, 1)))
    (agm,) = expand_term(make_term("annual general meeting"), Variants(), corpus, definitions_of("a", texts[0]))
    assert (agm.folded, agm.manual) == ("agm", "a")
    assert corpus.find_exact(agm) == corpus.limit_to("a").find_exact(agm) == {0, 1}
    assert corpus.find_exact(make_term("agm")) == {0, 1, 2}


def test_a_word_that_is_everywhere_in_the_manual_is_no_other_name():
    texts = ["kubernetes in docker (kind)", *["kind: this"] * 99]
    defined = definitions_of("m", texts[0])
    assert expand_term(make_term("kubernetes in docker"), Variants(), corpus_of(*texts), defined) == []
    few = corpus_of(*texts[:10], *["other"] * 90)
    assert [each.folded for each in expand_term(make_term("kubernetes in docker"), Variants(), few, defined)] == [
        "kind"
    ]


def test_kanji_and_english_in_brackets_are_one_name_only_if_both_are_about_as_rare():
    defined = definitions_of("m", "検索(google)を使う。適用除外(exemption)。")
    texts = ["検索(google)を使う", "適用除外(exemption)", *["検索する"] * 8]
    assert expand_term(make_term("google"), Variants(), corpus_of(*texts), defined) == []
    assert [each.folded for each in expand_term(make_term("exemption"), Variants(), corpus_of(*texts), defined)] == [
        "適用除外"
    ]


def test_a_long_name_without_one_of_its_parts():
    corpus = corpus_of("クラウド", "サービス", "プロバイダー")
    names = [each.folded for each in shorten_term(make_term("クラウドサービスプロバイダー"), corpus)]
    assert names == ["サービスプロバイダ", "クラウドプロバイダ"]
    assert [each.folded for each in shorten_term(make_term("cloud service providers"), corpus)] == [
        "service provider",
        "cloud provider",
    ]
    assert shorten_term(make_term("service provider"), corpus) == []

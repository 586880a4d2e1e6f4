"""What a query asks for, and under which other names a manual may have it."""

import pytest

from tokonoma.modules.manual.corpus import IndexedSection, ManualCorpus, build_search_texts
from tokonoma.modules.manual.katakana import english_consonants, katakana_consonants, similarity
from tokonoma.modules.manual.pointers import find_pointer
from tokonoma.modules.manual.references import SectionReference, article_name, find_references, resolve_link
from tokonoma.modules.manual.settings_file import load_shipped_glossary, parse_glossary, parse_settings
from tokonoma.modules.manual.terms import make_term, parse_query
from tokonoma.modules.manual.variants import Variants, expand_term, find_definitions


def stock_of(*texts: str) -> ManualCorpus:
    pairs = [build_search_texts("", text) for text in texts]
    held = [
        IndexedSection("m", "f.md", place + 1, 0, 0, 1, "", "", None, len(text)) for place, text in enumerate(texts)
    ]
    return ManualCorpus(held, [pair[0] for pair in pairs], [pair[1] for pair in pairs])


@pytest.mark.parametrize(
    ("query", "phrase"),
    [
        ("返品について網羅的に取得して", "返品"),
        ("Tell me everything about refunds", "refunds"),
        ("返品とは何ですか", "返品"),
        ("「本契約」の扱い", "本契約"),
        ("返品", "返品"),
    ],
)
def test_the_asking_around_a_topic_is_left_out(query, phrase):
    assert parse_query(query).phrase.written == phrase


def test_particles_part_words():
    assert [word.written for word in parse_query("返品手続きの期限").words] == ["返品手続き", "期限"]


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("返品の例外", "exceptions"),
        ("返品と交換の違い", "compare"),
        ("返品の手順", "procedure"),
        ("what is a refund", "definition"),
        ("返品", "unknown"),
    ],
)
def test_the_intent_is_guessed_and_can_be_given(query, intent):
    assert parse_query(query).intent == intent
    assert parse_query(query, "eligibility").intent == "eligibility"


@pytest.mark.parametrize(
    ("kana", "english"),
    [("プリンター", "printer"), ("カレンダー", "calendar"), ("ドキュメント", "document"), ("テンプレート", "templates"),
     ("スクリプト", "script"), ("フォルダー", "folder"), ("プラグイン", "plugin"), ("キャンセル", "cancel")],
)  # fmt: skip
def test_katakana_sounds_like_its_english(kana, english):
    assert katakana_consonants(kana) in english_consonants(english)


@pytest.mark.parametrize(
    ("kana", "english"), [("プリンター", "painter"), ("カレンダー", "folder"), ("テンプレート", "document")]
)
def test_other_words_sound_different(kana, english):
    assert katakana_consonants(kana) not in english_consonants(english)


@pytest.mark.parametrize(
    ("english", "nearer", "further"),
    [
        ("tent", "テント", "テナント"),
        ("relation", "リレーション", "リリレーション"),
        ("plugin", "プラグイン", "アプリーション"),
    ],
)
def test_of_words_with_the_same_consonants_the_vowels_decide(english, nearer, further):
    assert similarity(nearer, english) > similarity(further, english)


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
    stock, wanted = stock_of("何もない", written), make_term(asked)
    assert 1 in stock.find_exact(wanted) | stock.find_loose(wanted)
    assert 0 not in stock.find_exact(wanted) | stock.find_loose(wanted)


@pytest.mark.parametrize(
    ("asked", "found", "not_found"),
    [
        ("imaged", ["Imaged", "image-d", "unimagedThings"], ["the image does", "an image. Data"]),
        (
            "service desk",
            ["ServiceDesk", "service-desks", "myServiceDeskName"],
            ["service, deskless", "service ... desk"],
        ),
    ],
)
def test_letters_that_two_words_share_are_no_word(asked, found, not_found):
    stock, wanted = stock_of(*found, *not_found), make_term(asked)
    assert stock.find_exact(wanted) | stock.find_loose(wanted) == set(range(len(found)))


def test_a_part_of_the_stock_is_looked_through_alone():
    held = [IndexedSection(manual, "f.md", 1, 0, 0, 1, "", "", None, 4) for manual in ("a", "b", "c")]
    stock = ManualCorpus(held, ["term one"] * 3, ["termone"] * 3)
    assert stock.limit_to("b").find_exact(make_term("term")) == {1}
    assert stock.limit_to("b").find_loose(make_term("term-one")) == {1}
    assert stock.limit_to("none").find_exact(make_term("term")) == frozenset()
    assert stock.limit_to(None).find_exact(make_term("term")) == {0, 1, 2}


def test_a_short_word_is_not_found_inside_another():
    stock = stock_of("a script", "the CRI here", "CRIs are many")
    assert stock.find_exact(make_term("CRI")) == {1, 2}


def test_abbreviations_that_a_text_defines():
    found = dict(
        find_definitions("the annual general meeting (agm) is held. 業務委託契約(以下「本契約」という)を結ぶ。")
    )
    assert found == {"annual general meeting": "agm", "業務委託契約": "本契約"}


def test_a_remark_in_brackets_defines_nothing():
    assert list(find_definitions("the name (optional) and 名前(必須)")) == []


def test_katakana_and_what_stands_beside_it_in_brackets_must_sound_alike():
    text = "リクエスト(outbound)、ロードバランサ(load balancer)、ファイルシステム(fs)、受付(desk)"
    assert dict(find_definitions(text)) == {"ロードバランサ": "load balancer", "ファイルシステム": "fs", "受付": "desk"}


def test_words_found_by_their_sound_do_not_bring_others():
    stock = stock_of("container", "コンテナ", "containing", "continue")
    assert [each.folded for each in expand_term(make_term("container"), [], stock)] == ["コンテナ"]
    tents = stock_of("tent", "テント", "テナント")
    assert [each.folded for each in expand_term(make_term("tent"), [], tents)] == ["テント"]


def test_every_name_of_a_term():
    stock = stock_of("annual general meeting (agm)", "年次総会 (annual general meeting)", "the agm", "テンプレート")
    defined = Variants(pair for place in range(len(stock)) for pair in find_definitions(stock.folded_text(place)))
    names = {each.folded for each in expand_term(make_term("AGM"), [defined], stock)}
    assert "annual general meeting" in names
    assert {each.folded for each in expand_term(make_term("templates"), [defined], stock)} >= {
        "template",
        "テンプレート",
    }
    assert {each.folded for each in expand_term(make_term("総務部(GA)"), [], stock)} >= {"総務部", "ga"}


def test_a_group_holds_for_all_of_its_words():
    known = Variants([("解約", "契約解除", "cancellation")])
    assert known.find("cancellations") == ["解約", "契約解除"]
    assert known.find("返品") == []


def test_the_shipped_glossary_reads():
    assert not load_shipped_glossary().problem
    assert len(load_shipped_glossary().groups) > 30
    assert "ただし" in load_shipped_glossary().exceptions


@pytest.mark.parametrize("raw", [b"terms: [", b"- a", b"\xff", b"a: &x [1]\nb: *x"])
def test_a_broken_glossary_says_so_and_gives_nothing(raw):
    found = parse_glossary(raw)
    assert found.problem
    assert not found.groups


def test_a_manual_says_where_it_belongs():
    told = parse_settings("title: 規約\nspace: /team\nallow_file: true\n".encode())
    assert (told.title, told.namespace, told.allow_file) == ("規約", "/team", True)
    assert parse_settings(b"space: ../x").problem


def test_references_of_a_section():
    own = "# 第2条\n[料金](../fees.md#top)と第三条、別表第１、「支払い」を参照。![図](a.png) [外](https://x.example/)"
    assert list(find_references(own)) == [
        SectionReference("link", "../fees.md", "top"),
        SectionReference("name", "第3条"),
        SectionReference("name", "別表1"),
        SectionReference("name", "支払い"),
    ]
    assert resolve_link("a/b/c.md", "../fees.md") == "a/fees.md"
    assert resolve_link("c.md", "../../out.md") == ""
    assert article_name("第十二条 解約") == article_name("第12条") == "第12条"


@pytest.mark.parametrize(
    ("text", "asked", "place"),
    [
        ('{"a": [{"名": "x"}, {"b/c": "返品は可"}]}', "返品", "/a/1/b~1c"),
        ('{"返品": 1}', "返品", "/返品"),
        ('"返品"', "返品", ""),
        ('{"a": "x"}', "返品", None),
        ("{", "返品", None),
    ],
)
def test_a_pointer_leads_to_the_first_place(text, asked, place):
    assert find_pointer(text, [make_term(asked)]) == place

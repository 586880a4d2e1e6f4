"""Words that are one word: by the sound of katakana, and by readings where Sudachi is installed."""

import pytest
from modules.manual.test_corpus import corpus_of

from tokonoma.modules.manual import corpus
from tokonoma.modules.manual.sounds import Readings, english_consonants, is_installed, katakana_consonants, similarity
from tokonoma.modules.manual.terms import make_term
from tokonoma.modules.manual.variants import Variants, expand_term

read = pytest.mark.skipif(not is_installed(), reason="Sudachi's dictionary has 200 MB: pip install 'tokonoma[sudachi]'")

TEXT = "お見積の期間は引越しの日までに、申込書を受付の機関へ。附属の取扱説明書も読む。"


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


@read
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("みつもり", "見積"),
        ("見積もり", "見積"),
        ("引っ越し", "引越し"),
        ("申し込み書", "申込書"),
        ("付属", "附属"),
        ("取り扱い説明書", "取扱説明書"),
        ("うけつけ", "受付"),
    ],
)
def test_a_word_is_found_in_the_spelling_of_the_text(asked, found):
    assert found in Readings(TEXT).find_spellings(asked)


@read
def test_words_that_only_sound_alike_are_not_one():
    assert "機関" not in Readings(TEXT).find_spellings("期間")
    assert Readings("期間と機関").find_spellings("きかん") == ["期間", "機関"]


@read
def test_a_reading_is_a_name_of_its_word():
    assert "ミツモリ" in Readings("").find_spellings("見積")
    assert "ミツモリ" in {
        each.folded for each in expand_term(make_term("見積"), Variants(), corpus_of("みつもりを取る"))
    }


@read
@pytest.mark.parametrize("asked", ["", "report", "見積を取る", "あ" * 200, "🍵", "返品 手続き"])
def test_what_is_no_word_has_no_other_spelling(asked):
    assert Readings(TEXT).find_spellings(asked) == []


def test_without_it_nothing_is_read(monkeypatch):
    monkeypatch.setattr(corpus, "is_installed", lambda: False)
    assert corpus_of("みつもりを取る").readings is None
    assert [each.folded for each in expand_term(make_term("見積"), Variants(), corpus_of("みつもりを取る"))] == []

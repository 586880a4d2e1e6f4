"""Memos in both languages in one namespace, as in a real house: what the default search puts first."""

import pytest
from talk import Lines

from tokonoma.app import App

PAIRS = [
    ("The cat sleeps on the sofa in the afternoon.", "猫は午後にソファで寝ている。"),
    ("The rent is paid on the last day of every month.", "家賃は毎月末日に支払う。"),
    ("Restart the nginx server after changing the certificate.", "証明書を変えたらnginxサーバーを再起動する。"),
    ("My sister's birthday is in the first week of May.", "妹の誕生日は五月の第一週だ。"),
    ("The spare key hangs behind the kitchen door.", "予備の鍵は台所のドアの裏に掛かっている。"),
    ("We take the train to Nagano next winter.", "来年の冬は電車で長野へ行く。"),
    ("The dentist has moved to the new building by the station.", "歯医者は駅前の新しい建物に移った。"),
    ("Water the garden early in the morning in summer.", "夏は朝早く庭に水をやる。"),
]
WORDS = ["sofa", "rent", "certificate", "dentist", "garden", "家賃", "誕生日", "台所", "電車", "庭"]


@pytest.fixture
def talk(app) -> Lines:
    made = Lines(app)
    save(app, made, *(text for pair in PAIRS for text in pair))
    return made


def save(app: App, talk: Lines, *texts: str) -> None:
    talk.call("memory", "save", memos=[{"content": text, "namespace": "home"} for text in texts])
    worker = app.search.worker
    assert worker is not None
    while worker.run_batch():
        pass


def search(talk: Lines, query: str) -> list[str]:
    return [item["content"] for item in talk.call("memory", "search", query=query, namespace="home", k=10)["items"]]


def test_a_memos_own_text_comes_first_and_its_translation_next(talk):
    for pair in PAIRS:
        for own, other in (pair, pair[::-1]):
            assert search(talk, own)[:2] == [own, other]


def test_one_word_finds_what_holds_it_before_what_only_means_it(talk):
    for word in WORDS:
        found = search(talk, word)
        assert word in found[0]
        translation = next(pair[1 - place] for pair in PAIRS for place in (0, 1) if pair[place] == found[0])
        assert translation in found[1:]


def test_the_grammar_of_a_question_need_not_be_in_its_answer(talk):
    asked = {
        "歯医者はどこになったんですか": 6,
        "家賃っていつ払うんだっけ": 1,
        "予備の鍵ってどこにあるの": 4,
        "誕生日はいつでしょうか": 3,
    }
    for query, place in asked.items():
        assert search(talk, query)[0] == PAIRS[place][1]


def test_a_question_that_only_the_other_language_answers_is_answered_there(app, talk):
    save(app, talk, "眼鏡は青いケースに入れて寝室の机に置いた。", "The passport expires in October.")
    assert search(talk, "Where did I put my glasses?")[0].startswith("眼鏡")
    assert search(talk, "旅券の期限はいつ？")[0].startswith("The passport")


def test_a_name_that_both_languages_write_alike_finds_both(talk):
    assert {*search(talk, "nginx")[:2]} == {*PAIRS[2]}

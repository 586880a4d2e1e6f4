"""Same text, duplicate, contradicted or another subject: by words, and a similarity that comes from outside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.likeness import NEAR, judge_pair, pack_text

# The similarities are those of the built-in model, rounded.
PAIRS = [
    ("same", "Use  four spaces.", "use four spaces", 1.0),
    ("same", "ﾊﾞｯｸｱｯﾌﾟは毎晩２時。", "バックアップは毎晩2時", 1.0),
    ("duplicate", "The dentist appointment is on 12 March at 15:00.", "Dentist appointment: 12 March, 15:00.", 0.98),
    ("duplicate", "I prefer tea to coffee.", "I like tea better than coffee.", 0.88),
    ("duplicate", "My favourite colour is green.", "My favorite color is green.", 0.85),
    ("duplicate", "Never deploy on Fridays.", "Do not deploy on a Friday.", 0.9),
    ("duplicate", "Releases go out on Tuesday mornings.", "Releases are shipped Tuesday morning.", 0.8),
    ("duplicate", "花子はピーナッツアレルギーだ。", "花子さんはピーナッツにアレルギーがある。", 0.95),
    ("duplicate", "金曜日にはデプロイしない。", "金曜はデプロイ禁止。", 0.77),
    ("duplicate", "The backup runs every night at 2:00.", "バックアップは毎晩2時に実行される。", 0.82),
    ("contradicted", "The API limit is 200 requests per minute.", "The API limit is 120 requests per minute.", 0.89),
    ("contradicted", "The dentist appointment was moved to 19 March.", "Dentist appointment: 12 March, 15:00.", 0.68),
    ("contradicted", "Anna is not allergic to peanuts.", "Anna is allergic to peanuts.", 0.97),
    ("contradicted", "My favourite colour is blue.", "My favourite colour is green.", 0.89),
    ("contradicted", "Releases go out on Thursday mornings.", "Releases go out on Tuesday mornings.", 0.83),
    ("contradicted", "Maria lives in Lisbon now.", "Maria lives in Porto.", 0.62),
    ("contradicted", "金曜日にデプロイしてもよい。", "金曜日にはデプロイしない。", 0.82),
    ("contradicted", "リリースは木曜日の午前に行う。", "リリースは火曜日の午前に行う。", 0.76),
    ("contradicted", "APIの上限は毎分120件。", "The API limit is 200 requests per minute.", 0.73),
    ("contradicted", "I prefer tea over coffee.", "I prefer coffee over tea.", 1.0),
    ("contradicted", "コーヒーより紅茶が好き。", "紅茶よりコーヒーが好き。", 1.0),
    ("contradicted", "AliceはBobの上司です。", "BobはAliceの上司です。", 1.0),
    ("duplicate", "Bob and Anna meet on Friday.", "Anna and Bob meet on Friday.", 1.0),
    ("duplicate", "田中さんと鈴木さんが担当。", "鈴木さんと田中さんが担当。", 1.0),
    ("duplicate", "On Friday we ship the beta.", "We ship the beta on Friday.", 1.0),
    (None, "Ken's birthday is June 9.", "Mia's birthday is October 2.", 0.63),
    (None, "The dentist appointment is on 12 March at 15:00.", "The tax adviser comes on 14 March at 10:00.", 0.72),
    (None, "Maria lives in Lisbon.", "Maria works for a bank.", 0.42),
    (None, "花子はピーナッツアレルギーだ。", "太郎は猫アレルギーだ。", 0.61),
    (None, "健の誕生日は6月9日。", "Mia's birthday is October 2.", 0.54),
]


@pytest.mark.parametrize(("meant", "new", "old", "similarity"), PAIRS, ids=range(len(PAIRS)))
def test_what_an_older_text_is_to_a_new_one(meant, new, old, similarity):
    judged = judge_pair(new, old, similarity)
    assert (judged and judged[0]) == meant
    assert judged is None or judged[1] == pytest.approx(similarity)


def test_without_a_model_the_share_of_common_words_counts():
    assert judge_pair("My favourite colour is blue.", "My favourite colour is green.", None) == ("contradicted", 2 / 3)
    assert judge_pair("Maria lives in Lisbon.", "Maria works for a bank.", None) is None


def test_long_texts_are_never_called_contradicted():
    text = " ".join(f"word{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(60))
    assert judge_pair(f"{text} 1", f"{text} 2", 0.95) == ("duplicate", 0.95)
    assert judge_pair(f"{text} 1", f"{text} 2", NEAR) is None


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_can_be_compared_in_both_directions(one, other):
    assert (pack_text(one) == pack_text(other)) == (judge_pair(one, other, 0.0) == ("same", 1.0))
    forth, back = judge_pair(one, other, 0.8), judge_pair(other, one, 0.8)
    assert (forth is None) == (back is None)

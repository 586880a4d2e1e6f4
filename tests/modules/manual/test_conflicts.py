"""Contradictions: the same property of the same thing with two values; and the many pairs that only look like one."""

import pytest
from modules.manual.pages import build_corpus

from tokonoma.modules.manual.conflicts import find_conflicts
from tokonoma.modules.manual.terms import make_term

CONTRADICTIONS = [
    ("返品", "# 返品規程\n## 返品期間\n返品期間は30日とする。",
     "# よくある質問\n## 返品はいつまで\n返品期間は14日です。"),
    ("返品期間", "# 第3条 返品\n返品期間は商品到着後30日以内とする。", "# 第9条 返品の手続\n返品期間は14日とする。"),
    ("返品", "# 第3条 返品\n返品は30日以内に通知する。", "# 別表 返品\n返品は14日以内に通知する。"),
    ("会費", "# 会費\n年会費は5,000円とする。", "# 入会の案内\n年会費は6,000円です。"),
    ("休暇", "# 有給休暇\n有給休暇の繰越は二年とする。", "# 休暇の一般規定\n有給休暇の繰越は三年とする。"),
    ("開封", "# 返品\n開封後の返品はできません。", "# 返品の条件\n開封後の返品はできます。"),
    ("駐車場", "# 駐車場\n駐車場の予約は必要です。", "# 案内\n駐車場の予約は不要です。"),
    ("request timeout", "# Requests\nThe request timeout is 3 seconds.", "# Limits\nThe request timeout is 9 seconds."),
    ("timeout", "# Timeout\nThe timeout is 30 seconds.", "# Timeout\nThe timeout is 60 seconds."),
    ("return", "# Returns\nBuyers may return goods within 30 days.", "# Mail\nBuyers may return goods within 14 days."),
    ("guests", "# Guests\nGuests can invite members to a room.", "# Rooms\nGuests cannot invite members to a room."),
    ("upload", "# Upload\nThe log upload is enabled by default.", "# Privacy\nThe log upload is disabled by default."),
]  # fmt: skip
NONE = {
    "two products": ("保証期間", "# 製品A\n## 保証\n保証期間は1年とする。", "# 製品B\n## 保証\n保証期間は2年とする。"),
    "two branches": ("窓口", "# 東京支店\n窓口の人数は3人です。", "# 大阪支店\n窓口の人数は5人です。"),
    "two plans": ("trial", "# Standard plan\nThe trial is 14 days.", "# Premium plan\nThe trial is 30 days."),
    "two subjects": ("timeout", "# HTTP client\nThe timeout is 30 seconds.", "# Database\nThe timeout is 60 seconds."),
    "an example": ("返品", "# 返品\n例えば、返品期間は30日とする。", "# 返品案内\n返品期間は14日とする。"),
    "an old rule": ("返品", "# 返品\n返品期間は30日とする。", "# 返品の旧規定\n2019年まで返品期間は14日とする。"),
    "two properties": ("返品", "# 返品\n返品期間は30日とする。", "# 返品料\n返品手数料は14日以内に支払う。"),
    "two respects": ("job", "# Job\nThe default job time is 3 seconds.", "# Jobs\nThe maximum job time is 60 seconds."),
    "bounds": ("password", "# Password\nThe password length is at least 8 characters.",
               "# Password rules\nThe password length is at most 64 characters."),
    "code": ("job time", "# Jobs\n```\nThe job time is 30 seconds.\n```", "# Job time\nThe job time is 60 seconds."),
    "a table": ("job time", "# Jobs\n| job time is | 30 seconds |\n", "# Job time\nThe job time is 60 seconds."),
    "cases": ("返品期間", "# 返品\n返品期間は食品は7日、衣類は30日とする。", "# 返品案内\n返品期間は14日とする。"),
    "a list of cases": ("返品期間", "# 返品\n返品期間は7日とする。返品期間は9日とする。",
                        "# 返品案内\n返品期間は14日とする。"),
    "another unit": ("trial", "# Trial\nThe trial period is 1 month.", "# Trials\nThe trial period is 30 days."),
    "another condition": ("開封", "# 返品\n開封後の返品はできません。", "# 返品の条件\n開封前の返品はできます。"),
    "a condition": ("guests", "# Guests\nIf rooms are open, guests can invite members to a room.",
                    "# Rooms\nGuests cannot invite members to a room."),
    "an exception": ("guests", "# Guests\nGuests can invite members to a room.",
                     "# Rooms\nGuests cannot invite members to a room unless asked."),
    "no number": ("時間", "# 時間\n準備の時間は十分です。", "# 準備の時間\n準備の時間は九分です。"),
    "the same value": ("会費", "# 会費\n年会費は5,000円とする。", "# 入会の案内\n年会費は5000円です。"),
}  # fmt: skip


def find(topic: str, *pages: str, manuals: tuple[str, ...] = ("rules", "rules")) -> list[str]:
    corpus, term = build_corpus(*zip(manuals, pages, strict=True)), make_term(topic)
    named = sorted(corpus.find_exact(term) | corpus.find_loose(term))
    return [each.reason for each in find_conflicts(corpus, named, [(term.folded,)], topic)]


@pytest.mark.parametrize(("topic", "first", "second"), CONTRADICTIONS)
def test_a_contradiction_is_found_once(topic, first, second):
    assert len(find(topic, first, second)) == 1
    assert len(find(topic, second, first)) == 1


@pytest.mark.parametrize("why", NONE)
def test_what_only_looks_like_a_contradiction_is_not_reported(why):
    assert find(*NONE[why]) == []


def test_two_manuals_may_say_different_things():
    topic, first, second = CONTRADICTIONS[0]
    assert find(topic, first, second, manuals=("one", "two")) == []


def test_a_sentence_that_does_not_name_the_topic_does_not_count():
    pages = "# 送料\n返品期間は30日とする。送料は無料です。", "# 返品の送料\n返品期間は14日とする。送料は無料です。"
    assert find("送料", *pages) == []
    assert len(find("返品", *pages)) == 1


def test_the_words_of_a_query_may_be_apart():
    pages = "# 返品\n返品の期間は30日とする。", "# 返品の規則\n返品の期間は14日とする。"
    corpus = build_corpus(*(("rules", page) for page in pages))
    assert len(find_conflicts(corpus, [0, 1], [("返品", "期間")], "返品 期間")) == 1

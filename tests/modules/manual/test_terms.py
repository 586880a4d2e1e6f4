"""What a query asks for, and what a section refers to."""

import pytest

from tokonoma.modules.manual.terms import (
    SectionReference,
    article_name,
    find_references,
    parse_query,
)


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


def test_references_of_a_section():
    own = "# 第2条\n[料金](../fees.md#top)と第三条、別表第１、「支払い」を参照。![図](a.png) [外](https://x.example/)"
    assert list(find_references(own)) == [
        SectionReference("link", "../fees.md", "top"),
        SectionReference("name", "第3条"),
        SectionReference("name", "別表1"),
        SectionReference("name", "支払い"),
    ]
    assert article_name("第十二条 解約") == article_name("第12条") == "第12条"

"""What a query asks for, what a section refers to, and where a term is in a JSON file."""

import pytest

from tokonoma.modules.manual.terms import (
    SectionReference,
    article_name,
    find_pointer,
    find_references,
    make_term,
    parse_query,
    resolve_link,
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

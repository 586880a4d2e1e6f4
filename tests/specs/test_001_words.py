"""specs/001: words that mean the same, and only those, over the wire."""

from pathlib import Path
from typing import Any

import pytest
from talk import Talk

NAMED = 0.6
GUIDE = """# Overview
Every pipeline has a middleware.

# Calls
```python
@app.middleware("http")
def handle(): ...
```
Use `middleware("http")` too.

# Transport
It speaks http.

# Ports
An http port.

# Dependencies
Two dependencies of the package.

# Dependency
One dependency.

# Inspecting
Run kubectl explain to see the fields.

# Listing
Run kubectl get.

# Words
Explain every word. kubectl is a program. Explain it.
"""
RULES = """# 第三条 返品
返品は二十日以内。

# 第13条 期間
120日まで。

# 窓口
お問合せ先は総務。

# 会合
労働組合の会。
"""


@pytest.fixture
def manuals(tmp_path) -> Path:
    folder = tmp_path / "home" / "workspace" / "manuals"
    for name, text in {
        "guide": GUIDE,
        "rules": RULES,
        "a": "# Meeting\nThe annual general meeting (AGM).\n\n# Date\nThe AGM is in May.\n",
        "b": "# Alloys\nAGM is an alloy.\n\n# Other\nThe annual general meeting.\n",
    }.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "text.md").write_text(text, encoding="utf-8")
    return folder


def find_named(talk: Talk, query: str, manual_id: str | None = None, max_stage: int = 3) -> set[str]:
    scope = {} if manual_id is None else {"manual_id": manual_id}
    return {item["title"] for item in find_items(talk, query, max_stage=max_stage, **scope) if item["score"] >= NAMED}


def find_items(talk: Talk, query: str, **params) -> list[dict[str, Any]]:
    found = talk.call("manual", "find", query=query, **params)
    return talk.call("manual", "hits", trace_id=found["trace_id"], limit=200)["items"]


def test_a_word_is_found_in_its_other_forms(talk, manuals):
    assert find_named(talk, "dependency", "guide") == {"Dependencies", "Dependency"}
    assert find_named(talk, "dependencies", "guide") == {"Dependencies", "Dependency"}
    other = next(each for each in find_items(talk, "dependency", manual_id="guide") if each["title"] == "Dependencies")
    assert "normalized" in other["signals"] or "heading" in other["signals"]


def test_numbers_and_okurigana_are_written_in_several_ways(talk, manuals):
    assert find_named(talk, "第3条", "rules") == {"第三条 返品"}
    assert find_named(talk, "20日", "rules") == {"第三条 返品"}
    assert find_named(talk, "問い合わせ", "rules") == {"窓口"}
    assert find_named(talk, "組み合わせ", "rules") == set()


def test_code_defines_no_other_name(talk, manuals):
    assert find_named(talk, "middleware", "guide") == {"Overview", "Calls"}


def test_a_definition_counts_in_its_own_manual(talk, manuals):
    asked = "annual general meeting"
    assert find_named(talk, asked, "a") == {"Meeting", "Date"}
    assert find_named(talk, asked, "b") == {"Other"}
    assert find_named(talk, asked) == {"Meeting", "Date", "Other"}


def test_a_definition_of_one_manual_does_not_reach_others_when_the_search_widens(talk, manuals):
    assert "Alloys" not in find_named(talk, "annual general meeting", "a", max_stage=4)


def test_a_phrase_that_is_there_is_searched_as_a_phrase(talk, manuals):
    items = find_items(talk, "kubectl explain", manual_id="guide", max_stage=3)
    assert {each["title"] for each in items if each["score"] >= NAMED} == {"Inspecting"}
    by_words = {each["title"] for each in items if {"heading", "normalized", "loose", "synonym"} & {*each["signals"]}}
    assert by_words == {"Inspecting"}


def test_the_words_of_a_phrase_that_is_nowhere_are_searched(talk, manuals):
    items = find_items(talk, "explain program", manual_id="guide", max_stage=3)
    assert "Words" in {each["title"] for each in items if {"normalized", "loose"} & {*each["signals"]}}


@pytest.mark.parametrize(
    ("question", "manual", "title"),
    [
        ("What does the manual say about dependencies?", "guide", "Dependency"),
        ("How do I use middleware?", "guide", "Overview"),
        ("返品とは何ですか", "rules", "第三条 返品"),
        ("労働組合について教えてください", "rules", "会合"),
    ],
)
def test_a_question_finds_its_topic_by_name(talk, manuals, question, manual, title):
    assert title in find_named(talk, question, manual)

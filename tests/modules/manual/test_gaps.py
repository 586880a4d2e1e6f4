"""Gaps: a reference is one only if its target belongs to this manual and is in none of its files."""

import pytest
from modules.manual.pages import build_corpus

from tokonoma.modules.manual.gaps import is_missing

RULES = "# 第1条 目的\n定める。\n# 第2条 返品\n{}\n# 別表第1\n品目\n# 第2章 雑則\n終わり。\n"


def gaps(text: str, *paths: str) -> list[str]:
    corpus = build_corpus(("rules", RULES.format(text)))
    return [each.target for each in corpus.references(1) if is_missing(corpus, 1, each, {"page0.md", *paths})]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("第9条による。", ["第9条"]),
        ("第九条及び第十条による。", ["第9条", "第10条"]),
        ("本規程第9条による。", ["第9条"]),
        ("別表第3を見る。", ["別表3"]),
        ("[料金](fees.md)を見る。", ["fees.md"]),
        ("[Fees](sub/fees.md#late) apply.", ["sub/fees.md"]),
    ],
)
def test_what_is_nowhere_is_missing(text, missing):
    assert gaps(text) == missing


@pytest.mark.parametrize(
    "text",
    [
        "民法第90条による。",
        "同法第9条による。",
        "労働基準法の第9条による。",
        "前条第3項による。",
        "前条第4号による。",
        "別表現を使う。",
        "別表のとおり。",
        "様式第4を使う。",  # no form has a heading here
        "[site](/docs/fees.md) is elsewhere.",
        "[up](../other/fees.md) is elsewhere.",
        "[web](https://example.com/fees.md) is elsewhere.",
        "[picture](fees.png) is no text.",
        "[here](#later) is an anchor.",
        "[folder](sub/README.md) is a folder's page.",
    ],
)
def test_what_is_elsewhere_or_no_heading_is_not_missing(text):
    assert gaps(text) == []


@pytest.mark.parametrize("path", ["Fees.md", "sub/fees.md", "FEES.MD"])
def test_a_file_in_another_spelling_or_folder_is_there(path):
    assert gaps("[料金](fees.md)を見る。", path) == []
    assert gaps("[料金](return_fees.md)を見る。", "return-fees.md") == []

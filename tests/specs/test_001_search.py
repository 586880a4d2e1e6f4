"""specs/001: manual_search and manual_excepts over the wire: lines as they are written, complete and page by page."""

import hashlib
import random
from pathlib import Path

import pytest
from policy.houses import MASKING, enforce
from talk import Lines

from tokonoma.core.normalize import normalize, normalize_loose

RULES = """---
title: 返品のきまり
---
# 返品
返品は30日以内です。ただし、食品は対象外です。
Eメールで連絡。

# 送料
送料は500円。ただし、離島は除く。
Ｓｅｒｖｅｒ の設定
"""


@pytest.fixture
def folder(app) -> Path:
    folder = Path(app.server_info.locations()["manuals"])
    (folder / "rules").mkdir(parents=True)
    (folder / "rules" / "a.md").write_text(RULES, encoding="utf-8")
    (folder / "rules" / "sub").mkdir()
    (folder / "rules" / "sub" / "b.json").write_text('{"規則": {"text": "ただし\\u3001送料\\nは別"}}')
    (folder / "other").mkdir()
    (folder / "other" / "c.md").write_text("# Server\nThe e-mail server, unless it is off.\n" * 3, encoding="utf-8")
    return folder


def places(talk, **params) -> list[tuple[str, int]]:
    return [(each["ref"]["path"], each["line"]) for each in talk.call("manual", "search", **params)["items"]]


def test_lines_are_found_in_three_modes(talk, folder):
    found = talk.call("manual", "search", query="server")["items"]
    assert [(each["ref"]["manual_id"], each["line"]) for each in found] == [
        ("other", 1), ("other", 2), ("other", 3), ("other", 4), ("other", 5), ("other", 6), ("rules", 10),
    ]  # fmt: skip
    assert found[-1]["text"] == "Ｓｅｒｖｅｒ の設定"
    own = "# 送料\n送料は500円。ただし、離島は除く。\nＳｅｒｖｅｒ の設定\n"
    ref = {"manual_id": "rules", "path": "a.md", "start_line": 8, "hash": hashlib.sha256(own.encode()).hexdigest()[:8]}
    assert found[-1]["ref"] == ref
    assert places(talk, query="email", mode="loose", manual_id="other") == [("c.md", 2), ("c.md", 4), ("c.md", 6)]
    assert places(talk, query=r"\d+[日円]", mode="regex") == [("a.md", 5), ("a.md", 9)]
    assert places(talk, query="title: 返品") == [("a.md", 2)]
    assert places(talk, query=r"^title", mode="regex") == [("a.md", 2)]
    assert places(talk, query="送料", glob="*.json") == [("sub/b.json", 1)]
    assert places(talk, query="送料", glob="!sub/**") == [("a.md", 8), ("a.md", 9)]
    (data,) = talk.call("manual", "search", query="、送料", glob="*.json", mode="regex")["items"]
    assert data["text"].endswith("ただし、送料")
    around = talk.call("manual", "search", query="Eメール", context=2)["items"]
    assert (around[0]["before"], around[0]["after"]) == (
        ["# 返品", "返品は30日以内です。ただし、食品は対象外です。"], ["", "# 送料"],
    )  # fmt: skip


def test_pages_join_to_the_whole_and_bad_input_is_refused(talk, folder):
    whole = places(talk, query="の|e", mode="regex", limit=200)
    pages, more = [], {}
    while True:
        page = talk.call("manual", "search", query="の|e", mode="regex", limit=2, **more)
        pages += [(each["ref"]["path"], each["line"]) for each in page["items"]]
        if not page["has_more"]:
            break
        more = {"cursor": page["next_cursor"]}
    assert pages == whole
    assert len(whole) > 5
    for params, code in [
        ({"query": "("}, "invalid_parameter"), ({"query": "x", "context": 3}, "invalid_parameter"),
        ({"query": "x", "manual_id": "none"}, "not_found"), ({"query": "x", "cursor": "y"}, "invalid_parameter"),
    ]:  # fmt: skip
        assert talk.refused("manual", "search", mode="regex", **params)["code"] == code
    (folder / "rules" / "huge.md").write_bytes(b"x" * (17 * 2**20))
    assert "rules/huge.md: larger" in talk.call("manual", "search", query="送料")["warnings"][0]


def test_a_search_misses_no_line(app, folder):
    """Against a plain walk over random files: what is not read because of the index must not hold the text."""
    talk, source = Lines(app), random.Random(4)
    parts = [
        "サーバー",
        "ー",
        "申し込み",
        "e-mail",
        "a.b",
        "３条",
        "第",
        " ",
        "  ",
        "\t",
        "(株)",
        "x1",
        "。",
        "-",
        "Ｂ",
    ]
    lines: dict[str, list[str]] = {}
    for number in range(12):
        path = f"r{number}.md"
        lines[path] = ["".join(source.choices(parts, k=source.randint(0, 8))) for _ in range(20)]
        lines[path][::6] = [f"# {line}" for line in lines[path][::6]]
        (folder / "other" / path).write_text("\n".join(lines[path]) + "\n", encoding="utf-8")
    for _ in range(60):
        query = "".join(source.choices(parts, k=source.randint(1, 3))).strip() or "第"
        for mode, change in (("plain", normalize), ("loose", normalize_loose)):
            needle = change(query)
            if not needle.strip():
                continue
            wanted = {
                (path, index)
                for path, each in lines.items()
                for index, line in enumerate(each, 1)
                if needle in change(line)
            }
            found = talk.call("manual", "search", query=query, mode=mode, glob="r*.md", limit=200)
            assert not found["has_more"] or len(wanted) > 200
            assert {(each["ref"]["path"], each["line"]) for each in found["items"]} <= wanted
            assert len(found["items"]) == min(200, len(wanted)), (mode, query)


def test_hidden_text_is_not_found(app, folder):
    (folder / "rules" / "who.md").write_text("# 窓口\n返品は taro@yamada.co.jp まで\n", encoding="utf-8")
    talk = Lines(app)
    assert places(talk, query="yamada") == [("who.md", 2)]
    enforce(app, MASKING)
    for mode in ("plain", "loose", "regex"):
        assert places(talk, query="yamada", mode=mode) == []
        (line,) = talk.call("manual", "search", query="まで", mode=mode)["items"]
        assert line["text"] == "返品は [masked:email] まで"
    hiding = "version: 7\nboundary_classes: { pii: { allow: ['nobody'] } }\nmasks: []\n"
    enforce(app, hiding + "labels:\n  - { module: manual, space: /, class: secret }\n" + "")
    assert talk.call("manual", "search", query="まで")["items"] == []


def test_exceptions_are_narrowed_by_a_topic_and_shown_with_their_line(talk, folder):
    every = talk.call("manual", "excepts", manual_id="rules")["items"]
    assert [(each["ref"]["path"], each["line"], each["snippet"]) for each in every] == [
        ("a.md", 5, "ただし、食品は対象外です。"), ("a.md", 9, "ただし、離島は除く。"),
        ("sub/b.json", 1, '{"規則": {"text": "ただし、送料'),
    ]  # fmt: skip
    narrowed = talk.call("manual", "excepts", query="送料")
    assert [(each["ref"]["path"], each["line"]) for each in narrowed["items"]] == [("a.md", 9), ("sub/b.json", 1)]
    assert (narrowed["total"], narrowed["has_more"]) == (2, False)
    assert talk.call("manual", "excepts", query="離島は")["items"][0]["line"] == 9
    assert talk.call("manual", "excepts", query="宇宙")["items"] == []
    assert talk.refused("manual", "excepts", query="  ")["code"] == "invalid_parameter"


def test_exceptions_come_in_pages(talk, folder):
    text = "".join(f"# Part {number}\nYes.\nNot this one unless it is {number}.\n" for number in range(120))
    (folder / "other" / "many.md").write_text(text)
    found, more = [], {}
    for _ in range(5):
        page = talk.call("manual", "excepts", query="part", manual_id="other", **more)
        assert page["total"] == 120
        found += [each["line"] for each in page["items"]]
        if not page["has_more"]:
            break
        more = {"cursor": page["next_cursor"]}
    assert found == [3 * number + 3 for number in range(120)]

"""Texts of Jira: Markdown on this side, documents on the other; and the one form of time that Jira takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.connectors import markdown_adf
from tokonoma.connectors.adf import parse_markdown, render_document, render_documents
from tokonoma.connectors.jira_texts import format_time
from tokonoma.core.errors import Invalid

TEXTS = {
    "paragraphs": "one\ntwo\n\nthree",
    "heading": "## Plan",
    "marks": "a **b** *c* ~~d~~ `e` [f](https://g.example/h)",
    "list": "- a\n  - b\n- c",
    "ordered": "3. a\n4. b",
    "code": "```py\nx = 1\n\n- no list\n```",
    "quote": "> a\n> b",
    "rule": "a\n\n---\n\nb",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "snake": "snake_case_name and 2 * 3 * 4",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_comes_back_as_it_was_written(name):
    assert render_document(parse_markdown(TEXTS[name])) == TEXTS[name]


def test_a_document_has_the_nodes_that_jira_knows():
    assert parse_markdown("# T\n\na **b**\nc\n\n- x\n\n```\ny\n```") == {
        "type": "doc",
        "version": 1,
        "content": [
            {"type": "heading", "attrs": {"level": 1}, "content": [{"type": "text", "text": "T"}]},
            {
                "type": "paragraph",
                "content": [
                    {"type": "text", "text": "a "},
                    {"type": "text", "text": "b", "marks": [{"type": "strong"}]},
                    {"type": "hardBreak"},
                    {"type": "text", "text": "c"},
                ],
            },
            {
                "type": "bulletList",
                "content": [
                    {
                        "type": "listItem",
                        "content": [{"type": "paragraph", "content": [{"type": "text", "text": "x"}]}],
                    }
                ],
            },
            {"type": "codeBlock", "content": [{"type": "text", "text": "y"}]},
        ],
    }


@pytest.mark.parametrize(
    ("node", "shown"),
    [
        ({"type": "mention", "attrs": {"id": "5", "text": "@Mio"}}, "@Mio"),
        ({"type": "mention", "attrs": {"id": "5"}}, "@5"),
        ({"type": "emoji", "attrs": {"shortName": ":snail:"}}, ":snail:"),
        ({"type": "inlineCard", "attrs": {"url": "https://x.example"}}, "https://x.example"),
        ({"type": "date", "attrs": {"timestamp": "1763251200000"}}, "2025-11-16"),
        ({"type": "status", "attrs": {"text": "DONE"}}, "[DONE]"),
        ({"type": "mediaInline", "attrs": {"id": "f1", "alt": "a.png"}}, "[file a.png]"),
        ({"type": "unknown", "text": "kept"}, "kept"),
    ],
)
def test_what_only_jira_has_is_named(node, shown):
    document = {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [node]}]}
    assert render_document(document) == shown


def test_tasks_panels_and_broken_documents_are_shown_as_far_as_they_go():
    task = {"type": "taskItem", "attrs": {"state": "DONE"}, "content": [{"type": "text", "text": "dig"}]}
    panel = {"type": "panel", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "mind"}]}]}
    document = {"type": "doc", "content": [{"type": "taskList", "content": [task]}, panel, None, {"type": "paragraph"}]}
    assert render_document(document) == "- [x] dig\n\n> mind"


def test_only_documents_are_rendered():
    value = {"fields": {"description": parse_markdown("# x"), "type": "doc", "n": [1, {"type": "doc"}]}}
    assert render_documents(value) == {"fields": {"description": "# x", "type": "doc", "n": [1, {"type": "doc"}]}}


@given(st.text(st.sampled_from("ab *_~`[](#>-|\n\\1."), max_size=60))
def test_any_text_becomes_a_document_and_its_letters_stay(text):
    document = parse_markdown(text)
    shown = render_document(document)
    assert [letter for letter in shown if letter in "ab"] == [letter for letter in text if letter in "ab"]
    for node in walk(document):
        assert node["type"] != "text" or node["text"]


def walk(node):
    yield node
    for each in node.get("content", ()):
        yield from walk(each)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000 + "](", "[a](" * 25_000, "*a " * 50_000, "`" * 100_000, "**" * 50_000, "> " * 50_000, "- " * 50_000,
     "|" * 100_000 + "\n|-|", "_" * 100_000, "a\n" * 50_000, "- a\n" * 25_000, "  - a\n\n" * 20_000],
    ids=lambda text: repr(text[:6]),
)  # fmt: skip
def test_no_text_is_searched_again_and_again(monkeypatch, text):
    """Signs that have no partner are looked for once, not once for every sign."""
    scanned, find = [0], markdown_adf._find

    def count(text, sign, at, gone):
        end = at if sign in gone else text.find(sign, at)
        scanned[0] += (len(text) if end < 0 else end) - at
        return find(text, sign, at, gone)

    monkeypatch.setattr(markdown_adf, "_find", count)
    render_document(parse_markdown(text))
    assert scanned[0] <= 10 * len(text)


def nest(depth):
    node = {"type": "paragraph", "content": [{"type": "text", "text": "deep"}]}
    for _ in range(depth):
        node = {"type": "blockquote", "content": [node]}
    return {"type": "doc", "content": [node]}


def test_a_deep_document_ends_in_dots():
    assert render_document(nest(300)).endswith("…")
    value = {"type": "doc", "content": []}
    for _ in range(900):
        value = {"a": value}
    assert render_documents(value) == value


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-11-16T09:30:00+09:00", "2026-11-16T09:30:00.000+0900"),
        ("2026-11-16T09:30:00.123456Z", "2026-11-16T09:30:00.123+0000"),
        ("2026-11-16T09:30:00.000+0000", "2026-11-16T09:30:00.000+0000"),
        ("2026-11-16 09:30", "2026-11-16T09:30:00.000+0000"),
        ("2026-11-16", "2026-11-16T00:00:00.000+0000"),
    ],
)
def test_times_are_written_as_jira_wants_them(text, written):
    assert format_time(text) == written


def test_what_is_no_time_is_refused():
    with pytest.raises(Invalid):
        format_time("yesterday")


def test_an_issue_is_written_and_read_as_markdown(service, talk):
    service.answer({"id": "1", "key": "A-1"})
    update = {"comment": [{"add": {"body": "*why*"}}], "labels": [{"add": "x"}], "environment": [{"set": "prod"}]}
    talk.call("jira", "create_issue", fields={"summary": "s", "description": "# D\n\ntext"}, update=update)
    sent = service.last.body
    assert sent["fields"] == {"summary": "s", "description": parse_markdown("# D\n\ntext")}
    assert sent["update"] == {
        "comment": [{"add": {"body": parse_markdown("*why*")}}], "labels": [{"add": "x"}],
        "environment": [{"set": parse_markdown("prod")}],
    }  # fmt: skip
    document = parse_markdown("# D")
    service.answer({"key": "A-1", "fields": {"summary": "s", "description": document, "x": 1}})
    assert talk.call("jira", "get_issue", issueIdOrKey="A-1") == {
        "key": "A-1", "fields": {"summary": "s", "description": "# D"},
    }  # fmt: skip
    raw = talk.call("jira", "get_issue", issueIdOrKey="A-1", fields=["*"])
    assert raw["fields"]["description"] == document
    part = talk.call("jira", "get_issue", issueIdOrKey="A-1", fields=["fields.description.content"])
    assert part == {"fields": {"description": {"content": document["content"]}}}


def test_comments_and_time_are_written_and_read_as_markdown(service, talk):
    service.answer({"id": "5", "created": "now", "body": {}})
    assert talk.call("jira", "add_comment", issueIdOrKey="A-1", body="**x**") == {"id": "5", "created": "now"}
    assert service.last.body == {"body": parse_markdown("**x**")}
    talk.call("jira", "add_comment", issueIdOrKey="A-1", body={"type": "doc", "version": 1, "content": []})
    assert service.last.body == {"body": {"type": "doc", "version": 1, "content": []}}
    talk.call("jira", "add_worklog", issueIdOrKey="A-1", timeSpent="1h", started="2026-11-16T09:00:00Z", comment="dug")
    assert service.last.body == {
        "timeSpent": "1h", "started": "2026-11-16T09:00:00.000+0000", "comment": parse_markdown("dug"),
    }  # fmt: skip
    service.answer({"comments": [{"id": "5", "body": parse_markdown("- a")}], "total": 1})
    assert talk.call("jira", "list_comments", issueIdOrKey="A-1")["items"] == [{"id": "5", "body": "- a"}]


def test_an_assignee_can_be_cleared(service, talk):
    service.answer(None)
    assert talk.call("jira", "assign_issue", issueIdOrKey="A-1", accountId=None) == {"done": True}
    assert service.last.body == {"accountId": None}

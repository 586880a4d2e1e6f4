"""Links, tags and categories in notes."""

import time

import pytest

from tokonoma.transfer import wiki


def links(text):
    return [(link.target, link.tag, link.line) for link in wiki.find_links(wiki.blank_code(text), typed=False)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[Note]]", [("Note", "links_to", 1)]),
        ("x\n[[Note#Heading|shown]] and [[a/b]]", [("Note", "links_to", 2), ("a/b", "links_to", 2)]),
        ("| [[Note\\|shown]] |", [("Note", "links_to", 1)]),
        ("[[Note#^block]]", [("Note", "links_to", 1)]),
        ("![[pic.png|300]] ![[Note]]", [("pic.png", "embeds", 1), ("Note", "embeds", 1)]),
        ("[x](Other%20note.md) [y](<a b.md#h>)", [("Other note.md", "links_to", 1), ("a b.md", "links_to", 1)]),
        ('[x](a.md "title")', [("a.md", "links_to", 1)]),
        ("[x](https://example.com/a.md) [y](mailto:a@example.com) [z](#here) [v](//host/x)", []),
        ("`[[code]]` ``a ` [[b]]`` [[c]]", [("c", "links_to", 1)]),
        ("```\n[[in a fence]]\n```\n[[out]]", [("out", "links_to", 4)]),
        ("~~~~ md\n```\n[[x]]\n~~~\n~~~~\n[[y]]", [("y", "links_to", 6)]),
        ("[[]] [[a\nb]] [[a]b]]", []),
        ("[[#same note]]", [("", "links_to", 1)]),
        ("[[日本語のノート]]", [("日本語のノート", "links_to", 1)]),
    ],
)
def test_links(text, found):
    assert links(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#tag and #nested/tag, #茶道 #snake_case", ["tag", "nested/tag", "茶道", "snake_case"]),
        ("# Heading\n#1984 #y1984 a#b C# &#123;", ["y1984"]),
        ("`#code`\n```\n#fenced\n```\n#a #a", ["a"]),
    ],
)
def test_tags(text, found):
    assert wiki.find_tags(wiki.blank_code(text)) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("- depends_on [[Schema]]", ("Schema", "depends_on", "")),
        ("- works_at [[Y Combinator]] (co-founder (2005))", ("Y Combinator", "works_at", "co-founder (2005)")),
        ('- "based on" [[Interview]]', ("Interview", "based on", "")),
        ("* 'in response to' [[Review|shown]] (why)", ("Review", "in response to", "why")),
        ("- [[Bare]]", ("Bare", "links_to", "")),
        ("- some other thing [[Bare]]", ("Bare", "links_to", "")),
        ("- see [[Bare]] and more", ("Bare", "links_to", "")),
        ("depends_on [[Bare]]", ("Bare", "links_to", "")),
        ("- 影響する [[先]]", ("先", "影響する", "")),
    ],
)
def test_relations_of_basic_memory(line, found):
    (link,) = wiki.find_links(wiki.blank_code(line), typed=True)
    assert (link.target, link.tag, link.reason) == found


def test_two_links_behind_a_sentence_are_both_kept():
    assert [link.target for link in wiki.find_links(["- (a) see [[A]] (primary) and [[B]] (second)"], typed=True)] == [
        "A",
        "B",
    ]


def test_categories():
    lines = wiki.blank_code(
        "- [decision] use SQLite #db (why)\n- [ ] task\n- [x] done\n- [/] half\n- [00:01:02] said\n"
        "- [text](url)\n- [[Wiki]]\n- [決定] 使う\n- [decision] again\n> - [quoted] no\n[not] an item\n"
    )
    assert wiki.find_categories(lines) == ["decision", "決定"]


def test_hostile_texts_hold_nothing():
    for text in ("[[" * 50_000, "[" * 100_000, "`" * 100_000, "#" * 100_000, "[a](" * 30_000, "- [" * 30_000):
        lines = wiki.blank_code(text)
        assert list(wiki.find_links(lines, typed=False)) == []
        assert list(wiki.find_links(lines, typed=True)) == []
        wiki.find_tags(lines)
        wiki.find_categories(lines)


@pytest.mark.parametrize(
    ("line", "rest"),
    [("a `b` c", "a   c"), ("``a`b`` c", "  c"), ("`a ``b", "`a ``b"), ("``` `a` ```", " "), ("`" * 12, "`" * 12)],
)
def test_spans_of_code_are_left_out(line, rest):
    assert wiki._remove_code(line) == rest


def test_backticks_take_time_in_proportion():
    line = "".join("`" * (number % 300) + "a" for number in range(10_000))
    before = time.thread_time()
    wiki._remove_code(line)
    assert time.thread_time() - before < 2

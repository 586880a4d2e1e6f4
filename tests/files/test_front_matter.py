"""Front matter: what is read of it, and what becomes of one that cannot be read."""

import time

import pytest

from tokonoma.files.front_matter import read_front_matter
from tokonoma.files.text import parse_markdown

PAGE = """---
Title: "Pods: the basics"
aliases: [/docs/pod/, 'Pod']
tags:
- a b
- c
keywords: d, e
description: >-
  One line
  and another.
slug: basics
weight: 10
reviewers: [somebody]
nested: {title: no, more: [no]}
---
text
"""


def test_the_fields_of_a_page():
    front = read_front_matter(PAGE)
    assert (front.title, front.names) == ("Pods: the basics", ("/docs/pod/", "Pod"))
    assert front.text == "Pods: the basics\n/docs/pod/\nPod\nOne line and another.\na b\nc\nd, e\nbasics\n"
    assert (front.lines, PAGE[front.end :]) == (15, "text\n")


def test_toml():
    front = read_front_matter('+++\r\ntitle = "T"\r\ntags = ["a", 3]\r\n[more]\r\ntitle = "no"\r\n+++\r\nx')
    assert (front.title, front.text, front.lines) == ("T", "T\na\n3\n", 6)


@pytest.mark.parametrize(
    "broken",
    ["title: A: b\n", "title: [A: b\n", "title: A: b\n\t- x\n", "title: A: b\n\x01\n", "title: A: b\n" + "[" * 99],
)
def test_a_broken_one_is_text(broken):
    front = read_front_matter(f"---\n{broken}\n---\nx\n")
    assert front.text.startswith(broken)
    assert front.title in ("A: b", "[A: b")
    sections = parse_markdown(f"---\n{broken}\n---\n# x\n", "f")
    assert [each.title for each in sections] == [front.title, "x"]


def test_a_text_between_two_rules_is_none():
    assert read_front_matter("---\nJust a text.\n---\nx\n") is None
    assert read_front_matter("---\n- a list\n---\nx\n") is None
    assert [each.line for each in parse_markdown("---\n\n# A\ntext\n\n---\n# B\n", "f")] == [1, 3, 7]


def test_an_empty_one_has_no_words():
    assert read_front_matter("---\n---\nx\n").text == ""
    assert read_front_matter("---\n# a comment\n---").text == ""


@pytest.mark.parametrize("unit", ["a: &b\n- *b\n", "[", "{a: ", "- ", "a:\n", "? ", "a: 'b'\n", "x" * 99])
@pytest.mark.parametrize("sign", ["---", "+++"])
def test_a_long_one_takes_time_in_proportion(unit, sign):
    before = time.thread_time()
    read_front_matter(f"{sign}\n{unit * (60_000 // len(unit))}\n{sign}\n")
    assert time.thread_time() - before < 2

"""YAML of the owner: read, or a problem with its place. Nothing escapes, and nothing takes long."""

import time

import pytest

from tokonoma.files.yaml_text import MAX_DEPTH, load_mapping


def test_a_mapping():
    assert load_mapping(b"title: A\nspace: /team\nallow_file: true\n", 1000) == (
        {"title": "A", "space": "/team", "allow_file": True}, "",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 50_000, "nested deeper than 16 levels at line 1"),
        ("{a: " * 50_000, "nested deeper than 16 levels at line 1"),
        ("".join(" " * depth + "a:\n" for depth in range(500)), "nested deeper than 16 levels at line 17"),
        ("a: &a [x]\nb: *a\n", "an alias at line 2; aliases are not allowed"),
        (f"a: {'9' * 20_000}", "a value of more than 1000 characters at line 1; put it in quotes"),
        (f"a: 1{':1' * 20_000}", "a value of more than 1000 characters at line 1; put it in quotes"),
        ("a: 2024-99-99", "a value is not valid: month must be in 1..12"),
        ("a: ]", "not YAML at line 1"),
        ("- a", "its top is not a mapping"),
        ("\x00", "not YAML in UTF-8"),
    ],
)
def test_what_is_wrong_is_a_problem(text, problem):
    before = time.thread_time()
    assert load_mapping(text.encode(), 512 * 1024) == ({}, problem)
    assert time.thread_time() - before < 2


def test_bytes_that_are_no_text():
    assert load_mapping(b"a: \xff", 1000) == ({}, "not YAML in UTF-8")
    assert load_mapping(b"a" * 1001, 1000) == ({}, "larger than 1000 bytes")


def test_the_deepest_that_is_read():
    text = "a: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    assert load_mapping(text.encode(), 1000)[1] == ""

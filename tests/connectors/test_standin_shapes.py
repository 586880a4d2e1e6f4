"""The language of shapes finds every kind of mistake, at any depth."""

import pytest
from connectors.standins.shapes import check, read_query

GUEST = {"email!": str, "optional": bool}


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("a", str),
        (1, int),
        (1, float),
        (True, bool),
        (None, (str, None)),
        ({"x": [1]}, object),
        ("a", {"a", "b"}),
        (3, range(1, 4)),
        ([1, 2], [int]),
        ({"email": "e"}, GUEST),
        ({"email": "e", "optional": False}, GUEST),
        ({"any": 1}, {"*": int}),
        ({"b": 1}, ({"a!": int}, {"b!": int})),
    ],
)
def test_what_fits_has_no_mistakes(value, shape):
    assert check(value, shape) == []


@pytest.mark.parametrize(
    ("value", "shape", "path", "kind"),
    [
        (1, str, "body", "type"),
        (True, int, "body", "type"),
        ("1", int, "body", "type"),
        (None, str, "body", "type"),
        (1, None, "body", "type"),
        ("c", {"a", "b"}, "body", "value"),
        (1, {"a", "b"}, "body", "type"),
        (4, range(1, 4), "body", "value"),
        (True, range(2), "body", "type"),
        ({}, [str], "body", "type"),
        ([1, "a"], [int], "body[1]", "type"),
        ([], GUEST, "body", "type"),
        ({}, GUEST, "body.email", "missing"),
        ({"email": "e", "bogus": None}, GUEST, "body.bogus", "unknown"),
        ([{"email": "e"}, {"email": 1}], [GUEST], "body[1].email", "type"),
        ({"in": {"email": "e", "bogus": 1}}, {"in": GUEST}, "body.in.bogus", "unknown"),
        ({"any": "a"}, {"*": int}, "body.any", "type"),
        ({"a": 1, "c": 2}, ({"a!": int}, {"b!": int}), "body.c", "unknown"),
        (1, ({"a!": int}, str), "body", "type"),
    ],
)
def test_a_mistake_is_named_with_its_place(value, shape, path, kind):
    assert (path, kind) in [(mistake.path, mistake.kind) for mistake in check(value, shape)]


def test_a_query_is_read_by_its_types():
    shape = {"n": int, "flag": bool, "words": [str], "state": {"open"}, "need!": str}
    pairs = [("n", "-3"), ("flag", "true"), ("words", "a,b"), ("words", "c"), ("state", "open"), ("need", "x")]
    assert read_query(pairs, shape) == (
        {"n": -3, "flag": True, "words": ["a", "b", "c"], "state": "open", "need": "x"},
        [],
    )
    wrong = read_query([("n", "1.5"), ("flag", "yes"), ("state", "shut"), ("bogus", "1")], shape)[1]
    assert {(mistake.field, mistake.kind) for mistake in wrong} == {
        ("n", "type"),
        ("flag", "type"),
        ("state", "value"),
        ("bogus", "unknown"),
        ("need", "missing"),
    }

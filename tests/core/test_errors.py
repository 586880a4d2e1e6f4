import pytest

from tokonoma.core import errors
from tokonoma.core.errors import (
    DEFAULT_CODES,
    MAX_ECHO,
    MAX_ECHO_MEMBERS,
    Invalid,
    NumberedCode,
    Refusal,
    find_error_code,
    find_nearest,
    limit_refusal,
)

WORDS = ["invalid", "unauthenticated", "denied", "missing", "conflict", "expired", "limited", "unready", "unavailable"]


def test_there_are_nine_words_and_each_has_a_code():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Refusal)]
    assert sorted(kind.kind for kind in kinds if kind is not Refusal) == sorted(WORDS)
    assert set(WORDS) <= set(DEFAULT_CODES)


@pytest.mark.parametrize(
    ("error", "codes", "code"),
    [
        (errors.Missing("x"), {}, "NOT_FOUND"),
        (errors.Missing("x"), {"missing": 1001}, 1001),
        (errors.Unavailable("x", reason="timeout"), {"unavailable": "DOWN"}, "TIMEOUT"),
        (errors.Unavailable("x", reason="timeout"), {"unavailable.timeout": 1005}, 1005),
        (errors.Unavailable("x", reason="other"), {"unavailable": "DOWN"}, "DOWN"),
        (errors.Invalid("x", reason="unheard of"), {}, "INVALID_ARGUMENT"),
        (ZeroDivisionError("secret text"), {}, "INTERNAL"),
        (ZeroDivisionError("secret text"), {"internal": -32603}, -32603),
    ],
)
def test_the_most_exact_word_decides_and_the_module_before_the_house(error, codes, code):
    assert find_error_code(error, codes) == code


def test_a_numbered_code_is_told_with_its_type():
    code = find_error_code(errors.Missing("x"), {"missing": NumberedCode(1001, "ItemNotFoundError")})
    assert str(code) == "1001 ItemNotFoundError"


@pytest.mark.parametrize(("asked", "meant"), [("stauts", "status"), ("relation_save", "relation.save"), ("zzz", None)])
def test_near_misses_find_the_name(asked, meant):
    found = find_nearest(asked, ["status", "where", "recent", "relation.save"])
    assert found[:1] == ([meant] if meant else [])


def test_what_an_error_repeats_of_its_input_is_cut():
    error = Invalid("x" * 10**6, field="y" * 10**6, members=list(range(10**5)), keys={str(n): n for n in range(10**5)})
    limit_refusal(error)
    assert len(error.message) == len(error.details["field"]) == MAX_ECHO + 1
    assert error.details["members"] == list(range(MAX_ECHO_MEMBERS))
    assert len(error.details["keys"]) == MAX_ECHO_MEMBERS


def test_what_is_short_stays_as_it_is():
    error = Invalid("no", field="a", problems=[{"field": "b", "allowed": ("c",)}], limit=3)
    limit_refusal(error)
    assert (error.message, error.details) == (
        "no", {"field": "a", "problems": [{"field": "b", "allowed": ["c"]}], "limit": 3},
    )  # fmt: skip

"""Front matter: what is read of it, and what is refused because it could be a bomb."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.transfer import markdown_file as front

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.sampled_from(["yes", "1:30", "2026-01-31", "=", "<<", "~", "null", "1e5", "0x1f", "---", "...", "\x85", "𠮟"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, JSON, max_size=5), TEXT)
def test_what_is_written_is_read_again(about, body):
    block, rest = front.split_front_matter(front.format_front_matter(about) + body)
    assert rest == body
    assert block is not None
    # As JSON: for Python 1, 1.0 and true are equal.
    assert json.dumps(front.parse_front_matter(block), sort_keys=True) == json.dumps(about, sort_keys=True)


def test_kanji_and_emoji_beyond_the_first_plane_can_be_read_by_people():
    assert "𠮟る 😀" in front.format_front_matter({"title": "𠮟る 😀"})


def test_only_what_json_knows_is_made_of_it():
    read = front.parse_front_matter(
        "a: yes\nb: 1:30\nc: 2026-01-31\nd: [1, 2.5, ~, null, true]\n1: x\nf: 12345678901234567890123\ng:\n"
    )
    assert read == {
        "a": "yes", "b": "1:30", "c": "2026-01-31", "d": [1, 2.5, None, None, True], "1": "x",
        "f": "12345678901234567890123", "g": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "block", "rest"),
    [
        ("---\na: 1\n---\nbody\n---\nx", "a: 1\n", "body\n---\nx"),
        ("---\r\na: 1\r\n---\r\nbody", "a: 1\r\n", "body"),
        ("---\n---\nbody", "", "body"),
        ("---\na: 1\n...\nbody", "a: 1\n", "body"),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("---\nnever closed", None, "---\nnever closed"),
        ("body\n---\na: 1\n---\n", None, "body\n---\na: 1\n---\n"),
        ("----\na: 1\n----\n", None, "----\na: 1\n----\n"),
        ("", None, ""),
    ],
)
def test_where_it_ends(text, block, rest):
    assert front.split_front_matter(text) == (block, rest)


BAD = {
    "an alias": ("a: &x [1]\nb: *x", "anchors"),
    "a billion laughs": ("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]", "anchors"),
    "an object of Python": ("a: !!python/object/apply:os.system [ls]", "tags"),
    "a tag": ("a: !!binary aGk=", "tags"),
    "too deep": ("a: " + "[" * 50, "32 levels"),
    "a number too long": ("a: " + "9" * 6000, "4300"),
    "a list": ("- a\n- b", "keys and values"),
    "not YAML": ("a: [", "Line 3"),
    "a control character": ("a: \x01", "not YAML"),
    "a key that is a list": ("? [a]\n: 1", "unhashable"),
    "too long": ("a: " + "x" * front.MAX_CHARS, "characters"),
}


@pytest.mark.parametrize(("block", "why"), BAD.values(), ids=BAD)
def test_what_is_refused(block, why):
    with pytest.raises(front.FrontMatterError) as error:
        front.parse_front_matter(block)
    assert why in str(error.value)


def test_our_own_may_be_longer():
    assert front.parse_front_matter(f"tokonoma: 1\na: {'x' * front.MAX_CHARS}")["tokonoma"] == 1

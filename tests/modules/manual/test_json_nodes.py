"""JSON files as sections: every value is in one of them, pointers lead back, and no file is too odd."""

import json
import os
import random
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokonoma.files.text import MAX_SEARCHED, MAX_SECTIONS
from tokonoma.modules.manual.json_nodes import parse_json
from tokonoma.modules.manual.json_text import (
    decode_escapes,
    escape_name,
    mask_json,
    remove_needless_escapes,
    scan_json,
    separate_escapes,
)
from tokonoma.modules.manual.source_file import SourceFile

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
TEXTS = st.text(max_size=30) | st.text('ab"\\/\n\t\x01é語\U0001f600~', max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda below: st.lists(below, max_size=8) | st.dictionaries(TEXTS, below, max_size=8),
    max_leaves=60,
)
FORMS: list[dict[str, Any]] = [
    {"separators": (",", ":")},
    {"indent": 2, "ensure_ascii": False},
    {"indent": 1},
    {"ensure_ascii": False},
]


def leaves(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [each for key, below in value.items() for each in leaves(below, pointer + escape_name(key))]
    if isinstance(value, list):
        return [each for index, below in enumerate(value) for each in leaves(below, f"{pointer}/{index}")]
    return [(pointer, value)]


@settings(max_examples=10_000 if SOAK else 300)
@given(VALUES, st.sampled_from(FORMS), st.integers(0, 15))
def test_every_value_is_in_one_section_and_its_pointer_leads_to_it(value, form, repeats):
    whole = {"first": value, "rows": [value] * repeats}
    found = parse_json(json.dumps(whole, **form), "a.json")
    file = SourceFile.parse(json.dumps(whole, **form), "a.json")
    assert json.loads(found.tree.text) == json.loads(found.written) == whole
    owned = [line for section in file.sections for line in range(section.line, section.own_end + 1)]
    assert owned == list(range(1, len(file.lines) + 1))
    for section in found.sections[1:]:
        if section.anchor:
            place = found.tree.find(section.anchor)
            assert place is not None
            assert found.tree.lines(place)[0] == section.line
    for pointer, leaf in leaves(whole):
        place = found.tree.find(pointer)
        assert place is not None
        written = found.tree.text[found.tree.starts[place] : found.tree.stops[place]]
        assert json.loads(written) == leaf
        if isinstance(leaf, str):
            assert found.tree.scalar(place) == leaf
            owner = file.section_at(found.tree.lines(place)[0])
            assert leaf in file.search_text(owner)
        if len(pointer) < 1000:
            assert found.tree.pointer(place) == pointer


@given(st.text('{}[],:"\\ \n\tabnu0129truefalsn-.eE\x00é', max_size=40))
def test_what_is_json_is_decided_as_python_does(text):
    try:
        wanted = True
        json.loads(text)
    except ValueError:
        wanted = False
    try:
        found = True
        scan_json(text)
    except ValueError:
        found = False
    assert found == wanted


@given(st.text('"\\/unrtbf0014dD83eE3fF ab\n', max_size=60) | st.text())
def test_escapes_keep_lines_and_length(text):
    assert remove_needless_escapes(text).count("\n") == text.count("\n")
    assert len(separate_escapes(text)) == len(text)
    if "\f" not in text:
        assert mask_json(text, lambda whole: whole) == text


def test_escapes_become_what_they_mean():
    assert (
        remove_needless_escapes(r'"\u3042\ud83d\ude00\/ \n\" \\u3042 \ud83d \u0000"')
        == '"あ😀/ \\n\\" \\\\u3042 \\ud83d \\u0000"'
    )
    assert decode_escapes(r"a\nb \"c\" \\u3042 \u0009d") == 'a\nb "c" \\u3042 \td'


def test_detectors_see_no_letter_of_an_escape():
    def mask(text: str) -> str:
        assert "n090" not in text
        return text.replace("090", "[masked:phone]")

    assert mask_json(r'{"a": "call\n090\tx\\n"}', mask) == r'{"a": "call\n[masked:phone]\tx\\n"}'


def test_small_parts_are_sections_of_their_own_and_large_ones_are_divided():
    rows = [{"id": number, "name": f"row {number}", "text": "word " * 20} for number in range(3)]
    whole = {"title": "t", "rows": rows, "end": "z", "big": {"one": {"text": "x " * 900}, "two": {"k": [1]}}}
    found = parse_json(json.dumps(whole, indent=1), "a.json").sections
    assert [(each.anchor, each.title, each.level) for each in found] == [
        ("", "a.json", 0), ("/rows", "rows", 1), ("/end", "end", 1), ("/big", "big", 1), ("/big/one", "one", 2),
        ("/big/one/text", "text", 3), ("/big/two", "two", 2),
    ]  # fmt: skip
    longer = parse_json(json.dumps({"rows": rows * 5}, indent=1), "a.json").sections
    assert [(each.anchor, each.title) for each in longer][:4] == [
        ("", "a.json"), ("/rows", "rows"), ("/rows/0", "row 0"), ("/rows/1", "row 1"),
    ]  # fmt: skip
    assert {each.parent for each in longer[2:]} == {longer[1].line}
    assert longer[1].end == longer[-1].end == longer[0].end


def test_many_short_members_share_sections_without_a_pointer():
    found = parse_json(json.dumps({f"key {number}": f"value {number}" for number in range(500)}, indent=1), "a.json")
    assert 5 < len(found.sections) < 30
    assert {each.anchor for each in found.sections} == {""}
    assert found.sections[1].title.startswith("key ")
    assert " … key " in found.sections[1].title


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"id": number, "v": f"word{number}"} for number in range(8_000)]),
        json.dumps([{"id": number, "v": f"word{number}"} for number in range(8_000)], indent=0),
        "[" * 8_000 + '"deep"' + "]" * 8_000,
        '{"a":' * 8_000 + '"deep"' + "}" * 8_000,
        "\n".join(["[" * 900] * 20) + '"deep"' + "\n".join(["]" * 900] * 20),
        json.dumps({"k" * 5000: {"x" * 3000: "y" * 3000}}),
    ],
    ids=["minified", "lines", "lists", "objects", "brackets", "keys"],
)
def test_large_and_deep_files_have_a_bounded_number_of_sections(text):
    file = SourceFile.parse(text, "a.json")
    assert file.tree is not None
    assert len(file.sections) <= MAX_SECTIONS
    assert max(len(each.anchor) for each in file.sections) <= 500
    assert max(len(each.title) for each in file.sections) <= 210
    assert file.find_problem() == ""
    assert sum(len(file.search_text(each)) for each in file.sections) >= len(text.replace(" ", "").replace("\n", ""))


def test_what_is_not_searched_or_ambiguous_is_named():
    assert SourceFile.parse(json.dumps("x" * (MAX_SEARCHED + 10)), "a.json").find_problem().startswith("too long")
    twice = SourceFile.parse('{\n"a": {"b": 1},\n"a": {"b": 2}}', "a.json")
    assert "line 3: a key occurs twice" in twice.find_problem()
    assert {each.anchor for each in twice.sections} == {""}
    broken = SourceFile.parse('{"a": 1,\n}', "a.json")
    assert (broken.find_problem(), len(broken.sections)) == ("not valid JSON (line 2): searched as plain text", 1)
    assert SourceFile.parse(json.dumps([0] * 9), "a.json").find_problem() == ""


def test_too_many_values_are_searched_as_text(monkeypatch):
    monkeypatch.setattr("tokonoma.modules.manual.json_text._MAX_VALUES", 10)
    file = SourceFile.parse(json.dumps(["needle"] * 20), "a.json")
    assert file.find_problem() == "more than 10 values: searched as plain text"
    assert "needle" in file.search_text(file.sections[0])


def test_a_hidden_key_cannot_be_pointed_at():
    secret = "".join(random.Random(1).choices(string.ascii_lowercase, k=12))
    file = SourceFile.parse(json.dumps({"users": {secret: {"n": 1}, "open": {"n": 2}}}, indent=1), "a.json")
    shown = file.mask(lambda text: text.replace(secret, "[masked:x]"))
    assert file.find_lines(f"/users/{secret}/n") is not None
    assert shown.find_lines(f"/users/{secret}/n") is None
    assert shown.find_lines("/users/open/n") is not None
    assert secret not in repr([(each.title, each.anchor) for each in shown.sections])

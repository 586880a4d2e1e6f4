"""Parts of a file: following next_ref, every character is read once, in order, and the reading ends."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.errors import Invalid
from tokonoma.modules.manual.model import ManualRef
from tokonoma.modules.manual.parts import ReadingRules, build_part, choose_scope, take_part
from tokonoma.modules.manual.refs import parse_place
from tokonoma.modules.manual.source_file import SourceFile

REF = {"manual_id": "m", "path": "a.md"}
LINES = st.lists(
    st.one_of(
        st.sampled_from(["# One\n", "## Two\n", "### Three\n", "\n", "```\n", "a\n"]),
        st.text("ab あ", min_size=1, max_size=60).map(lambda text: text + "\n"),
    ),
    min_size=1,
    max_size=30,
)


def read_on(file: SourceFile, ref: dict[str, Any] | None, rules: ReadingRules) -> list[Any]:
    """All parts, by next_ref."""
    parts = []
    while ref is not None:
        place = parse_place(ref)
        named: ManualRef = {"manual_id": "m", "path": place.path}
        parts.append(build_part(file, place, named, choose_scope(place, rules, allow_file=True), rules))
        ref = parts[-1].get("next_ref")
        assert len(parts) <= len(file.text) + len(file.lines) + 1, "it does not end"
    return parts


@given(
    lines=LINES,
    scope=st.sampled_from(["snippet", "section", "sections", "file"]),
    chars=st.integers(1, 80),
    sections=st.integers(1, 3),
    expand=st.booleans(),
    data=st.data(),
)
def test_every_character_is_read_once_from_any_place(lines, scope, chars, sections, expand, data):
    file = SourceFile.parse("".join(lines), "a.md")
    line = data.draw(st.integers(1, len(file.lines)))
    rules = ReadingRules(scope, {"max_chars": chars, "max_sections": sections, "allow_file": True}, expand)
    parts = read_on(file, {**REF, "start_line": line}, rules)
    section = file.section_at(line)
    own = section.end if expand else section.own_end
    last = {"snippet": section.own_end, "section": own, "sections": len(lines), "file": len(lines)}[scope]
    assert "".join(part["text"] for part in parts) == "".join(file.lines[line - 1 : max(line, last)])
    assert all(len(part["text"]) <= chars for part in parts)
    assert not parts[-1]["truncated"]
    for part in parts[:-1]:
        assert part["truncated"]
        assert part.get("next_start_line", part["start_line"] + 1) > part["start_line"]


@given(lines=LINES, chars=st.integers(1, 80), data=st.data())
def test_lines_are_exactly_those_of_the_ref(lines, chars, data):
    file = SourceFile.parse("".join(lines), "a.md")
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    parts = read_on(file, {**REF, "start_line": first, "end_line": last}, ReadingRules(limits={"max_chars": chars}))
    assert "".join(part["text"] for part in parts) == "".join(file.lines[first - 1 : last])


def test_a_line_that_is_too_long_goes_on_inside_the_line():
    text = '"' + "x" * 50_000 + '"'
    file = SourceFile.parse(text, "a.json")
    parts = read_on(file, {"manual_id": "m", "path": "a.json"}, ReadingRules(limits={"max_chars": 20_000}))
    assert "".join(part["text"] for part in parts) == text
    assert [part["next_ref"].get("start_column") for part in parts[:-1]] == [20_001, 40_001]


def test_what_the_file_does_not_have_is_refused():
    file = SourceFile.parse("# A\nb\n", "a.md")
    for wrong in ({"start_line": 3}, {"start_line": 1, "end_line": 3}, {"start_line": 2, "start_column": 3}):
        with pytest.raises(Invalid):
            read_on(file, {**REF, **wrong}, ReadingRules())
    with pytest.raises(Invalid):
        read_on(file, {**REF, "start_line": 1}, ReadingRules("lines"))


def test_an_empty_file_has_an_empty_part():
    assert take_part([], 1, 1, 1, 10) == ("", 1, None)
    assert read_on(SourceFile.parse("", "a.md"), REF, ReadingRules())[0]["text"] == ""

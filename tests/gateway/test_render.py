"""Records as text: titles, files, lines, and how a long one is cut."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from tokonoma.core.desk import Record
from tokonoma.gateway.render import cut_text, find_media_type, parse_lines, render_record, take_lines


def record(address: str, title: str, text: str) -> Record:
    return Record(address, "m", "/", "public", title, text)


def test_a_title_is_a_heading_unless_the_text_has_it_or_is_a_file():
    assert render_record(record("tokonoma://memory/1", "Cat", "sleeps")) == "# Cat\n\nsleeps"
    assert render_record(record("tokonoma://memory/1", "Cat", "# Cat\nsleeps")) == "# Cat\nsleeps"
    assert render_record(record("tokonoma://memory/1", "", "sleeps")) == "sleeps"
    assert render_record(record("tokonoma://vault/a/b.md", "a/b.md", "sleeps")) == "sleeps"
    assert render_record(record("tokonoma://vault/a/README", "a/README", "sleeps")) == "sleeps"
    assert render_record(record("tokonoma://manual/x/b.md#L3", "Part", "sleeps")) == "sleeps"


def test_details_stand_between_title_and_text():
    item = replace(record("tokonoma://items/1", "Cat", "sleeps"), details={"status": "Open", "type": "task"})
    assert render_record(item) == "# Cat\n\n- status: Open\n- type: task\n\nsleeps"
    assert render_record(replace(item, text="# Cat\nsleeps")) == "- status: Open\n- type: task\n\n# Cat\nsleeps"
    assert render_record(replace(item, address="tokonoma://items/1#L1")) == "# Cat\n\nsleeps"  # lines alone


def test_media_types():
    assert find_media_type("tokonoma://manual/x/b.JSON#L3") == "application/json"
    assert find_media_type("tokonoma://vault/v1.2/b") == find_media_type("tokonoma://memory/1") == "text/markdown"


def test_lines_of_an_address():
    assert parse_lines("a://b/c#L3-L9") == ("a://b/c", 3, 9)
    assert parse_lines("a://b/c#L3-9") == ("a://b/c", 3, 9)
    assert parse_lines("a://b/c#L3") == ("a://b/c", 3, 3)
    assert parse_lines("a://b/c#L0") == ("a://b/c#L0", None, None)
    assert take_lines("one\ntwo\nthree", 2, 9) == "two\nthree"
    assert take_lines("one", 2, 3) == take_lines("one\ntwo", 2, 1) == ""


@example(["a" * 14, "a" * 15, "", ""], 31, 1)
@example(["", "", "", "aa", "a" * 5, "a" * 19, "", "", "", "", "", "aa", "aaa", "", ""], 31, 1)
@given(st.lists(st.text("ab ", max_size=30), min_size=1, max_size=40), st.integers(31, 200), st.integers(1, 50))
def test_what_is_cut_can_be_read_on(lines, most, first):
    """Following the addresses gives every line once."""
    text = "\n".join(lines)
    assert read_on(text, f"a://b/c#L{first}-L{first + len(lines) - 1}", most, first) == text
    assert read_on(text, "a://b/c", most) in (text, text.removesuffix("\n"))  # the last line, with or without its end


def read_on(text: str, address: str, most: int, first: int = 1) -> str:
    got = ""
    for _ in range(text.count("\n") + 2):
        whole, start, last = parse_lines(address)
        assert (whole, start is not None and start < first) == ("a://b/c", False)
        asked = text if start is None or last is None else take_lines(text, start - first + 1, last - first + 1)
        part, mark, rest = cut_text(asked, address, most).partition("\n[Cut after ")
        got += part
        if not mark:
            return got
        assert len(part) <= most
        address = rest.split(" at ")[1].rstrip("]")
    raise AssertionError("there is always more")

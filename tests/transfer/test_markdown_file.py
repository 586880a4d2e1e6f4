"""Front matter that may be hostile, and file names that every system accepts."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.transfer import markdown_file as front
from tokonoma.transfer.markdown_file import UniquePaths, choose_title, fold_path, make_safe_name, namespace_to_folder

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


TITLES = st.text(st.characters(exclude_categories=["Cs"]), max_size=200) | st.sampled_from(
    ["CON", "con.txt", "COM1", "LPT¹", "nul", ".", "..", "...", " x ", "x.", "a/b\\c", "名" * 200, "か\u3099" * 100, ""]
)


@given(TITLES)
def test_any_title_becomes_a_name(title):
    name = make_safe_name(title)
    assert name
    assert len(name.encode()) <= 98
    assert not re.search(r'[<>:"/\\|?*#^\[\]%\x00-\x1f\x7f]', name)
    assert not name.startswith((".", " "))
    assert not name.endswith((".", " "))
    assert not re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name, re.IGNORECASE)
    assert make_safe_name(name) == name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("床の間の軸", "床の間の軸"),
        ("か\u3099", "が"),
        ("a/b: c?", "a b c"),
        ("aux.h", "_aux.h"),
        (".env", "_.env"),
        ("?", "_"),
        ("line\none", "line one"),
    ],
)
def test_a_name_stays_as_near_as_it_can(title, name):
    assert make_safe_name(title) == name


@given(st.lists(st.tuples(st.sampled_from(["/", "/Notes", "/notes", "/x.md"]), TITLES, st.uuids()), max_size=20))
def test_no_two_files_are_one_on_any_system(memos):
    names = UniquePaths()
    paths = [
        names.claim_path(space, title, str(memo_id))
        for space, title, memo_id in {each[2]: each for each in memos}.values()
    ]
    assert len({fold_path(path) for path in paths}) == len(paths)
    assert all(path.endswith(".md") for path in paths)
    # No folder is where a file wants to be.
    folders = {fold_path(path.rpartition("/")[0]) for path in paths}
    assert not folders & {fold_path(path) for path in paths}


def test_the_first_of_a_name_has_it_and_the_next_ones_are_told_apart():
    names = UniquePaths()
    ids = [f"0190a000-0000-7000-8000-00000000000{number}" for number in range(3)]
    assert [
        names.claim_path("/", title, memo_id) for title, memo_id in zip(["Day", "day", "DAY"], ids, strict=True)
    ] == ["Day.md", "day 00000001.md", "DAY 00000002.md"]


@pytest.mark.parametrize(
    ("space", "folder"),
    [("/", ""), ("/notes/今日", "notes/今日"), ("/x.md", "x.md_~7b25"), ("/CON/a", "_CON~31a4/a")],
)
def test_folders_show_the_namespace(space, folder):
    shown = namespace_to_folder(space)
    assert re.sub(r"~\w{4}", "~", shown) == re.sub(r"~\w{4}", "~", folder)


def test_namespaces_that_differ_keep_folders_that_differ():
    assert namespace_to_folder("/a:b") != namespace_to_folder("/a?b") != namespace_to_folder("/a b")


@pytest.mark.parametrize(
    ("title", "content", "told"),
    [
        ("軸", "x", "軸"),
        ("", "\n---\n\n# 見出し\nx", "見出し"),
        ("", "- first item", "first item"),
        ("", "***", ""),
    ],
)
def test_a_memo_without_a_title_is_called_by_its_first_line(title, content, told):
    assert choose_title(title, content) == told

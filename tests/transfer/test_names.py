"""File names that every system takes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.transfer.markdown_file import UniquePaths, choose_title, fold_path, make_safe_name, namespace_to_folder

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

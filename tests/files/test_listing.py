"""What a listing leaves out, and why."""

import ctypes
import os
import threading
from collections.abc import Callable

import pytest
from files.nasty import count_walked, write_nasty

from tokonoma.core.errors import Denied
from tokonoma.core.paths import is_readable_name
from tokonoma.files.folder import open_root
from tokonoma.files.listing import LeftOut, count_left_out, list_folder


def as_another_user(act: Callable[[], None]) -> None:
    """In a thread that has no rights to others' files, also where the tests run as root."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            if os.geteuid() == 0:
                ctypes.CDLL(None).setfsuid(65534)
            act()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


@pytest.mark.parametrize("is_acceptable", [None, is_readable_name], ids=["where one writes", "where nobody does"])
def test_files_and_what_is_left_out_are_what_a_walk_finds(tmp_path, is_acceptable):
    write_nasty(tmp_path / "root", tmp_path / "outside")
    with open_root(str(tmp_path / "root")) as folder:
        listing = list_folder(folder, (), is_acceptable) if is_acceptable else list_folder(folder)
    counted = len(listing.files) + sum(count_left_out(listing.left_out).values())
    assert counted == count_walked(tmp_path / "root")
    assert not {entry.path for entry in listing.files} & {each.path for each in listing.left_out}


def test_what_may_not_be_read_is_named(tmp_path):
    root = tmp_path / "root"
    (root / "locked").mkdir(parents=True)
    (root / "closed.md").write_text("x")
    (root / "open.md").write_text("x")
    root.chmod(0o755)
    (root / "locked").chmod(0)
    (root / "closed.md").chmod(0)
    with open_root(str(root)) as folder:

        def look() -> None:
            listing = list_folder(folder)
            assert [entry.path for entry in listing.files] == ["closed.md", "open.md"]
            assert listing.left_out == [LeftOut(("locked",), "unreadable")]
            with pytest.raises(Denied) as refused:
                folder.read(("closed.md",))
            assert refused.value.reason == "unreadable"

        as_another_user(look)
    (root / "locked").chmod(0o755)


def test_a_folder_below_a_hidden_one_that_may_not_be_opened_counts_as_one(tmp_path):
    (tmp_path / ".git" / "locked").mkdir(parents=True)
    (tmp_path / ".git" / "config").write_text("x")
    tmp_path.chmod(0o755)
    (tmp_path / ".git" / "locked").chmod(0)
    with open_root(str(tmp_path)) as folder:

        def look() -> None:
            assert list_folder(folder).left_out == [LeftOut((".git",), "hidden", 2)]

        as_another_user(look)
    (tmp_path / ".git" / "locked").chmod(0o755)


def test_names_are_shown_so_that_they_can_be_told_apart():
    assert LeftOut(("a", os.fsdecode(b"b\xff.md")), "odd_name").path == "a/b\\xff.md"
    assert LeftOut(("a\u202eb\n.md",), "odd_name").path == "a\\u202eb\\n.md"
    assert LeftOut(("議事録　春.md",), "hard_link").path == "議事録　春.md"

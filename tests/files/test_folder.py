"""Walking, reading and placing in a root that nobody leaves, whatever is swapped meanwhile."""

import ctypes
import os
import threading
from pathlib import Path

import pytest
from files.hostile import traps, twins

from tokonoma.core.errors import Conflict, Denied, Missing, Refusal
from tokonoma.core.paths import split_file_path
from tokonoma.files.atomic import place_draft, rename_file, write_draft, write_lock
from tokonoma.files.folder import MAX_FILE_BYTES, RootFolder, open_root
from tokonoma.files.listing import list_folder

SOAK = os.environ.get("TOKONOMA_SOAK") == "1"
full = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="the full count: make soak")]


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def exchange(one: Path, other: Path) -> None:
    """Each gets the other's name, in one step."""
    ctypes.CDLL(None).renameat2(-100, bytes(one), -100, bytes(other), 2)


def unhurried() -> None:
    """What a call without a deadline checks."""


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(root):
    with open_root(str(root)) as opened:
        yield opened


def put(folder: RootFolder, path: str, data: bytes) -> None:
    """As a tool does it: a draft, then its place, instead of the file that is there now if there is one."""
    parts = split_file_path(path)
    with write_lock(folder, unhurried):
        before = folder.read_stamp(parts)
        place_draft(folder, write_draft(folder, data, None), parts, before)


def test_what_is_placed_is_read_again(folder, root):
    put(folder, "a/b/c.md", b"one")
    assert folder.read(("a", "b", "c.md")).data == b"one"
    put(folder, "a/b/c.md", b"two")
    assert (root / "a" / "b" / "c.md").read_bytes() == b"two"
    assert [found.path for found in list_folder(folder).files] == ["a/b/c.md"]
    assert names(root / ".system" / "drafts") == []


def test_a_file_keeps_its_mode(folder, root):
    put(folder, "a.md", b"one")
    (root / "a.md").chmod(0o640)
    content = folder.read(("a.md",))
    with write_lock(folder, unhurried):
        place_draft(folder, write_draft(folder, b"two", content.mode), ("a.md",), content.stamp)
    assert (root / "a.md").stat().st_mode & 0o777 == 0o640


def test_nothing_reaches_what_lies_outside(folder, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    before = set(outside.rglob("*"))
    for path in traps(root, outside):
        before |= set(outside.rglob("*"))
        for act in (lambda p: folder.read(split_file_path(p)), lambda p: put(folder, p, b"mine")):
            with pytest.raises((Denied, Missing)):
                act(path)
    assert [found.path for found in list_folder(folder).files] == ["real/plain.md"]
    assert set(outside.rglob("*")) == before
    assert (outside / "secret.md").read_text() == "CANARY outside\n"


def test_a_new_file_never_swallows_one_that_came_meanwhile(folder, root):
    with write_lock(folder, unhurried):
        name = write_draft(folder, b"mine", None)
        (root / "a.md").write_bytes(b"theirs")
        with pytest.raises(Conflict):
            place_draft(folder, name, ("a.md",), None)
    assert (root / "a.md").read_bytes() == b"theirs"


def test_a_file_that_changed_meanwhile_is_left_alone(folder, root):
    put(folder, "a.md", b"one")
    before = folder.read_stamp(("a.md",))
    (root / "a.md").write_bytes(b"theirs")
    with write_lock(folder, unhurried), pytest.raises(Conflict):
        place_draft(folder, write_draft(folder, b"mine", None), ("a.md",), before)
    assert (root / "a.md").read_bytes() == b"theirs"


def test_moving_goes_where_nothing_is(folder, root):
    put(folder, "a.md", b"one")
    put(folder, "b.md", b"two")
    before = folder.read_stamp(("a.md",))
    assert before is not None
    with pytest.raises(Conflict):
        rename_file(folder, ("a.md",), ("b.md",), before)
    rename_file(folder, ("a.md",), ("deep", "c.md"), before)
    assert [found.path for found in list_folder(folder).files] == ["b.md", "deep/c.md"]


@pytest.mark.parametrize(("composed", "apart"), twins())
def test_one_name_in_two_spellings_is_one_file(folder, root, composed, apart):
    (root / apart).write_bytes(b"here")
    assert folder.read(split_file_path(composed)).data == b"here"
    with write_lock(folder, unhurried), pytest.raises(Conflict):
        place_draft(folder, write_draft(folder, b"x", None), split_file_path(composed.lower()), None)
    assert names(root) == sorted([".system", apart])


def test_names_that_differ_in_case_alone_are_ambiguous_unless_spelt_exactly(folder, root):
    (root / "A.md").write_bytes(b"upper")
    (root / "a.md").write_bytes(b"lower")
    assert folder.read(("a.md",)).data == b"lower"
    (root / "B.md").write_bytes(b"x")
    (root / "b.MD").write_bytes(b"y")
    with pytest.raises(Conflict):
        folder.read(("b.md",))


def test_a_file_that_is_too_large_is_not_read(folder, root):
    with (root / "big.md").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(Denied, match="Split"):
        folder.read(("big.md",))


def test_what_a_dead_writer_left_is_swept_away(folder, root):
    with write_lock(folder, unhurried):
        write_draft(folder, b"half", None)
    with write_lock(folder, unhurried):
        assert names(root / ".system" / "drafts") == []


def test_one_writer_at_a_time(root):
    inside: list[int] = []
    most: list[int] = []

    def write() -> None:
        with open_root(str(root)) as mine:
            for _ in range(20):
                with write_lock(mine, unhurried):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(most) == 80
    assert max(most) == 1


@pytest.mark.parametrize("races", [300, pytest.param(10_000, marks=full)], ids=["quick", "full"])
def test_swapping_folders_for_links_never_leads_outside(folder, root, tmp_path, races):
    """One thread swaps a folder and a file for links to the outside; we read and write through them meanwhile."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("CANARY")
    (root / "d").mkdir()
    (root / "d" / "x.md").write_text("inside")
    (root / "link").symlink_to(outside)
    (root / "filelink").symlink_to(outside / "x.md")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            exchange(root / "d", root / "link")
            exchange(root / "link", root / "d")
            if not (root / "filelink").is_symlink():  # a write took the place of the link: lay another
                (root / "filelink").unlink(missing_ok=True)
                (root / "filelink").symlink_to(outside / "x.md")
            exchange(root / "d" / "x.md", root / "filelink")
            exchange(root / "d" / "x.md", root / "filelink")

    thread = threading.Thread(target=swap)
    thread.start()
    ends: dict[str, int] = {}
    try:
        for number in range(races):
            try:
                if number % 2:
                    assert b"CANARY" not in folder.read(("d", "x.md")).data
                else:
                    put(folder, "d/x.md", b"inside %d" % number)
                end = "done"
            except Refusal as error:
                end = type(error).__name__
            ends[end] = ends.get(end, 0) + 1
            assert "CANARY" not in "".join(found.path for found in list_folder(folder).files)
    finally:
        done.set()
        thread.join()
    assert (outside / "x.md").read_text() == "CANARY"
    assert names(outside) == ["x.md"]
    assert len(ends) > 1, ends  # the swaps did get between

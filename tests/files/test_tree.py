"""Copies of files while others write, and what a killed restore leaves."""

import io
from pathlib import Path

import pytest

from tokonoma.files import tree
from tokonoma.files.folder import open_root


class Disturbed(io.BytesIO):
    """A copy during which the file is saved by another program, so many times."""

    def __init__(self, file: Path, times: int) -> None:
        super().__init__()
        self.file, self.times = file, times

    def write(self, data) -> int:
        if self.times:
            self.times -= 1
            fresh = self.file.with_suffix(".new")
            fresh.write_bytes(b"save %d" % self.times)
            fresh.rename(self.file)
        return super().write(data)


@pytest.fixture
def file(tmp_path) -> Path:
    file = tmp_path / "a.md"
    file.write_bytes(b"first")
    return file


def test_a_file_that_changes_while_it_is_copied_is_copied_again(file):
    out = Disturbed(file, 2)
    with open_root(str(file.parent)) as folder:
        copied = tree.copy_file(folder, ("a.md",), out)
    assert copied.steady
    assert (out.getvalue(), copied.size) == (b"save 0", 6)


def test_a_file_that_never_rests_is_taken_and_named(file):
    with open_root(str(file.parent)) as folder:
        copied = tree.copy_file(folder, ("a.md",), Disturbed(file, 100))
    assert not copied.steady


def test_a_file_that_became_a_link_is_gone(file, tmp_path):
    file.unlink()
    file.symlink_to(tmp_path / "other")
    with open_root(str(file.parent)) as folder, pytest.raises(tree.UnreadableFile, match="symbolic"):
        tree.copy_file(folder, ("a.md",), io.BytesIO())


def test_staged_content_is_removed_with_its_folder(tmp_path):
    with open_root(str(tmp_path)) as folder:
        tree.stage_file(folder, "0", io.BytesIO(b"new"), 0o600, 0)
        assert tree.has_staged(folder)
        tree.remove_staged(folder)
        assert not tree.has_staged(folder)
    assert list(tmp_path.iterdir()) == []


def test_names_that_differ_in_case_only_stay_apart(tmp_path):
    with open_root(str(tmp_path)) as folder:
        for name, content in (("A.md", b"upper"), ("a.md", b"lower")):
            tree.stage_file(folder, name, io.BytesIO(content), 0o600, 0)
            tree.place_staged(folder, name, (name,))
    assert (tmp_path / "A.md").read_bytes() == b"upper"
    assert (tmp_path / "a.md").read_bytes() == b"lower"

"""Globs."""

import pytest

from tokonoma.modules.vault.matching import compile_glob


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        (None, "a/b.md", True),
        ("*.md", "b.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("notes/*.md", "notes/a/b.md", False),
        ("notes/**", "notes/a/b.md", True),
        ("*.txt", "b.md", False),
    ],
)
def test_globs(glob, path, matches):
    assert bool(compile_glob(glob)(path)) is matches

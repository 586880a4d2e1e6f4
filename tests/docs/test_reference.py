"""docs/reference is what the code says today."""

import importlib.util
import sys

import pytest
from docs.markdown import ROOT

PAGES = ("cli.md", "errors.md", "services.md", "settings.md", "tools.md")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Made once: that takes more than a second."""
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_reference"] = module
    spec.loader.exec_module(module)
    return module.build_pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_code_says(pages, name):
    kept = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert kept == pages[name], "run `make reference` and commit docs/reference"


def test_every_page_is_made_and_none_is_left_over(pages):
    by_hand = {"embedder.md"}  # the model card: figures and attributions, not code
    there = {each.name for each in (ROOT / "docs" / "reference").iterdir()}
    assert sorted(pages) == sorted(there - by_hand)
    assert sorted(pages) == sorted(PAGES)

"""Every guide exists in English and Japanese, and both say the same: blocks of code, headings, tables, links."""

import re
from collections import Counter
from pathlib import Path

import pytest
from docs.markdown import ROOT, Block, blocks, headings, links, prose

ENGLISH = ROOT / "docs" / "guides"
JAPANESE = ROOT / "docs" / "ja"
NAMES = sorted(page.name for page in ENGLISH.glob("*.md"))
COMMENTED = ("sh", "toml", "yaml", "python")
# Plain documentation does without these words; `who` in a relative clause usually hides the subject.
UNPLAIN = re.compile(r"\b(who|whoever|somebody|nobody|anybody|everybody|told|tells?|house)\b", re.IGNORECASE)


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def in_both(name: str) -> tuple[str, str]:
    assert (JAPANESE / name).exists(), f"docs/guides/{name} has no Japanese version docs/ja/{name}"
    return read(ENGLISH, name), read(JAPANESE, name)


def strip_comments(block: Block) -> str:
    """Comments may be translated, and so may plain text."""
    if block.language == "text":
        return ""
    return re.sub(r"(^|\s+)# .*$", "", block.text, flags=re.MULTILINE) if block.language in COMMENTED else block.text


def count_table_rows(text: str) -> int:
    return len(re.findall(r"^\|", prose(text), re.MULTILINE))


def test_the_same_guides_exist_in_both_languages():
    assert [page.name for page in sorted(JAPANESE.glob("*.md")) if page.name != "README.md"] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_show_the_same_code(name):
    english, japanese = ([(block.language, strip_comments(block)) for block in blocks(text)] for text in in_both(name))
    assert japanese == english


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_headings_and_tables(name):
    english, japanese = in_both(name)
    assert [level for level, _ in headings(japanese)] == [level for level, _ in headings(english)]
    assert count_table_rows(japanese) == count_table_rows(english)


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_link_to_the_same_pages(name):
    english, japanese = (Counter(link.partition("#")[0] for link in links(text)) for text in in_both(name))
    assert english - Counter([f"../ja/{name}"]) == japanese - Counter([f"../guides/{name}"])


@pytest.mark.parametrize("name", NAMES)
def test_a_guide_begins_with_a_link_to_the_other_language(name):
    english, japanese = in_both(name)
    assert english.splitlines()[2] == f"[日本語](../ja/{name})"
    assert japanese.splitlines()[2] == f"[English](../guides/{name})"


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_name_the_same_things(name):
    """Everything in backquotes: tools, parameters, settings, commands, codes."""
    english, japanese = (set(re.findall(r"`([^`\n]+)`", prose(text))) for text in in_both(name))
    assert sorted(english - japanese) == []


@pytest.mark.parametrize("name", NAMES)
def test_guides_are_written_in_plain_english(name):
    text = re.sub(r"`[^`\n]*`", "", prose(read(ENGLISH, name)))
    assert UNPLAIN.findall(text) == []


def test_the_japanese_index_names_every_guide():
    assert set(NAMES) <= set(links(read(JAPANESE, "README.md")))

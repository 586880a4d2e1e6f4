"""README and the pages of docs/ exist in English and Japanese, with the same code, headings, tables and links."""

import re
from collections import Counter
from pathlib import Path

import pytest
from docs.markdown import ROOT, Block, blocks, files, headings, links, prose

ENGLISH = ROOT / "docs" / "guides"
JAPANESE = ROOT / "docs" / "ja"
NAMES = sorted(page.relative_to(ENGLISH).as_posix() for page in ENGLISH.rglob("*.md"))
OTHERS = sorted(page.name for page in (ROOT / "docs").glob("*.md") if page.name != "README.md")
README = "README"  # in the root of the repository, beside README.ja.md
PAGES = [README, *NAMES, *OTHERS]
TRANSLATED = [*sorted(JAPANESE.rglob("*.md")), *(page for page in files() if page.name == "README.ja.md")]
COMMENTED = ("sh", "toml", "yaml", "python")
_REFERENCE = re.compile(r"^\[[^\]]+\]: \S+$", re.MULTILINE)  # `[name]: address`
_JAPANESE_LETTER = "[ぁ-んァ-ヶー一-龥々、。）」]"
# Plain documentation does without these words; `who` in a relative clause usually hides the subject.
UNPLAIN = re.compile(r"\b(who|whoever|somebody|nobody|anybody|everybody|told|tells?|house)\b", re.IGNORECASE)


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def in_both(name: str) -> tuple[str, str]:
    if name == README:
        return read(ROOT, "README.md"), read(ROOT, "README.ja.md")
    folder = ROOT / "docs" if name in OTHERS else ENGLISH
    shown = (folder / name).relative_to(ROOT)
    assert (JAPANESE / name).exists(), f"{shown} has no Japanese version docs/ja/{name}"
    return read(folder, name), read(JAPANESE, name)


def lead(name: str, folder: str) -> str:
    """The link from a guide to the same one in another folder of docs/."""
    return "../" * (name.count("/") + 1) + f"{folder}/{name}"


def strip_comments(block: Block) -> str:
    """Comments may be translated, and so may plain text."""
    if block.language == "text":
        return ""
    return re.sub(r"(^|\s+)# .*$", "", block.text, flags=re.MULTILINE) if block.language in COMMENTED else block.text


def pages_of(text: str) -> list[str]:
    return [page for link in links(text) if (page := link.partition("#")[0])]


def count_table_rows(text: str) -> int:
    return len(re.findall(r"^\|", prose(text), re.MULTILINE))


def test_the_same_guides_exist_in_both_languages():
    pages = (page.relative_to(JAPANESE).as_posix() for page in JAPANESE.rglob("*.md"))
    assert sorted(page for page in pages if page != "README.md") == sorted([*NAMES, *OTHERS])


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_show_the_same_code(name):
    english, japanese = ([(block.language, strip_comments(block)) for block in blocks(text)] for text in in_both(name))
    assert japanese == english


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_have_the_same_headings_and_tables(name):
    english, japanese = in_both(name)
    assert [level for level, _ in headings(japanese)] == [level for level, _ in headings(english)]
    assert count_table_rows(japanese) == count_table_rows(english)


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_link_to_the_same_pages(name):
    english, japanese = (Counter(link.partition("#")[0] for link in links(text)) for text in in_both(name))
    japanese = Counter(link.replace("README.ja.md", "README.md") for link in japanese.elements())
    japanese = Counter(link.replace("pictures/ja/", "pictures/en/") for link in japanese.elements())
    assert english - Counter([lead(name, "ja")]) == japanese - Counter([lead(name, "guides")])


def test_both_readmes_link_to_the_same_pages_each_in_its_language():
    english, japanese = in_both(README)
    in_japanese = {"README.ja.md": "README.md", "docs/README.md": "docs/ja/README.md"}
    in_japanese |= {f"docs/{name}": f"docs/ja/{name}" for name in OTHERS}
    in_japanese["examples/batches/README.md"] = "examples/batches/README.ja.md"
    folders = {"docs/guides/": "docs/ja/", "docs/pictures/en/": "docs/pictures/ja/"}
    english_links = pages_of(english)
    for folder, japanese_folder in folders.items():
        english_links = [in_japanese.get(link, link.replace(folder, japanese_folder)) for link in english_links]
    expected = english_links
    assert sorted(expected) == sorted(pages_of(japanese))
    assert _REFERENCE.findall(english) == _REFERENCE.findall(japanese)


@pytest.mark.parametrize("name", NAMES)
def test_a_guide_begins_with_a_link_to_the_other_language(name):
    english, japanese = in_both(name)
    assert english.splitlines()[2] == f"[日本語]({lead(name, 'ja')})"
    assert japanese.splitlines()[2] == f"[English]({lead(name, 'guides')})"


@pytest.mark.parametrize("name", OTHERS)
def test_other_pages_link_to_the_same_pages_each_in_its_language(name):
    english, japanese = in_both(name)
    assert english.splitlines()[2] == f"[日本語](ja/{name})"
    assert japanese.splitlines()[2] == f"[English](../{name})"
    linked = Counter(resolve(ROOT / "docs", link) for link in pages_of(english))
    translated = Counter(resolve(JAPANESE, link) for link in pages_of(japanese))
    assert linked - Counter([JAPANESE / name]) == translated - Counter([ROOT / "docs" / name])


def resolve(folder: Path, link: str) -> Path | str:
    """The English page or file that a link means."""
    if re.match(r"[a-z]+:", link):
        return link
    target = (folder / link.replace("README.ja.md", "README.md")).resolve()
    guide = ENGLISH / target.relative_to(JAPANESE) if JAPANESE in target.parents else target
    return guide if guide.exists() else target


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_ends_inside_a_japanese_sentence(page):
    """Browsers show the end of a line as a space, which Japanese does not have between words."""
    text = re.sub(r"^(\||#|\[[^\]]+\]: ).*$", "", prose(page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    inside = rf"{_JAPANESE_LETTER}\n *(?![-*|>\d]){_JAPANESE_LETTER}|{_JAPANESE_LETTER}\n *[`\[]"
    assert re.findall(inside, text) == []


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_name_the_same_things(name):
    """Everything in backquotes: tools, parameters, settings, commands, codes."""
    english, japanese = (set(re.findall(r"`([^`\n]+)`", prose(text))) for text in in_both(name))
    assert sorted(english - japanese) == []


@pytest.mark.parametrize("name", [*PAGES, "SECURITY.md", "CONTRIBUTING.md"])
def test_pages_are_written_in_plain_english(name):
    page = in_both(name)[0] if name in PAGES else read(ROOT, name)
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    assert UNPLAIN.findall(text) == []


def test_the_japanese_index_names_every_guide():
    assert set(NAMES) <= set(links(read(JAPANESE, "README.md")))

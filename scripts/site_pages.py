"""The pages of the documentation site: which file becomes which page, where its links lead, and the navigation.

The Markdown files stay as they are on the code host. For the site they are copied, once for each language: a page
without a translation is shown in English there. Both languages therefore have the same pages at the same paths.
"""

import posixpath
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CODE_HOST = "https://github.com/tokonoma/tokonoma"
LANGUAGES = ("en", "ja")
INDEXES = {"en": "docs/README.md", "ja": "docs/ja/README.md"}  # the navigation follows their sections
HOME = {"en": "Home", "ja": "ホーム"}
CONTENTS = {"en": "All pages", "ja": "ページ一覧"}
DECISIONS = {"en": "Decisions", "ja": "設計の決定（英語）"}  # a section of the English index alone
_NO_PAGES = ("src/", "tests/")  # notices of licences, which belong to the program
_FENCE = re.compile(r"^ *(`{3,})[^\n]*\n.*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"(?P<open>\]\()(?P<target>[^)\s]+)(?=\))")
_INDENT = re.compile(r"^ {2,}(?=\S)", re.MULTILINE)
_NAMED_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s#]+)\)")


class SiteError(Exception):
    """A page that the site cannot show; the message names the file."""


@dataclass(frozen=True, slots=True)
class Page:
    source: str  # relative to the repository
    path: str  # relative to the site of its language
    language: str  # of its text


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    pages: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # title and source


def list_sources() -> list[str]:
    """Every Markdown file of the repository that becomes a page."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted({each for each in listed if not each.startswith(_NO_PAGES) and (ROOT / each).exists()})


def find_path(source: str, sources: frozenset[str]) -> tuple[str, str]:
    """The path of a page in the site and the language of its text. A translation has the path of its original."""
    if source in INDEXES.values():
        return "contents.md", "ja" if "/ja/" in source else "en"
    if source.startswith("docs/ja/"):
        name = source.removeprefix("docs/ja/")
        originals = [each for each in (f"docs/guides/{name}", f"docs/{name}") if each in sources]
        if not originals:
            raise SiteError(f"{source} translates neither docs/guides/{name} nor docs/{name}")
        return find_path(originals[0], sources)[0], "ja"
    if source.endswith("README.ja.md"):
        return find_path(source.replace("README.ja.md", "README.md"), sources)[0], "ja"
    path = source.removeprefix("docs/").replace("README.md", "index.md")
    return path if "/" in path else path.lower(), "en"


def collect_pages(sources: list[str]) -> dict[str, dict[str, Page]]:
    """For each language, its pages by their path: the translation, else the English one."""
    known = frozenset(sources)
    found = [Page(source, *find_path(source, known)) for source in sources]
    english = {page.path: page for page in found if page.language == "en"}
    return {"en": english, "ja": english | {page.path: page for page in found if page.language == "ja"}}


def read_sections(index: str) -> list[Section]:
    """The sections of an index: its headings, and below each the first link of a row or of an entry."""
    sections: list[Section] = []
    for line in (ROOT / index).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            sections.append(Section(line.removeprefix("## ").strip()))
        elif line.startswith(("| [", "- [")) and sections:
            title, target = _NAMED_LINK.findall(line)[0]
            sections[-1].pages.append((title, posixpath.normpath(posixpath.join(posixpath.dirname(index), target))))
    return [section for section in sections if section.pages]


def build_navigation(language: str, pages: dict[str, Page], sources: frozenset[str]) -> list[dict[str, Any]]:
    """Every page once, in the order of the index. A page that no index names is an error."""
    sections = read_sections(INDEXES[language])
    if language != "en":
        sections += [section for section in read_sections(INDEXES["en"]) if section.title == DECISIONS["en"]]
    navigation: list[dict[str, Any]] = [{HOME[language]: "index.md"}]
    named = {"index.md", "contents.md"}
    for section in sections:
        entries: list[dict[str, str]] = []
        for title, source in section.pages:
            path = find_path(source, sources)[0]
            if path not in named:
                entries.append({title.replace("`", ""): path})
                named.add(path)
        title = DECISIONS[language] if section.title == DECISIONS["en"] else section.title
        navigation.append({title: entries})
    if missing := sorted(pages[path].source for path in pages.keys() - named):
        raise SiteError(f"{INDEXES[language]} does not name {', '.join(missing)}: add a line to it")
    navigation[1][next(iter(navigation[1]))].append({CONTENTS[language]: "contents.md"})
    return navigation


def split_code(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of a text in order, each with whether it is code, in which nothing is a link."""
    for fenced, part in _split(_FENCE, text):
        if fenced:
            yield True, part
        else:
            yield from _split(_CODE, part)


def _split(pattern: re.Pattern[str], text: str) -> Iterator[tuple[bool, str]]:
    end = 0
    for found in pattern.finditer(text):
        yield False, text[end : found.start()]
        yield True, found[0]
        end = found.end()
    yield False, text[end:]


def widen_lists(text: str) -> str:
    """Lists as Python-Markdown wants them: what belongs to an entry begins four columns in, not two, and after an entry
    of several paragraphs an empty line comes before the next."""
    return "".join(
        part if fenced else _separate_entries(_INDENT.sub(_widen, part)) for fenced, part in _split(_FENCE, text)
    )


def _widen(found: re.Match[str]) -> str:
    return "    " * max(1, len(found[0]) // 2)


def _separate_entries(text: str) -> str:
    lines: list[str] = []
    several = False  # whether the current entry has an empty line in it
    for line in text.split("\n"):
        if line.startswith("- ") and several and lines[-1].strip():
            lines.append("")
        if line and not line.startswith(" "):
            several = False
        elif not line.strip():
            several = True
        lines.append(line)
    return "\n".join(lines)


class LinkMap:
    """Where the links of a page lead in the site of one language."""

    def __init__(self, sites: dict[str, dict[str, Page]], language: str) -> None:
        self.language = language
        self.pages = sites[language]
        self.places = {page.source: page for pages in sites.values() for page in pages.values()}
        self.assets: set[str] = set()  # files that pages show, such as pictures

    def rewrite(self, page: Page, text: str) -> str:
        """Links to pages become links of the site, those to other files of the repository lead to the code host."""
        return "".join(
            part if code else _LINK.sub(lambda found: self._rewrite_link(page, found), part)
            for code, part in split_code(text)
        )

    def _rewrite_link(self, page: Page, found: re.Match[str]) -> str:
        target, hash_mark, anchor = found["target"].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        source = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), target))
        if not (ROOT / source).exists():
            raise SiteError(f"{page.source} links to {target}, which does not exist")
        linked = self.places.get(source)
        place = self._find_file(page, source) if linked is None else self._find_page(page, linked, anchor)
        return f"{found['open']}{place}{hash_mark}{anchor}"

    def _find_page(self, page: Page, linked: Page, anchor: str) -> str:
        folder = posixpath.dirname(page.path) or "."
        translated = self.pages[linked.path].source != linked.source
        # An English page that stands for its translation leads to translations, but their anchors are others.
        if not translated or (linked.language == page.language and not anchor):
            return posixpath.relpath(linked.path, folder)
        path = linked.path.removesuffix(".md") + ".html"
        return posixpath.relpath(f"ja/{path}" if self.language == "en" else f"../{path}", folder)

    def _find_file(self, page: Page, source: str) -> str:
        if source.startswith("docs/") and (ROOT / source).is_file():
            self.assets.add(source)
            return posixpath.relpath(source.removeprefix("docs/"), posixpath.dirname(page.path) or ".")
        return f"{CODE_HOST}/{'tree' if (ROOT / source).is_dir() else 'blob'}/main/{source}"

"""Gaps: references whose target is missing, as far as that can be known.

A wrong report sends its reader to search for something that is there, or that belongs to another document.
"""

import posixpath
import re
from collections.abc import Collection

from tokonoma.core.normalize import HAN, normalize, normalize_loose
from tokonoma.files.pages import resolve_link
from tokonoma.modules.manual.corpus import ManualCorpus
from tokonoma.modules.manual.terms import SectionReference, article_name

# Parts that have a heading of their own. Paragraphs and items (項, 号) have none.
_PART = re.compile("第?[0-9〇一二三四五六七八九十百]+([条章節編])|(別表|別紙|付表|付録|様式)")
_NUMBERED = re.compile(
    "(?:第[0-9〇一二三四五六七八九十百]+[条章節編](?:の[0-9〇一二三四五六七八九十百]+)?|(?:別表|別紙|付表|付録|様式)第?[0-9〇一二三四五六七八九十百]+)"
)
_OWNER = re.compile(f"\\Aの?([{HAN}ァ-ヶー」』)]+)")  # backwards: 民法第90条, 同法第3条, 「旧規程」第2条
_FOLDER_PAGES = frozenset({"index", "readme"})


def is_missing(corpus: ManualCorpus, position: int, reference: SectionReference, paths: Collection[str]) -> bool:
    """Whether a reference that leads nowhere should lead to something in this manual. `paths` are its files."""
    section = corpus.sections[position]
    if reference.kind == "link":
        return _is_missing_file(section.path, reference.target, paths)
    kind = _kind(reference.target)
    if not kind or not any(manual == section.manual and _kind(name) == kind for manual, name in corpus.by_heading):
        return False
    return any(
        article_name(found[0]) == reference.target and _is_own(text[max(0, found.start() - 20) : found.start()])
        for text in (corpus.folded_text(position),)
        for found in _NUMBERED.finditer(text)
    )


def _is_missing_file(path: str, target: str, paths: Collection[str]) -> bool:
    """A Markdown file of this manual that is not there in any spelling or folder. Paths of a site, and pages outside of
    the manual, are not here to be found."""
    if not target.lower().endswith(".md") or target.startswith("/") or resolve_link(path, target) == "..":
        return False
    wanted = _file_name(target)
    return wanted not in _FOLDER_PAGES and all(_file_name(each) != wanted for each in paths)


def _file_name(path: str) -> str:
    """The name of a file, however its words are joined: `Return_policy.md`, `return-policy.MD`."""
    return normalize_loose(posixpath.splitext(posixpath.basename(path))[0]).replace(" ", "")


def _kind(name: str) -> str:
    """What a canonical name numbers: 条, 別表, …; empty for any other heading."""
    found = _PART.match(normalize(name))
    return (found[1] or found[2]) if found else ""


def _is_own(before: str) -> bool:
    """Whether an article that follows this text is one of this document: 民法 names another."""
    owner = _OWNER.match(before[::-1])
    name = owner[1][::-1] if owner else ""
    return not name or name.startswith(("本", "前項", "次項")) or name.endswith(("又", "及", "並"))

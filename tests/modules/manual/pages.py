"""Sections of Markdown pages in memory, as the index holds them."""

import json

from tokonoma.modules.manual.corpus import IndexedSection, ManualCorpus
from tokonoma.modules.manual.joined_text import build_search_texts
from tokonoma.modules.manual.source_file import SourceFile
from tokonoma.modules.manual.terms import find_references


def build_corpus(*pages: tuple[str, str]) -> ManualCorpus:
    """Of manuals and texts; the files are page0.md, page1.md, …"""
    sections: list[IndexedSection] = []
    texts: list[tuple[str, str, str]] = []
    for number, (manual, page) in enumerate(pages):
        path = f"page{number}.md"
        file = SourceFile.parse(page, path)
        for each in file.sections:
            own = "".join(file.lines[each.line - 1 : each.own_end])
            places = each.line, each.own_end, each.end, each.level, each.title, each.anchor, each.parent
            sections.append(IndexedSection(manual, path, *places, len(own)))
            texts.append((*build_search_texts(each.title, own), json.dumps(list(find_references(own)))))
    folded, tight, refers = zip(*texts, strict=True)
    return ManualCorpus(sections, folded, tight, refers)

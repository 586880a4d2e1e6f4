"""Where the references of a manual lead: links by path, by name and by anchor, and the words of headings."""

from collections.abc import Collection, Iterator, Sequence

from tokonoma.core.normalize import normalize
from tokonoma.files.links import TextLink
from tokonoma.files.pages import match_anchor, resolve_link
from tokonoma.modules.manual.corpus import IndexedSection
from tokonoma.modules.manual.model import ManualSettings
from tokonoma.modules.manual.sync import ManualLibrary
from tokonoma.modules.manual.terms import SectionReference

MAX_FOLLOWED = 40
"""References of one section that a search follows."""


def resolve_reference(
    library: ManualLibrary, section: IndexedSection, reference: SectionReference | TextLink
) -> Sequence[int]:
    """The sections that a reference leads to. A link to a page without an anchor leads to its first section."""
    corpus, manual = library.corpus, section.manual
    if reference.kind == "name":
        named = corpus.by_heading.get((manual, reference.target), ())
        return named or corpus.by_heading.get((manual, " ".join(normalize(reference.target).split())), ())
    path = _find_path(library, section, reference)
    positions = corpus.files.get((manual, path), []) if path is not None else []
    found = match_anchor([corpus.sections[each] for each in positions], reference.anchor) if reference.anchor else []
    return [positions[place] for place in found] or positions[:1]


def _find_path(library: ManualLibrary, section: IndexedSection, reference: SectionReference | TextLink) -> str | None:
    pages, target = library.corpus.pages[section.manual], reference.target
    visible: Collection[str] = library.visible.get(section.manual, {})
    if not target:
        return section.path
    if reference.kind == "wiki":
        return pages.find_page(target, section.path, visible)
    if not target.startswith("/"):
        return pages.find_file(resolve_link(section.path, target), visible)
    settings = library.on_disk.settings.get(section.manual, ManualSettings())
    found = (pages.find_file(path, visible) for path in _site_paths(target, settings.link_prefixes))
    return next((path for path in found if path is not None), None)


def _site_paths(target: str, prefixes: Sequence[str]) -> Iterator[str]:
    """A link from the root of a site, as paths in the manual. Without a known prefix: the whole path, or without its
    first part."""
    whole = f"/{resolve_link('', target)}/"
    if prefixes:
        longest = sorted(prefixes, key=len, reverse=True)
        yield from (whole[len(each) :].strip("/") for each in longest if whole.startswith(each))
    else:
        yield whole.strip("/")
        yield whole.strip("/").partition("/")[2]

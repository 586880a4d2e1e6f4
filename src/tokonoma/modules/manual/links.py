"""Where the references of a section lead, and which sections link to it, for `fetch` and `system.related`."""

from collections.abc import Iterator
from itertools import islice

from tokonoma.core.desk import Desk, RecordLink, parse_address
from tokonoma.core.errors import Refusal
from tokonoma.modules.manual.backlinks import find_targets, list_backlinks
from tokonoma.modules.manual.model import parse_section_name, section_address
from tokonoma.modules.manual.references import MAX_FOLLOWED, resolve_reference
from tokonoma.modules.manual.sync import ManualLibrary, load_library
from tokonoma.modules.manual.tables import NAME

_MOST = 50


def list_links(desk: Desk, address: str, thorough: bool) -> list[RecordLink]:
    module, name = parse_address(address)
    if module != NAME:
        return []
    manual, path, line = parse_section_name(name)
    ref = {"manual_id": manual, "path": path, **({} if line is None else {"start_line": line})}
    try:
        library = load_library(desk)
        links = list(islice(_follow_references(library, find_targets(library, manual, path, line)), _MOST))
        found = list_backlinks(desk, ref)["items"] if thorough else []
    except Refusal:  # it is gone
        return []
    keys = [
        (section_address(manual, each["ref"]["path"], each["ref"].get("start_line")), each["title"]) for each in found
    ]
    return links + [RecordLink("backlink", other, title, incoming=True) for other, title in keys]


def _follow_references(library: ManualLibrary, positions: frozenset[int]) -> Iterator[RecordLink]:
    """The sections that these refer to, each once, as far as the caller may see them."""
    seen = set(positions)
    for position in sorted(positions):
        section = library.corpus.sections[position]
        visible = library.visible.get(section.manual, {})
        for reference in islice(library.corpus.references(position), MAX_FOLLOWED):
            for found in resolve_reference(library, section, reference):
                other = library.corpus.sections[found]
                if found not in seen and found in visible.get(other.path, ()):
                    seen.add(found)
                    yield RecordLink("link", section_address(*other.key), other.title)

"""Where the links of a file lead, and which files link to it, for `fetch` and `system.related`."""

from collections.abc import Iterator
from itertools import islice

from tokonoma.core.desk import Desk, RecordLink, parse_address
from tokonoma.core.errors import Refusal
from tokonoma.files.index_sync import sync_folder
from tokonoma.files.links import find_links
from tokonoma.files.pages import PageIndex, resolve_link
from tokonoma.files.text import MODULE, file_address, parse_location
from tokonoma.files.text_file import read_text_file
from tokonoma.modules.vault import model
from tokonoma.modules.vault.backlinks import list_backlinks

_MOST = 50


def list_links(desk: Desk, address: str, thorough: bool) -> list[RecordLink]:
    module, name = parse_address(address)
    if module != MODULE:
        return []
    path, start, end = parse_location(name)
    try:
        links = list(islice(_follow_links(desk, path, start, end), _MOST))
        found = list_backlinks(desk, path)["items"] if thorough else []
    except Refusal:  # it is gone, or nothing that has links
        return []
    refs = [(each["ref"], each["title"]) for each in found]
    return links + [
        RecordLink("backlink", file_address(ref["path"], ref.get("start_line")), title, incoming=True)
        for ref, title in refs
    ]


def _follow_links(desk: Desk, path: str, start: int | None, end: int | None) -> Iterator[RecordLink]:
    """The files that these lines link to, each once."""
    with model.open_vault(desk) as folder:
        file = read_text_file(desk, folder, model.resolve_file(desk, folder, path))
        paths = frozenset(each.path for each in sync_folder(desk, folder).files)
    text = "".join(file.lines[start - 1 : end]) if start is not None else file.text
    pages, seen = PageIndex(paths), {file.path}
    for link in find_links(text) if file.path.casefold().endswith(".md") else ():
        if link.kind == "wiki":
            found = pages.find_page(link.target, file.path, paths)
        else:
            found = pages.find_file(resolve_link(file.path, link.target), paths)
        if found is not None and found not in seen:
            seen.add(found)
            yield RecordLink("link", file_address(found))

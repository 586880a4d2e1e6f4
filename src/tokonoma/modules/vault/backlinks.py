"""vault_backlinks: which files link to a file or to a heading of it; and the links that a move has to change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Refusal
from tokonoma.core.ids import Opaque
from tokonoma.core.paths import PathParts, join_path, name_key
from tokonoma.files.folder import RootFolder, file_missing_error
from tokonoma.files.index_sync import sync_folder
from tokonoma.files.indexed_file import IndexedFile
from tokonoma.files.links import TextLink, find_links, list_link_lines
from tokonoma.files.listing import NO_LINES
from tokonoma.files.move import MovedFile
from tokonoma.files.pages import PageIndex, link_names, match_anchor, resolve_link
from tokonoma.files.relink import FileMove
from tokonoma.files.text import Section, parse_markdown, section_text, split_lines
from tokonoma.files.text_file import cite_file, read_shown_text, read_text_file
from tokonoma.modules.vault import model
from tokonoma.modules.vault.hits import VaultRef
from tokonoma.modules.vault.matching import find_section

_SECTIONS_PER_PAGE = 50
_MAX_PATHS = 50  # in the result of a move


class VaultLinkLine(TypedDict):
    line: int
    text: str


class VaultBacklink(TypedDict):
    ref: VaultRef
    title: str
    lines: list[VaultLinkLine]


class VaultBacklinks(TypedDict):
    items: list[VaultBacklink]
    has_more: bool
    next_cursor: NotRequired[Opaque]


class KeptLinks(TypedDict):
    path: str
    reason: str


class RelinkFields(TypedDict):
    relinked: NotRequired[Annotated[int, Field(description="files whose links were changed")]]
    relinked_paths: NotRequired[Annotated[list[str], Field(description="the first of them")]]
    not_relinked: NotRequired[list[KeptLinks]]


@dataclass(frozen=True, slots=True)
class _LinkTarget:
    """A file, or a heading in it, and the files that the caller may see. `line` is that of the heading; 0: none."""

    path: str
    line: int
    sections: Sequence[Section]
    paths: frozenset[str]
    pages: PageIndex

    @classmethod
    def build(cls, path: str, text: str, heading: str | None, paths: Sequence[str]) -> "_LinkTarget":
        line = find_section(text, heading).line if heading is not None else 0
        return cls(path, line, parse_markdown(text, ""), frozenset(paths), PageIndex(paths))

    def may_be_linked(self, path: str, text: str) -> bool:
        """A quick test. The file's own links count only if a heading is asked for."""
        if path == self.path:
            return self.line > 0
        return "%" in text or "\\" in text or any(name in name_key(text) for name in link_names(self.path))

    def is_meant(self, path: str, link: TextLink) -> bool:
        """Whether a link in a file leads here."""
        if not link.target:
            found: str | None = path
        elif link.kind == "wiki":
            found = self.pages.find_page(link.target, path, self.paths)
        else:
            found = self.pages.find_file(resolve_link(path, link.target), self.paths)
        if found != self.path or not self.line:
            return found == self.path
        return any(self.sections[place].line == self.line for place in match_anchor(self.sections, link.anchor))


def list_backlinks(
    desk: Desk,
    path: model.VaultPath,
    heading: Annotated[str | None, Field(min_length=1, description="only links to this heading")] = None,
    cursor: model.PageCursor = None,
) -> VaultBacklinks:
    """List the sections of the vault that link to a file, with the lines of the links."""
    after = tuple(desk.open_cursor("vault_backlinks", cursor)) if cursor else ("", 0)
    with model.open_vault(desk) as folder:
        parts = model.resolve_file(desk, folder, path)
        files = sorted(sync_folder(desk, folder).files, key=lambda file: file.path)
        text = read_text_file(desk, folder, parts).text if heading is not None else ""
        target = _LinkTarget.build(join_path(parts), text, heading, [file.path for file in files])
        if target.path not in target.paths:
            raise file_missing_error(parts)
        items: list[VaultBacklink] = []
        for file in files:
            if file.path >= after[0] and len(items) <= _SECTIONS_PER_PAGE:
                desk.check()
                found = _read_file_links(desk, folder, file, target)
                rest = (each for each in found if (file.path, each["ref"].get("start_line", 0)) > after)
                items += islice(rest, _SECTIONS_PER_PAGE + 1 - len(items))
    versions = {file.path: file.version for file in files}
    page: VaultBacklinks = {"items": items[:_SECTIONS_PER_PAGE], "has_more": len(items) > _SECTIONS_PER_PAGE}
    for name in {each["ref"]["path"] for each in page["items"]}:
        cite_file(desk, name, versions[name])
    if page["has_more"]:
        last = page["items"][-1]["ref"]
        page["next_cursor"] = desk.seal_cursor("vault_backlinks", last["path"], last.get("start_line", 0))
    return page


def find_linking(
    desk: Desk, folder: RootFolder, origin: PathParts, goal: PathParts
) -> tuple[FileMove, list[PathParts]]:
    """The plan of a move, and the files whose links it may change: those that the caller may see."""
    files = sync_folder(desk, folder).files
    plan = FileMove.plan(join_path(origin), join_path(goal), [file.path for file in files])
    linking: list[PathParts] = []
    for file in files:
        desk.check()
        if file.lines in NO_LINES or not file.path.casefold().endswith(".md"):
            continue
        try:
            if file.path == plan.origin or plan.may_change(read_shown_text(desk, folder, file)[0]):
                linking.append(tuple(file.path.split("/")))
        except Refusal:  # it changed since it was listed
            continue
    return plan, linking


def to_relink_fields(moved: MovedFile) -> RelinkFields:
    """What a move has done to links; nothing if there were none to change."""
    fields: RelinkFields = {}
    if moved.relinked:
        fields["relinked"], fields["relinked_paths"] = len(moved.relinked), list(moved.relinked[:_MAX_PATHS])
    if moved.kept:
        fields["not_relinked"] = [{"path": path, "reason": reason} for path, reason in moved.kept[:_MAX_PATHS]]
    return fields


def _read_file_links(desk: Desk, folder: RootFolder, file: IndexedFile, target: _LinkTarget) -> Iterator[VaultBacklink]:
    path = file.path
    if file.lines in NO_LINES or not path.casefold().endswith(".md"):
        return
    try:
        text, _ = read_shown_text(desk, folder, file)
    except Refusal:  # it changed since it was listed
        return
    if not target.may_be_linked(path, text):
        return
    whole = split_lines(text)
    for section in parse_markdown(text, path.rpartition("/")[2], whole):
        own = section_text(whole, section)
        links = [each for each in find_links(own) if target.is_meant(path, each)]
        if links and (path, section.line) != (target.path, target.line):
            ref: VaultRef = {"target": "vault", "path": path, "start_line": section.line}
            lines = list_link_lines(own, links, section.line)
            shown: list[VaultLinkLine] = [{"line": number, "text": line} for number, line in lines]
            yield {"ref": ref, "title": section.title, "lines": shown}

"""Links between the pages of the vault, and whole texts of its files."""

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokonoma.server.web.pages.file_views import quote_path
from tokonoma.server.web.pages.request import PageRequest, build_path

VAULT = "/admin/vault"
FILE = f"{VAULT}/file/"
MAX_EDITED = 400_000
"""Characters of a file that a page edits or compares. A longer one is opened in an editor on the disk."""

_CHARACTERS = 20_000  # of one call
_MAX_COMPARED = 20_000  # lines of both texts


@dataclass(frozen=True, slots=True)
class WholeText:
    """A file from its first to its last line. `is_complete` is false if it is too long, or has a line that is."""

    text: str
    version: str
    encoding: str
    is_complete: bool

    @property
    def has_hidden_parts(self) -> bool:
        """Whether the policy has masked something: then the text is not what is on the disk."""
        if not self.is_complete or self.encoding:
            return False
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest() != self.version


def link_file(path: str) -> str:
    return FILE + quote_path(path)


def link_action(action: str, path: str) -> str:
    return f"{VAULT}/{action}/{quote_path(path)}"


def link_folder(folder: str) -> str:
    return build_path(VAULT, dir=folder)


def link_line(path: str, line: int) -> str:
    return f"{build_path(link_file(path), view='lines', line=line)}#L{line}"


def list_actions(path: str) -> dict[str, str]:
    """What can be done with a file: its name and its page."""
    return {name: link_action(name, path) for name in ("edit", "history", "move", "delete", "audit")}


def list_crumbs(path: str) -> list[tuple[str, str]]:
    """The folders of a path, with their pages."""
    parts = path.split("/")[:-1]
    return [(name, link_folder("/".join(parts[: place + 1]))) for place, name in enumerate(parts)]


def read_lines(request: PageRequest, path: str, first: int, version: str | None = None) -> dict[str, Any]:
    """Lines from the first on, as many as one call returns."""
    asked: dict[str, Any] = {"range": {"start_line": first, "end_line": 10**9}} if first > 1 else {"full": True}
    return request.call("vault", "read", path=path, **asked, limits={"max_chars": _CHARACTERS}, version=version)


def read_whole(request: PageRequest, path: str, version: str | None = None) -> WholeText:
    part = read_lines(request, path, 1, version)
    pieces, size = [part["text"]], len(part["text"])
    while "next_range" in part and size < MAX_EDITED:
        part = read_lines(request, path, part["next_range"]["start_line"], version)
        pieces.append(part["text"])
        size += len(part["text"])
    # A line that is longer than one answer is cut, and the next answer begins after it.
    is_complete = not part["truncated"] and not any(_is_cut(piece) for piece in pieces)
    return WholeText("".join(pieces), part["version"], part.get("encoding", ""), is_complete)


def _is_cut(piece: str) -> bool:
    return len(piece) >= _CHARACTERS and not piece.endswith("\n")


def compare_texts(before: str, after: str) -> list[tuple[str, str]] | None:
    """The difference by lines: what a line is (`same`, `added`, `removed`, `place`) and its text. None if the texts are
    too long to be compared."""
    old, new = before.split("\n"), after.split("\n")
    if len(old) + len(new) > _MAX_COMPARED:
        return None
    found: list[tuple[str, str]] = []
    for line in list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]:
        kind = {"+": "added", "-": "removed", "@": "place"}.get(line[:1], "same")
        found.append((kind, line if kind == "place" else line[1:]))
    return found


def describe_backlinks(request: PageRequest, path: str) -> list[dict[str, Any]]:
    found = request.ask("vault", "backlinks", {"items": []}, path=path)["items"]
    return [{**each, "href": _link_ref(each["ref"])} for each in found]


def _link_ref(ref: Mapping[str, Any]) -> str:
    return link_line(ref["path"], ref.get("start_line", 1))

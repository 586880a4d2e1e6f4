"""Where links lead: to files by their path or name, and to headings in them. Pure functions.

A path is looked up as it is written, and as sites write it: without `.md`, or as the folder of an `index.md`. A name
between `[[` and `]]` means the page of this name in any folder, as in Obsidian. Names are compared composed (NFC) and
without case.
"""

import posixpath
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from tokonoma.core.paths import name_key
from tokonoma.files.text import slugify

SUFFIXES = ("", ".md", "/index.md", "/_index.md", "/README.md")


class AnchoredSection(Protocol):
    """A heading with its anchors, separated by spaces."""

    @property
    def title(self) -> str: ...

    @property
    def anchor(self) -> str: ...


class PageIndex:
    """The files of a manual or of the vault. `visible` are those that the caller may see: it is told of no others."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_path[name_key(path)] = path
            self._by_name.setdefault(_page_key(path).rpartition("/")[2], []).append(path)

    def find_file(self, path: str, visible: Collection[str]) -> str | None:
        """The file that a path means."""
        key = name_key(path)
        for suffix in SUFFIXES:
            found = self._by_path.get(key + suffix.casefold() if key else suffix[1:].casefold())
            if found is not None and found in visible:
                return found
        return None

    def find_page(self, name: str, origin: str, visible: Collection[str]) -> str | None:
        """The file that `[[name]]` means in the file `origin`. If there are several: the one at that very path, else
        the one beside the file, else the one with the shortest path."""
        if name.startswith(("./", "../")):
            return self.find_file(resolve_link(origin, name), visible)
        key, folder = _page_key(name.strip("/")), posixpath.dirname(origin)
        named = self._by_name.get(key.rpartition("/")[2], ())
        matches = [path for path in named if path in visible and f"/{_page_key(path)}".endswith(f"/{key}")]

        def order(path: str) -> tuple[bool, bool, int, int, str]:
            return _page_key(path) != key, posixpath.dirname(path) != folder, path.count("/"), len(path), path

        return min(matches, key=order, default=None)

    def shorten(self, path: str, origin: str, visible: Collection[str]) -> str:
        """The shortest name that means this file in the file `origin`, without `.md`."""
        parts = path.removesuffix(".md").split("/")
        names = ("/".join(parts[-count:]) for count in range(1, len(parts)))
        return next((name for name in names if self.find_page(name, origin, visible) == path), "/".join(parts))


def link_names(path: str) -> tuple[str, ...]:
    """Every link to this file contains one of these names, without case. A quick test before links are looked up."""
    name = _page_key(path).rpartition("/")[2]
    return ("",) if any(f"/{name_key(path)}".endswith(each.casefold()) for each in SUFFIXES[2:]) else (name,)


def resolve_link(origin: str, target: str) -> str:
    """The path to which a link in the file `origin` leads; `..` if it leads outside."""
    joined = posixpath.normpath(posixpath.join("/", posixpath.dirname(origin), target)) if target else f"/{origin}"
    depth = len(origin.split("/")) - 1
    for part in target.split("/") if not target.startswith("/") else ():
        depth += (part not in ("", ".", "..")) - (part == "..")
        if depth < 0:
            return ".."
    return joined.lstrip("/")


def match_anchor(sections: Sequence[AnchoredSection], anchor: str) -> list[int]:
    """The places of the sections that an anchor means: by their anchors, by their headings, or as the N-th of equal
    headings (`#name-1`)."""
    wanted, slug = name_key(anchor), slugify(name_key(anchor))
    found = [place for place, each in enumerate(sections) if wanted in name_key(each.anchor).split()]
    if found:
        return found
    slugs = [slugify(name_key(each.title)) for each in sections]
    found = [place for place, each in enumerate(slugs) if slug and each == slug]
    if found:
        return found
    start, _, number = slug.rpartition("-")
    same = [place for place, each in enumerate(slugs) if each == start]
    count = int(number) if number.isascii() and number.isdigit() and len(number) < 5 else 0
    return same[count : count + 1] if start and count else []


def _page_key(path: str) -> str:
    return name_key(path).removesuffix(".md")

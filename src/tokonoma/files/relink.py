"""What a move of one file does to the links of others, and to its own: they lead where they led before. Pure."""

import posixpath
import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from tokonoma.core.paths import name_key
from tokonoma.files.edits import TextEdit
from tokonoma.files.links import TextLink, find_links
from tokonoma.files.marks import Span
from tokonoma.files.pages import SUFFIXES, PageIndex, link_names, resolve_link

_UNSAFE = re.compile(r"[\x00-\x20()<>%#?\\]")  # in a target without angle brackets
_NO_NAME = re.compile(r"[\[\]|#^]")  # such a path cannot be written between [[ and ]]


@dataclass(frozen=True, slots=True)
class FileMove:
    """A move from `origin` to `goal`, and the files that its caller may see before it and after it."""

    origin: str
    goal: str
    paths_before: Collection[str]
    paths_after: Collection[str]
    before: PageIndex
    after: PageIndex

    @classmethod
    def plan(cls, origin: str, goal: str, paths: Collection[str]) -> "FileMove":
        before, after = frozenset(paths), frozenset(paths) - {origin} | {goal}
        return cls(origin, goal, before, after, PageIndex(before), PageIndex(after))

    def may_change(self, text: str) -> bool:
        """A quick test of another file: a link that changes names the old page, or now means the new one."""
        names = {*link_names(self.origin), *link_names(self.goal)}
        return "%" in text or "\\" in text or any(name in name_key(text) for name in names)

    def list_edits(self, path: str, text: str, hidden: Sequence[Span] = ()) -> list[TextEdit]:
        """How the links of the file that was at `path` are changed where they must be. What is hidden from the caller,
        in order, stays as it is."""
        edits: list[TextEdit] = []
        starts = [start for start, _ in hidden]
        for link in sorted(find_links(text), key=lambda each: each.start):
            place = bisect_left(starts, link.end)
            if (edits and link.start < edits[-1].end) or (place and hidden[place - 1][1] > link.start):
                continue
            new = self._renew_page(path, link) if link.kind == "wiki" else self._renew_target(path, link)
            if new is not None:
                is_angled = text[link.start - 1 : link.start] == "<"
                written = new if link.kind == "wiki" or is_angled else _UNSAFE.sub(lambda sign: quote(sign[0]), new)
                edits.append(TextEdit(link.start, link.end, written))
        return edits

    def _renew_page(self, path: str, link: TextLink) -> str | None:
        """The new name in a link by name; None if it need not change."""
        led = self.before.find_page(link.target, path, self.paths_before) if link.target else None
        if led is None:
            return None
        goal, place = self._place_after(led), self._place_after(path)
        if self.after.find_page(link.target, place, self.paths_after) == goal:
            return None
        name = self.after.shorten(goal, place, self.paths_after)
        if link.target.casefold().endswith(".md") and goal.endswith(".md"):
            name += ".md"
        return None if _NO_NAME.search(name) else name

    def _renew_target(self, path: str, link: TextLink) -> str | None:
        """The new path in a link by path; None if it need not change. A link of the moved file to a file that is not
        here is changed, too: it may be one that the caller does not see."""
        led = resolve_link(path, link.target) if link.target else ".."
        found = self.before.find_file(led, self.paths_before)
        if led == ".." or (found != self.origin and (path != self.origin or link.target.startswith("/"))):
            return None
        place = self._place_after(path)
        goal = self._name_goal(led) if found == self.origin else led
        if resolve_link(place, link.target) == goal:
            return None
        end = "/" if link.target.endswith("/") and not goal.endswith(".md") else ""
        if link.target.startswith("/"):
            return f"/{goal}{end}"
        written = posixpath.relpath(f"/{goal}", f"/{posixpath.dirname(place)}") + end
        return f"./{written}" if link.target.startswith("./") and not written.startswith(".") else written

    def _name_goal(self, led: str) -> str:
        """The new path, written like the old one: without `.md`, or as the folder of an index."""
        suffix = next((each for each in SUFFIXES if name_key(led + each) == name_key(self.origin)), "")
        return self.goal[: -len(suffix)] if suffix and self.goal.endswith(suffix) else self.goal

    def _place_after(self, path: str) -> str:
        return self.goal if path == self.origin else path

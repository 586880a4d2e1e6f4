"""Which note a link leads to. Pure."""

import posixpath
import unicodedata
from dataclasses import dataclass, field

_ENDINGS = (".md", ".markdown")


def normalize_name(name: str) -> str:
    """Names are compared without case and in one normal form: macOS keeps another one than people type."""
    return unicodedata.normalize("NFC", name).casefold().strip()


def strip_extension(path: str) -> str:
    """`notes/今日.md` → `notes/今日`"""
    return next((path[: -len(end)] for end in _ENDINGS if path.lower().endswith(end)), path)


@dataclass(slots=True)
class NoteIndex:
    """Notes by their path, by their file name alone, and by the other names that they give themselves."""

    paths: dict[str, str] = field(default_factory=dict[str, str])
    stems: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, path: str, names: list[str]) -> None:
        whole = normalize_name(strip_extension(path))
        self.paths.setdefault(whole, path)
        self.stems.setdefault(whole.rpartition("/")[2], []).append(path)
        for name in {normalize_name(each) for each in names} - {""}:
            self.names.setdefault(name, []).append(path)

    def find_note(self, target: str, source: str, *, named_first: bool, wiki: bool) -> str | None:
        """The path of the note that `target` means in the note `source`."""
        asked = normalize_name(strip_extension(target.replace("\\", "/")))
        if not wiki or asked.startswith(("./", "../")):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(normalize_name(source)), asked))
            if beside in self.paths:
                return self.paths[beside]
        asked = asked.lstrip("./")
        if not asked:
            return None
        if named_first and asked in self.names:
            return _choose_nearest(self.names[asked], source)
        if asked in self.paths and ("/" in asked or len(self.stems[asked]) == 1):
            return self.paths[asked]
        ending = f"/{asked}"
        same = self.stems.get(asked.rpartition("/")[2], [])
        same = [each for each in same if "/" not in asked or normalize_name(strip_extension(each)).endswith(ending)]
        same = same or self.names.get(asked, [])
        return _choose_nearest(same, source) if same else None


def _choose_nearest(paths: list[str], source: str) -> str:
    """In the same folder, else the one with the shortest path."""
    here = posixpath.dirname(source)
    return min(paths, key=lambda path: (posixpath.dirname(path) != here, path.count("/"), path))

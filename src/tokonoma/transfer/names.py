"""Names of files and folders that every system takes, for any title in any language. Pure."""

import hashlib
import re
import unicodedata
from collections.abc import Iterator

# What Windows, macOS or a wiki link cannot have in a name; spaces of every kind become one.
_BAD = re.compile(r'[<>:"/\\|?*#^\[\]%\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufffe\uffff]+')
_SPACES = re.compile(r"\s+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?", re.IGNORECASE)
_HEADING = re.compile(r"\s*(?:#{1,6}\s+|[-*>+]\s+|\d+[.)]\s+)?(.*\S)")
_MAX_BYTES = 96  # bytes of a name in UTF-8, before a mark and an ending are added; systems take 255


def fold_path(name: str) -> str:
    """Two names with the same folding are one file on some system."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def make_safe_name(name: str) -> str:
    """The name itself where it can be one, else what is left of it; never empty."""
    kept = _SPACES.sub(" ", _BAD.sub(" ", unicodedata.normalize("NFC", name))).strip(" ").rstrip(". ")
    if kept.startswith("."):
        kept = "_" + kept  # hidden, and not read by an import
    if _RESERVED.fullmatch(kept):
        kept = "_" + kept
    return _truncate(kept, _MAX_BYTES).rstrip(". ") or "_"


def namespace_to_folder(namespace: str) -> str:
    """`/notes/今日` → `notes/今日`. Which namespace it is stands in the file; the folder only shows it."""
    return "/".join(_safe_folder(part) for part in namespace.split("/") if part)


def choose_title(title: str, content: str) -> str:
    """What to call a memo: its title, or its first line of text."""
    if title.strip():
        return title
    for line in content[:4000].splitlines():
        found = _HEADING.match(line)
        if found and found[1].strip("-=*_`~ "):
            return found[1][:80]
    return ""


class UniquePaths:
    """Hands out paths that differ on every system, whatever case and normal form it keeps."""

    def __init__(self) -> None:
        self._taken: set[bytes] = set()  # digests: a name may be long, and there may be a million

    def claim_path(self, namespace: str, title: str, memo_id: str) -> str:
        folder = namespace_to_folder(namespace)
        for name in self._candidates(make_safe_name(title), memo_id):
            path = f"{folder}/{name}.md" if folder else f"{name}.md"
            mark = hashlib.blake2b(fold_path(path).encode(), digest_size=12).digest()
            if mark not in self._taken:
                self._taken.add(mark)
                return path
        raise AssertionError("a memo's id is its own")

    @staticmethod
    def _candidates(name: str, memo_id: str) -> Iterator[str]:
        yield name
        yield f"{name} {memo_id[-8:]}"
        yield f"{name} {memo_id}"


def _safe_folder(part: str) -> str:
    name = make_safe_name(part)
    # A folder `x.md` would stand where the memo `x` wants its file.
    name += "_" if name.casefold().endswith((".md", ".markdown")) else ""
    return name if fold_path(name) == fold_path(part) else f"{name}~{hashlib.sha256(part.encode()).hexdigest()[:4]}"


def _truncate(name: str, most: int) -> str:
    if len(name.encode()) <= most:
        return name
    cut = name.encode()[:most].decode(errors="ignore")
    # A mark that belongs to the letter before it must not be left without it, nor lose it.
    while cut and unicodedata.combining(name[len(cut)]):
        cut = cut[:-1]
    return cut

"""The passages of files in the forms in which vault_find compares them, kept between calls.

The forms follow from a text as a caller is shown it, and they are found by the hash of that text: what is masked for
one caller is another text.
"""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from sys import getsizeof

from tokonoma.core.normalize import loosen, normalize, normalize_loose
from tokonoma.core.paths import PathParts
from tokonoma.files.text import Passage, split_passages

_MAX_BYTES = 32 * 2**20
_MIN_UNUSED = 300.0  # seconds. Searches pass over all files: if they do not fit, most must stay and none change places
_ROW_BYTES = 300  # of a passage, beside its texts
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


class ComparedPassage:
    """A passage with its title and text as normalized texts, and both together as loose text."""

    __slots__ = ("_loose", "end", "shown_title", "start", "text", "title")

    def __init__(self, passage: Passage) -> None:
        self.start, self.end, self.shown_title = passage.start, passage.end, passage.title
        self.title, self.text = normalize(passage.heading), normalize(passage.text)
        self._loose: str | None = None
        # Only here the form of two texts together is not that of each: controls are kept in a text of ASCII alone.
        if _CONTROL.search(passage.heading) or _CONTROL.search(passage.text):
            self._loose = normalize_loose(f"{passage.heading}\n{passage.text}")

    @property
    def loose(self) -> str:
        """Made when it is first needed: it costs more than all the rest."""
        if self._loose is None:
            self._loose = loosen(f"{self.title}\n{self.text}")
        return self._loose

    @property
    def size(self) -> int:
        return _ROW_BYTES + 2 * (getsizeof(self.title) + getsizeof(self.text))  # the loose text is about as long


@dataclass(slots=True)
class _KeptFile:
    digest: str
    passages: Sequence[ComparedPassage]
    size: int
    used_at: float


class PassageCache:
    """The passages of the files that were searched last, up to a number of bytes."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._kept: OrderedDict[tuple[str, str], _KeptFile] = OrderedDict()
        self._size, self._max_bytes = 0, max_bytes
        self._lock = threading.Lock()

    def split(self, root: str, parts: PathParts, text: str, digest: str) -> Sequence[ComparedPassage]:
        """The passages of a file of a root. `digest` is the hash of its text."""
        key = root, "/".join(parts)
        with self._lock:
            known = self._kept.get(key)
            if known is not None and known.digest == digest:
                known.used_at = time.monotonic()
                self._kept.move_to_end(key)
                return known.passages
        passages = tuple(ComparedPassage(each) for each in split_passages(text, parts))
        self._put(key, _KeptFile(digest, passages, sum(each.size for each in passages), time.monotonic()))
        return passages

    def _put(self, key: tuple[str, str], file: _KeptFile) -> None:
        with self._lock:
            self._drop(key)
            while self._kept and self._size + file.size > self._max_bytes:
                oldest = next(iter(self._kept))
                if file.used_at - self._kept[oldest].used_at < _MIN_UNUSED:
                    return
                self._drop(oldest)
            if file.size <= self._max_bytes:
                self._kept[key] = file
                self._size += file.size

    def _drop(self, key: tuple[str, str]) -> None:
        old = self._kept.pop(key, None)
        self._size -= old.size if old is not None else 0

"""The texts of sections as they are searched: in two forms, each joined into one string."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from tokonoma.core.normalize import normalize, normalize_loose
from tokonoma.modules.manual.edges import WordEdges

_GAP = "\x00"  # between two sections: no term contains it


def build_search_texts(title: str, own: str) -> tuple[str, str]:
    """The two forms of a section's own text: normalized; and loose without spaces, which makes データ ベース equal to
    データベース and ServiceAccount to service account."""
    text = own if title in own else f"{title}\n{own}"
    tight = normalize_loose(text).replace(" ", "").replace(_GAP, "")
    return " ".join(normalize(text).replace(_GAP, " ").split()), tight


class JoinedText(NamedTuple):
    """The texts of all sections in one string, and where each starts."""

    whole: str
    starts: Sequence[int]

    @classmethod
    def join(cls, texts: Sequence[str]) -> "JoinedText":
        return cls(_GAP.join(texts) + _GAP, [0, *accumulate(len(text) + 1 for text in texts)])

    def find_sections(self, needle: str, first: int, last: int, stands_alone: WordEdges | None) -> Iterator[int]:
        """The sections from `first` on and before `last` that contain the needle."""
        end = self.starts[last]
        at = self._find(needle, self.starts[first], end, stands_alone)
        while at >= 0:
            section = bisect_right(self.starts, at) - 1
            yield section
            at = self._find(needle, self.starts[section + 1], end, stands_alone)

    def holds(self, needle: str, section: int, stands_alone: WordEdges | None) -> bool:
        return self._find(needle, self.starts[section], self.starts[section + 1], stands_alone) >= 0

    def _find(self, needle: str, start: int, end: int, stands_alone: WordEdges | None) -> int:
        at = self.whole.find(needle, start, end) if needle else -1
        while at >= 0 and stands_alone is not None and not stands_alone(self.whole, at, at + len(needle)):
            at = self.whole.find(needle, at + 1, end)
        return at

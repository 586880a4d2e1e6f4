"""A plain search by words to compare with: BM25 over pairs of Japanese letters and crudely stemmed English words."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tokonoma.embed.builtin import is_japanese, split_chunks

_HIRAGANA = re.compile(r"[ぁ-ゖー]+")
_SINGLE = re.compile(r"[ァ-ヺ一-鿿々]")
_END = re.compile(r"(?<=[a-z]{3})(ies|es|s|ed|ing|ly)$")
_STOPPED = (
    "a an and are as at be been but by can did do does for from had has have he her him his how i if in is it its me my"
    " of on or our s she so t that the their them they this to us was we were what when where which who why will with"
    " would you your"
)
_STOP = frozenset(_STOPPED.split())


def terms(text: str) -> Counter[str]:
    found = Counter[str]()
    for chunk in split_chunks(unicodedata.normalize("NFKC", text).lower()):
        if not is_japanese(chunk):
            if chunk not in _STOP:
                found[_END.sub("", chunk)] += 1
            continue
        for at in range(len(chunk)):
            pair = chunk[at : at + 2]
            if len(pair) == 2 and not _HIRAGANA.fullmatch(pair):
                found[pair] += 1
            if _SINGLE.match(chunk[at]):
                found[chunk[at]] += 1
    return found


class Words:
    def __init__(self, texts: Sequence[str], k: float = 1.2, b: float = 0.4) -> None:
        counts = [terms(text) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], np.float32)
        norm = k * (1.0 - b + b * lengths / max(float(lengths.mean()), 1.0))
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for place, count in enumerate(counts):
            for term, times in count.items():
                places, uses = postings.setdefault(term, ([], []))
                places.append(place)
                uses.append(times)
        self._size, self._k = len(texts), k
        self._found = {
            term: (np.array(places), np.array(uses) * (k + 1) / (np.array(uses) + norm[places]))
            for term, (places, uses) in postings.items()
        }

    def scores(self, query: str) -> np.ndarray:
        """0 to 1: the share of what the query could score, times the root of the share of it that was met."""
        total, scores, met = 0.0, np.zeros(self._size, np.float32), np.zeros(self._size, np.float32)
        for term in terms(query):
            places, gains = self._found.get(term, (np.array([], int), np.array([])))
            rare = math.log(1 + (self._size - len(places) + 0.5) / (len(places) + 0.5))
            rare *= 0.7 if len(term) == 1 else 1.0
            total += rare
            scores[places] += rare * gains
            met[places] += rare
        if total == 0.0:
            return scores
        return scores / (total * (self._k + 1)) * np.sqrt(met / total)

"""Other names of a term in a manual: its own forms and spellings, from a glossary, from abbreviations that the text
defines, katakana for English, the two halves of "X (Y)"."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from tokonoma.core.normalize import HAN, normalize, normalize_loose
from tokonoma.modules.manual.corpus import ManualCorpus
from tokonoma.modules.manual.definitions import is_certain
from tokonoma.modules.manual.inflection import find_inflections, find_singular
from tokonoma.modules.manual.numerals import rewrite_numbers
from tokonoma.modules.manual.okurigana import find_bare_spellings, find_spellings
from tokonoma.modules.manual.sounds import MIN_CONSONANTS, english_consonants, katakana_consonants, similarity
from tokonoma.modules.manual.terms import QueryTerm, TermKind, make_term

MAX_VARIANTS = 40
"""Variants of one term; more are left out."""

_PAIR = re.compile(r"(.{2,80}?) ?[(（] ?([^()（）]{2,80})[)）]")
_RUNS = re.compile(f"[ァ-ヺー]+|[a-z0-9.-]+|[{HAN}]+|[ぁ-ん]+")
_MAX_PARTS = 4  # of a name
_MAX_NAMES = 8  # spellings of a name, or of its first part
_MAX_CHOICES = 100  # for a part that follows another one
_MANY, _COMMON_SHARE = 20, 0.02  # sections with a common word: more than this number, and this share of the manual
_MORE = 4  # times as many sections: no other name of one thing
_MIN_SIMILARITY = 0.72
_SIMILARITY_MARGIN = 0.12  # how much less than the most similar word


class Variants:
    """Which words mean one thing: groups of words from glossaries, and pairs that a text defines."""

    def __init__(self, groups: Iterable[Sequence[str]] = ()) -> None:
        self._others: dict[str, dict[str, None]] = {}
        for group in groups:
            self.add_group(group)

    def add_group(self, words: Sequence[str]) -> None:
        for word in words:
            self._others.setdefault(_normalize_key(word), {}).update(dict.fromkeys(words))

    def find(self, word: str) -> list[str]:
        key = _normalize_key(word)
        return [other for other in self._others.get(key, ()) if _normalize_key(other) != key]


class ManualDefinitions:
    """The pairs that the sections of one manual define."""

    def __init__(self) -> None:
        self._certain, self._likely = Variants(), Variants()

    def add(self, pair: Sequence[str]) -> None:
        (self._certain if is_certain(*pair) else self._likely).add_group(pair)

    def find(self, word: str, corpus: ManualCorpus) -> list[str]:
        """The other names of a word. One that is all over the manual, unlike the word, is no name of it: it stood in
        brackets for another reason."""
        certain, likely = self._certain.find(word), self._likely.find(word)
        if not certain and not likely:
            return []
        own, many = _count(word, corpus), max(_MANY, _COMMON_SHARE * corpus.count_searched())
        plausible = [each for each in certain if (count := _count(each, corpus)) <= many or count <= own * _MORE]
        for each in likely:
            count = _count(each, corpus)
            if max(own, count) <= many and count <= own * _MORE and own <= count * _MORE:
                plausible.append(each)
        return plausible


def _count(word: str, corpus: ManualCorpus) -> int:
    """The sections with a word."""
    return len(corpus.find_exact(make_term(word)))


def _normalize_key(word: str) -> str:
    return normalize_loose(find_singular(normalize(word))).replace(" ", "")


def expand_term(
    term: QueryTerm,
    glossary: Variants,
    corpus: ManualCorpus,
    definitions: Mapping[str, ManualDefinitions] = MappingProxyType({}),
    *,
    by_sound: bool = True,
) -> list[QueryTerm]:
    """Every other spelling of one term, the most certain first. A definition counts in its own manual."""
    found: dict[tuple[str, str | None], QueryTerm] = {}
    own_key = term.loose.replace(" ", "")

    def add(words: Iterable[str], kind: TermKind = "name", manual: str | None = None) -> None:
        for word in words:
            other = make_term(word, kind, manual)
            key = other.folded if kind == "spelling" else other.loose.replace(" ", "")
            if key and key != own_key and (key, None) not in found and len(found) < MAX_VARIANTS:
                found.setdefault((key, manual), other)

    add(find_inflections(term.folded, corpus.has_word), "form")
    if not term.folded.isascii():
        add([*rewrite_numbers(term.folded), *find_bare_spellings(term.folded)], "form")
        add(find_spellings(term.folded), "spelling")
    # "Container Runtime Interface (CRI)": either half may be used alone.
    pair = _PAIR.fullmatch(" ".join(term.written.split()))
    halves = [pair[1].strip(), pair[2].strip()] if pair else []
    add(halves)
    for written in (term.written, *halves):
        add(glossary.find(written))
        for manual, defined in definitions.items():
            add(defined.find(written, corpus.limit_to(manual)), manual=manual)
    for other in [each for each in found.values() if each.kind == "name"]:
        add(find_inflections(other.folded, corpus.has_word), manual=other.manual)
    add([find_singular(term.folded)])
    is_latin = term.folded.isascii()
    if not is_latin and corpus.readings is not None:
        add(corpus.readings.find_spellings(term.folded))
    if by_sound:
        # Only one direction: going back from words found by sound would add ever more words.
        for other in [each for each in (term, *found.values()) if each.folded.isascii() == is_latin]:
            add(_find_by_sound(other.folded, corpus), manual=other.manual)
    return list(found.values())


def shorten_term(term: QueryTerm, corpus: ManualCorpus) -> list[QueryTerm]:
    """A name of three parts or more without one of those before the last: a "cloud service provider" may be called
    "cloud provider"."""
    is_latin = term.folded.isascii()
    parts = term.folded.split() if is_latin else _RUNS.findall(term.folded)
    if not is_latin:  # twice: a name may be made of names
        parts = [
            part for run in parts for name in _split_katakana(run, corpus) for part in _split_katakana(name, corpus)
        ]
    if not 2 < len(parts) <= _MAX_PARTS + 1:
        return []
    shorter = [(" " * is_latin).join([*parts[:index], *parts[index + 1 :]]) for index in range(len(parts) - 1)]
    return [make_term(find_singular(name)) for each in shorter for name in (each, *_find_by_sound(each, corpus))]


def _find_by_sound(folded: str, corpus: ManualCorpus) -> Iterator[str]:
    """English for katakana, and katakana for English, if the manual has such a word. A name of several parts is split:
    Initコンテナ is init container."""
    runs = [run for run in _RUNS.findall(folded) if run.strip()]
    parts = [part for run in runs for part in _split_katakana(run, corpus)]
    if len(runs) == 1:
        yield from _similar_words(runs[0], corpus, MIN_CONSONANTS)[:_MAX_NAMES]
    if not 1 < len(parts) <= _MAX_PARTS:
        return
    names = [parts[0], *_similar_words(parts[0], corpus, 1)[:_MAX_NAMES]]
    for part in parts[1:]:
        choices = [part, *_similar_words(part, corpus, 1)[:_MAX_CHOICES]]
        following = (joined for name in names for joined in corpus.find_following(name, choices))
        names = list(dict.fromkeys(following))[:_MAX_NAMES]
    yield from (name for name in names if name != folded)


def _similar_words(part: str, corpus: ManualCorpus, least: int) -> list[str]:
    """The words of the other script that sound like this one, the most similar first."""
    is_latin = part.isascii()
    sounds = english_consonants(part) if is_latin else (katakana_consonants(part),) if _is_kana(part) else ()
    words = [word for sound in sounds if len(sound) >= least for word in corpus.by_sound.get(sound, ())]
    scores = {
        word: similarity(word, part) if is_latin else similarity(part, word)
        for word in words
        if word.isascii() != is_latin
    }
    least_score = max(_MIN_SIMILARITY, max(scores.values(), default=0.0) - _SIMILARITY_MARGIN)
    return sorted((word for word, score in scores.items() if score >= least_score), key=lambda word: -scores[word])


def _split_katakana(run: str, corpus: ManualCorpus) -> list[str]:
    """Split a long katakana name into the fewest words that the manual also uses alone; else leave it as it is."""
    if not _is_kana(run) or len(run) < 6:
        return [run]
    best: list[list[str] | None] = [[], *([None] * len(run))]
    for end in range(2, len(run) + 1):
        for start in range(max(0, end - 12), end - 1):
            before, word = best[start], run[start:end].rstrip("ー")  # as at the end of a name
            if before is None or (start, end) == (0, len(run)) or word not in corpus.katakana_words:
                continue
            found = best[end]
            if found is None or len(before) + 1 < len(found):
                best[end] = [*before, word]
    return best[-1] or [run]


def _is_kana(text: str) -> bool:
    return "ァ" <= text[:1] <= "ヺ"

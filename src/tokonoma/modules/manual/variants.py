"""Other names of a term in a manual: from a glossary, from abbreviations that the text defines, katakana for English,
singular for plural, the two halves of "X (Y)"."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from tokonoma.core.normalize import HAN, normalize, normalize_loose
from tokonoma.modules.manual.corpus import ManualCorpus
from tokonoma.modules.manual.sounds import (
    MIN_CONSONANTS,
    english_consonants,
    join_sounds,
    katakana_consonants,
    similarity,
)
from tokonoma.modules.manual.terms import QueryTerm, make_term

MAX_VARIANTS = 40
"""Variants of one term; more are left out."""

_PAIR = re.compile(r"(.{2,80}?) ?[(（] ?([^()（）]{2,80})[)）]")
_PLURAL = re.compile("[a-z]{3}s")
_RUNS = re.compile(f"[ァ-ヺー]+|[a-z0-9.-]+|[{HAN}]+|[ぁ-ん]+")
_MAX_PARTS = 4  # of a name
_MAX_NAMES = 8  # spellings of a name, or of its first part
_MAX_CHOICES = 100  # for a part that follows another one
_MIN_SIMILARITY = 0.72
_SIMILARITY_MARGIN = 0.12  # how much less than the most similar word

# Definitions in a normalized text: its brackets are ASCII; 「」 and 『』 stay as they are.
_BRACKETS = re.compile(r"\(([^()]{2,70})\)")
_BEFORE = 90  # characters before a bracket that may belong to what it explains
_LATIN_NAME = re.compile(r"[a-z][a-z0-9 .'/-]*\Z")
_ABBREVIATION = re.compile(r"[a-z][a-z0-9/-]{1,9}\Z")
_LAST_LATIN = re.compile(r"[a-z][\w'/-]*(?:[ -][a-z][\w'/-]*){0,7}\Z")
_LAST_JAPANESE = re.compile(f"[{HAN}ァ-ヺー][{HAN}ァ-ヺーa-z0-9]{{1,29}}\\Z")
_ALL_JAPANESE = re.compile(f"[{HAN}ァ-ヺー]{{2,30}}\\Z")
_ALL_KANA = re.compile("[ァ-ヺー]+\\Z")
_LAST_ANY = re.compile(r"[^\s。、,.「」『』()]{2,40}\Z")
# Words that are often in brackets and name nothing.
_REMARK = re.compile(
    r"(?:optional|required|recommended|deprecated|default|alpha|beta|stable|experimental|example|note|see|new|old|etc|e\.g|i\.e|"
    r"オプション|必須|推奨|非推奨|任意|デフォルト|既定|例|注|参照|ベータ|アルファ|安定版|旧|新|省略可|複数可|以上|以下|上記|下記)[\w.]*\Z"
)
_HEREAFTER = re.compile(r"(?:以下|以後)[、,]?(?:単に)?[「『]([^」』]{1,30})[」』]")
_HEREAFTER_EN = re.compile(
    r"(?:hereinafter|hereafter|herein)?,? ?(?:referred to as |called )?(?:the )?[\"“']([a-z][\w -]{1,40})[\"”']\Z"
)


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


def _normalize_key(word: str) -> str:
    return normalize_loose(_singular(normalize(word))).replace(" ", "")


def find_definitions(folded: str) -> Iterator[tuple[str, str]]:
    """The pairs that a text defines to mean one thing: "Long Name (LN)", 「以下『本契約』という」."""
    for bracket in _BRACKETS.finditer(folded):
        before = folded[max(0, bracket.start() - _BEFORE) : bracket.start()].rstrip()
        pair = _parse_definition(before, bracket[1].strip())
        if pair is not None and not _REMARK.match(pair[0]) and not _REMARK.match(pair[1]):
            yield pair


def _parse_definition(before: str, inside: str) -> tuple[str, str] | None:
    hereafter = _HEREAFTER.search(inside)
    if hereafter:
        named = _LAST_ANY.search(before)
        return (named[0], hereafter[1]) if named else None
    hereafter = _HEREAFTER_EN.match(inside)
    if hereafter:
        named = _LAST_LATIN.search(before)
        return (" ".join(named[0].split()[-3:]), hereafter[1]) if named else None
    if _LATIN_NAME.match(inside):
        return _parse_latin(before, inside)
    latin = _LAST_LATIN.search(before) if _ALL_JAPANESE.match(inside) else None
    if latin is None:
        return None
    words = latin[0].split()
    return " ".join(words[-_count_words(inside, words) :]), inside


def _parse_latin(before: str, inside: str) -> tuple[str, str] | None:
    """A Latin name in brackets: the abbreviation of the words before it, their expansion, or their English."""
    japanese = _LAST_JAPANESE.search(before)
    if japanese:
        return (japanese[0], inside) if _is_same_name(japanese[0], inside) else None
    named = _LAST_LATIN.search(before)
    if named is None:
        return None
    if _ABBREVIATION.match(inside):
        long = _find_expansion(named[0], inside.removesuffix("s") if len(inside) > 3 else inside)
        if long:
            return long, inside
    short = named[0].split()[-1]
    return (inside, short) if _ABBREVIATION.match(short) and _find_expansion(inside, short) == inside else None


def _is_same_name(japanese: str, latin: str) -> bool:
    """Katakana shows the sound of a word, so トラフィック(ingress) defines nothing. The letters of an abbreviation must
    be heard in order. Kanji do not show a sound and are always accepted."""
    if not _ALL_KANA.match(japanese):
        return True
    sound = katakana_consonants(japanese)
    if _sounds_like(re.findall("[a-z]+", latin)[:_MAX_PARTS], sound):
        return True
    sounds = english_consonants(latin) or ("",)
    return _ABBREVIATION.match(latin) is not None and any(_is_subsequence(each, sound) for each in sounds)


def _sounds_like(words: Sequence[str], sound: str) -> bool:
    return any(join_sounds(each) == sound for each in product(*map(english_consonants, words)))


def expand_term(
    term: QueryTerm, known: Sequence[Variants], corpus: ManualCorpus, *, by_sound: bool = True
) -> list[QueryTerm]:
    """Every other spelling of one term, the most certain first."""
    found: dict[str, QueryTerm] = {}

    def add(words: Iterable[str]) -> None:
        for word in words:
            other = make_term(word)
            key = other.loose.replace(" ", "")
            if key and key != term.loose.replace(" ", "") and len(found) < MAX_VARIANTS:
                found.setdefault(key, other)

    # "Container Runtime Interface (CRI)": either half may be used alone.
    pair = _PAIR.fullmatch(" ".join(term.written.split()))
    halves = [pair[1].strip(), pair[2].strip()] if pair else []
    add(halves)
    for written in (term.written, *halves):
        for variants in known:
            add(variants.find(written))
    add([_singular(other.folded) for other in [term, *found.values()]])
    is_latin = term.folded.isascii()
    if not is_latin and corpus.readings is not None:
        add(corpus.readings.find_spellings(term.folded))
    if by_sound:
        # Only one direction: going back from words found by sound would add ever more words.
        for other in [each for each in (term, *found.values()) if each.folded.isascii() == is_latin]:
            add(_find_by_sound(other.folded, corpus))
    return list(found.values())


def _singular(folded: str) -> str:
    if not _PLURAL.fullmatch(folded[-4:]) or folded.endswith(("ss", "us", "is")):
        return folded
    if folded.endswith("ies"):
        return folded[:-3] + "y"
    return folded[:-2] if folded.endswith(("ches", "shes", "xes", "sses")) else folded[:-1]


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


def _find_expansion(long: str, short: str) -> str:
    """The last words of `long` whose initials are `short`, or that start with it and contain its letters in order."""
    words = re.split(r"[ -]", long)
    letters = re.sub(r"[^a-z0-9]", "", short)
    for count in range(min(len(letters), len(words)), 0, -1):
        chosen = words[-count:]
        if "".join(word[:1] for word in chosen) == letters:
            return " ".join(chosen)
    for count in range(min(len(letters), len(words)), 1, -1):
        chosen = words[-count:]
        if chosen[0][:1] == letters[:1] and count * 2 >= len(letters) and _is_subsequence(letters, "".join(chosen)):
            return " ".join(chosen)
    return ""


def _is_subsequence(letters: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)


def _count_words(name: str, words: Sequence[str]) -> int:
    """How many of the last words a bracketed Japanese name means: by their sound if it is in kana, else three."""
    sound = katakana_consonants(name)
    counts = range(1, min(4, len(words)) + 1)
    return next((count for count in counts if sound and _sounds_like(words[-count:], sound)), min(3, len(words)))

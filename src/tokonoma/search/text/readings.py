"""Names across scripts: a query with `Hayakawa` also means 早川, はやかわ and ハヤカワ, and the other way round.

Only queries are expanded; the index holds what was written. A name in a query is a group of its terms (早川, 早, 川).
It has other forms, each a few terms that a document must hold all of. What is known comes from a table of the
commonest Japanese names, places and a few hundred words with their readings, and of foreign names with their katakana
(docs/adr/0061-names-across-scripts.md). It is loaded by the first query that may hold a name.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Literal, NamedTuple

from tokonoma.core.normalize import HAN, SOUNDS
from tokonoma.search.text.romaji import mark_long_vowels, read_romaji, spell_reading
from tokonoma.search.text.words import stem, tokenize_word
from tokonoma.search.tuning import TUNING

_MAX_SURFACE = 7
_MAX_READING = 12
_SURE_KANA = 4  # of a reading; the pairs of a shorter one may lie in several words
_KANJI = re.compile(f"[{HAN}]")
_KATAKANA = re.compile("[ァ-ヺー]{2,}")
_HIRAGANA = re.compile("[ぁ-ゖー]+")
_TITLES = ("サン", "サマ", "クン", "先生", "様", "君", "氏")  # behind a name, by their sound
_PARTICLES = frozenset("のとはがをにでもへや")
_BEHIND = _PARTICLES | frozenset("さくちっかよねな")  # what a name in hiragana may be followed by
_TO_KATAKANA = {code: code + 0x60 for code in range(ord("ぁ"), ord("ゖ") + 1)}
_JOINT = re.compile("[-_']+")
_LETTERS = re.compile("[A-Za-z]{3,}")
_SHORT_WORD = 4  # letters; a shorter one is a name if it begins with a capital, and no other follows


class NameForm(NamedTuple):
    """Another way to write a name: the terms that a document must hold, all of them."""

    terms: tuple[str, ...]
    share: float = 1.0  # less than 1 if another name is more likely to be written so


class QueryName(NamedTuple):
    """A name in a query."""

    terms: tuple[str, ...]  # of the query
    forms: tuple[NameForm, ...]
    kind: Literal["name", "word", "sound"] = "name"  # `word`: a common word; `sound`: the table does not know it


class ReadingTable:
    """What is known, by surface, by reading and by foreign name. Surfaces and katakana are stored by their sound."""

    def __init__(self, packed: bytes) -> None:
        lines, names, english, words = zlib.decompress(packed).decode("utf-16-le").split("\n\n")
        self.english, self.words = frozenset(english.split()), frozenset(words.split())
        self._surfaces: dict[str, str] = dict(line.split(" ", 1) for line in lines.split("\n"))
        marked = mark_long_vowels("\n".join(self._surfaces))
        self._by_key: dict[str, list[str]] = {}
        for reading, key in zip(self._surfaces, marked.replace("ー", "").split("\n"), strict=True):
            self._by_key.setdefault(key, []).append(reading)
        self._readings: dict[str, str] = {}
        for reading, surfaces in self._surfaces.items():
            for surface in surfaces.split(" "):
                known = self._readings.get(surface)
                self._readings[surface] = reading if known is None else f"{known} {reading}"
        self._foreign: dict[str, str] = dict(line.split(" ", 1) for line in names.split("\n"))
        self._latin: dict[str, str] = {}
        for latin, kanas in self._foreign.items():
            for kana in kanas.split(" "):
                self._latin[kana] = f"{self._latin[kana]} {latin}" if kana in self._latin else latin

    def list_surfaces(self, reading: str) -> list[str]:
        return self._surfaces.get(reading, "").split()

    def list_readings(self, surface: str) -> list[str]:
        return self._readings.get(surface, "").split()

    def list_alike(self, marked: str) -> list[str]:
        """The readings that are written like this one if long vowels are not shown."""
        return self._by_key.get(marked.replace("ー", ""), [])

    def list_foreign(self, latin: str) -> list[str]:
        return self._foreign.get(latin, "").split()

    def list_latin(self, kana: str) -> list[str]:
        return self._latin.get(kana, "").split()


@lru_cache(maxsize=1)
def load_table() -> ReadingTable:
    return ReadingTable((files("tokonoma.search.text") / "data" / "readings.bin").read_bytes())


def is_other_script(asked: Sequence[str], written: Sequence[str]) -> bool:
    """Whether the words around a name are likely to be written differently, too: between Latin letters and Japanese,
    and where somebody asks in kana for a name that has kanji. Not the other way round: a text in which the kana of a
    name lie may have them in other words."""
    if asked[0].isascii() or written[0].isascii():
        return asked[0].isascii() != written[0].isascii()
    return not _KANJI.search("".join(asked)) and bool(_KANJI.search("".join(written)))


def find_names(words: Iterable[str], runs: Iterable[str]) -> list[QueryName]:
    """The names among the words and the runs of Japanese characters of a normalized query."""
    found = [name for word in words for name in _expand_word(word)]
    found += [name for run in runs for name in _expand_run(run)]
    return [*islice((name for name in found if name.terms and name.forms), TUNING.expanded_names)]


# Latin letters


@lru_cache(2048)
def _expand_word(word: str) -> tuple[QueryName, ...]:
    """A word as a whole (Jun'ichi, Shin-Osaka), or each of its parts (Sasaki-san)."""
    parts = [part for part in _JOINT.split(word) if _LETTERS.fullmatch(part)]
    whole = _JOINT.sub("", word)
    if len(parts) > 1 and whole.isascii() and (forms := _expand_latin(whole)):
        return (QueryName(_list_tokens(word), forms),)
    return tuple(
        QueryName(_list_tokens(part), known) if known else QueryName(_list_tokens(part), _sound_latin(part), "sound")
        for part in parts
        for known in [_expand_latin(part)]
    )


def _list_tokens(word: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokenize_word(word) if token.kind != "stop")


def _sound_latin(word: str) -> tuple[NameForm, ...]:
    """A name that the table does not know, as it sounds."""
    possible = read_romaji(word) if word.istitle() else []
    return _choose(form for kana in possible if len(kana) >= _SURE_KANA for form in _spell_kana(kana, 1.0))


def _expand_latin(word: str) -> tuple[NameForm, ...]:
    lower = word.casefold()
    table = load_table()
    if lower in table.english or (len(word) < _SHORT_WORD and not word.istitle()):
        return ()
    forms = [_to_form(kana) for kana in table.list_foreign(lower)]
    possible = read_romaji(lower)
    readings = [reading for kana in possible for reading in table.list_alike(kana)]
    exact = [reading for reading in readings if mark_long_vowels(reading) in possible]
    # `Ohno` shows that its vowel is long. `Ono` may be 大野, too, but 小野 is more likely.
    shown = any("ー" in kana for kana in possible)
    for reading in exact if shown else dict.fromkeys((*exact, *readings)):
        share = 1.0 if reading in exact or not exact else TUNING.less_likely_name
        forms += _spell_kana(reading, share) + _spell_latin(reading, share, lower)
        forms += _write_surfaces(reading, share)
    return _choose(forms)


def _write_surfaces(reading: str, share: float = 1.0) -> list[NameForm]:
    """In kanji. One kanji is part of many words: it is a name where a title follows."""
    forms: list[NameForm] = []
    for surface in load_table().list_surfaces(reading)[: TUNING.expanded_forms]:
        titled = [_to_form(surface + title[0], share) for title in _TITLES if len(surface) == 1]
        forms += titled or [_to_form(surface, share)]
    return forms


def _spell_kana(reading: str, share: float) -> list[NameForm]:
    """In kana. The pairs of a short reading lie in many texts: what follows a name must follow them."""
    sound = reading.translate(SOUNDS)
    if len(sound) >= _SURE_KANA:
        return [_to_form(sound, share)]
    follows = {2: "サ", 3: "サノハガニトモヲクチ"}.get(len(sound), "")
    return [_to_form(sound + each, share) for each in follows]


def _spell_latin(reading: str, share: float, own: str = "") -> list[NameForm]:
    exact, short = spell_reading(reading)
    english = load_table().english
    shares = dict.fromkeys(short, share * TUNING.less_likely_name) | dict.fromkeys(exact, share)
    return [
        NameForm((stem(form),), each)
        for form, each in shares.items()
        if len(form) > 2 and form not in english and form != own
    ]


# Japanese


def _expand_run(run: str) -> Iterator[QueryName]:
    """The longest names of a run of kanji and kana, from left to right."""
    sound, place, begins = run.translate(SOUNDS), 0, True
    while place < len(run):
        end, forms = _expand_at(run, sound, place, begins=begins)
        if end > place:
            kind = _classify(run[place:end], sound[place:end])
            yield QueryName(_list_run_tokens(sound, run, place, end), forms, kind)
            place, begins = end, True
        else:
            begins = run[place] in _PARTICLES
            place += 1


def _classify(written: str, sound: str) -> Literal["name", "word", "sound"]:
    table = load_table()
    if sound in table.words:
        return "word"
    if not _KATAKANA.fullmatch(written) or table.list_latin(sound) or table.list_alike(mark_long_vowels(written)):
        return "name"
    return "sound"


def _expand_at(run: str, sound: str, place: int, *, begins: bool) -> tuple[int, tuple[NameForm, ...]]:
    """Where the name that begins at this place ends, and its forms; the place itself if there is none."""
    for end in range(min(len(run), place + _MAX_SURFACE), place, -1):
        if (end - place > 1 or _stands_alone(run, sound, place)) and _KANJI.search(run, place, end):
            forms = _expand_surface(sound[place:end])
            if forms:
                return end, forms
    katakana = _KATAKANA.match(run, place)
    if katakana and (not place or not _KATAKANA.match(run, place - 1)):
        return katakana.end(), _expand_katakana(katakana[0])
    if begins and (kana := _HIRAGANA.match(run, place)):
        for end in range(min(kana.end(), place + _MAX_READING), place + 1, -1):
            titled, ended = sound.startswith(_TITLES, end), end == kana.end() or run[end] in _BEHIND
            if titled or (ended and (end - place > 2 or end - place == len(run))):
                forms = _expand_reading(run[place:end].translate(_TO_KATAKANA), known=True)
                if forms:
                    return end, forms
    return place, ()


def _stands_alone(run: str, sound: str, place: int) -> bool:
    """One kanji is a name if that is all, or if さん follows: 林さん."""
    return len(run) == 1 or (sound.startswith(_TITLES, place + 1) and not _KANJI.match(run, max(place - 1, 0), place))


@lru_cache(2048)
def _expand_surface(surface: str) -> tuple[NameForm, ...]:
    forms: list[NameForm] = []
    for reading in load_table().list_readings(surface):
        forms += _spell_latin(reading, 1.0) + _spell_kana(reading, 1.0)
    forms += [NameForm((stem(latin),)) for latin in load_table().list_latin(surface)]
    return _choose(forms)


@lru_cache(2048)
def _expand_katakana(word: str) -> tuple[NameForm, ...]:
    foreign = [NameForm((stem(latin),)) for latin in load_table().list_latin(word.translate(SOUNDS))]
    return _choose([*foreign, *_expand_reading(word)])


@lru_cache(2048)
def _expand_reading(reading: str, *, known: bool = False) -> tuple[NameForm, ...]:
    """Kana shows long vowels, in one of several ways: まーぼーどうふ is マーボードウフ. `known`: only if the table has
    it."""
    marked = mark_long_vowels(reading)
    table = load_table()
    readings = [each for each in table.list_alike(marked) if mark_long_vowels(each) == marked]
    if known and not readings:
        return ()
    return _choose([*_spell_latin(reading, 1.0), *(form for each in readings for form in _write_surfaces(each))])


def _list_run_tokens(sound: str, run: str, place: int, end: int) -> tuple[str, ...]:
    pairs = [sound[start : start + 2] for start in range(place, end - 1)]
    return tuple(dict.fromkeys((*pairs, *(sound[at] for at in range(place, end) if not _HIRAGANA.match(run, at)))))


def _to_form(sound: str, share: float = 1.0) -> NameForm:
    """Japanese by its pairs of characters; one kanji by itself."""
    pairs = tuple(dict.fromkeys(sound[start : start + 2] for start in range(len(sound) - 1)))
    return NameForm(pairs or (sound,), share)


def _choose(forms: Iterable[NameForm]) -> tuple[NameForm, ...]:
    chosen: dict[tuple[str, ...], NameForm] = {}
    for form in forms:
        chosen.setdefault(form.terms, form)
    return tuple(islice(chosen.values(), 2 * TUNING.expanded_forms))

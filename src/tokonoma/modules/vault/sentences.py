"""What a sentence claims, in a form that can be compared: its words, numbers and denials. Pure functions.

A word is compared by its stem; Japanese by pairs of kanji and by katakana words. Each word knows what it depends on:
the preposition before it, or the particle after it, and whether it is denied.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from tokonoma.core.normalize import HAN, HIRAGANA, KATAKANA, OKURIGANA, normalize
from tokonoma.modules.vault import vocabulary as words
from tokonoma.modules.vault.stems import stem

_CJK = f"{HAN}{HIRAGANA}{KATAKANA}"
_END = re.compile(r"(?<=[。！？!?；;])|(?<=\.)[\s]+(?![a-z])")
_PIECE = re.compile(
    rf"(?P<number>(?:(?<![^\s(\[{{:=|,])-)?+\d+(?:,\d{{3}}(?!\d))*+(?:\.\d+)*+)|(?P<han>[{HAN}]++)|(?P<kata>[{KATAKANA}]++)"
    rf"|(?P<kana>[{HIRAGANA}]++)|(?P<word>(?:(?![{_CJK}])[^\W\d_])(?:(?![{_CJK}])[^\W_])*+(?:'[a-z]++)?+)|(?P<sign>[%¥$€℃])"
)
_OKURIGANA = re.compile(f"(?<=[{HAN}])[{OKURIGANA}](?=[{HAN}])")
_MONTHS = re.compile("(?<=[0-9])(?:か|ヶ|カ|ヵ|ケ|箇|ヵ)月")
_DIGITS = "〇一二三四五六七八九"
_KANJI_NUMBER = re.compile(
    rf"(?<![{HAN}])[{_DIGITS}十百千万]+(?=(?:日|か月|ヶ月|月|年|時|分|秒|人|名|回|件|個|条|円|週|歳|つ|%))"
)
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_NO_DENIAL = re.compile(
    "なければ(?:なら|いけ)(?:ない|ません)|ないと(?:いけ|なら)(?:ない|ません)|ねばならない|ざるをえない"
    "|かもしれ(?:ない|ません)|にちがいない|だけでなく|のみならず|しかない|まず|かならず"
)
_DENIAL = re.compile("ない|なく|なけれ|ません|なかっ|ずに|せず|れず|ぬ$")
_MUST = re.compile("なければ(?:なら|いけ)|ないと(?:いけ|なら)|ねばならない|べき")
_CAN = re.compile("できる|できます|てもよい|てよい|てもいい|られる")


class Number(NamedTuple):
    """`unit` is a kind and a factor; empty kind: none that is known. A `soft` one is written as a word."""

    value: str
    kind: str
    factor: float
    place: int
    line: int
    relation: str = ""
    soft: bool = False


class Word(NamedTuple):
    key: str
    place: int
    line: int
    relation: str = ""
    is_denied: bool = False
    is_name: bool = False  # katakana: also found inside a longer word


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, or the lines of a source that hold one."""

    text: str
    words: Sequence[Word]
    numbers: Sequence[Number]
    denies: bool = False
    forbids: bool = False
    obliges: bool = False
    permits: bool = False
    first_line: int = 0
    last_line: int = 0
    is_heading: bool = False


@dataclass(slots=True)
class _Draft:
    words: list[Word]
    numbers: list[Number]
    relation: str = ""
    denied_next: bool = False
    denies: bool = False
    forbids: bool = False
    obliges: bool = False
    permits: bool = False
    kana: str = ""


def split_sentences(text: str) -> list[str]:
    return [part for part in _END.split(text) if part and part.strip()]


def parse_sentence(text: str, stop: frozenset[str] = frozenset(), *, is_heading: bool = False) -> Sentence:
    """The claim of one sentence."""
    return parse_lines([(0, text)], stop, is_heading=is_heading)


def parse_lines(
    parts: Sequence[tuple[int, str]], stop: frozenset[str] = frozenset(), *, is_heading: bool = False
) -> Sentence:
    """The claim of a sentence that is written over several lines, each with its number."""
    draft = _Draft([], [])
    base = 0
    for line, text in parts:
        prepared = _prepare(text)
        _read(draft, prepared, base, line, stop)
        base += len(prepared) + 1
    if not draft.words and draft.kana:  # kana alone are a claim as well
        kana = draft.kana
        draft.words = [Word(kana[at : at + 2], at, parts[0][0]) for at in range(max(1, len(kana) - 1))]
    return Sentence(
        " ".join(text.strip() for _, text in parts),
        draft.words,
        draft.numbers,
        draft.denies,
        draft.forbids,
        draft.obliges,
        draft.permits,
        parts[0][0] if parts else 0,
        parts[-1][0] if parts else 0,
        is_heading,
    )


def _prepare(text: str) -> str:
    text = _MONTHS.sub(" months ", normalize(text))
    text = _KANJI_NUMBER.sub(_read_kanji_number, text)
    return _OKURIGANA.sub("", _MONTHS.sub(" months ", text))


def _read_kanji_number(found: re.Match[str]) -> str:
    total = part = 0
    for sign in found[0]:
        if sign == "万":
            total, part = (total + part or 1) * 10_000, 0
        elif sign in _SCALES:
            total, part = total + (part or 1) * _SCALES[sign], 0
        else:
            part = part * 10 + _DIGITS.index(sign)
    return str(total + part)


def _read(draft: _Draft, text: str, base: int, line: int, stop: frozenset[str]) -> None:
    end = -1  # of the number before, while its unit may follow
    for found in _PIECE.finditer(text):
        place, piece = base + found.start(), found[0]
        after_number = end >= 0 and not text[end : found.start()].strip(" -")
        end = -1
        if found.lastgroup == "number":
            draft.numbers.append(Number(_canonical(piece), "", 1.0, place, line, draft.relation))
            draft.relation, end = "", found.end()
        elif found.lastgroup == "sign":
            _read_sign(draft, piece, after_number)
        elif found.lastgroup == "word":
            _read_word(draft, piece, place, line, stop, after_number)
            end = found.end() if piece in words.NUMBER_WORDS else -1
        elif found.lastgroup == "kana":
            _read_kana(draft, piece, place, line)
        elif found.lastgroup == "han":
            _read_han(draft, piece, place, line, stop, after_number)
        elif not (after_number and _add_unit(draft, piece)):
            _add_word(draft, Word(piece, place, line, is_name=True), stop)


def _canonical(number: str) -> str:
    digits, sign = number.replace(",", "").removeprefix("-"), "-" if number.startswith("-") else ""
    if digits.count(".") > 1:
        return digits
    whole, _, rest = digits.partition(".")
    return sign + (whole.lstrip("0") or "0") + (f".{rest}" if (rest := rest.rstrip("0")) else "")


def _scale(draft: _Draft, factor: int) -> None:
    """250k and 25万 are one number."""
    number = draft.numbers[-1]
    if number.value.count(".") <= 1:
        draft.numbers[-1] = number._replace(value=_canonical(f"{Decimal(number.value) * factor:f}"))


def _add_unit(draft: _Draft, piece: str) -> bool:
    unit = words.UNITS.get(piece)
    if unit is not None and draft.numbers:
        draft.numbers[-1] = draft.numbers[-1]._replace(kind=unit[0], factor=unit[1])
    return unit is not None


def _read_sign(draft: _Draft, sign: str, after_number: bool) -> None:
    if after_number:
        _add_unit(draft, sign)


def _read_word(draft: _Draft, word: str, place: int, line: int, stop: frozenset[str], after_number: bool) -> None:
    plain, _, clitic = word.partition("'")
    if clitic == "t":
        plain = plain.removesuffix("n")
        draft.denied_next = draft.denies = True
    if word in words.NEGATORS:
        draft.denied_next = draft.denies = True
        return
    if word in words.FORBIDDING:
        _forbid(draft)
    draft.obliges |= plain in words.OBLIGATION
    draft.permits |= plain in words.POSSIBILITY
    if plain in words.RELATIONS:
        draft.relation = plain
        return
    if after_number and plain in words.SCALES and draft.numbers:
        _scale(draft, words.SCALES[plain])
        return
    if after_number and _add_unit(draft, plain):
        return
    if plain in words.NUMBER_WORDS:
        value = str(words.NUMBER_WORDS[plain])
        draft.numbers.append(Number(value, "", 1.0, place, line, draft.relation, soft=True))
        draft.relation = ""
        return
    if plain in words.STOP_WORDS or plain in stop or (len(plain) == 1 and plain.isascii()):
        return
    _add_word(draft, Word(stem(plain), place, line), stop)


def _forbid(draft: _Draft) -> None:
    draft.forbids = draft.denied_next = True
    if draft.words:
        draft.words[-1] = draft.words[-1]._replace(is_denied=True)


def _add_word(draft: _Draft, word: Word, stop: frozenset[str]) -> None:
    if word.key in stop:
        return
    draft.words.append(word._replace(relation=draft.relation, is_denied=draft.denied_next))
    draft.denied_next = False
    if word.key not in words.QUANTIFIERS:  # in "after every update" it is the update that follows
        draft.relation = ""


def _read_han(draft: _Draft, run: str, place: int, line: int, stop: frozenset[str], after_number: bool) -> None:
    if after_number:
        unit = next((run[:size] for size in (3, 2, 1) if run[:size] in words.UNITS), "")
        if unit:
            _add_unit(draft, unit)
        elif run[0] in words.SCALES:
            _scale(draft, words.SCALES[run[0]])
            unit = run[0]
        counter = unit or next((each for each in words.COUNTERS if run.startswith(each)), "")
        run, place = run[len(counter) :], place + len(counter)
    draft.obliges |= any(each in run for each in ("必要", "必須", "義務"))
    draft.permits |= any(each in run for each in ("可能", "任意"))
    if run in words.STOP_HAN or run in stop or not run:
        return
    pairs = [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
    for at, pair in enumerate(pairs):
        if pair not in words.STOP_HAN:
            _add_word(draft, Word(pair, place + at, line), stop)
    if any(each in run for each in words.FORBIDDING):
        _forbid(draft)
        draft.denied_next = False


def _read_kana(draft: _Draft, run: str, place: int, line: int) -> None:
    draft.kana += run
    draft.obliges |= _MUST.search(run) is not None
    draft.permits |= _CAN.search(run) is not None
    particle = next((each for each in words.PARTICLES if run.startswith(each)), "")
    previous = draft.words[-1] if draft.words else None
    if particle and previous is not None and not previous.relation:
        draft.words[-1] = previous._replace(relation="に" if particle == "へ" else particle)
    is_adjective = previous is not None and previous.key[-1] in "少危切" and run.startswith("ない")
    if not is_adjective and _DENIAL.search(_NO_DENIAL.sub("", run)):
        draft.denies = True
        if draft.words:
            draft.words[-1] = draft.words[-1]._replace(is_denied=True)
    for special in words.SPECIAL_KANA:
        if special in run:
            draft.words.append(Word(special, place + run.index(special), line))


def list_meanings(text: str) -> Iterator[str]:
    """The words of a text as a model reads them; runs of kanji in pairs, which most words are. Units of numbers are
    compared elsewhere."""
    for found in _PIECE.finditer(normalize(text)):
        piece, kind = found[0], found.lastgroup
        if piece in words.UNITS or piece in words.STOP_HAN or piece in words.COUNTERS:
            continue
        if kind == "word":
            plain = piece.partition("'")[0]
            if len(plain) > 1 and not (
                plain in words.STOP_WORDS or plain in words.NEGATORS or plain in words.RELATIONS
            ):
                yield plain
        elif kind == "kata":
            yield piece
        elif kind == "han":
            yield from [piece] if len(piece) < 4 else [piece[at : at + 2] for at in range(0, len(piece) - 1, 2)]

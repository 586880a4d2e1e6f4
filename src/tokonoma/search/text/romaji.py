"""Japanese readings in Latin letters: what a word in Latin letters may be in katakana, and how a reading is spelled.

Hepburn is the usual spelling. Kunrei (Sinzi, Hukuda), `m` before b, m and p (Namba), and four ways to write a long
vowel (Ōno, Ono, Oono, Ohno) are read and written as well. Pure.
"""

import re

_VOWELS = "aiueo"
_ROWS = {
    "": "アイウエオ", "k": "カキクケコ", "g": "ガギグゲゴ", "s": "サシスセソ", "z": "ザジズゼゾ", "t": "タチツテト",
    "d": "ダヂヅデド", "n": "ナニヌネノ", "h": "ハヒフヘホ", "b": "バビブベボ", "p": "パピプペポ", "m": "マミムメモ",
    "r": "ラリルレロ",
}  # fmt: skip
_PLAIN = {row + vowel: kana for row, kanas in _ROWS.items() for vowel, kana in zip(_VOWELS, kanas, strict=True)}
_SMALL = {"a": "ャ", "u": "ュ", "o": "ョ"}
_YOON = {
    f"{row}y{vowel}": _PLAIN[row + "i"] + small
    for row in ("k", "g", "s", "z", "t", "n", "h", "b", "p", "m", "r")
    for vowel, small in _SMALL.items()
}
_OTHERS = {"ya": "ヤ", "yu": "ユ", "yo": "ヨ", "wa": "ワ", "wo": "オ", "vu": "ブ", "di": "ジ", "du": "ズ", "dzu": "ズ"}
_HEPBURN = {"shi": "シ", "chi": "チ", "tsu": "ツ", "fu": "フ", "ji": "ジ"} | {
    first + vowel: kana + small
    for first, kana in (("sh", "シ"), ("ch", "チ"), ("j", "ジ"), ("jy", "ジ"))
    for vowel, small in _SMALL.items()
}
_FOREIGN = {"she": "シェ", "che": "チェ", "je": "ジェ", "fa": "ファ", "fi": "フィ", "fe": "フェ", "fo": "フォ"}
_READ = _FOREIGN | _PLAIN | _YOON | _OTHERS | _HEPBURN
_DOUBLED = re.compile(r"t(?=ch)|([kstpgzdbjf])(?=\1)")
_LONG_H = re.compile("(?<=o)h(?![aiueoy])")
_NASAL = re.compile("m(?=[bmp])|n(?=['-]|[^aiueoy]|$)")
_BETWEEN = re.compile("['-]")
_MAX_WORD = 24
_MAX_READINGS = 4

# Katakana → Hepburn. The last spelling of a kana is the one that is written.
_WRITTEN = {kana: latin for latin, kana in (_OTHERS | _FOREIGN | _PLAIN | _YOON | _HEPBURN).items()} | {
    "ン": "n", "ヲ": "o", "ヂ": "ji", "ヅ": "zu", "ティ": "ti", "ディ": "di", "ジャ": "ja", "ジュ": "ju", "ジョ": "jo",
}  # fmt: skip
_MORA = re.compile("[ァ-ヺ][ァィェォャュョ]|[ァ-ヺー]")
_COLUMNS = (
    "アカガサザタダナハバパマヤラワャァ", "イキギシジチヂニヒビピミリィ", "ウクグスズツヅヌフブプムユルュゥ",
    "エケゲセゼテデネヘベペメレェ", "オコゴソゾトドノホボポモヨロヲョォ",
)  # fmt: skip
_LONG = re.compile("|".join(f"(?<=[{row}])[{row[0]}ー{'ウ' if row[0] == 'オ' else ''}]" for row in _COLUMNS))
_GEMINATE = re.compile("ッ(.)")
_LONG_O = re.compile("(?<=o)ー(?![aiueo])")
_BEFORE_LIPS = re.compile("n(?=[bmp])")
_KUNREI = (
    ("shi", "si"), ("sh", "sy"), ("chi", "ti"), ("ch", "ty"), ("tsu", "tu"), ("fu", "hu"), ("ji", "zi"), ("j", "zy"),
)  # fmt: skip


def mark_long_vowels(readings: str) -> str:
    """Katakana with every long vowel as ー: オオノ and オーノ are one. Other characters may stand between readings."""
    return _LONG.sub("ー", readings)


def read_romaji(word: str) -> list[str]:
    """What a word in Latin letters may be in katakana, long vowels as ー; empty if it is no romaji. `junichi` is read
    as ジュニチ and as ジュンイチ."""
    if len(word) > _MAX_WORD:
        return []
    word = _BETWEEN.sub("", _NASAL.sub("ン", _LONG_H.sub("ー", word.casefold())))
    word = _DOUBLED.sub("ッ", word)
    # From the end: what can be read from each place on.
    read = [*(list[str]() for _ in word), [""]]
    for place in range(len(word) - 1, -1, -1):
        if word[place] in "ンッー":
            read[place] = [word[place] + rest for rest in read[place + 1]]
            continue
        sizes = (size for size in (3, 2, 1) if word[place : place + size] in _READ and place + size <= len(word))
        size = next(sizes, 0)
        if size:
            read[place] = [_READ[word[place : place + size]] + rest for rest in read[place + size]]
        if word[place] == "n" and word[max(place - 1, 0)] not in "nン":
            read[place] += ["ン" + rest for rest in read[place + 1]]
        del read[place][_MAX_READINGS:]
    return [mark_long_vowels(kana) for kana in read[0] if kana[:1] not in "ッー"]


def spell_reading(reading: str) -> tuple[list[str], list[str]]:
    """The ways to write a reading in katakana with Latin letters: those that show its long vowels, and those that do
    not, if it has any."""
    marked = mark_long_vowels(reading)
    short = _vary(_write(marked.replace("ー", "")))
    if "ー" not in marked:
        return short, []
    exact = _vary(_write(reading), _LONG_O.sub("h", _write(marked, keep=True)).replace("ー", ""))
    return [form for form in exact if form not in short], short


def _write(reading: str, *, keep: bool = False) -> str:
    """`keep`: ー stays; else it is the vowel again."""
    written = ""
    for mora in _MORA.findall(reading):
        if mora == "ー":
            written += mora if keep else written[-1:]
        elif mora == "ッ":
            written += mora
        else:
            written += _WRITTEN.get(mora) or "".join(_WRITTEN.get(each, "?") for each in mora)
    return _GEMINATE.sub(lambda found: ("t" if found[1] == "c" else found[1]) + found[1], written)


def _vary(*forms: str) -> list[str]:
    varied: dict[str, None] = {}
    for form in forms:
        kunrei = form.replace("tch", "tty") if "tch" in form else form
        for hepburn, other in _KUNREI:
            kunrei = kunrei.replace(hepburn, other)
        varied |= dict.fromkeys((form, _BEFORE_LIPS.sub("m", form), kunrei.replace("yi", "i")))
    return [form for form in varied if form.isascii() and form.isalpha()]

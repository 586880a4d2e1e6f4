"""Numbers in kanji and in digits: 第三条 is 第3条, 二十日 is 20日. Pure functions."""

import re
from collections.abc import Callable

NUMERALS = "〇一二三四五六七八九十百千"
_DIGITS = "〇一二三四五六七八九"
_UNITS = {"千": 1000, "百": 100, "十": 10}
_COUNTER = (
    "[条項章節号編款年月日回人名件個歳才円分秒週階台枚冊点割倍級位頁行列桁本部]|時間|[かヶカケ箇]月|万[円人件]|ページ|パーセント"
    "|種類|段階|文字|世紀"
)
# A number has 第 before it or a counter after it: there is none in 一般, 三角, 四国, 千葉 and 万一.
_NUMBER = re.compile(
    f"(?<![0-9.,数何幾{NUMERALS}])(?:(?<=第)|(?<=[条項号章節]の)|(?=[0-9{NUMERALS}]{{1,9}}+(?:{_COUNTER})))"
    f"([0-9]{{1,4}}+|[{NUMERALS}]{{1,9}}+)(?![0-9.,万億兆](?![円人件]))"
)
# Words with a numeral and a counter that are no numbers.
_WORDS = ("十分", "百分", "一部", "一目", "一行", "一本")
# What may stand before a number, if it is a kanji: 一日 is neither in 統一日程 nor in 十一日.
_BEFORE = frozenset("第約満計各毎全他前後翌年月日週時分和成治正条項章節号編款")


def rewrite_numbers(folded: str) -> list[str]:
    """A normalized term with its numbers in digits, in kanji (二十四), and as kanji in the order of digits (二四)."""
    if not _NUMBER.search(folded):
        return []
    written = dict.fromkeys([folded, *(_rewrite(folded, write) for write in (str, _spell, _list_digits))])
    return list(written)[1:] if not any(word in each for each in written for word in _WORDS) else []


def _rewrite(folded: str, write: Callable[[int], str]) -> str:
    return _NUMBER.sub(lambda number: write(parse_number(number[1])), folded)


def is_number_alone(text: str, start: int) -> bool:
    """Whether a number in kanji may start here."""
    before = text[start - 1] if start else " "
    return before in _BEFORE or not ("\u3005" <= before <= "\u3007" or "\u3400" <= before <= "\u9fff")


def has_number(term: str) -> bool:
    return any(sign in term for sign in NUMERALS + "0123456789")


def parse_number(digits: str) -> int:
    if digits.isdigit() and digits.isascii():
        return int(digits)
    total, current = 0, 0
    for digit in digits:
        if digit in _UNITS:
            total += (current or 1) * _UNITS[digit]
            current = 0
        else:
            current = current * 10 + _DIGITS.index(digit)
    return total + current


def _spell(number: int) -> str:
    spelled = ""
    for unit, value in _UNITS.items():
        count, number = divmod(number, value)
        spelled += (_DIGITS[count] if count > 1 else "") + unit if count else ""
    return (spelled + _DIGITS[number] if number else spelled) or "〇"


def _list_digits(number: int) -> str:
    return "".join(_DIGITS[int(digit)] for digit in str(number))

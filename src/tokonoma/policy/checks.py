"""What a pattern cannot say: check digits, what stands around a match, what only looks like a secret. Pure."""

import re
from datetime import date

_DIGITS = re.compile(r"\D+")
_PLACEHOLDER = re.compile(
    r"(?i)^(x+|\*+|\.+|-+|_+|<.*>?|\$.*|%.*|\{.*|.*\{\{.*|your.*|my[-_]?.*|example.*|sample.*|dummy.*|test"
    r"|pass(word|wd|phrase)?"
    r"|secret|token|changeme|change[-_]me|redacted|placeholder|null|none|true|false|undefined|\[.*\]?)$"
)
_REFERENCE_WORDS = re.compile(
    r"(?i)(注文|受注|発注|伝票|請求|追跡|問い合わせ|問合せ|管理|整理|製造|品番|型番|商品|会員|社員|資産|バージョン"
    r"|order|invoice|tracking|ticket|issue|build|serial|sku|isbn|jan|part|account|arn|ref|case|request|version|commit"
    r"|hash|sha|md5|uuid|trace|epoch|timestamp|#|№)[^0-9\n。]{0,12}$"
)


def extract_digits(text: str) -> str:
    return _DIGITS.sub("", text)


def passes_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def is_card_number(digits: str) -> bool:
    """A number that one of the networks could have given out: its beginning, its length, its check digit."""
    size, two, four = len(digits), int(digits[:2]), int(digits[:4])
    known = (
        (digits[0] == "4" and size in (13, 16, 19))
        or (size == 16 and (51 <= two <= 55 or 2221 <= four <= 2720))
        or (size == 15 and two in (34, 37))
        or (size == 16 and 3528 <= four <= 3589)
        or (size == 14 and (two in (36, 38, 39) or 3000 <= four <= 3059))
        or (size in (16, 19) and (two in (62, 65) or four == 6011 or 644 <= int(digits[:3]) <= 649))
    )
    return known and len(set(digits)) > 2 and passes_luhn(digits)


def is_my_number(digits: str) -> bool:
    """The check digit of an individual number (行政手続における特定の個人を識別するための番号)."""
    if len(digits) != 12 or len(set(digits)) < 3:
        return False
    total = 0
    for place, digit in enumerate(reversed(digits[:11]), 1):
        total += int(digit) * (place + 1 if place <= 6 else place - 5)
    rest = total % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest)


def is_iban(text: str) -> bool:
    packed = re.sub(r"\s", "", text)
    if not 15 <= len(packed) <= 34:
        return False
    moved = packed[4:] + packed[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


def is_timestamp(digits: str) -> bool:
    """Whether digits read as a date, or as a date and a time: 20260115, 202601151230, 20260115123000."""
    try:
        day = date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return False
    rest = digits[8:]
    timely = all(int(rest[place : place + 2]) < limit for place, limit in ((0, 24), (2, 60), (4, 60)) if rest[place:])
    return 1900 <= day.year <= 2100 and timely


def is_separate_number(text: str, start: int, end: int) -> bool:
    """Whether a number stands by itself: not inside a longer one, a decimal, a path, an id or a version."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (
        _is_ascii_alnum(before[-1]) or (before[-1] in "-._/:=#" and len(before) > 1 and _is_ascii_alnum(before[0]))
    ):
        return False
    if not after:
        return True
    return not (_is_ascii_alnum(after[0]) or (after[0] in "-_/." and len(after) > 1 and _is_ascii_alnum(after[1])))


def is_separate_word(text: str, start: int, end: int) -> bool:
    """Whether a word stands by itself: no letter or digit of ASCII touches it."""
    return not (start and _is_ascii_alnum(text[start - 1])) and not (end < len(text) and _is_ascii_alnum(text[end]))


def follows_reference_word(text: str, start: int) -> bool:
    """Whether the words before say that what comes is the number of a thing, not of a person."""
    return _REFERENCE_WORDS.search(text[max(0, start - 32) : start]) is not None


def follows_word(words: re.Pattern[str], text: str, start: int, reach: int = 24) -> bool:
    return words.search(text[max(0, start - reach) : start]) is not None


def looks_random(text: str, least: int = 8) -> bool:
    """Whether it could be a key: enough different characters, and no filler such as xxxx or 1234567890."""
    body = text.lower()
    return len(set(body)) >= least and "xxxx" not in body and "...." not in body and "example" not in body


def looks_like_password(text: str, size: int) -> bool:
    """Whether somebody chose it to be hard to guess: long enough, letters with digits or signs, no placeholder."""
    if len(text) < size or _PLACEHOLDER.match(text):
        return False
    letters = any(each.isalpha() for each in text)
    digits = any(each.isdigit() for each in text)
    signs = any(not each.isalnum() for each in text.strip(".,;)]}\"'"))
    return letters and (digits or signs) and len(set(text)) >= 5 and not _looks_like_code(text)


def _looks_like_code(text: str) -> bool:
    """An expression rather than a value: settings.password, env["X"], call(…), a path, a URL."""
    call = re.match(r"^[A-Za-z_][\w.]*(\(|\[|\.[A-Za-z_]\w*$)", text)
    return call is not None or text.startswith(("/", "./", "http")) or re.fullmatch(r"[A-Za-z_-]+", text) is not None


def _is_ascii_alnum(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()

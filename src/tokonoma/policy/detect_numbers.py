"""Detectors of a person's numbers: cards, My Number, SSN, IBAN, accounts, passports, licences.

Where a number has a check digit, the digit decides, whatever word stands nearby. Words decide where there is none.
"""

import re
from datetime import date

from tokonoma.policy.detections import Detector, is_ascii_alnum, is_separate_word
from tokonoma.policy.patterns import build_detector

_PERSONAL_NUMBER = re.compile(r"(?i)(マイナンバー|個人番号|my ?number|individual number)")
_GROUP_AFTER = re.compile(r"[- ][0-9]{4}")
_GROUP_BEFORE = re.compile(r"[0-9]{4}[- ]$")
_CARD_WORDS = re.compile(r"(?i)(カード|クレジット|デビット|card|visa|amex|credit|debit)")
_BANK_WORDS = re.compile(r"(?i)(bank|checking|saving|routing|sort code|iban|wire|deposit)")
_SSN_WORDS = re.compile(r"(?i)(ssn|social|社会保障)")
# What gives a number to a thing. The first need no word for "number" after them, the others do: 問い合わせは0120-…
_THINGS = (
    r"伝票|型番|品番|製造|追跡|受注|発注|sku|isbn|jan|upc|arn|serial|tracking|invoice|build|version|commit|hash|sha|md5"
    r"|uuid|trace|epoch|timestamp"
)
_OTHER_THINGS = (
    r"注文|請求|請求書|お?問い?合わ?せ|管理|整理|商品|会員|社員|資産|受付|予約|顧客|お客様|登録|バージョン"
    r"|order|ticket|issue|part|account|ref|reference|case|request|customer|member|item|product|job|id"
)
_NUMBER_WORDS = r"番号|ナンバー|コード|no\.?|id|number|num|#|№"
_REFERENCE = re.compile(
    rf"(?i)(?:(?:{_THINGS})(?:[ _-]?(?:{_NUMBER_WORDS}))?|(?:{_OTHER_THINGS})[ _-]?(?:{_NUMBER_WORDS})|\border)"
    r"[はが:=# \"'「（(]{0,4}$"
)


def extract_digits(text: str) -> str:
    return re.sub(r"\D+", "", text)


def passes_luhn(digits: str) -> bool:
    doubled = (int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def is_card_number(digits: str) -> bool:
    """Whether a card network could have issued it: prefix, length and check digit."""
    size, two, four = len(digits), int(digits[:2]), int(digits[:4])
    known = (
        (digits[0] == "4" and size in (13, 16, 19))
        or (size == 16 and (51 <= two <= 55 or 2221 <= four <= 2720))
        or (size == 15 and two in (34, 37))
        or (size == 16 and 3528 <= four <= 3589)
        or (size == 14 and (two in (36, 38, 39) or 3000 <= four <= 3059))
        or (size in (16, 19) and (two in (62, 65) or four == 6011 or 644 <= int(digits[:3]) <= 649))
    )
    return known and len(set(digits)) > 1 and passes_luhn(digits)


def is_my_number(digits: str) -> bool:
    """Whether the check digit of an individual number is right (行政手続における特定の個人を識別するための番号)."""
    if len(digits) != 12 or len(set(digits)) < 3:
        return False
    places = enumerate(reversed(digits[:11]), 1)
    rest = sum(int(digit) * (place + 1 if place <= 6 else place - 5) for place, digit in places) % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest)


def is_timestamp(digits: str) -> bool:
    """Whether digits read as a date, or as a date and a time: 20260115, 202601151230, 20260115123000."""
    try:
        day = date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return False
    hours, minutes, seconds = (int(digits[place : place + 2] or 0) for place in (8, 10, 12))
    return 1900 <= day.year <= 2100 and hours < 24 and minutes < 60 and seconds < 60


def is_separate_number(text: str, start: int, end: int) -> bool:
    """Whether it is a number of its own: not part of a longer one, a decimal, a path, an id or a version. A number
    begins after `:`, `=` and `#`: `TEL:03-…`."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (is_ascii_alnum(before[-1]) or (before[-1] in "-_/" and is_ascii_alnum(before[0]))):
        return False
    if before[-1:] == "." and before[0].isdecimal():
        return False
    if not after:
        return True
    if is_ascii_alnum(after[0]):
        return False
    more = after[1:]
    return not (after[0] in "-_." and more and is_ascii_alnum(more)) and not (after[0] == "/" and more.isdecimal())


def is_near_word(words: re.Pattern[str], text: str, start: int, end: int, reach: int = 24) -> bool:
    """Whether one of the words stands before it or, in the same line, soon after it."""
    after = text[end : end + reach].partition("\n")[0]
    return words.search(text[max(0, start - reach) : start]) is not None or words.search(after) is not None


def follows_reference_word(text: str, start: int) -> bool:
    """Whether the words directly before announce the number of a thing (an order, a build), not of a person."""
    return _REFERENCE.search(text[max(0, start - 32) : start]) is not None


def is_person_number(text: str, start: int, end: int) -> bool:
    return is_separate_number(text, start, end) and not follows_reference_word(text, start)


def _accept_my_number(text: str, start: int, end: int) -> bool:
    digits = extract_digits(text[start:end])
    if not is_my_number(digits) or not is_separate_number(text, start, end):
        return False
    if _GROUP_AFTER.match(text, end) or _GROUP_BEFORE.search(text[max(0, start - 5) : start]):
        return False  # a part of a longer number in groups
    return not is_timestamp(digits) or is_near_word(_PERSONAL_NUMBER, text, start, end, 40)


def _accept_card(text: str, start: int, end: int) -> bool:
    digits = extract_digits(text[start:end])
    if not (13 <= len(digits) <= 19 and is_card_number(digits) and is_separate_number(text, start, end)):
        return False
    # Thirteen digits are mostly the code of a product, nineteen an id; fourteen may be a time.
    usual = len(digits) in (15, 16) or (len(digits) == 14 and not is_timestamp(digits))
    return usual or is_near_word(_CARD_WORDS, text, start, end)


def _accept_ssn(text: str, start: int, end: int) -> bool:
    digits = extract_digits(text[start:end])
    given = digits[:3] not in ("000", "666") and digits[3:5] != "00" and digits[5:] != "0000"
    named = digits != text[start:end] or is_near_word(_SSN_WORDS, text, start, end)
    return given and named and is_person_number(text, start, end)


def _accept_iban(text: str, start: int, end: int) -> bool:
    packed = re.sub(r"\s", "", text[start:end])
    if not is_separate_word(text, start, end) or not 15 <= len(packed) <= 34:
        return False
    return int("".join(str(int(letter, 36)) for letter in packed[4:] + packed[:4])) % 97 == 1


def _accept_account(text: str, start: int, end: int) -> bool:
    """Accounts are not only kept by banks: it is called a number, or a word of banks stands nearby."""
    numbered = re.search(r"(?i)(number|no\.?|num|#)[ :=#is]{0,6}$", text[max(0, start - 16) : start]) is not None
    return is_separate_number(text, start, end) and (numbered or is_near_word(_BANK_WORDS, text, start, end, 40))


def _accept_document(text: str, start: int, end: int) -> bool:
    """The number of a passport or a licence: mostly digits."""
    value = text[start:end]
    digits = len(extract_digits(value))
    return digits >= 5 and is_separate_word(text, start, end) and len(value) >= 7 and not is_timestamp(value)


def _accept_licence(text: str, start: int, end: int) -> bool:
    # A licence of software is one too: it has a version, a year or a key.
    driver = re.search(r"(?i)(driv|dl|免許)", text[max(0, start - 40) : start]) is not None
    return _accept_document(text, start, end) and (driver or len(extract_digits(text[start:end])) >= 9)


_CARD = r"[2-6][0-9]{3}[- ]?[0-9]{4}[- ]?[0-9]{4}[- ]?[0-9]{1,7}|3[0-9]{3}[- ]?[0-9]{6}[- ]?[0-9]{4,5}"
_IS = r"(?:\([^)\n]{1,8}\))?[はが:= #]{0,4}"
_ACCOUNT_JP = rf"(?:普通|当座|貯蓄|口座)(?:預金|口座)?(?:の?番号)?{_IS}([0-9]{{6,8}})"
_ACCOUNT_POST = r"記号[はが: ]{0,2}[0-9]{5}[^0-9\n]{1,3}番号[はが: ]{0,2}([0-9]{6,8})"
_ACCOUNT_EN = r"(?i:account|acct|a/c)\.?(?i: number| no| num| ?#)?\.?(?i: is|:|=| |#){0,3}([0-9]{6,17})"
_BRANCH_EN = r"(?i:sort code)(?i: is|:|=| ){0,3}([0-9]{2}-[0-9]{2}-[0-9]{2})"
_ROUTING_EN = r"(?i:routing)(?i: number| no| num| ?#)?\.?(?i: is|:|=| |#){0,3}([0-9]{9})"
_PASSPORT = r"(?:旅券|パスポート|(?i:passport))[^0-9\n]{0,20}?([A-Z]{0,2}[0-9]{6,9}|[A-Z][A-Z0-9]{8})"
_LICENCE_JP = r"免許[^0-9\n]{0,12}([0-9]{12})"
_LICENCE_EN = r"(?i:driv\w*'?s? licen[cs]e|\bdl ?#|\blicen[cs]e)[^0-9\n]{0,12}?[ #:]([A-Z0-9][A-Z0-9-]{5,19})"
_MY_NUMBER = r"[0-9]{4}[- ]?[0-9]{4}[- ]?[0-9]{4}"
_IBAN = r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?"
_SSN = r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}"
_SSN_PLAIN = r"(?i:ssn|social)[^0-9\n]{0,24}([0-8][0-9]{8})"
_FOUR = r"[0-9]{4}[- ]?[0-9]{4}"
_END = "-ー. ("

NUMBER_DETECTORS: tuple[Detector, ...] = (
    build_detector("my_number", "pii", _FOUR, _MY_NUMBER, _accept_my_number, trim=_END),
    build_detector("card", "pii", _FOUR, _CARD, _accept_card, trim=_END),
    build_detector("card", "pii", r"3[0-9]{3} [0-9]{6}", _CARD, _accept_card, trim=_END),
    build_detector("ssn", "pii", r"[0-9]{3}-[0-9]{2}-", _SSN, _accept_ssn),
    build_detector("ssn", "pii", ("ssn", "social"), _SSN_PLAIN, _accept_ssn, group=1),
    build_detector("iban", "pii", r"[A-Z]{2}[0-9]{2}", _IBAN, _accept_iban, trim=_END),
    build_detector("bank_account", "pii", ("普通", "当座", "貯蓄", "口座"), _ACCOUNT_JP, is_separate_number, group=1),
    build_detector("bank_account", "pii", ("記号",), _ACCOUNT_POST, is_separate_number, group=1),
    build_detector("bank_account", "pii", ("account", "acct", "a/c"), _ACCOUNT_EN, _accept_account, group=1),
    build_detector("bank_account", "pii", ("sort code",), _BRANCH_EN, is_separate_number, group=1),
    build_detector("bank_account", "pii", ("routing",), _ROUTING_EN, is_separate_number, group=1),
    build_detector("passport", "pii", ("旅券", "パスポート", "passport"), _PASSPORT, _accept_document, group=1),
    build_detector("license", "pii", ("免許",), _LICENCE_JP, is_separate_number, group=1),
    build_detector("license", "pii", ("license", "licence", "dl"), _LICENCE_EN, _accept_licence, group=1),
)

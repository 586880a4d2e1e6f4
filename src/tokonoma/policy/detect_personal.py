"""Detectors of e-mail addresses and telephone numbers. RE2 has no look-around: that is done here, in code.

They run on a text in which full-width letters, digits and signs are replaced by ASCII, letter for letter.
"""

import re

from tokonoma.policy.detect_addresses import ADDRESS_DETECTORS
from tokonoma.policy.detect_emails import find_emails
from tokonoma.policy.detect_numbers import (
    NUMBER_DETECTORS,
    extract_digits,
    follows_reference_word,
    is_near_word,
    is_person_number,
    is_separate_number,
)
from tokonoma.policy.detections import Detector
from tokonoma.policy.patterns import build_detector

_GAP = r"[-ー. ]?"
_DASH = r"[-ー]"
_PHONE_WORDS = re.compile(
    r"(?i)(電話|でんわ|携帯|ケータイ|連絡先|tel|phone|mobile|cell|fax|ファックス|call|text|whatsapp|sms|番号は)"
)


def _accept_phone_jp(text: str, start: int, end: int) -> bool:
    digits = extract_digits(text[start:end])
    mobile = len(digits) == 11 and digits[1:3] in ("50", "60", "70", "80", "90")
    free = digits[:4] in ("0120", "0570", "0800", "0990")
    fixed = len(digits) == 10 and digits[1] != "0"
    if not (mobile or free or fixed) or not is_person_number(text, start, end):
        return False
    # Ten digits in a row are mostly the number of something else.
    return mobile or digits != text[start:end] or is_near_word(_PHONE_WORDS, text, start, end)


def _accept_phone_abroad(text: str, start: int, end: int) -> bool:
    decimal = text[start:end][-2:-1] == "."
    return 9 <= len(extract_digits(text[start:end])) <= 15 and not decimal and is_separate_number(text, start, end)


def _accept_plain_phone(text: str, start: int, end: int) -> bool:
    """Ten or eleven digits in a row: a word has to say that they are a telephone number."""
    named = is_near_word(_PHONE_WORDS, text, start, end) and not follows_reference_word(text, start)
    return named and is_separate_number(text, start, end)


_PHONE_JP = rf"0[0-9]{{1,4}}(?:{_DASH}|[ .]|\({_GAP})?[0-9]{{1,4}}(?:{_DASH}|[ .]|\))?[0-9]{{3,4}}"
_PHONE_US = r"(?:\+?1[-. ])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-./ ])[2-9][0-9]{2}[-. ][0-9]{4}"
_PHONE_UK = r"0[127][0-9]{2,3} [0-9]{3} ?[0-9]{3,4}|020 [0-9]{4} [0-9]{4}"
_PHONE_BRACKETS = r"\(0[0-9]{1,4}\) ?[0-9]{1,4}[- ]?[0-9]{4}"
_PHONE_ABROAD = r"(?:\+|\b00)[1-9][0-9]{0,2}[-ー. ]?(?:\(?[0-9]{1,5}\)?[-ー. ]?){2,5}"
_PHONE_PLAIN = r"[2-9][0-9]{2}[2-9][0-9]{6}|07[0-9]{9}"
_HINT_JP = r"0[0-9]+[-ー. (]*[0-9]+[-ー. )]*[0-9]{3}"
_HINT_US = r"[0-9]{3}[-./) ]+[0-9]{3}[-. ][0-9]{4}"
_END = "-ー. ("

PERSONAL_DETECTORS: tuple[Detector, ...] = (
    Detector("email", "pii", "", find=find_emails, words=("@",)),
    build_detector("phone", "pii", _HINT_JP, _PHONE_JP, _accept_phone_jp, trim=_END),
    build_detector("phone", "pii", r"\(0[0-9]", _PHONE_BRACKETS, _accept_phone_jp, trim=_END),
    build_detector("phone", "pii", r"\+[1-9]|\b00[1-9][0-9]{0,2}[-. ]", _PHONE_ABROAD, _accept_phone_abroad, trim=_END),
    build_detector("phone", "pii", _HINT_US, _PHONE_US, is_person_number, trim=_END),
    build_detector("phone", "pii", r"0[127][0-9]+ [0-9]", _PHONE_UK, is_person_number, trim=_END),
    build_detector("phone", "pii", r"[0-9]{10}", _PHONE_PLAIN, _accept_plain_phone),
    *ADDRESS_DETECTORS,
    *NUMBER_DETECTORS,
)

"""Detectors of personal data, in Japanese and English texts. RE2 has no look-around: that is done here, in code.

They run on a text in which full-width letters, digits and signs are replaced by ASCII, letter for letter.
"""

import re
from datetime import date

from tokonoma.policy.detections import Detector, is_ascii_alnum, is_separate_word

_GAP = r"[-ー. ]?"
_DASH = r"[-ー]"
_PREFECTURES = (
    "北海道|青森県|岩手県|宮城県|秋田県|山形県|福島県|茨城県|栃木県|群馬県|埼玉県|千葉県|東京都|神奈川県|新潟県|富山県|石川県|福井県"
    "|山梨県|長野県|岐阜県|静岡県|愛知県|三重県|滋賀県|京都府|大阪府|兵庫県|奈良県|和歌山県|鳥取県|島根県|岡山県|広島県|山口県"
    "|徳島県|香川県|愛媛県|高知県|福岡県|佐賀県|長崎県|熊本県|大分県|宮崎県|鹿児島県|沖縄県"
)
_PLACE = "[一-龥々ぁ-んァ-ヶー]"
_KANA_CITIES = (
    "さいたま|つくば|つくばみらい|いわき|ひたちなか|つがる|みどり|うるま|むつ|えびの"
    "|にかほ|かほく|あわら|さくら|みよし|うきは|たつの"
)
_COUNT = r"(?:[0-9]{1,4}|[一二三四五六七八九十]{1,3})"
_BLOCK = (
    rf"{_COUNT}丁目(?:{_COUNT}番(?:地の?)?{_COUNT}?号?|[0-9]{{1,4}}(?:{_DASH}[0-9]{{1,4}}){{0,2}})?"
    rf"|[0-9]{{1,4}}(?:{_DASH}[0-9]{{1,4}}){{1,3}}|{_COUNT}番地?(?:の?{_COUNT})?(?:号)?"
)
_PHONE_WORDS = re.compile(
    r"(?i)(電話|でんわ|携帯|ケータイ|連絡先|ＴＥＬ|tel|phone|mobile|cell|fax|ファックス|call|番号は)"
)
_PERSONAL_NUMBER = re.compile(r"(?i)(マイナンバー|個人番号|my ?number|individual number)")
_STARTS_WITH_PREFECTURE = re.compile(rf"^[ 　\n]*(?:{_PREFECTURES})")
_FILE_SUFFIXES = frozenset((
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "js", "ts", "jsx", "tsx", "css", "json", "html", "htm", "py",
    "rb", "go", "rs", "md", "txt", "yml", "yaml", "toml", "xml", "csv", "pdf", "service", "socket", "target", "timer",
    "mount", "zip", "gz", "whl", "tar", "sh",
))  # fmt: skip
_STREET = (
    "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Way|Place|Pl|Square|Terrace|Crescent|Parkway"
)
_REFERENCE_WORDS = re.compile(
    r"(?i)(注文|受注|発注|伝票|請求|追跡|問い合わせ|問合せ|管理|整理|製造|品番|型番|商品|会員|社員|資産|バージョン"
    r"|order|invoice|tracking|ticket|issue|build|serial|sku|isbn|jan|part|account|arn|ref|case|request|version|commit"
    r"|hash|sha|md5|uuid|trace|epoch|timestamp|#|№)[^0-9\n。]{0,12}$"
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
    return known and len(set(digits)) > 2 and passes_luhn(digits)


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
    """Whether it is a number of its own: not part of a longer one, a decimal, a path, an id or a version."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (
        is_ascii_alnum(before[-1]) or (before[-1] in "-._/:=#" and len(before) > 1 and is_ascii_alnum(before[0]))
    ):
        return False
    if not after:
        return True
    return not (is_ascii_alnum(after[0]) or (after[0] in "-_/." and len(after) > 1 and is_ascii_alnum(after[1])))


def follows_word(words: re.Pattern[str], text: str, start: int, reach: int = 24) -> bool:
    return words.search(text[max(0, start - reach) : start]) is not None


def follows_reference_word(text: str, start: int) -> bool:
    """Whether the words before announce the number of a thing (an order, a build), not of a person."""
    return follows_word(_REFERENCE_WORDS, text, start, 32)


def _is_person_number(text: str, start: int, end: int) -> bool:
    return is_separate_number(text, start, end) and not follows_reference_word(text, start)


def _accept_email(text: str, start: int, end: int) -> bool:
    name, _, host = text[start:end].partition("@")
    ending = host.rpartition(".")[2].lower()
    remote = text[end : end + 1] == ":" and text[end + 1 : end + 2] not in ("", " ", "\n")  # git@host:owner/name
    scheme = text[max(0, start - 3) : start] == "://" and text[end : end + 1] in ("/", ":")  # ssh://git@host/…
    if not name.strip(".%+-") or ending in _FILE_SUFFIXES or ".." in host or (remote and name == "git") or scheme:
        return False
    _, inside, before = text[max(0, start - 80) : start].rpartition("://")
    # The password of a URL has a detector of its own.
    return not (inside and ":" in before and not any(letter.isspace() for letter in before))


def _accept_phone_jp(text: str, start: int, end: int) -> bool:
    digits = extract_digits(text[start:end])
    mobile = len(digits) == 11 and digits[1:3] in ("50", "60", "70", "80", "90")
    free = digits[:4] in ("0120", "0570", "0800", "0990")
    fixed = len(digits) == 10 and digits[1] != "0"
    if not (mobile or free or fixed) or not _is_person_number(text, start, end):
        return False
    # Ten digits in a row are mostly the number of something else.
    return mobile or digits != text[start:end] or follows_word(_PHONE_WORDS, text, start)


def _accept_phone_abroad(text: str, start: int, end: int) -> bool:
    return 9 <= len(extract_digits(text[start:end])) <= 15 and is_separate_number(text, start, end)


def _accept_postal_code(text: str, start: int, end: int) -> bool:
    """Marked by 〒 or 郵便番号, or followed by a prefecture."""
    followed = _STARTS_WITH_PREFECTURE.match(text[end : end + 16]) is not None
    return not text[start].isdigit() or (followed and is_separate_number(text, end - 8, end))


def _accept_address_jp(text: str, start: int, end: int) -> bool:
    return extract_digits(text[start:end]) != "" or "丁目" in text[start:end]


def _accept_my_number(text: str, start: int, end: int) -> bool:
    digits = extract_digits(text[start:end])
    if not is_my_number(digits) or not is_separate_number(text, start, end):
        return False
    named = follows_word(_PERSONAL_NUMBER, text, start, 40)
    return named or not (follows_reference_word(text, start) or is_timestamp(digits))


def _accept_card(text: str, start: int, end: int) -> bool:
    digits = extract_digits(text[start:end])
    known = 13 <= len(digits) <= 19 and is_card_number(digits) and not is_timestamp(digits[:14])
    return known and _is_person_number(text, start, end)


def _accept_ssn(text: str, start: int, end: int) -> bool:
    area, group, serial = text[start:end].split("-")
    given = area not in ("000", "666") and group != "00" and serial != "0000"
    return given and _is_person_number(text, start, end)


def _accept_iban(text: str, start: int, end: int) -> bool:
    packed = re.sub(r"\s", "", text[start:end])
    if not is_separate_word(text, start, end) or not 15 <= len(packed) <= 34:
        return False
    return int("".join(str(int(letter, 36)) for letter in packed[4:] + packed[:4])) % 97 == 1


_PHONE_JP = rf"0[0-9]{{1,4}}(?:{_DASH}|[ .]|\({_GAP})?[0-9]{{1,4}}(?:{_DASH}|[ .]|\))?[0-9]{{3,4}}"
_PHONE_US = r"(?:\+?1[-. ])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-. ])[2-9][0-9]{2}[-. ][0-9]{4}"
_POSTAL = r"〒[ 　]?[0-9]{3}[-ー]?[0-9]{4}|郵便番号[はが:： 　]{0,3}[0-9]{3}[-ー]?[0-9]{4}|[0-9]{3}[-ー][0-9]{4}"
_ADDRESS_SHORT = (
    rf"(?:[一-龥々]{{1,6}}|{_KANA_CITIES})[市区郡]{_PLACE}{{1,16}}?"
    rf"(?:{_COUNT}丁目{_COUNT}番(?:地)?(?:{_COUNT}号)?|{_COUNT}丁目[0-9]{{1,4}}(?:{_DASH}[0-9]{{1,4}}){{0,2}}"
    rf"|[0-9]{{1,4}}(?:{_DASH}[0-9]{{1,4}}){{1,2}})"
)
_ADDRESS_EN = (
    rf"[0-9]{{1,5}} (?:[NSEW]\.? )?(?:[A-Z][A-Za-z'.]+ ){{1,3}}(?:{_STREET})\b\.?"
    r"(?:,? (?:Apt|Suite|Unit|#)\.? ?[0-9A-Z]+)?(?:, [A-Z][A-Za-z .]+,? [A-Z]{2} [0-9]{5}(?:-[0-9]{4})?)?"
)
_CARD = r"[2-6][0-9]{3}[- ]?[0-9]{4}[- ]?[0-9]{4}[- ]?[0-9]{1,7}|3[0-9]{3}[- ]?[0-9]{6}[- ]?[0-9]{4,5}"
_PASSPORT = r"(?:旅券|パスポート|[Pp]assport)(?:番号|の番号| number| no\.?)?[はが:： 　is]{0,4}([A-Z]{2}[0-9]{7})"
_EMAIL = r"[.%+-]*([A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24})"
_END = "-ー. ("

PERSONAL_DETECTORS: tuple[Detector, ...] = (
    Detector("email", "pii", _EMAIL, _accept_email, group=1),
    Detector("phone", "pii", _PHONE_JP, _accept_phone_jp, trim=_END),
    Detector("phone", "pii", r"\(0[0-9]{1,4}\) ?[0-9]{1,4}[- ]?[0-9]{4}", _accept_phone_jp, trim=_END),
    Detector("phone", "pii", r"\+[0-9]{1,3}[-ー. ]?(?:\(?[0-9]{1,5}\)?[-ー. ]?){2,5}", _accept_phone_abroad, trim=_END),
    Detector("phone", "pii", _PHONE_US, _is_person_number, trim=_END),
    Detector(
        "phone", "pii", r"0[127][0-9]{2,3} [0-9]{3} ?[0-9]{3,4}|020 [0-9]{4} [0-9]{4}", _is_person_number, trim=_END
    ),
    Detector("postal_code", "pii", _POSTAL, _accept_postal_code),
    Detector("postal_code", "pii", r"[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][ABD-HJLNP-UW-Z]{2}", is_separate_word),
    Detector("address", "pii", rf"(?:{_PREFECTURES}){_PLACE}{{1,24}}?(?:{_BLOCK})", _accept_address_jp),
    Detector("address", "pii", _ADDRESS_SHORT, _accept_address_jp),
    Detector("address", "pii", _ADDRESS_EN, is_separate_word),
    Detector("my_number", "pii", r"[0-9]{4}[- ]?[0-9]{4}[- ]?[0-9]{4}", _accept_my_number, trim=_END),
    Detector("card", "pii", _CARD, _accept_card, trim=_END),
    Detector("ssn", "pii", r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}", _accept_ssn),
    Detector("iban", "pii", r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", _accept_iban, trim=_END),
    Detector("bank_account", "pii", r"(?:普通|当座|口座番号)(?:預金|口座)?[はが:： 　]{0,3}([0-9]{7})", group=1),
    Detector("passport", "pii", _PASSPORT, group=1),
    Detector("license", "pii", r"(?:免許証?)(?:番号|の番号)?[はが:： 　]{0,3}([0-9]{12})", group=1),
)

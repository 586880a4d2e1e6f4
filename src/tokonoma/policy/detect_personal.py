"""Detectors of personal data, in Japanese and English texts. Patterns are RE2's; look-around is done here, in code.

They run on a folded text of the same length: full-width letters, digits and signs are ASCII there.
"""

import re

from tokonoma.policy import checks
from tokonoma.policy.detector import Detector, TextRange

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


def _check_email(text: str, start: int, end: int) -> TextRange | None:
    while start < end and text[start] in ".-+%":
        start += 1
    name, _, host = text[start:end].partition("@")
    ending = host.rpartition(".")[2].lower()
    remote = text[end : end + 1] == ":" and text[end + 1 : end + 2] not in ("", " ", "\n")  # git@host:owner/name
    scheme = text[max(0, start - 3) : start] == "://" and text[end : end + 1] in ("/", ":")  # ssh://git@host/…
    if not name or ending in _FILE_SUFFIXES or ".." in host or (remote and name == "git") or scheme:
        return None
    _, inside, before = text[max(0, start - 80) : start].rpartition("://")
    if inside and ":" in before and not any(letter.isspace() for letter in before):
        return None  # the password of a URL has a detector of its own
    return start, end


def _check_phone_jp(text: str, start: int, end: int) -> TextRange | None:
    start, end = _trim_range(text, start, end)
    digits = checks.extract_digits(text[start:end])
    if not checks.is_separate_number(text, start, end) or checks.follows_reference_word(text, start):
        return None
    mobile = len(digits) == 11 and digits[1:3] in ("50", "60", "70", "80", "90")
    free = digits[:4] in ("0120", "0570", "0800", "0990")
    fixed = len(digits) == 10 and digits[1] != "0"
    if not (mobile or free or fixed):
        return None
    bare = digits == text[start:end]
    if bare and not mobile and not checks.follows_word(_PHONE_WORDS, text, start):
        return None  # ten digits in a row are the number of something else far more often
    return start, end


def _check_phone_abroad(text: str, start: int, end: int) -> TextRange | None:
    start, end = _trim_range(text, start, end)
    digits = checks.extract_digits(text[start:end])
    if not 9 <= len(digits) <= 15 or not checks.is_separate_number(text, start, end):
        return None
    return start, end


def _check_phone_us(text: str, start: int, end: int) -> TextRange | None:
    start, end = _trim_range(text, start, end)
    if not checks.is_separate_number(text, start, end) or checks.follows_reference_word(text, start):
        return None
    return start, end


def _check_postal_code(text: str, start: int, end: int) -> TextRange | None:
    """Marked by 〒 or 郵便番号, or followed by a prefecture."""
    marked = not text[start].isdigit()
    alone = checks.is_separate_number(text, end - 8, end)
    if marked or (alone and _STARTS_WITH_PREFECTURE.match(text[end : end + 16])):
        return start, end
    return None


def _check_address_jp(text: str, start: int, end: int) -> TextRange | None:
    return (start, end) if len(checks.extract_digits(text[start:end])) or "丁目" in text[start:end] else None


def _check_my_number(text: str, start: int, end: int) -> TextRange | None:
    start, end = _trim_range(text, start, end)
    digits = checks.extract_digits(text[start:end])
    if not checks.is_my_number(digits) or not checks.is_separate_number(text, start, end):
        return None
    if checks.follows_word(_PERSONAL_NUMBER, text, start, 40):
        return start, end
    return None if checks.follows_reference_word(text, start) or checks.is_timestamp(digits) else (start, end)


def _check_card(text: str, start: int, end: int) -> TextRange | None:
    start, end = _trim_range(text, start, end)
    digits = checks.extract_digits(text[start:end])
    if (
        not 13 <= len(digits) <= 19
        or not checks.is_card_number(digits)
        or not checks.is_separate_number(text, start, end)
    ):
        return None
    return None if checks.follows_reference_word(text, start) or checks.is_timestamp(digits[:14]) else (start, end)


def _check_ssn(text: str, start: int, end: int) -> TextRange | None:
    area, group, serial = text[start:end].replace(" ", "-").split("-")
    given = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    fine = given and checks.is_separate_number(text, start, end) and not checks.follows_reference_word(text, start)
    return (start, end) if fine else None


def _check_iban(text: str, start: int, end: int) -> TextRange | None:
    start, end = _trim_range(text, start, end)
    return (start, end) if checks.is_separate_word(text, start, end) and checks.is_iban(text[start:end]) else None


def _check_word(text: str, start: int, end: int) -> TextRange | None:
    return (start, end) if checks.is_separate_word(text, start, end) else None


def _trim_range(text: str, start: int, end: int) -> TextRange:
    while end > start and text[end - 1] in "-ー. (":
        end -= 1
    return start, end


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

PERSONAL_DETECTORS: tuple[Detector, ...] = (
    Detector("email", "pii", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}", _check_email),
    Detector("phone", "pii", _PHONE_JP, _check_phone_jp),
    Detector("phone", "pii", r"\(0[0-9]{1,4}\) ?[0-9]{1,4}[- ]?[0-9]{4}", _check_phone_jp),
    Detector("phone", "pii", r"\+[0-9]{1,3}[-ー. ]?(?:\(?[0-9]{1,5}\)?[-ー. ]?){2,5}", _check_phone_abroad),
    Detector("phone", "pii", _PHONE_US, _check_phone_us),
    Detector("phone", "pii", r"0[127][0-9]{2,3} [0-9]{3} ?[0-9]{3,4}|020 [0-9]{4} [0-9]{4}", _check_phone_us),
    Detector("postal_code", "pii", _POSTAL, _check_postal_code),
    Detector("postal_code", "pii", r"[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][ABD-HJLNP-UW-Z]{2}", _check_word),
    Detector("address", "pii", rf"(?:{_PREFECTURES}){_PLACE}{{1,24}}?(?:{_BLOCK})", _check_address_jp),
    Detector("address", "pii", _ADDRESS_SHORT, _check_address_jp),
    Detector("address", "pii", _ADDRESS_EN, _check_word),
    Detector("my_number", "pii", r"[0-9]{4}[- ]?[0-9]{4}[- ]?[0-9]{4}", _check_my_number),
    Detector("card", "pii", _CARD, _check_card),
    Detector("ssn", "pii", r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}", _check_ssn),
    Detector("iban", "pii", r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", _check_iban),
    Detector("bank_account", "pii", r"(?:普通|当座|口座番号)(?:預金|口座)?[はが:： 　]{0,3}([0-9]{7})", group=1),
    Detector("passport", "pii", _PASSPORT, group=1),
    Detector("license", "pii", r"(?:免許証?)(?:番号|の番号)?[はが:： 　]{0,3}([0-9]{12})", group=1),
)

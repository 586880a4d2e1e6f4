"""Detectors of postal codes and addresses: Japanese ones, and those with a street."""

import re

from tokonoma.policy.detect_numbers import extract_digits, is_separate_number
from tokonoma.policy.detections import Detector, is_separate_word
from tokonoma.policy.patterns import build_detector

_DASH = r"[-ー]"
_PREFECTURES = (
    "北海道|青森県|岩手県|宮城県|秋田県|山形県|福島県|茨城県|栃木県|群馬県|埼玉県|千葉県|東京都|神奈川県|新潟県|富山県|石川県|福井県"
    "|山梨県|長野県|岐阜県|静岡県|愛知県|三重県|滋賀県|京都府|大阪府|兵庫県|奈良県|和歌山県|鳥取県|島根県|岡山県|広島県|山口県"
    "|徳島県|香川県|愛媛県|高知県|福岡県|佐賀県|長崎県|熊本県|大分県|宮崎県|鹿児島県|沖縄県"
)
_STARTS_WITH_PLACE = re.compile(rf"^[ 　\n]*(?:{_PREFECTURES}|[一-龥々]{{1,6}}[市区郡])")
_PLACE = "[一-龥々ぁ-んァ-ヶー]"
_KANA_CITIES = (
    "さいたま|つくば|つくばみらい|いわき|ひたちなか|つがる|みどり|うるま|むつ|えびの"
    "|にかほ|かほく|あわら|さくら|みよし|うきは|たつの"
)
_COUNT = r"(?:[0-9]{1,4}|[一二三四五六七八九十]{1,3})"
_LOT = (
    rf"[0-9]{{1,4}}(?:{_DASH}[0-9]{{1,4}}){{1,3}}|[0-9]{{1,4}}番地?(?:の?{_COUNT})?(?:号)?"
    rf"|[一二三四五六七八九十]{{1,3}}番(?:地(?:の?{_COUNT})?|{_COUNT}号)"  # 一番町 is a town
)
_IN_BLOCK = rf"(?:{_COUNT}番地?(?:の?{_COUNT})?号?|[0-9]{{1,4}}(?:{_DASH}[0-9]{{1,4}}){{0,2}})"
_BLOCK = rf"(?:{_COUNT}条[東西南北]?)?{_COUNT}丁目{_IN_BLOCK}?|{_LOT}"
_BLOCK_SHORT = (  # without a prefecture, more of the number is needed
    rf"{_COUNT}条[東西南北]?{_COUNT}丁目{_IN_BLOCK}?|{_COUNT}丁目{_IN_BLOCK}|[0-9]{{1,4}}(?:{_DASH}[0-9]{{1,4}}){{1,2}}"
    r"|[0-9]{1,4}番地(?:の?[0-9]{1,4})?|[0-9]{1,4}番[0-9]{1,4}号"
)
_PARTICLES = re.compile("[はがをで、]|から|まで|として|では|には|とは")
_STREETS = (
    "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Way|Place|Pl|Square|Sq|Terrace|Crescent|Parkway"
    "|Pkwy|Close|Grove|Gardens|Mews|Row|Walk|Yard|Highway|Hwy|Trail|Circle|Loop|Alley|Rise|Quay|Hill|Heights"
)
# Words of headings (5 Reasons Why This Way Works), which no street is named by.
_HEADING = re.compile(
    r"(?i)\b(to|why|this|that|the|a|an|about|of|in|into|down|up|with|for|from|your|our|my|how|and|or|one|every|each"
    r"|ways|reasons|steps|things|tips|questions|hours|days|years|minutes|people|habits|rules|best|more|most)\b"
)
_GOES_ON = re.compile(r" (?!Apt|Suite|Unit|Ste|Floor)[A-Z][a-z]")


def _accept_postal_code(text: str, start: int, end: int) -> bool:
    """Marked by 〒 or 郵便番号, or followed by a place."""
    followed = _STARTS_WITH_PLACE.match(text[end : end + 16]) is not None
    return not text[start].isdigit() or (followed and is_separate_number(text, end - 8, end))


def _accept_address_jp(text: str, start: int, end: int) -> bool:
    value, after = text[start:end], text[end : end + 1]
    # A score (東京都は3-1で) or a span of time is no address: it has a town, and no words of a sentence.
    town = any(each in value for each in ("市", "区", "町", "村", "郡", "丁目"))
    said = _PARTICLES.search(value) is not None or (after != "" and after in "時分年月日円回%")
    return town and not said and (extract_digits(value) != "" or "丁目" in value)


def _accept_street(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    name = value.split(",")[0]
    continues = _GOES_ON.match(text[end : end + 3]) is not None and "," not in value
    return is_separate_word(text, start, end) and not _HEADING.search(name) and not continues


_POSTAL = r"〒[ 　]?[0-9]{3}[-ー]?[0-9]{4}|郵便番号[はが:： 　]{0,3}[0-9]{3}[-ー]?[0-9]{4}|[0-9]{3}[-ー][0-9]{4}"
_SHORT = rf"(?:[一-龥々]{{1,6}}|{_KANA_CITIES})[市区郡]{_PLACE}{{1,20}}?(?:{_BLOCK_SHORT})"
_UNIT = r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Floor|#)\.? ?[0-9A-Z]+)?"
_TOWN = r"(?:, [A-Z][A-Za-z .]+,? [A-Z]{2} [0-9]{5}(?:-[0-9]{4})?)?"
_STREET = (
    r"[0-9]{1,5}[A-Za-z]? (?:(?:[NSEW]|North|South|East|West)\.? )?"
    r"(?:[A-Z][A-Za-z'.]+ |[0-9]{1,3}(?:st|nd|rd|th) ){1,3}"
    rf"(?:{_STREETS})\b\.?(?: [0-9]{{1,4}}\b)?{_UNIT}{_TOWN}"
)
_BOX = rf"P\.? ?O\.? Box [0-9]{{1,6}}{_TOWN}"
_STREET_FIRST = (
    r"[0-9]{1,4}(?: ?bis| ?ter)?,? (?:rue|avenue|boulevard|place|chemin|impasse|quai|via|calle|piazza|rua)"
    r" (?:d[eu]s? |de la |de l'|la |le |del |della )?\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?"
)
_STREET_DE = r"\p{Lu}[\p{L}-]{2,30}(?:straße|strasse|str\.|weg|platz|allee|gasse|ufer|damm) [0-9]{1,4}[a-z]?"

_LONG = rf"(?:{_PREFECTURES}){_PLACE}{{1,24}}?(?:{_BLOCK})"
_POSTAL_UK = r"[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][ABD-HJLNP-UW-Z]{2}"
_WAYS = ("rue", "avenue", "boulevard", "place", "chemin", "impasse", "quai", "via", "calle", "piazza", "rua")
_WAYS_DE = ("strasse ", "str. ", "weg ", "platz ", "allee ", "gasse ", "ufer ", "damm ")

ADDRESS_DETECTORS: tuple[Detector, ...] = (
    build_detector("postal_code", "pii", r"[0-9]{3}[-ー]?[0-9]{4}", _POSTAL, _accept_postal_code),
    build_detector("postal_code", "pii", r"[A-Z][0-9][A-Z0-9]? [0-9][A-Z]", _POSTAL_UK, is_separate_word),
    build_detector("address", "pii", ("都", "道", "府", "県"), _LONG, _accept_address_jp),
    build_detector("address", "pii", ("市", "区", "郡"), _SHORT, _accept_address_jp),
    build_detector("address", "pii", "[0-9][A-Za-z]? [A-Z0-9]", _STREET, _accept_street),
    build_detector("address", "pii", (" box ",), _BOX, is_separate_word),
    build_detector("address", "pii", _WAYS, _STREET_FIRST, is_separate_word),
    build_detector("address", "pii", _WAYS_DE, _STREET_DE, is_separate_word),
)

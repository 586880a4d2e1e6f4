"""Secrets that only their name tells: `DB_PASSWORD=…`, `仮パスワード …`, `token: …`, `暗証番号は…`.

The name is searched for. What follows it is read in bounded pieces, and must look like a secret: after a sign such as
`=` less so, after a mere space more so.
"""

import re
from collections.abc import Callable, Iterator

from tokonoma.policy.detect_makers import extend_over_lines, looks_random
from tokonoma.policy.patterns import find_in_text

AcceptValue = Callable[[str, bool], bool]
"""(value, whether only a space or a line break stands before it) → whether it looks like a secret."""

NAMES_OF_PASSWORDS = (
    r"(?i:password|passwd|passphrase|passcode|(?:wpa[23]?|wi-?fi|network)[ -]?key)"
    r"|パスワード|パスフレーズ|パスコード|合言葉"
    r"|(?:^|[^A-Za-z])(?i:pass|pwd|pw|psk)\b|パス|[a-z](?:Pass|Pwd)\b"
)
NAMES_OF_PINS = (
    r"\b(?i:pin(?: ?(?:code|number|no\.?))?)|(?i:(?:pass|door|alarm|gate|entry|lock) ?code|keypad)"
    r"|暗証(?:番号)?|パスコード|解除番号|ロック番号"
)
NAMES_OF_TOKENS = (
    r"(?i:token|secret(?:[_ -]?(?:access[_ -]?)?key)?(?:_base)?|_key)"
    r"|(?i:(?:api|access|auth|encryption|signing|service)[ -]?key)|トークン|シークレット|キー|鍵"
)
_NAME_END = re.compile(
    r"""(?:['’]s)?["'`]?[)\]】〕}]?(?:\([^)\n]{1,12}\))?"""
    r"""(?: (?:for|of|on|at|in|to) [A-Za-z0-9' _.-]{1,40}?(?= (?:is|was|=|->) |:))?"""
)
_FILLER = re.compile(r"[^\n!-~。]{1,14}")  # パスワードなんだけど、…
_STRONG = re.compile(
    r"""[ \t　]{0,4}(?:(?:is now|is|was|(?:[a-z]{2,5} ){0,2}(?:changed|set|reset) to|to|as|-)[ \t]"""
    r"""|は|が|[:=]{1,2}>?|→|->|>)[ \t　]{0,8}(?:\n[ \t]{1,12})?["'`「『“(]?"""
)
_WEAK = re.compile(r"""[ \t　]{1,4}["'`「『“(]?|["'`「『“]""")
_NEXT_LINE = re.compile(r"[^\n]{0,40}\n{1,3}[ \t　]{0,8}([!-~]{6,64})[ \t　]{0,8}(?:\n|$)")
_VALUE = re.compile(r"[!-~]{1,160}")
_CUT = re.compile(r"""["'`<>]|[;&,](?=[A-Za-z_ .]{1,24}[=:])|[,;](?=\s|$)|\\[nrt"]""")
_BEFORE_NAME = re.compile(r"(?:^|[^!-~])([!-~]{8,64})[」』\"'` ]{0,2}[がは][^\n!-~。]{0,6}$")
BESIDE_USER = (
    r"(?i:login|user(?:name)?|account|admin|root|\bid|ログイン|アカウント)(?: ?/ ?(?i:pw|pass|パス)\w{0,5})?"
    r"[:= ]{0,2}[\w.@-]{0,24} ?/ ?([!-~]{6,64})"
)
"""A password beside the name of its user: admin / …"""

_PLACEHOLDER = re.compile(
    r"(?i)[<$%{(\[*]|x+$|\W+$|.*(?:your|example|sample|dummy|changeme|change[-_]me|redacted|masked|filtered|placeholder"
    r"|insert|[-_]here|xxxx|\*\*\*|\.\.\.|\{\{)|(?:my|test(?:ing)?|pass(?:word|wd|phrase)?|secret|token|null|none|nil|true"
    r"|false|undefined|string|admin|root|user|qwerty|foo|bar)[0-9]{0,4}$"
)
_CODE = re.compile(r"[A-Za-z_][\w.]*(?:\(|\[|\.[A-Za-z_]+$|::|->)|\.{0,2}/|https?:|[A-Za-z]:\\|--|\|")
_TECHNICAL = re.compile(
    r"(?i)(?:ed25519|sha[-_]?[0-9]+|aes[-_]?[0-9].*|base(?:32|64)\w*|oauth[0-9.]*|[hre]s(?:256|384|512)|utf[-_]?[0-9]+|md5"
    r"|x\.?509|argon2\w*|pbkdf2\w*|rsa[-_]?[0-9]+|p-?(?:256|384|521)|ipv[46]|[0-9]+(?:[.,:/~-][0-9]+)*[a-z%]{0,5}"
    r"|v?[0-9]+(?:\.[0-9a-z-]+)+|[0-9-]+t[0-9:.]+z?|[a-z]+=\S*)"
)
_MODEL = re.compile(r"(?i)(?:[a-z]{1,7}[0-9]{1,2}|[a-z]+[-./][0-9.]{1,5})")  # Windows11, gpt-4.1
_TOKEN_VALUE = re.compile(r"[A-Za-z0-9._~+/=%:$-]+")


def build_finder(names: str, accept: AcceptValue) -> Callable[[str], Iterator[tuple[int, int]]]:
    def find(text: str) -> Iterator[tuple[int, int]]:
        for _, end in find_in_text(names, text):
            found = _read_value(text, end, accept)
            if found is not None:
                yield found

    return find


def find_told_before(text: str) -> Iterator[tuple[int, int]]:
    """Passwords whose name stands behind them: …がパスワードです."""
    for start, _ in find_in_text("パスワード|トークン|パスコード", text):
        least = max(0, start - 80)
        match = _BEFORE_NAME.search(text[least:start])
        if match is not None and accept_password(match[1], True):
            yield least + match.start(1), least + match.end(1)


def accept_beside_user(text: str, start: int, end: int) -> bool:
    """Without a space it may be a path: user/account2."""
    value = text[start:end]
    mixed = value not in (value.lower(), value.upper()) and any(map(str.isdecimal, value))
    return accept_password(value, True) and (mixed or text[start - 1] == " ")


def _read_value(text: str, at: int, accept: AcceptValue) -> tuple[int, int] | None:
    """The value that follows a name ending at `at`. A name that goes on is another one: password_hash, tokens."""
    if text[at : at + 1].isascii() and (text[at : at + 1].isalnum() or text[at : at + 1] == "_"):
        return None
    name_end = _NAME_END.match(text, at)
    place = name_end.end() if name_end else at
    for pattern, weak in ((_STRONG, False), (_WEAK, True), (_FILLER, True)):
        separator = pattern.match(text, place)
        if separator is not None:
            found = _take_value(text, separator.end(), accept, weak)
            if found is not None:
                return found
    following = _NEXT_LINE.match(text, at)
    return following.span(1) if following is not None and accept(following[1], True) else None


def _take_value(text: str, start: int, accept: AcceptValue, weak: bool) -> tuple[int, int] | None:
    match = _VALUE.match(text, start)
    if match is None:
        return None
    value, quote = match[0], text[start - 1]
    if quote in "\"'`":
        value = value.partition(quote)[0]
    elif cut := _CUT.search(value, 1):
        value = value[: cut.start()]
    value = value.rstrip(".,;:/)]}\\")
    if not accept(value, weak):
        return None
    end = start + len(value)
    return start, extend_over_lines(text, start, end) if len(value) >= 24 else end


def is_placeholder(value: str) -> bool:
    """A filler, an expression of a program, a word, or the name of a technique."""
    return (
        _PLACEHOLDER.match(value) is not None
        or _CODE.match(value) is not None
        or _TECHNICAL.fullmatch(value) is not None
        or len(set(value)) < 4
    )


def accept_password(value: str, weak: bool) -> bool:
    if not 6 <= len(value) <= 128 or (is_placeholder(value) and not (value.isdecimal() and not weak)):
        return False
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdecimal, value))
    signs = any(not each.isalnum() and each not in "-_.:/" for each in value)
    if weak:  # in programs, `pass` stands before @property and before quoted words
        return letters and digits and len(value) >= 8 and value[0] not in "@`\"'" and not _MODEL.fullmatch(value)
    return (letters and (digits or signs)) or (value.isdecimal() and len(set(value)) > 2)


def accept_pin(value: str, weak: bool) -> bool:
    del weak
    return 4 <= len(value) <= 10 and value.rstrip("#*").isdecimal()


def accept_token(value: str, weak: bool) -> bool:
    digits = sum(map(str.isdecimal, value))
    least = 3 if weak else 1
    return (
        16 <= len(value) <= 160
        and _TOKEN_VALUE.fullmatch(value) is not None
        and least <= digits < len(value)
        and any(map(str.isalpha, value))
        and looks_random(value)
        and not is_placeholder(value)
    )

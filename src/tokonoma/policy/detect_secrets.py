"""Detectors of secrets: keys of known makers, private keys, and secrets as people and programs note them."""

import re
from collections.abc import Iterator

from tokonoma.policy.detect_makers import MAKER_DETECTORS, looks_random
from tokonoma.policy.detections import Detector, MatchFinder
from tokonoma.policy.named_secrets import (
    BESIDE_USER,
    NAMES_OF_PASSWORDS,
    NAMES_OF_PINS,
    NAMES_OF_TOKENS,
    accept_beside_user,
    accept_password,
    accept_pin,
    accept_token,
    build_finder,
    find_told_before,
    is_placeholder,
)
from tokonoma.policy.patterns import build_detector, find_in_text
from tokonoma.policy.private_keys import find_private_keys
from tokonoma.policy.seed_phrases import find_seed_phrases

_URL_SAFE = "[A-Za-z0-9_-]"
_AWS_KEY = r"(?i:secret_?access_?key|aws_?secret)[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9/+=]{40})"
_AZURE_KEY = r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})"
_IN_URL = r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>]{3,128})@"
_AUTHORIZATION = r"(?i:(?:bearer|basic|token) +|authorization[\"']?[:=] ?[\"']?)([A-Za-z0-9._~+/=-]{16,})"
_COOKIE = (
    r"(?i:sess(?:ion)?(?:[_-]?id)?|phpsessid|jsessionid|sid|auth|[_-]token|remember(?:[_-]\w+)?|セッション(?:id)?|csrf\w{0,12}|xsrf\w{0,12})"
    r"[\"']?[=:] ?[\"']?([A-Za-z0-9%._~+/=-]{16,})"
)
_COMMANDS = {
    "curl": r"curl\b[^\n]{0,120}? (?:-u|--user)[ =]?[\"']?[\w.@-]{1,40}:([!-~]{4,64})",
    "mysql": r"mysql\w*\b[^\n|;]{0,80}? -p([!-~]{6,64})",
    "sshpass": r"sshpass -p ?[\"']?([!-~]{6,64})",
    "docker login": r"docker login\b[^\n]{0,80}? -p ?[\"']?([!-~]{6,64})",
    "sudo -s": r"echo [\"']?([!-~]{6,64}?)[\"']? ?\| ?sudo -S",
}
_CODE_NAMES = (
    r"(?i:(?:recovery|backup|restore|scratch)[ -]?(?:codes?|keys?))"
    r"|(?:リカバリー|バックアップ|復旧|復元|予備)(?:用の?)?(?:コード|キー)"
)
_CODE = re.compile(r"[A-Za-z0-9]{3,8}(?:[- ][A-Za-z0-9]{3,8}){1,5}|[A-Za-z0-9]{8,16}")
_BETWEEN_CODES = re.compile(r"[\s,、・*-]{1,6}(?:[0-9]{1,2}[.):] ?)?")


def find_recovery_codes(text: str) -> Iterator[tuple[int, int]]:
    """Groups of equal length with digits in them, soon after a word for such codes; and those that follow."""
    for _, name in find_in_text(_CODE_NAMES, text):
        limit = min(len(text), name + 1000)
        at = next((each for each in range(name, min(limit, name + 16)) if _read_code(text, each)), limit)
        while end := _read_code(text, at):
            yield at, end
            gap = _BETWEEN_CODES.match(text, end, limit)
            if gap is None:
                break
            at = gap.end()


def _read_code(text: str, at: int) -> int:
    """Where a code that starts here ends; 0 if none does."""
    match = _CODE.match(text, at)
    if match is None or (at and text[at - 1].isascii() and text[at - 1].isalnum()):
        return 0
    value, end = match[0], match.end()
    if text[end : end + 1].isascii() and text[end : end + 1].isalnum():
        return 0
    groups = re.split("[- ]", value)
    if any(len(each) != len(groups[0]) for each in groups):  # words may follow it: 4829 1173 now
        groups = [each for each in groups if len(each) == len(groups[0])][:2]
        value = value[: len(groups[0]) * 2 + 1] if len(groups) == 2 else ""
    digits = sum(map(str.isdecimal, value))
    single = len(groups) == 1 and (digits < 2 or digits == len(value))
    return 0 if len(value) < 8 or digits < 2 or single else at + len(value)


def _accept_random(text: str, start: int, end: int) -> bool:
    return looks_random(text[start:end], 12)


def _accept_url_password(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return not is_placeholder(value) and any(not each.isalpha() for each in value)


def _accept_header(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return (
        not value.startswith("eyJ")
        and any(map(str.isdecimal, value))
        and looks_random(value)
        and not is_placeholder(value)
    )


def _accept_command(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return any(map(str.isdecimal, value)) and not is_placeholder(value)


_TRIM = ".,;:/)]}\"'`"
_KEY_WORDS = ("secret", "accesskey", "access_key")
_HEADER_WORDS = ("bearer", "basic", "token", "authorization")
_COOKIE_WORDS = ("sess", "sid", "auth", "token", "remember", "セッション", "csrf", "xsrf")
_PASSWORD_WORDS = ("pass", "pwd", "pw", "psk", "パス", "合言葉", "key")
_PIN_WORDS = ("pin", "code", "keypad", "暗証", "パスコード", "解除番号", "ロック番号")
_TOKEN_WORDS = ("token", "secret", "key", "トークン", "シークレット", "キー", "鍵")
_CODE_WORDS = ("recovery", "backup", "restore", "scratch", "コード", "キー")
_JWT = rf"eyJ{_URL_SAFE}{{8,}}\.eyJ{_URL_SAFE}{{8,}}\.{_URL_SAFE}{{0,}}"


def _search(kind: str, words: tuple[str, ...], find: MatchFinder) -> Detector:
    return Detector(kind, "secret", "", find=find, words=words)


SECRET_DETECTORS: tuple[Detector, ...] = (
    *MAKER_DETECTORS,
    build_detector("aws_secret_key", "secret", _KEY_WORDS, _AWS_KEY, _accept_random, group=1),
    build_detector("azure_key", "secret", ("accesskey=", "accountkey="), _AZURE_KEY, _accept_random, group=1),
    build_detector("jwt", "secret", ("eyj",), _JWT),
    build_detector("url_password", "secret", ("://",), _IN_URL, _accept_url_password, group=1, trim=_TRIM),
    build_detector("bearer_token", "secret", _HEADER_WORDS, _AUTHORIZATION, _accept_header, group=1, trim=_TRIM),
    build_detector("cookie", "secret", _COOKIE_WORDS, _COOKIE, _accept_header, group=1, trim=_TRIM),
    *(
        build_detector("password", "secret", (word,), pattern, _accept_command, group=1, trim=_TRIM)
        for word, pattern in _COMMANDS.items()
    ),
    _search("private_key", ("private key", "private-lines:"), find_private_keys),
    _search("seed_phrase", (" ", "\n"), find_seed_phrases),
    _search("recovery_code", _CODE_WORDS, find_recovery_codes),
    _search("password", _PASSWORD_WORDS, build_finder(NAMES_OF_PASSWORDS, accept_password)),
    _search("password", ("パス", "トークン"), find_told_before),
    build_detector("password", "secret", ("/",), BESIDE_USER, accept_beside_user, group=1, trim=_TRIM),
    _search("password", _PIN_WORDS, build_finder(NAMES_OF_PINS, accept_pin)),
    _search("api_key", _TOKEN_WORDS, build_finder(NAMES_OF_TOKENS, accept_token)),
)

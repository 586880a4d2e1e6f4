"""E-mail addresses, in any script and under any top-level domain: each `@` is looked at from both sides."""

import re
from collections.abc import Iterator

from tokonoma.policy.patterns import find_in_text

# What ends the name of a file. Some are countries too: there, only a size such as 2x makes it a file.
_FILE_SUFFIXES = frozenset((
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "js", "ts", "jsx", "tsx", "css", "json", "html", "htm",
    "txt", "yml", "yaml", "toml", "xml", "csv", "pdf", "service", "socket", "target", "timer", "mount", "gz", "whl",
    "tar", "tgz", "log", "exe", "dll", "conf", "ini", "sql", "bak", "tmp", "lock", "go", "rb", "java", "cpp", "php",
))  # fmt: skip
_COUNTRY_SUFFIXES = frozenset(("py", "rs", "md", "sh", "zip", "pl", "so", "ps", "cc", "mov"))
_SIZE = re.compile(r"[0-9.]+x?")
_HOST = re.compile(
    r"(?:(?:[^\W_]|-){1,63}\.){1,8}"
    r"(?:xn--[A-Za-z0-9-]{2,40}|[A-Za-z]{2,24}|[一-龥々ァ-ヶー]{1,12}|[а-яё]{2,12}|[가-힣]{1,12}|[ء-ي]{2,12}|[α-ω]{2,12})"
)
# A name is in one script: in 連絡はx@… and 連絡先info@… it begins after the Japanese words.
_SCRIPTS = (
    re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ0-9._%+'-]"),
    re.compile("[一-龥々ァ-ヶー・]"),
    re.compile("[ぁ-ん]"),
    re.compile("[Ѐ-ӿ0-9._-]"),
    re.compile("[가-힣0-9._-]"),
)
_LONGEST_NAME = 64


def find_emails(text: str) -> Iterator[tuple[int, int]]:
    least = 0
    for at, _ in find_in_text("@", text):
        host = _HOST.match(text, at + 1, at + 256)
        if host is not None:
            start = _find_name(text, at, least)
            if start < at and _is_address(text, start, at, host.end()):
                yield start, host.end()
                least = host.end()


def _find_name(text: str, at: int, least: int) -> int:
    script = next((each for each in _SCRIPTS if at > least and each.match(text, at - 1)), None)
    start, least = at, max(least, at - _LONGEST_NAME)
    while script is not None and start > least and script.match(text, start - 1):
        start -= 1
    while start < at and text[start] in ".%+'-・":
        start += 1
    return start


def _is_address(text: str, start: int, at: int, end: int) -> bool:
    name, place, ending = text[start:at], *text[at + 1 : end].lower().rsplit(".", 1)
    is_file = ending in _FILE_SUFFIXES or (ending in _COUNTRY_SUFFIXES and _SIZE.fullmatch(place) is not None)
    remote = text[end : end + 1] == ":" and text[end + 1 : end + 2] not in ("", " ", "\n")  # git@host:owner/name
    scheme = text[max(0, start - 3) : start] == "://" and text[end : end + 1] in ("/", ":")  # ssh://git@host/…
    if is_file or (remote and name == "git") or scheme:
        return False
    _, inside, before = text[max(0, start - 80) : start].rpartition("://")
    # The password of a URL has a detector of its own.
    return not (inside and ":" in before and not any(letter.isspace() for letter in before))

"""Detectors of secrets: keys and tokens of known vendors, private keys, passwords."""

import re
from collections.abc import Iterator

from tokonoma.policy.detections import Detector, is_separate_word

_URL_SAFE = "[A-Za-z0-9_-]"
_AWS_KEY = r"(?i:secret_?access_?key|aws_?secret)[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9/+=]{40})"
_AZURE_KEY = r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})"
_PLACEHOLDER = re.compile(
    r"(?i)^(x+|\*+|\.+|-+|_+|<.*>?|\$.*|%.*|\{.*|.*\{\{.*|your.*|my[-_]?.*|example.*|sample.*|dummy.*|test"
    r"|pass(word|wd|phrase)?"
    r"|secret|token|changeme|change[-_]me|redacted|placeholder|null|none|true|false|undefined|\[.*\]?)$"
)


def looks_random(text: str, least: int = 8) -> bool:
    """Whether it could be a key: enough different characters, and no filler such as xxxx or 1234567890."""
    body = text.lower()
    return len(set(body)) >= least and "xxxx" not in body and "...." not in body and "example" not in body


def looks_like_password(text: str, size: int) -> bool:
    """Whether it is hard to guess: long enough, letters with digits or signs, no placeholder."""
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


def _vendor_detector(kind: str, prefix: str, body: str) -> Detector:
    size = len(prefix.replace("\\", "").replace("(?:", "").replace(")", "").split("|")[0])

    def check(text: str, start: int, end: int) -> bool:
        return is_separate_word(text, start, end) and looks_random(text[start + size : end])

    return Detector(kind, "secret", prefix + body, check)


def _random_detector(kind: str, pattern: str) -> Detector:
    return Detector(kind, "secret", pattern, lambda text, start, end: looks_random(text[start:end], 12), group=1)


def _password_detector(kind: str, pattern: str, size: int) -> Detector:
    def check(text: str, start: int, end: int) -> bool:
        return looks_like_password(text[start:end], size)

    return Detector(kind, "secret", pattern, check, group=1, trim=".,;:/)]}、。」』）")


VENDOR_DETECTORS: tuple[Detector, ...] = (
    _vendor_detector("anthropic_key", "sk-ant-", rf"{_URL_SAFE}{{24,}}"),
    _vendor_detector("openai_key", "sk-", rf"(?:proj|svcacct|admin|None)-{_URL_SAFE}{{24,}}|sk-[A-Za-z0-9]{{32,}}"),
    _vendor_detector("openrouter_key", "sk-or-", rf"{_URL_SAFE}{{24,}}"),
    _vendor_detector("github_token", "(?:ghp|gho|ghu|ghs|ghr)_", "[A-Za-z0-9]{30,}"),
    _vendor_detector("github_token", "github_pat_", "[A-Za-z0-9_]{40,}"),
    _vendor_detector("gitlab_token", "(?:glpat|gldt|glrt|glcbt|glptt)-", rf"{_URL_SAFE}{{20,}}"),
    _vendor_detector("slack_token", "xox[abeoprs]-", "[A-Za-z0-9-]{20,}"),
    _vendor_detector("slack_token", "xapp-", "[0-9]-[A-Za-z0-9-]{20,}"),
    _vendor_detector("slack_webhook", r"hooks\.slack\.com/services/", "T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,}"),
    _vendor_detector("aws_access_key", "(?:AKIA|ASIA|ABIA|ACCA)", "[A-Z0-9]{16}"),
    _random_detector("aws_secret_key", _AWS_KEY),
    _vendor_detector("google_api_key", "AIza", rf"{_URL_SAFE}{{35}}"),
    _vendor_detector("google_oauth_secret", "GOCSPX-", rf"{_URL_SAFE}{{20,}}"),
    _vendor_detector("stripe_key", "(?:sk|rk)_(?:live|test)_", "[A-Za-z0-9]{16,}"),
    _vendor_detector("stripe_webhook_secret", "whsec_", "[A-Za-z0-9+/=]{24,}"),
    _vendor_detector("sendgrid_key", r"SG\.", rf"{_URL_SAFE}{{16,}}\.{_URL_SAFE}{{16,}}"),
    _vendor_detector("twilio_key", "SK", "[0-9a-f]{32}"),
    _vendor_detector("mailgun_key", "key-", "[0-9a-z]{32}"),
    _vendor_detector("npm_token", "npm_", "[A-Za-z0-9]{36}"),
    _vendor_detector("pypi_token", "pypi-", rf"AgE{_URL_SAFE}{{40,}}"),
    _vendor_detector("huggingface_token", "hf_", "[A-Za-z0-9]{30,}"),
    _vendor_detector("notion_token", "(?:secret_|ntn_)", "[A-Za-z0-9]{40,}"),
    _vendor_detector("linear_key", "lin_api_", "[A-Za-z0-9]{32,}"),
    _vendor_detector("atlassian_token", "ATATT3", r"[A-Za-z0-9_=+/-]{40,}"),
    _vendor_detector("databricks_token", "dapi", "[0-9a-f]{32}"),
    _vendor_detector("digitalocean_token", "do[opr]_v1_", "[0-9a-f]{48,}"),
    _vendor_detector("docker_token", "dckr_pat_", rf"{_URL_SAFE}{{20,}}"),
    _vendor_detector("shopify_token", "shp(?:at|ca|pa|ss)_", "[0-9a-fA-F]{32}"),
    _vendor_detector("groq_key", "gsk_", "[A-Za-z0-9]{40,}"),
    _vendor_detector("xai_key", "xai-", "[A-Za-z0-9]{40,}"),
    _vendor_detector("perplexity_key", "pplx-", "[A-Za-z0-9]{40,}"),
    _vendor_detector("replicate_token", "r8_", "[A-Za-z0-9]{30,}"),
    _vendor_detector("supabase_token", "sb(?:p|_secret)_", "[A-Za-z0-9_]{20,}"),
    _vendor_detector("telegram_token", "", rf"[0-9]{{8,10}}:AA{_URL_SAFE}{{33}}"),
    _vendor_detector("tokonoma_key", "tkn_", rf"[0-9a-f]{{12}}_{_URL_SAFE}{{43}}"),
    _random_detector("azure_key", _AZURE_KEY),
)

_IS = r"[\"'」]?\s{0,2}(?:[:=：]|は|が| is )\s{0,2}[\"'「『`]?"
_WORDS = r"(?i:pass(?:word|wd|phrase)|pwd|パスワード|暗証番号|合言葉)"
_NAMED = (
    r"(?i:api[_-]?key|apikey|secret[_-]?key|client[_-]?secret|access[_-]?token|auth[_-]?token|APIキー|アクセストークン)"
)
_PEM = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[A-Za-z0-9+/=:,. \t\r\n\\-]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)"
)
_IN_URL = r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>]{3,128})@"

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_PEM_STOP = re.compile(r"[^A-Za-z0-9+/=:,. \t\r\n\\-]")  # what ends a key that has an end
_PEM_CUT = re.compile(r"[^A-Za-z0-9+/=\t\n\f\r \\]")  # what ends a key that has none


def find_private_keys(text: str) -> Iterator[tuple[int, int]]:
    """The matches of `_PEM`. For every beginning RE2 would look for the end again, through the whole text."""
    at, end, stop = 0, _PEM_END.search(text), -1
    while begin := _PEM_BEGIN.search(text, at):
        while end is not None and end.start() < begin.end():
            end = _PEM_END.search(text, end.start() + 1)
        if stop < begin.end():
            found = _PEM_STOP.search(text, begin.end())
            stop = found.start() if found else len(text)
        if end is not None and end.start() <= stop:
            at = end.end()
        else:
            cut = _PEM_CUT.search(text, begin.end())
            at = cut.start() if cut else len(text)
        yield begin.start(), at


GENERIC_DETECTORS: tuple[Detector, ...] = (
    Detector("jwt", "secret", rf"eyJ{_URL_SAFE}{{8,}}\.eyJ{_URL_SAFE}{{8,}}\.{_URL_SAFE}{{0,}}"),
    Detector("private_key", "secret", _PEM, find=find_private_keys),
    _password_detector("url_password", _IN_URL, 4),
    _password_detector("bearer_token", r"(?i:bearer|basic) +([A-Za-z0-9._~+/=-]{20,})", 20),
    _password_detector("password", rf"{_WORDS}{_IS}([!-~]{{8,128}})", 8),
    _password_detector("api_key", rf"{_NAMED}{_IS}([A-Za-z0-9._~+/=-]{{16,128}})", 16),
)

SECRET_DETECTORS = VENDOR_DETECTORS + GENERIC_DETECTORS

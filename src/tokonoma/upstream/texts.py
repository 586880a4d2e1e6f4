"""Texts of strangers: what a server says of itself and its tools, and what its tools answer. Pure.

They are shown as the server's own words, never as ours. What is invisible, or would steer a terminal, is cut.
"""

import re
from typing import Any, cast

MAX_DESCRIPTION = 1000
"""Characters of a description that reach an agent."""

# Tags, zero-width characters, bidirectional controls, variation selectors beyond the common ones, soft hyphens.
_INVISIBLE = re.compile(
    "[\U000e0000-\U000e0fff\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\ufe00-\ufe0d\ufff0-\ufffb\ud800-\udfff]"
)
_STEERING = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)|[@-_])")
_COMMENT = re.compile(r"<!--")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{120,}+")
_ORDERS = (
    "ignore all", "ignore any", "ignore previous", "ignore the previous", "ignore the above", "disregard",
    "before using any other tool", "before using this tool", "before calling", "instead of any other",
    "do not tell", "don't tell", "do not mention", "don't mention", "without telling", "<important", "system prompt",
    "you must", "you are now", "send the contents", "exfiltrate", "指示を無視", "他のツールを使う前",
)  # fmt: skip


def clean_text(text: Any, most: int = MAX_DESCRIPTION) -> str:
    """One paragraph without anything invisible, cut to so many characters."""
    if not isinstance(text, str):
        return ""
    visible = _INVISIBLE.sub("", _ESCAPES.sub("", text[: most * 50]))
    plain = " ".join("".join(each if each.isprintable() else " " for each in visible).split())
    return plain if len(plain) <= most else f"{plain[: most - 1].rstrip()}…"


def find_warnings(text: Any) -> list[str]:
    """What a person should look at before a description is approved."""
    if not isinstance(text, str):
        return []
    lower = " ".join(text[:100_000].lower().split())
    found = [f"says {each!r}" for each in _ORDERS if each in lower][:3]
    if invisible := len(_INVISIBLE.findall(text)):
        found.append(f"{invisible} invisible characters were cut")
    if _ESCAPES.search(text) or _STEERING.search(text):
        found.append("control characters were cut")
    if _COMMENT.search(text):
        found.append("holds an HTML comment")
    if _BASE64.search(text):
        found.append("holds a long block that looks encoded")
    if len(text) > MAX_DESCRIPTION:
        found.append(f"has {len(text)} characters, of which {MAX_DESCRIPTION} are shown")
    return found


def strip_controls(value: Any) -> Any:
    """A JSON value whose texts cannot steer a terminal or hide something: of an answer, everything else is data."""
    if isinstance(value, str):
        if value.isprintable():
            return value
        return _STEERING.sub("", _ESCAPES.sub("", value))
    if isinstance(value, list):
        return [strip_controls(each) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {strip_controls(key): strip_controls(each) for key, each in cast("dict[str, Any]", value).items()}
    return value

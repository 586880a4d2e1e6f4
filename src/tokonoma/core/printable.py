"""Stored text that a person is shown: what would steer a terminal becomes visible. Pure.

Escape sequences can rewrite the screen, set the title or fill the clipboard; a carriage return overwrites the line; and
bidirectional controls show text in another order than it has.
"""

import re
import unicodedata

# DEL and the C1 controls, line and paragraph separators, embeddings, overrides and isolates, halves of surrogate pairs.
_HIDDEN = r"\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_STEERING = re.compile(rf"[\x00-\x08\x0b-\x1f{_HIDDEN}]")
_STEERING_OR_BREAK = re.compile(rf"[\x00-\x1f{_HIDDEN}]")
_HIDDEN_IN_JSON = re.compile(f"[{_HIDDEN}]")  # JSON escapes the others itself
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escape_controls(text: str) -> str:
    """The text with `\\x1b` for an escape character, and so on; line breaks and tabs stay."""
    return _STEERING.sub(_escape, text)


def escape_line(text: str) -> str:
    """The same on one line: a title or a path must not look like two lines."""
    return _STEERING_OR_BREAK.sub(_escape, text)


def escape_json(text: str) -> str:
    """JSON text with the same value, in which nothing steers a terminal."""
    return _HIDDEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def measure_width(text: str) -> int:
    """The columns that a text takes at a terminal: two for a full-width letter, none for a combining one."""
    return sum(0 if unicodedata.combining(letter) else _measure_letter(letter) for letter in text)


def shorten(text: str, width: int) -> str:
    """A text on one line, cut to so many columns. Spaces are joined first."""
    text = " ".join(text.split())
    if measure_width(text) <= width:
        return text
    left, end = width - 1, 0  # one for the ellipsis
    while end < len(text) and (left := left - measure_width(text[end])) >= 0:
        end += 1
    return f"{text[:end].rstrip()}…"


def fold(text: str, width: int) -> list[str]:
    """A text on lines of at most so many columns, broken after a space where there is one."""
    lines: list[str] = []
    while measure_width(text) > width:
        end, left = 0, width
        while end < len(text) and (left := left - measure_width(text[end])) >= 0:
            end += 1
        end = max(end, 1)
        end = text.rfind(" ", 1, end + 1) + 1 or end
        lines.append(text[:end].rstrip())
        text = text[end:]
    return [*lines, text]


def _measure_letter(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _escape(found: re.Match[str]) -> str:
    letter = found[0]
    return _SHORT.get(letter) or (f"\\x{ord(letter):02x}" if letter < "\u0100" else f"\\u{ord(letter):04x}")


def pluralize(number: int, noun: str) -> str:
    """1 file, 2 files."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

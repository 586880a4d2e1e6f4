"""What differs from run to run is replaced: ids, times, scores, places. What is the same stays the same.

An id becomes `<id:3>`, numbered by first appearance, so that who refers to whom is still told. Numbers of JSON are
kept as they were written: `1.0` and `1` are two answers.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

_NUMBER = "\0"  # marks a text that was a number with a fraction
_WRITTEN = re.compile(r'"\\u0000([^"\\]*)\\u0000"')

_NAMED = {
    **dict.fromkeys(("cursor", "next_cursor", "nextCursor"), "cursor"),
    # In sequences of their own: every answer has new ones, so a single one more would number all other ids anew.
    "request_id": "request",
    "trace_id": "trace",
}
_SCORES = {"score", "similarity"}
_PARTS_OF_SCORES = {"scores", "score_details"}
_FIGURES = {
    *("duration_us", "bytes_in", "bytes_out", "database_bytes", "journal_entries"),
    *("retry_after", "reset", "retry-after", "x-ratelimit-reset"),  # also as headers
}
_TIME = r"20(?:2[5-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
_DAY = re.compile(r"20(?:2[5-9]|[3-9]\d)-\d\d-\d\d")
_VARYING = re.compile(
    rf"(?P<time>{_TIME})"
    r"|(?P<key>tkn_[0-9a-f]{12}_[\w-]{43})"
    r"|(?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9A-Za-z])[0-9a-f]{12,64}(?![0-9A-Za-z]))"
    r"|(?P<free>\d+(?= MiB free))|(?P<wait>(?<=Try again in )\d+)"
    r"|(?P<version>(?<=^tokonoma )\d+\.\d+\.\d+$)"
    r"|(?P<port>(?<=127\.0\.0\.1:)\d+)"
)


def read(text: str | bytes) -> Any:
    """JSON whose numbers with fractions can be written again as they were; ValueError if it is none."""
    return json.loads(text, parse_float=lambda written: f"{_NUMBER}{written}{_NUMBER}")


def write(value: Any, **options: Any) -> str:
    """The inverse of `read`."""
    return _WRITTEN.sub(r"\1", json.dumps(value, ensure_ascii=False, **options))


def compact(value: Any) -> str:
    return write(value, separators=(",", ":"))


class Normaliser:
    """One a scenario: it remembers the ids that it has met. `places`: texts of this machine, and their names."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = sorted(places.items(), key=lambda each: -len(each[0]))
        self._met: dict[str, dict[str, int]] = {}

    def message(self, raw: str) -> Any:
        """One JSON document as the server wrote it; as a text if it was not written the usual, compact way."""
        try:
            told = read(raw)
        except ValueError:
            return self.text(raw)
        if compact(told) != raw:
            return {"written": self.text(raw)}
        return self.value(_with_text_read(told))

    def value(self, value: Any, key: str = "", scored: bool = False) -> Any:
        if isinstance(value, dict):
            return self._object(value, scored)
        if isinstance(value, list):
            # A section in a list of sections: its first line, its title, its score.
            return [self.value(each, key, scored or key == "sections") for each in value]
        if key in _FIGURES and value is not None:
            return f"<{key}>"
        if isinstance(value, str) and value.startswith(_NUMBER):
            return "<score>" if scored or key in _SCORES else value
        if isinstance(value, int) and not isinstance(value, bool) and key in _SCORES:
            return "<score>"
        if isinstance(value, str):
            if key == "date" and _DAY.fullmatch(value):
                return "<day>"
            return self._numbered(_NAMED[key], value) if key in _NAMED else self.text(value)
        return value

    def text(self, text: str) -> str:
        for found, name in self._places:
            text = text.replace(found, name)
        return _VARYING.sub(self._replaced, text)

    def _object(self, told: dict[str, Any], scored: bool) -> dict[str, Any]:
        told = _nameless(told)
        return {
            self.text(name): self.value(value, name, scored or name in _PARTS_OF_SCORES) for name, value in told.items()
        }

    def _replaced(self, match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        return self._numbered(kind, match.group()) if kind in ("id", "key") else f"<{kind}>"

    def _numbered(self, kind: str, value: str) -> str:
        met = self._met.setdefault(kind, {})
        return f"<{kind}:{met.setdefault(value, len(met) + 1)}>"


def _nameless(told: dict[str, Any]) -> dict[str, Any]:
    """Without the release, and without the database that it runs on: one recording is for both."""
    if {"name", "title", "version"} == told.keys() or "started_at" in told:
        told = {**told, "version": "<version>"}
    if isinstance(places := told.get("places"), dict):
        told = {**told, "places": {**places, "database": "<database>"}}
    if isinstance(health := told.get("health"), dict) and "database" in health:
        told = {**told, "health": {**health, "database": {**health["database"], "says": "<database>"}}}
    return told


def _with_text_read(told: Any) -> Any:
    """The text of a tool's answer is JSON once more: shown as such, or said to be what stands beside it."""
    result = told.get("result") if isinstance(told, dict) else None
    if not isinstance(result, dict):
        return told
    for block in result.get("content", []):
        try:
            inner = read(block["text"])
        except (ValueError, KeyError):
            continue
        if compact(inner) == block["text"]:
            twin = "structuredContent" in result and compact(result["structuredContent"]) == block["text"]
            block["text"] = "<as structuredContent>" if twin else {"json": inner}
    return told

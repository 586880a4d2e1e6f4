"""Detectors of keys that their makers give a form of their own. The table is `makers.txt`."""

import re
from collections.abc import Iterator
from importlib.resources import files

from tokonoma.policy.detections import Detector, is_separate_word
from tokonoma.policy.patterns import find_in_text

_CONTINUED = re.compile(r"\\?\r?\n[ \t]*([A-Za-z0-9_/+=.-]{8,})[ \t]*(?=\r?\n|$)")


def looks_random(text: str, least: int = 8) -> bool:
    """Whether it could be a key: enough different characters, and no filler such as xxxx or example."""
    body = text.lower()
    return len(set(body)) >= least and "xxxx" not in body and "...." not in body and "example" not in body


def is_key(text: str, start: int, end: int) -> bool:
    # Many makers begin with a readable word: its end has to be random.
    tail = text[max(start, end - 20) : end]
    return is_separate_word(text, start, end) and looks_random(text[start:end]) and looks_random(tail, 7)


def extend_over_lines(text: str, start: int, end: int) -> int:
    """Where a key ends that is broken over lines: at the end of the next lines that are like it."""
    while end - start < 4000:
        following = _CONTINUED.match(text, end, end + 400)
        if following is None or not looks_random(following[1]) or not any(map(str.isdigit, following[1])):
            break
        end = following.end(1)
    return end


def _build_detector(kind: str, words: str, pattern: str) -> Detector:
    def find(text: str) -> Iterator[tuple[int, int]]:
        for start, end in find_in_text(pattern, text):
            if is_key(text, start, end):
                yield start, extend_over_lines(text, start, end)

    return Detector(kind, "secret", pattern, find=find, words=tuple(words.split("|")))


def _load_detectors() -> Iterator[Detector]:
    table = (files("tokonoma.policy") / "makers.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        if line and not line.startswith("#"):
            yield _build_detector(*line.split(" ", 2))


MAKER_DETECTORS = tuple(_load_detectors())

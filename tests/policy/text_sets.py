"""The texts of `tests/policy/texts`: four files, a text in each line, written before the detectors were tuned.

`= chat` begins a group of one style; `= chat about` one of harmless texts about secrets. `⟦kind:value⟧` marks what must
be found, `⟦kind⟧` a value that is generated here, `⟨kind⟩` a generated value that is harmless; `\\n` ends a line.
"""

import hashlib
import random
import re
import string
import uuid
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from policy import generated

from tokonoma.policy.detections import Detection

FOLDER = Path(__file__).parent / "texts"
LANGUAGES = ("ja", "en")
_MARK = re.compile(r"⟦(\w+)(?::([^⟧]*))?⟧|⟨(\w+)(?::(\d+))?⟩")
_PART = re.compile(r"\{(\w+)\*(\d+)\}")
_ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "lo": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "al": string.ascii_letters,
    "hex": "0123456789abcdef",
    "dig": string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "base32": string.ascii_uppercase + "234567",
}
PERSONAL = frozenset((
    "email", "phone", "postal_code", "address", "my_number", "card", "ssn", "iban", "bank_account", "passport",
    "license",
))  # fmt: skip


class Mark(NamedTuple):
    kind: str
    start: int
    end: int


class LabelledText(NamedTuple):
    text: str
    marks: tuple[Mark, ...]
    style: str
    about: bool  # about secrets
    held_out: bool


@cache
def load_texts(name: str) -> tuple[LabelledText, ...]:
    """`name` is `ja_sensitive`, `en_harmless`, …"""
    texts: list[LabelledText] = []
    style: list[str] = []
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            style = line.split()[1:]
        elif line.strip():
            texts.append(_read_line(line, style[0], "about" in style))
    return tuple(texts)


def _read_line(line: str, style: str, about: bool) -> LabelledText:
    number = zlib.crc32(line.encode())
    rng, parts, marks, place, size = random.Random(number), list[str](), list[Mark](), 0, 0
    for match in _MARK.finditer(line):
        kind, value, harmless, count = match.groups()
        before = line[place : match.start()].replace("\\n", "\n")
        made = value or (make_harmless(rng, harmless, int(count or 0)) if harmless else make_value(rng, kind))
        size += len(before)
        if kind:
            marks.append(Mark(kind, size, size + len(made)))
        size += len(made)
        parts += (before, made)
        place = match.end()
    text = "".join((*parts, line[place:].replace("\\n", "\n")))
    # The rule by which the set is split: it depends on nothing but the line.
    return LabelledText(text, tuple(marks), style, about, held_out=number % 2 == 1)


@cache
def load_makers() -> dict[str, tuple[str, ...]]:
    """The shapes of each kind."""
    lines = (FOLDER / "makers.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    return {kind: tuple(shape for other, shape in pairs if other == kind) for kind, _ in pairs}


def make_key(rng: random.Random, shape: str) -> str:
    return _PART.sub(lambda part: "".join(rng.choices(_ALPHABETS[part[1]], k=int(part[2]))), shape)


def make_value(rng: random.Random, kind: str) -> str:
    if kind in ("card", "my_number", "iban", "jwt"):
        return generated.KINDS[kind][0](rng)
    if kind in ("seed_phrase", "private_key"):
        return make_seed_phrase(rng) if kind == "seed_phrase" else make_private_key(rng)
    if kind in ("aws_secret_key", "azure_key"):
        return make_key(rng, "{b64*40}" if kind == "aws_secret_key" else "{b64*86}==")
    return make_key(rng, rng.choice(load_makers()[kind]))


def make_private_key(rng: random.Random) -> str:
    whole = generated.pem(rng)
    return whole if rng.random() < 0.7 else whole[: rng.randint(90, 150)]  # the end is often cut off


@cache
def load_seed_words() -> tuple[str, ...]:
    return tuple((files("tokonoma.policy") / "seed_words.txt").read_text(encoding="utf-8").split())


def make_seed_phrase(rng: random.Random) -> str:
    """BIP-39: the bits of the entropy and of its hash, eleven for a word."""
    size = rng.choice([16, 16, 16, 20, 32])
    entropy = rng.randbytes(size)
    bits = int.from_bytes(entropy) << size // 4 | hashlib.sha256(entropy).digest()[0] >> 8 - size // 4
    count = (size * 8 + size // 4) // 11
    return " ".join(load_seed_words()[bits >> 11 * (count - 1 - place) & 2047] for place in range(count))


def make_harmless(rng: random.Random, kind: str, size: int) -> str:
    makers: dict[str, Callable[[], str]] = {
        "uuid": lambda: str(uuid.UUID(bytes=rng.randbytes(16), version=4)),
        "sha1": lambda: make_key(rng, "{hex*40}"),
        "sha256": lambda: make_key(rng, "{hex*64}"),
        "hex12": lambda: make_key(rng, "{hex*12}"),
        "hex16": lambda: make_key(rng, "{hex*16}"),
        "hex32": lambda: make_key(rng, "{hex*32}"),
        "b64": lambda: make_key(rng, f"{{b64*{size}}}"),
        "luhn16": lambda: re.sub(r"\D", "", generated.card(rng)),
    }
    return makers[kind]()


def is_found(mark: Mark, detections: Sequence[Detection]) -> bool:
    """Whether nine tenths of it are covered: by the same kind of personal data, or by any secret."""
    fitting = (
        one for one in detections if (one.kind == mark.kind if mark.kind in PERSONAL else one.nature == "secret")
    )
    covered = sum(max(0, min(mark.end, one.end) - max(mark.start, one.start)) for one in fitting)
    return covered >= 0.9 * (mark.end - mark.start)


class Score(NamedTuple):
    """Of one half of the texts of a language."""

    marks: int
    found: int
    prose: int
    quiet_prose: int  # harmless texts in which nothing was found
    about: int
    quiet_about: int
    errors: tuple[str, ...]  # what went wrong; for the half that detectors are tuned to

    @property
    def shares(self) -> tuple[float, float, float]:
        return self.found / self.marks, self.quiet_prose / self.prose, self.quiet_about / self.about


def score_texts(scan: Callable[[str], Sequence[Detection]], language: str, *, held_out: bool) -> Score:
    errors: list[str] = []
    marks = found = 0
    for each in load_texts(f"{language}_sensitive"):
        if each.held_out == held_out:
            detections = scan(each.text)
            missed = [mark for mark in each.marks if not is_found(mark, detections)]
            marks, found = marks + len(each.marks), found + len(each.marks) - len(missed)
            errors += [f"missed {mark.kind} in {each.text!r}" for mark in missed]
    quiet = {False: 0, True: 0}
    harmless = [each for each in load_texts(f"{language}_harmless") if each.held_out == held_out]
    for each in harmless:
        detections = scan(each.text)
        quiet[each.about] += not detections
        errors += [f"found {one.kind} in {each.text!r}" for one in detections]
    about = sum(each.about for each in harmless)
    return Score(marks, found, len(harmless) - about, quiet[False], about, quiet[True], tuple(errors))

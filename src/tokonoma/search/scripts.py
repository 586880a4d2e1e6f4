"""A written word → its tokens: the whole, what it is joined from, its stem and its beginning. Pure.

A word is whatever stands between spaces in a script that has them: `getUserById`, `foo_bar`, `k8s.io/api`, `v1.2.3`,
`/etc/hosts`, `ann@example.com`, `E1234`, `don't`, `C++`."""

import re
import zlib
from functools import lru_cache
from typing import NamedTuple

from tokonoma.search.stem import stem

MAX_TOKEN = 64  # bytes
_MAX_WORD = 256  # characters; longer ones are data, not words: nobody asks for their insides
_BEGINNING, _UNSTEMMED_BEGINNING = 5, 4  # characters

# What carries a sentence but not its subject. They are indexed, so that a question made of nothing else still finds;
# in any other question they count for nothing.
_STOP_WORDS = """
a about again all also am an and any are as at be been being both but by can cannot could did do does doing done down
each else few for from had has have having he her here hers him his how i if in into is it its just me might mine more
most must my no nor not of on only onto or other our ours out over own s same shall she should so some such t than
that the their theirs them then there these they this those to too under up us very was we were what when where which
who whom whose why will with would you your yours ca wo
"""
_STOP = frozenset(_STOP_WORDS.split())

_BETWEEN = re.compile(r"[/\\:@=&?#%~]+")  # parts that stand for themselves: folders, hosts, keys
_WITHIN = re.compile(r"[-_.'+]+")  # parts of one name
_JOINT = re.compile(r"[-_']+")  # e-mail/email, foo_bar/foobar; dots stay, since 1.23 is not 12.3
_CLITIC = re.compile(r"(?:'(?:s|re|ll|ve|d|m)|n't)$", re.IGNORECASE)
_HUMP = re.compile(r"[^\W\d_a-zA-Z]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Token(NamedTuple):
    text: str
    kind: str  # word, stop, number, whole, part or family: cut.py says what each weighs in a question


@lru_cache(32768)
def tokenize_word(word: str) -> tuple[Token, ...]:
    """Every token of one word, the same for documents and for questions."""
    if len(word) > _MAX_WORD:
        return tuple(Token(truncate_token(piece.casefold()), "whole") for piece in _BETWEEN.split(word) if piece)
    word = _CLITIC.sub("", word)
    found: dict[Token, None] = {}
    pieces = [piece for piece in _BETWEEN.split(word) if piece]
    for piece in pieces:
        names = [name for name in _WITHIN.split(piece) if name]
        for name in names:
            found.update(dict.fromkeys(_tokenize_name(name)))
        if len(names) > 1 or piece[-1:] in "+":
            found[_build_whole_token(piece)] = None
    if len(pieces) > 1 or word[-1:] == "#":
        found[_build_whole_token(word)] = None
    return tuple(found)


@lru_cache(32768)
def tokenize_word_texts(word: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokenize_word(word))


def truncate_token(text: str) -> str:
    """At most 64 bytes: a longer one keeps its beginning and a sum of the whole."""
    encoded = text.encode()
    if len(encoded) <= MAX_TOKEN:
        return text
    return f"{encoded[: MAX_TOKEN - 9].decode(errors='ignore')}~{zlib.crc32(encoded):08x}"


def _tokenize_name(name: str) -> list[Token]:
    lower = name.casefold()
    if lower.isdecimal():
        return [Token(truncate_token(lower), "number")]
    # `IT` and `US` in capitals are names; in small letters they are not.
    if lower in _STOP and not (name.isupper() and len(name) > 1):
        return [Token(stem(lower), "stop")]
    short = _stem_token(lower)
    humps = _HUMP.findall(name)
    if len(humps) > 1:
        # A letter or a digit alone (k8s, E1) says nothing.
        parts = (_stem_token(hump.casefold()) for hump in humps if len(hump) > 1)
        return [Token(short, "word"), *(Token(part, "part") for part in parts)]
    # Words of one family share their beginning (programmer/programming, книга/книги): weak, but no stemmer finds it.
    size = _BEGINNING if lower.isascii() else _UNSTEMMED_BEGINNING
    if len(short) < size or not lower.isalpha():
        return [Token(short, "word")]
    return [Token(short, "word"), Token(short[:size] + "~", "family")]


def _stem_token(lower: str) -> str:
    return truncate_token(stem(lower) if lower.isascii() and lower.isalpha() else lower)


def _build_whole_token(text: str) -> Token:
    return Token(_stem_token(_JOINT.sub("", text.casefold()).strip(".")), "whole")

"""A written word → its tokens: the whole, its parts, its stem and its beginning. Pure.

A word is what stands between spaces in a script that has them: `getUserById`, `foo_bar`, `k8s.io/api`, `v1.2.3`,
`/etc/hosts`, `ann@example.com`, `E1234`, `don't`, `C++`.

The stemmer is Martin Porter's second one, after irregular forms and British spellings are mapped to the regular ones.
It is written here because the packaged stemmers load thirty languages at import; other languages pass through it with
little harm. Stems are cached, so a text costs one look-up per word.
"""

import re
import zlib
from functools import lru_cache
from typing import NamedTuple

MAX_TOKEN = 64  # bytes
_MAX_WORD = 256  # characters; a longer one is data, not a word: its parts are not indexed
_BEGINNING, _UNSTEMMED_BEGINNING = 5, 4  # characters

# Words that carry a sentence but not its subject. They are indexed, so that a query of stop words alone still finds
# something; in any other query their weight is 0.
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
    kind: str  # word, stop, number, whole, part or family: tuning.py has the weight of each in a query


@lru_cache(4096)
def tokenize_word(word: str) -> tuple[Token, ...]:
    """Every token of one word, the same for documents and for queries."""
    return _tokenize_word(word)


@lru_cache(16384)
def tokenize_word_texts(word: str) -> tuple[str, ...]:
    return tuple(token.text for token in _tokenize_word(word))


def _tokenize_word(word: str) -> tuple[Token, ...]:
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


# The stemmer

_IRREGULAR_FORMS = """
began begun begin|bit bitten bite|blew blown blow|bore borne bear|bought buy|brought bring|broke broken break|
built build|burnt burn|came come|caught catch|chose chosen choose|crept creep|dealt deal|drank drunk drink|
drawn drew draw|dreamt dream|driven drove drive|dug dig|ate eaten eat|fallen fell fall|fed feed|felt feel|fled flee|
flew flown fly|forgave forgiven forgive|forgot forgotten forget|fought fight|found find|froze frozen freeze|
gave given give|gone went goes go|got gotten get|grew grown grow|heard hear|held hold|hid hidden hide|hung hang|
kept keep|knew known know|laid lay|leapt leap|learnt learn|led lead|left leave|lent lend|lost lose|made make|
meant mean|met meet|overcame overcome|paid pay|ran run|rang rung ring|ridden rode ride|risen rose rise|said say|
sang sung sing|sank sunk sink|sat sit|saw seen see|sent send|shaken shook shake|shone shine|shot shoot|shown show|
shrank shrunk shrink|slept sleep|slid slide|sold sell|sought seek|spent spend|spoke spoken speak|
sprang sprung spring|spun spin|stole stolen steal|stood stand|struck strike|stuck stick|swam swum swim|swept sweep|
swore sworn swear|swung swing|taken took take|taught teach|thought think|threw thrown throw|told tell|
tore torn tear|understood understand|upheld uphold|withdrawn withdrew withdraw|woke woken wake|won win|
wore worn wear|written wrote write|children child|men man|women woman|feet foot|teeth tooth|mice mouse|geese goose|
people person|wives wife|lives life|knives knife|leaves leaf|halves half|shelves shelf|wolves wolf|
indices indexes index|matrices matrix|vertices vertex|analyses analysis|criteria criterion|better best good|
worse worst bad
"""
_IRREGULAR = {form: line.split()[-1] for line in _IRREGULAR_FORMS.split("|") for form in line.split()[:-1]}
_PAIRS = "skis ski skies sky dying die lying lie tying tie idly idl gently gentl ugly ugli early earli only onli"
_KEPT = "sky news howe atlas cosmos bias andes evening inning outing canning herring earring proceed exceed succeed"
_SPECIAL = dict(zip(_PAIRS.split()[::2], _PAIRS.split()[1::2], strict=True)) | {word: word for word in _KEPT.split()}

_BRITISH = re.compile("(..al|.an|gn|.im|tom|..or|.er|.at)is(e[sdr]?|ers|ing|ations?)$|(al)ys(e[sd]?|ing)$")
_COLOUR = re.compile("(?<=[a-z]{3})our(?=s?$|ed$|ing$|ful$|able$|ite$)")

_R1 = re.compile("gener|commun|arsen|past|univers|later|emerg|organ|inter|[^aeiouy]*[aeiouy]+[^aeiouy]")
_REGION = re.compile("[^aeiouy]*[aeiouy]+[^aeiouy]")
_CONSONANT_Y = re.compile("(?<=[aeiouy])y|^y")
_VOWEL = re.compile("[aeiouy]")
_SHORT_END = re.compile("[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$")
_STEP_1B = re.compile("(eedly|eed|ingly|edly|ing|ed)$")
_STEP_2 = re.compile(
    "(ization|ational|fulness|ousness|iveness|tional|biliti|lessli|entli|ation|alism|aliti|ousli|iviti|fulli|enci|anci|"
    "abli|izer|ator|alli|bli|ogi|li)$"
)
_TO_2 = {
    "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "izer": "ize", "ization": "ize",
    "ational": "ate", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al", "fulness": "ful",
    "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble", "bli": "ble", "fulli": "ful",
    "lessli": "less",
}  # fmt: skip
_STEP_3 = re.compile("(ational|tional|alize|icate|iciti|ative|ical|ness|ful)$")
_TO_3 = {
    "tional": "tion", "ational": "ate", "alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic",
    "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = re.compile("(ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|ion|al|er|ic)$")


@lru_cache(8192)
def stem(word: str) -> str:
    """The stem of a lower-case word of a to z; anything shorter than three letters is its own."""
    if len(word) < 3:
        return word
    word = _IRREGULAR.get(word, word)
    if word in _SPECIAL:
        return _SPECIAL[word]
    word = _COLOUR.sub("or", _BRITISH.sub(_to_american, word))
    # A y that is a consonant is written Y while the stemmer works.
    word = _CONSONANT_Y.sub("Y", word)
    one, two = _find_regions(word)
    word = _step_1a(word)
    if word in _SPECIAL:
        return _SPECIAL[word]
    word = _step_1c(_step_1b(word, one))
    word = _step_3(_step_2(word, one), one, two)
    return _step_5(_step_4(word, two), one, two).replace("Y", "y")


def _to_american(found: re.Match[str]) -> str:
    return f"{found[1]}iz{found[2]}" if found[1] else f"{found[3]}yz{found[4]}"


def _find_regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin: behind the first consonant after a vowel, and the same again from there."""
    first = _R1.match(word)
    one = first.end() if first else len(word)
    second = _REGION.match(word, one)
    return one, second.end() if second else len(word)


def _step_1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _VOWEL.search(word, 0, len(word) - 2):
        return word[:-1]
    return word


def _step_1b(word: str, one: int) -> str:
    found = _STEP_1B.search(word)
    if not found:
        return word
    start = found.start()
    if found[0].startswith("eed"):
        return word[:start] + "ee" if start >= one else word
    if not _VOWEL.search(word, 0, start):
        return word
    word = word[:start]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word.endswith(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")):
        return word if len(word) == 3 and word[0] in "aeo" else word[:-1]  # add, egg, off
    return word + "e" if len(word) <= one and _SHORT_END.search(word) else word


def _step_1c(word: str) -> str:
    return word[:-1] + "i" if len(word) > 2 and word[-1] in "yY" and word[-2] not in "aeiouy" else word


def _step_2(word: str, one: int) -> str:
    found = _STEP_2.search(word)
    if not found or found.start() < one:
        return word
    rest, ending = word[: found.start()], found[0]
    if ending == "li":
        return rest if rest[-1] in "cdeghkmnrt" else word
    if ending == "ogi":
        return rest + "og" if rest.endswith("l") else word
    return rest + _TO_2[ending]


def _step_3(word: str, one: int, two: int) -> str:
    found = _STEP_3.search(word)
    if not found or found.start() < one:
        return word
    if found[0] == "ative":
        return word[: found.start()] if found.start() >= two else word
    return word[: found.start()] + _TO_3[found[0]]


def _step_4(word: str, two: int) -> str:
    found = _STEP_4.search(word)
    if not found or found.start() < two:
        return word
    rest = word[: found.start()]
    return word if found[0] == "ion" and not rest.endswith(("s", "t")) else rest


def _step_5(word: str, one: int, two: int) -> str:
    end = len(word) - 1
    if word.endswith("e") and (end >= two or (end >= one and not _SHORT_END.search(word[:-1]))):
        return word[:-1]
    return word[:-1] if word.endswith("ll") and end >= two else word

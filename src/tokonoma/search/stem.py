"""English words cut back to what their forms share: Martin Porter's second stemmer, after irregular forms and British
spellings are led to the regular ones. Pure; other languages pass through it with little harm.

Written out here because the packaged stemmers load thirty languages at import. Words are remembered, so that a text
costs one look-up a word."""

import re
from functools import lru_cache

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


@lru_cache(32768)
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

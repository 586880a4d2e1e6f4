"""Forms of one word: English inflections. Pure functions.

Only inflections are joined (plural, third person, -ed, -ing), by explicit rules. A stemmer also joins derived words,
which are other words: operate, operator and operation; general and generate; policy and police.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

MAX_FORMS = 16
"""Forms of one term; more are left out."""

HasWord = Callable[[str], bool]
"""Whether the manual contains a word."""

_MIN_BASE = 3  # letters
_MAX_INFLECTED = 5  # words of a term; of a longer one only the last is inflected
_WORD = re.compile("[a-z]{3,30}")
_PLURAL = re.compile("(?:.*[^a-z])?[a-z]{3,}s")
_SYLLABLE = re.compile("[aeiouy]+")
_DOUBLED = re.compile("(?:[^aeiou]|qu)[aeiouy]([^aeiouwxy])")
# Words that look like a form of a shorter one, and are none.
_UNLIKE = frozenset(
    re.findall(
        r"\w+",
        "news evening outing during nothing something anything everything morning https lens goods customs glasses"
        " series species united hundred always perhaps towards means feed seed need speed",
    )
)
_TOPICLESS = frozenset(re.findall(r"\w+", "its this thus was has does did done had having being been are were and for"))
# What a form ends with, and what its base may end with instead.
_ENDINGS = (
    ("s", ("",)), ("es", ("",)), ("ies", ("y",)), ("ied", ("y",)), ("ed", ("", "e")), ("ing", ("", "e")),
    ("ying", ("ie",)),
)  # fmt: skip
_IRREGULAR_FORMS = """
child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice|goose geese|index indices indexes
indexed indexing|matrix matrices matrixes|vertex vertices vertexes|appendix appendices appendixes|axis axes|
analysis analyses|basis bases|crisis crises|thesis theses|hypothesis hypotheses|diagnosis diagnoses|synopsis synopses|
parenthesis parentheses|criterion criteria criterions|phenomenon phenomena|medium media|schema schemata schemas|
formula formulae formulas|antenna antennae antennas|radius radii|nucleus nuclei|stimulus stimuli|locus loci|
bacterium bacteria|curriculum curricula|memorandum memoranda memorandums|addendum addenda|half halves|knife knives|
shelf shelves|self selves|wife wives|thief thieves|wolf wolves|loaf loaves|quiz quizzes quizzed quizzing|
write writes wrote written writing|choose chooses chose chosen choosing|send sends sent sending|
build builds built building|run runs ran running|hold holds held holding|keep keeps kept keeping|
make makes made making|take takes took taken taking|give gives gave given giving|break breaks broke broken breaking|
know knows knew known knowing|show shows showed shown showing|begin begins began begun beginning|
withdraw withdraws withdrew withdrawn withdrawing|overwrite overwrites overwrote overwritten overwriting|
rewrite rewrites rewrote rewritten rewriting|rebuild rebuilds rebuilt rebuilding|pay pays paid paying|
buy buys bought buying|sell sells sold selling|teach teaches taught teaching|forget forgets forgot forgotten forgetting
"""
_IRREGULAR = {
    word: tuple(group.split()) for group in _IRREGULAR_FORMS.replace("\n", " ").split("|") for word in group.split()
}


def find_inflections(folded: str, has_word: HasWord) -> list[str]:
    """The other forms of a normalized term whose words the manual contains: entry/entries, log/logging."""
    words = folded.split(" ")
    first = 0 if len(words) <= _MAX_INFLECTED else len(words) - 1
    # One word at a time: in two words at once, people change the sense too.
    combined = (
        " ".join([*words[:place], form, *words[place + 1 :]])
        for place in range(len(words) - 1, first - 1, -1)
        for form in _inflect(words[place], has_word)
    )
    return list(islice(combined, MAX_FORMS))


def find_singular(folded: str) -> str:
    """A term whose last word may be a plural, in the singular; whether or not the manual has it."""
    last = folded.rpartition(" ")[2]
    if not _PLURAL.fullmatch(last) or last in _UNLIKE or last.endswith(("ss", "us", "is")):
        return folded
    if folded.endswith("ies"):
        return folded[:-3] + "y"
    return folded[:-2] if folded.endswith(("ches", "shes", "xes", "sses")) else folded[:-1]


def _inflect(word: str, has_word: HasWord) -> list[str]:
    if not _WORD.fullmatch(word) or word in _TOPICLESS:
        return []

    def is_real(each: str) -> bool:
        return each == word or has_word(each)

    forms = {
        form: None
        for base in _choose_bases(word, is_real)
        for form in _forms_of(base)
        if form != word and has_word(form) and base in _choose_bases(form, is_real)
    }
    return list(forms)


def _choose_bases(word: str, has_word: HasWord) -> list[str]:
    """The word itself, and the words of which it is a form. Those of the manual count more than those that it lacks; of
    `cas` and `case` the longer one has the form `cases`."""
    bases = _bases_of(word)
    real = [base for base in bases if has_word(base)] or bases
    return [word, *(base for base in real if base + "e" not in real)]


@lru_cache(maxsize=4096)
def _bases_of(word: str) -> list[str]:
    if word in _IRREGULAR:
        return [_IRREGULAR[word][0]]
    cut: list[str] = []
    for ending, others in _ENDINGS:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            cut += [rest + other for other in others]
            if ending in ("ed", "ing", "es") and rest[-1:] == rest[-2:-1]:
                cut.append(rest[:-1])
    known = (base for base in dict.fromkeys(cut) if len(base) >= _MIN_BASE)
    return [base for base in known if word in _forms_of(base)]


@lru_cache(maxsize=4096)
def _forms_of(base: str) -> tuple[str, ...]:
    """A word, its plural or third person, -ed and -ing."""
    if base in _IRREGULAR:
        return _IRREGULAR[base] if base == _IRREGULAR[base][0] else (base,)
    if base.endswith(("s", "x", "z", "ch", "sh")):
        plurals = (base + "es",)
    elif base[-1] == "y" and base[-2] not in "aeiou":
        plurals = (base[:-1] + "ies",)
    else:
        plurals = (base + "s", base + "es") if base[-1] == "o" else (base + "s",)
    forms = (*plurals, *(stem + ending for stem, ending in _verb_stems(base)))
    return (base, *(form for form in forms if form not in _UNLIKE))


def _verb_stems(base: str) -> Iterator[tuple[str, str]]:
    vowels = _SYLLABLE.findall(base)
    if not vowels or (base[-1] == "e" and len(vowels) == 1 and base[-2] not in "aeiouy"):
        return  # `str` and `the` are no verbs of `string` and `thing`
    if base.endswith("e"):
        yield base[:-1], "ed"
        yield base if base[-2] in "eoy" else base[:-2] + "y" if base[-2] == "i" else base[:-1], "ing"
        return
    stems = {base, base + base[-1]} if _DOUBLED.fullmatch(base[-3:]) or _DOUBLED.fullmatch(base[-4:]) else {base}
    if len(stems) > 1 and len(vowels) == 1:
        stems.remove(base)  # plan: planned; but format: formatted, limit: limited
    for stem in sorted(stems):
        yield (stem[:-1] + "i", "ed") if stem[-1] == "y" and stem[-2] not in "aeiou" else (stem, "ed")
        yield stem, "ing"

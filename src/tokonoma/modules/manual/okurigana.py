"""Japanese compounds with more or less okurigana: 問い合わせ is 問合わせ and 問合せ, 申込み is 申込. Pure functions.

The loose form of a text leaves out the kana between two kanji; here are those after the second. 立ち上げ and
立ち上がり, 組合 and 組み合わせ, 手当 and 手当て are different words.
"""

import re
from collections.abc import Callable, Sequence

from tokonoma.core.normalize import HAN, OKURIGANA

# Endings of verbs of which the first kana is often left out: 合わせ/合せ, 積もり/積り, 落とし/落し.
_LONG = "わせ|らせ|わり|たり|もり|がり|まり|とし|こし|わし|らし|かし|やし|がし|らえ|さえ|かい"
_BY_LAST = {last: [each for each in _LONG.split("|") if each[-1] == last] for last in "せりしえい"}
_COMPOUND = re.compile(
    f"([{HAN}][{OKURIGANA}]?([{HAN}]))({_LONG}|[{OKURIGANA}て])(?=[^ぁ-ん]|[のをがはにでともへや]|$)"
)
_BETWEEN = re.compile(f"(?<=[{HAN}])[{OKURIGANA}](?=[{HAN}])")
# Second parts of compounds that are also written without any okurigana, and compounds that mean something else then.
_BARE = frozenset("込扱積渡付当切払上立替消越戻引取入出換押置掛返届下止抜落建刷組巻残続")
_NOT_BARE = frozenset({"手当", "日当", "上手", "下手", "見上", "目上", "目下", "年上", "年下"})


# What follows a compound that goes on as a verb, or with another ending.
_GOES_ON = re.compile("[いきぎしじちびみりえけげせめれべてたらるっまむんわ]|が[りるらっれろ]")


def find_spellings(folded: str) -> list[str]:
    """The other spellings of a normalized term that keep some okurigana."""
    tails = _replace_tails(folded, lambda found: _BY_LAST.get(found[3], ()) if len(found[3]) == 1 else (found[3][1:],))
    return list(dict.fromkeys([*tails, *(_BETWEEN.sub("", each) for each in tails)]))


def find_bare_spellings(folded: str) -> list[str]:
    """Those without any. They are whole words only where nothing of a verb follows."""
    bare = _replace_tails(folded, lambda found: ("",) if _may_be_bare(found) else ())
    return [_BETWEEN.sub("", each) for each in bare]


def goes_on(text: str, end: int) -> bool:
    return _GOES_ON.match(text, end) is not None


def _replace_tails(folded: str, find_tails: Callable[[re.Match[str]], Sequence[str]]) -> list[str]:
    found: dict[str, None] = {}
    for compound in _COMPOUND.finditer(folded):
        start, end = compound.span(3)
        found.update((folded[:start] + tail + folded[end:], None) for tail in find_tails(compound))
    return list(found)


def _may_be_bare(compound: re.Match[str]) -> bool:
    name = compound[1][0] + compound[2]
    return compound[2] in _BARE and name not in _NOT_BARE and (len(compound[3]) == 1 or compound[3] == "もり")

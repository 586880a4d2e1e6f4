"""Whether a pattern can be used: RE2 accepts it, and it does not match nearly everything. Such a detector masks every
answer and refuses every write: it is not accepted in a new policy. A stored policy that has one stays readable, or
nobody could see and replace it."""

from collections.abc import Iterator, Sequence
from typing import cast

from tokonoma.policy.detections import Detector
from tokonoma.policy.scan import Scanner, compile_pattern, load_re2

_ENGLISH = (
    "The roof of the old house leaks since last winter, and the man who wanted to repair it has not come back yet. "
    "Please ask him again before the end of the month; otherwise we look for somebody else, maybe in another town. "
    "Meeting notes: Anna agrees, Tom is against it, nobody knows what it will cost."
)
_JAPANESE = (
    "古い 家の 屋根は 去年の 冬から 雨漏りして いますが、 修理を 頼んだ 職人が まだ 来て いません。 月末までに "
    "もう一度 連絡して、 だめなら 別の 会社を 探します。 会議の メモ： 鈴木さんは 賛成、 田中さんは 反対。 費用は "
    "まだ 誰にも 分かりません。"
)
_SHORT = "a I ok yes no id x1 new done open note 12 7 はい 東京 雨 済 メモ ok! to-do"
_MAX_SHARE = 0.5  # of the words of ordinary text


def check_pattern(pattern: str) -> str:
    """Why RE2 rejects a pattern, or that it matches the empty text; empty if it is fine."""
    if not pattern or len(pattern) > 1000:
        return "a pattern has 1 to 1000 characters"
    try:
        compiled = compile_pattern(pattern)
    except ValueError as error:
        return f"RE2 rejects this pattern: {error}"
    return "this pattern matches the empty text" if compiled.search(b"") else ""


def can_compile(detectors: Sequence[Detector]) -> bool:
    """Whether RE2 accepts the patterns of all detectors at once: each alone may be fine, and all of them too large."""
    try:
        Scanner(detectors).scan_uncached("")
    except load_re2().error:
        return False
    return True


def find_breadth_problem(pattern: str) -> str:
    """What is wrong with a pattern that is too broad; empty if it is fine."""
    short = _SHORT.split(" ")
    shares = (
        _measure_share(pattern, _ENGLISH, _ENGLISH.split(" ")),
        _measure_share(pattern, _JAPANESE.replace(" ", ""), _JAPANESE.split(" ")),
        sum(_measure_share(pattern, word, [word]) for word in short) / len(short),
    )
    if max(shares) < _MAX_SHARE:
        return ""
    return f"this pattern matches {max(shares):.0%} of the words of an ordinary text; make it narrower"


def _measure_share(pattern: str, text: str, words: Sequence[str]) -> float:
    """The share of the words, which stand in the text in this order, that a match touches."""
    matches = list(_find_spans(pattern, text.encode()))
    touched = place = 0
    for word in words:
        start = text.index(word, place)
        place = start + len(word)
        first, last = len(text[:start].encode()), len(text[:place].encode())
        touched += any(begin < last and first < end for begin, end in matches)
    return touched / len(words)


def _find_spans(pattern: str, data: bytes) -> Iterator[tuple[int, int]]:
    for match in compile_pattern(pattern).finditer(data):
        begin, end = cast("tuple[int, int]", match.span())
        if begin < end:
            yield begin, end

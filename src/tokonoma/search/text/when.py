"""Questions that ask for a time, and texts that name one: of the turns of a conversation about one thing, the answer is
the one that says "yesterday". Pure."""

import re
from functools import cache

from tokonoma.search.text.tokenize import find_packed_terms, hash_term, tokenize

_ASKS = re.compile(
    r"\A\W*(?:when|since when|until when|how long ago|(?:what|which|on what|on which|in what|in which) "
    r"(?:day|date|month|year|week|weekend|season|time))\b|いつ|何[年月日時曜]",
    re.IGNORECASE,
)
_NAMES = """
yesterday today tonight tomorrow last next ago week weekend month year night morning summer winter
january february march april june july august september october november december
monday tuesday wednesday thursday friday saturday sunday recently
昨日 今日 明日 一昨 昨夜 今朝 今夜 先週 今週 来週 週末 先月 今月 来月 去年 昨年 今年 来年
先日 最近 曜日 日前 週間 年前 か月 ヶ月
"""


def asks_when(query: str) -> bool:
    return _ASKS.search(query) is not None


def names_time(packed: bytes) -> bool:
    """Whether a text names a time, from its packed terms."""
    return bool(find_packed_terms(packed, _list_terms()))


@cache
def _list_terms() -> frozenset[int]:
    # `~` ends the token of a family of words: `weekend~` would also be `weekends`, which is a time as well.
    tokens = (max((each for each in tokenize(word).counts if each[-1] != "~"), key=len) for word in _NAMES.split())
    return frozenset(map(hash_term, tokens))

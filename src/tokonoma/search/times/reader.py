"""The reader of times: which languages a text is in, and what their words say together."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Protocol

from tokonoma.search.times.calendar import Moment
from tokonoma.search.times.digits import find_digits
from tokonoma.search.times.mentions import ReadTime, TimeGrammar, read_mentions
from tokonoma.search.times.words import TimeWord

_JAPANESE = re.compile("[ぁ-んァ-ヶ一-龠]")
_LATIN = re.compile("[a-z]")
_EMPTY = {  # says no more than "what is there?"
    "a", "about", "agenda", "all", "any", "anything", "are", "at", "coming", "did", "diary", "do", "does", "done",
    "due", "everything", "for", "from", "going", "happen", "happened", "happening", "have", "i", "in", "is", "list",
    "me", "memo", "memos", "my", "note", "noted", "notes", "of", "on", "our", "plan", "planned", "plans", "s", "saved",
    "schedule", "scheduled", "show", "the", "there", "to", "up", "was", "we", "were", "what", "when", "will",
    "wrote", "written",
}  # fmt: skip
_EMPTY_JAPANESE = re.compile(
    "予定|スケジュール|日記|メモ|記録|やること|あったこと|したこと|したっけ|だっけ|何か|なにか|ですか|ました|します|している|してた|した|する|ある"
    "|あった|教えて|一覧|全部|すべて|こと|もの|何|なに|まで|から|の|は|に|を|が|で|と|も|か"
)


class TimeLanguage(TimeGrammar, Protocol):
    """A module of this folder."""

    def fold(self, text: str, /) -> str: ...

    def find_words(self, text: str, /) -> Iterator[TimeWord]: ...

    def is_ahead(self, text: str, /) -> bool: ...


def read_days(text: str, today: date) -> list[ReadTime]:
    """Every time that a text names. The text is in lower case."""
    languages = _load_languages(text)
    for each in languages:
        text = each.fold(text)
    words = [*find_digits(text, japanese=_JAPANESE.search(text) is not None)]
    for each in languages:
        words += each.find_words(text)
    moment = Moment(today, any(each.is_ahead(text) for each in languages))
    return read_mentions(text, words, languages, moment)


def is_empty(text: str) -> bool:
    """Whether a text asks for nothing but the time that it named."""
    return {*re.findall(r"\w+", _EMPTY_JAPANESE.sub(" ", text))} <= _EMPTY


def _load_languages(text: str) -> list[TimeLanguage]:
    """Those of the text. Imported late: to compile the patterns of one takes as long as a search."""
    found: list[TimeLanguage] = []
    if _JAPANESE.search(text) is not None:
        from tokonoma.search.times import japanese

        found.append(japanese)
    if _LATIN.search(text) is not None or not found:
        from tokonoma.search.times import english

        found.append(english)
    return found

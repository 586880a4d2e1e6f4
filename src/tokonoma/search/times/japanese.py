"""Words of time in Japanese: 一昨日, 先週の金曜, 令和6年5月, 3月上旬, 過去30日.

A character of time inside of another word is none (月餅, 春巻き, 日曜大工): most words count only before a particle.
"""

import re
from collections.abc import Iterator

from tokonoma.search.times import japanese_words as known
from tokonoma.search.times.digits import build_date
from tokonoma.search.times.words import TimeKind, TimeLimits, TimeUnit, TimeWord, join_words

# What follows a word of time, and hardly another word.
_FOLLOWS = (
    r"(?=$|[\s、。,.?!)(~〜\-–]|[のにはもがをと](?!ころ)|から|まで|より|以|頃|ごろ|ころ|あたり|前|後|中|付|だ|って|夜|朝|午|昼"
    r"|夕|締|明け|早々|時点|現在)"
)
_ALONE = r"(?<![ぁ-んァ-ヶー一-龠])"  # begins a word
_NUMERAL = re.compile(r"(?<![〇一二三四五六七八九十百])[〇一二三四五六七八九十百]{1,9}(?=年|月|日|週|か月|四半期)")
_QUARTER = re.compile(r"第([一二三四])四半期")
_MONTHS = re.compile("[ヶケカヵ箇]月")
_DIGITS = {each: number for number, each in enumerate("〇一二三四五六七八九")}
_WORD = re.compile(
    rf"(?<!毎)(?:({join_words(known.WORDS)})(?![香子菜度庵])|{_ALONE}({join_words(known.SHORT_WORDS)})(?:(?=[一-龠ァ-ヶ])|{_FOLLOWS}))"
)
_FISCAL_PART = re.compile(r"(?<![\d今昨去前来本])年度(末|初め|始め|はじめ|頭)")
_FEAST = re.compile(rf"(?<![ァ-ヶー一-龠a-z夕])({join_words(known.FEASTS)})(?:休み|休暇|の休み)?{_FOLLOWS}")
_YEAR = re.compile(
    r"(?<![\d.])(\d{4}|\d{2}(?=年度|年の?\d{1,2}月))(年度|年代|年)(?!前|後|間|ぶり|以上|もの|目|生|問題|宇宙)"
)
_DECADE = re.compile(r"(?<!\d)(\d0)年代")
_ERA = re.compile(
    r"(令和|平成|昭和|大正|明治|(?<![a-z\d])[rhs](?=\d))(元|\d{1,2})(?:(年度?)|[./](\d{1,2})(?:[./](\d{1,2}))?(?![\d.]))"
)
_MONTH = re.compile(r"(?<!毎年)(?<![\d.])(1[0-2]|0?[1-9])(?:月?[~〜-](1[0-2]|[1-9]))?月(?!号|額|間|生まれ|病|人形|餅)")
_DAY = re.compile(
    r"(?<!毎月)(?<!毎月の)(?<![\d.])(\d{1,2})(?:日?[~〜-](\d{1,2}))?日(?!間|目|前|後|以内|分|ごと|おき|連続|あたり|かか|で|坊主|本|生まれ)"
)
_BARE_DAY = re.compile(_FOLLOWS)
_WEEKDAY = re.compile(
    rf"(?<!毎週)(?<!毎)(?:第([1-5])|(最終|最後の))?(?:({join_words(known.NEAR_WEEKDAYS)})の)?([月火水木金土日])曜(?:日|{_FOLLOWS})"
    r"|\(([月火水木金土日])\)|(週明け)"
)
_WEEKEND = re.compile(rf"(?<![毎今先来の])(週末|土日){_FOLLOWS}")
_WEEK_OF = re.compile(r"(?:第([1-5])|(最終|最後の))週")
_PART = re.compile(
    rf"(?<=[月年春夏秋冬度週旬期紀のば])({join_words(known.PARTS)})(?!つ|て|り|る)|(?<![一-龠\dか])(月末|月初め?){_FOLLOWS}"
)
_SEASON = re.compile(rf"(?:({join_words(known.NEAR_SEASONS)})?([春夏秋冬])(?:頃|ごろ|先|場)?){_FOLLOWS}")
_HALF = re.compile(r"([上下])(?:半?期)")
_QUARTERS = re.compile(r"第?([1-4])(四半期|q)|(?<![a-z\d])q([1-4])(?!\d)")
_COUNT = r"(\d{1,3}|数|半)"
_UNIT = r"(日|週|か月|月(?=前|後)|年)間?"
_AGO = re.compile(
    rf"(?<!\d){_COUNT}(?:[、,~〜-]?(\d{{1,3}}))?{_UNIT}(?:ほど|ぐらい|くらい)?(?:(前|後)|以内)|(ひと月)前|\d{{1,3}}(?:時間|分)(?:ほど|くらい)?前"
)
_SAME = re.compile(r"今頃|今ごろ|今時分|同じ時期|同じ日|同日")
_LATELY = re.compile(rf"({join_words(known.RECENT)})(?!の[月火水木金土日]曜)(?:の|は|も|、|$|[一-龠ァ-ヶ])")
_LAST = re.compile(rf"(過去|直近|最近|ここ|この|今後|これから|向こう|次の)の?約?{_COUNT}{_UNIT}(?!前|後)")
_COMING = re.compile(
    r"予定|締め?切|期限|しなきゃ|しないと|やること|するんだ|これから|つもり|までに(?!.*た)|何があ|入って(?:い)?る"
)
_JOINED = re.compile(r"[ 、,)]{0,4}の?[ (]{0,4}")
_TO = ("から", "より", "~", "〜", "-", "–", "—")
_AFTER = re.compile(
    r"\)?(?:に(?:入って|なって)(?:から|以[降来後])|の?以[降来後]|から(?!の(?:手紙|電話|メール))|((?:より|の)?後|明け))"
)
_BEFORE = re.compile(r"\)?(?:まで|以前|((?:より|の|に(?:入|な)る)?前(?!半)))")
_ABOUT = re.compile(r"\)?(?:頃|ごろ|ころ|あたり|前後)")
_PAST = re.compile(r"た(?:$|[っのこもは、。?!\s]|[一-龠ァ-ヶ])|だった|ました")


def fold(text: str) -> str:
    """Numbers before a unit of time in digits, and か月 in one spelling."""
    text = _QUARTER.sub(lambda match: f"第{_DIGITS[match[1]]}四半期", _MONTHS.sub("か月", text))
    return _NUMERAL.sub(lambda match: str(parse_numeral(match[0])), text)


def parse_numeral(text: str) -> int:
    """十一 and 一一 are eleven; 二〇二四 is read digit by digit."""
    if not set(text) & {"十", "百"}:
        return int("".join(str(_DIGITS[each]) for each in text))
    total = digit = 0
    for each in text:
        if each in _DIGITS:
            digit = _DIGITS[each]
        else:
            total += max(digit, 1) * (10 if each == "十" else 100)
            digit = 0
    return total + digit


def is_ahead(text: str) -> bool:
    """Whether it speaks of what is to come."""
    return _COMING.search(text) is not None and _PAST.search(text) is None


def find_words(text: str) -> Iterator[TimeWord]:
    yield from _find_named(text)
    yield from _find_years(text)
    yield from _find_days(text)
    yield from _find_counted(text)


def _find_named(text: str) -> Iterator[TimeWord]:
    for match in _WORD.finditer(text):
        kind, value = known.WORDS[match[1]] if match[1] else known.SHORT_WORDS[match[2]]
        yield TimeWord(*match.span(), kind, value, relative=True)
    for match in _FEAST.finditer(text):
        yield TimeWord(*match.span(), "feast", 0, name=known.FEASTS[match[1]])
    for match in _FISCAL_PART.finditer(text):
        yield TimeWord(*match.span(), "fiscal", 0, relative=True)
        yield TimeWord(*match.span(), "part", 0, name=known.PARTS[match[1]])
    for match in _PART.finditer(text):
        yield TimeWord(*match.span(), "part", 0, name=known.PARTS[match[1] or match[2]], weak=not match[2])
    for match in _SEASON.finditer(text):
        said = match[1]
        # Without "this" or a year, only what is plainly an adverb: 夏に, 秋から.
        before, follows = text[: match.start()], text[match.end() :]
        joined = before.endswith(("年", "年の", "月", "度の", "昨年", "去年"))
        if not said and before and not joined and (_is_letter(before[-1]) and before[-1] not in "のはも"):
            continue
        adverb = follows.startswith(("に", "から", "まで", "以", "頃", "ごろ", "の間")) and not follows.startswith(
            "にな"
        )
        value = "春夏秋冬".index(match[2])
        yield TimeWord(
            *match.span(), "season", value, bool(said), weak=not said and not adverb, to=known.NEAR_SEASONS.get(said, 0)
        )


def _is_letter(sign: str) -> bool:
    return "ぁ" <= sign <= "ヿ" or "一" <= sign <= "鿿"


def _find_years(text: str) -> Iterator[TimeWord]:
    for match in _YEAR.finditer(text):
        year = int(match[1]) + (2000 if len(match[1]) == 2 else 0)
        kind: TimeKind = {"年度": "fiscal", "年代": "decade", "年": "year"}[match[2]]  # type: ignore[assignment]
        yield TimeWord(*match.span(), kind, year)
    for match in _DECADE.finditer(text):
        yield TimeWord(*match.span(), "decade", int(match[1]) + (1900 if int(match[1]) > 30 else 2000))
    for match in _ERA.finditer(text):
        year = known.ERAS[match[1]] + (1 if match[2] == "元" else int(match[2]))
        if match[4]:
            yield from build_date(match, str(year), match[4], match[5])
        else:
            yield TimeWord(*match.span(), "fiscal" if match[3] == "年度" else "year", year)
    for match in _HALF.finditer(text):
        yield TimeWord(*match.span(), "half", 1 if match[1] == "上" else 2, name="fiscal")
    for match in _QUARTERS.finditer(text):
        yield TimeWord(*match.span(), "quarter", int(match[1] or match[3]), name="either" if match[1] else "")


def _find_days(text: str) -> Iterator[TimeWord]:
    for match in _MONTH.finditer(text):
        yield TimeWord(*match.span(), "month", int(match[1]), to=int(match[2] or 0))
    for match in _DAY.finditer(text):
        # 一日の流れ is that of any day.
        clear = _BARE_DAY.match(text, match.end()) and (match[1] != "1" or not text.startswith("の", match.end()))
        yield TimeWord(*match.span(), "day", int(match[1]), weak=not clear, to=int(match[2] or 0))
    for match in _WEEKDAY.finditer(text):
        nth, last, near, name, brackets, _ = match.groups()
        value = "月火水木金土日".index(name or brackets or "月")
        to = known.NEAR_WEEKDAYS[near] if near else -1 if last else int(nth or 0)
        yield TimeWord(*match.span(), "weekday", value, relative=bool(near), weak=bool(brackets), to=to)
    for match in _WEEKEND.finditer(text):
        yield TimeWord(*match.span(), "weekend", 0)
    for match in _WEEK_OF.finditer(text):
        yield TimeWord(*match.span(), "week", int(match[1] or -1), weak=True)


def _find_counted(text: str) -> Iterator[TimeWord]:
    for match in _AGO.finditer(text):
        count, more, unit, way, whole = match.groups()
        if whole:
            yield TimeWord(*match.span(), "ago", -1, unit="month")
        elif count is None:
            yield TimeWord(*match.span(), "day", 0, relative=True)  # 3時間前
        else:
            sign = 1 if way == "後" or (way is None and _PAST.search(text) is None) else -1
            (low, spoken), (high, _) = _count(count, unit), _count(more or count, unit, most=True)
            yield TimeWord(
                *match.span(), "ago", sign * low, to=sign * high, unit=spoken, name="all" if way is None else ""
            )
    for match in _LAST.finditer(text):
        said, count, unit = match.groups()
        number, spoken = _count(count, unit, most=True)
        sign = 1 if said in known.COMING else -1
        yield TimeWord(*match.span(), "ago", sign * number, unit=spoken, name="all")
    for match in _LATELY.finditer(text):
        yield TimeWord(match.start(), match.end(1), "ago", -known.RECENT[match[1]], name="all")
    for match in _SAME.finditer(text):
        yield TimeWord(*match.span(), "day", 0, relative=True, weak=True, to=0 if match[0].endswith("日") else 15)


def _count(said: str, unit: str, *, most: bool = False) -> tuple[int, TimeUnit]:
    if said == "半":
        return (6, "month") if unit == "年" else (15, "day")
    return (5 if most else 2) if said == "数" else int(said), known.UNITS[unit]


def joins(gap: str) -> bool:
    """Whether two words with this between them are one time: 去年の12月, 5月8日(金)."""
    return _JOINED.fullmatch(gap) is not None


def is_range(text: str, end: int, start: int, after: int) -> bool:
    """Whether two times are the ends of one. They lie before `end`, and from `start` to `after`."""
    gap = text[end:start].strip(" )")
    return gap in _TO or (gap == "と" and text.startswith(("の間", "までの間"), after))


def find_limits(text: str, start: int, end: int) -> TimeLimits:
    around = _ABOUT.match(text, end)
    end = around.end() if around else end
    after, before = _AFTER.match(text, end), _BEFORE.match(text, end)
    return TimeLimits(
        after=after is not None,
        before=after is None and before is not None,
        excluded=bool(after and after[1]) or bool(before and before[1]),
        around=around is not None,
    )

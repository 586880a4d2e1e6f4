"""Words that the audit of artifacts treats in a special way, in English and Japanese. Only data."""

_STOP_WORDS = """
a about again also am an and any are as at be been being both but can could did do does doing done each else
for had has have having he her here hers him his how i if in is it its itself just let lets me mine my of on onto or
other our ours out own please s shall she should so such t that the their theirs them then there these they this those
to too up us very was we were what when where which while who whom whose why will with would you your yours must may
might need needs needed required requires require use used uses using via per e g eg ie etc
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_GENERIC_TITLES = """
overview summary introduction background conclusion conclusions note notes steps step procedure contents details
appendix table section chapter part overall outline example examples 概要 要約 まとめ はじめに 背景 目的 手順 詳細
結論 付録 目次 補足 一覧 全体 概略 流れ 注意 例
"""
GENERIC_TITLES = frozenset(_GENERIC_TITLES.split())
NO_BRANCHES = frozenset({"no", "false", "ng", "n", "else", "いいえ", "否"})
BRANCHES = NO_BRANCHES | {"yes", "true", "ok", "y", "はい", "可"}
"""Labels of a link in a chart that say which way it is, and nothing else about the source."""

NEGATORS = frozenset(
    {"not", "no", "never", "cannot", "without", "neither", "nor", "none", "nobody", "nothing", "ain't"}
)
FORBIDDING = frozenset(
    {"prohibit", "prohibited", "prohibits", "forbid", "forbidden", "forbids", "disallow", "disallowed", "disallows"}
    | {
        "ban",
        "banned",
        "avoid",
        "avoids",
        "refuse",
        "refused",
        "禁止",
        "不可",
        "厳禁",
        "禁じ",
        "拒否",
        "対象外",
        "無効",
        "不要",
    }
)
"""Words that say no in another way: compared with a plain "not", they are no contradiction."""

OBLIGATION = frozenset(
    {
        "must",
        "shall",
        "required",
        "requires",
        "require",
        "mandatory",
        "need",
        "needs",
        "obliged",
        "必要",
        "必須",
        "義務",
    }
)
POSSIBILITY = frozenset({"may", "can", "could", "might", "optional", "allowed", "possible", "可能", "任意"})

_RELATIONS = """
from to by before after until since over under above below than against into between within outside inside during
through behind toward towards except unless despite
"""
RELATIONS = frozenset(_RELATIONS.split())
"""Which of two things does something to the other: compared, not counted."""
FREE_RELATIONS = frozenset({"to", "into", "toward", "towards", "during", "through", "inside"})
"""These may be added to a sentence without changing what it says."""

QUANTIFIERS = frozenset({"every", "ever", "all", "each", "any", "some"})

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
NUMBER_WORDS = {word: value for value, word in enumerate(_SMALL.split())} | {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100, "twice": 2, "once": 1,
}  # fmt: skip

SCALES = {"k": 1000, "thousand": 1000, "million": 10**6, "billion": 10**9, "千": 1000, "万": 10_000, "億": 10**8}
"""Behind a number."""

UNITS: dict[str, tuple[str, float]] = {}
for _kind, _factor, _words in (
    ("time", 0.001, "ms millisecond milliseconds ミリ秒"),
    ("time", 1, "s sec secs second seconds 秒 秒間"),
    ("time", 60, "min mins minute minutes 分 分間"),
    ("time", 3600, "h hr hrs hour hours 時間"),
    ("time", 86400, "d day days 日 日間"),
    ("time", 604800, "week weeks 週 週間"),
    ("month", 1, "month months か月 か月間 カ月 ヶ月 月間"),
    ("month", 12, "year years 年 年間"),
    ("size", 1, "byte bytes バイト"),
    ("size", 1e3, "kb kib kilobytes キロバイト"),
    ("size", 1e6, "mb mib megabyte megabytes メガバイト"),
    ("size", 1e9, "gb gib gigabyte gigabytes ギガバイト"),
    ("size", 1e12, "tb tib terabyte terabytes テラバイト"),
    ("length", 0.001, "mm ミリ"),
    ("length", 0.01, "cm センチ"),
    ("length", 1, "m meter meters metre metres メートル"),
    ("length", 1000, "km kilometer kilometers kilometre キロメートル キロ"),
    ("weight", 0.001, "g gram grams グラム"),
    ("weight", 1, "kg kilogram kilograms キログラム"),
    ("share", 1, "% percent パーセント"),
    ("yen", 1, "yen jpy 円 ¥"),
    ("yen", 10_000, "万円"),
    ("dollar", 1, "dollar dollars usd ドル $"),
    ("euro", 1, "euro euros eur ユーロ €"),
    ("degree", 1, "degrees degree 度 ℃ °c celsius"),
    ("clock", 1, "am pm 時 o'clock"),
    ("date", 1, "月"),
):
    UNITS.update({word: (_kind, float(_factor)) for word in _words.split()})
COUNTERS = (
    "人",
    "名",
    "回",
    "件",
    "個",
    "条",
    "項",
    "章",
    "号",
    "台",
    "枚",
    "本",
    "歳",
    "つ",
    "行",
    "倍",
    "階",
    "点",
    "社",
)

PARTICLES = ("から", "まで", "より", "が", "を", "に", "へ", "で")
SPECIAL_KANA = ("すべて", "のみ", "だけ", "かならず", "しか", "いつも", "ほぼ", "ほとんど")
STOP_HAN = frozenset(
    {"場合", "等", "際", "為", "事", "行", "可能", "必要", "必須", "以下", "次", "各", "的", "用", "時", "中", "上"}
)

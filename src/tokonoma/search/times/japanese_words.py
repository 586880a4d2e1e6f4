"""The words of time in Japanese, by what they mean."""

from tokonoma.search.times.words import DayPart, TimeKind, TimeUnit

WORDS: dict[str, tuple[TimeKind, int]] = {
    "今日": ("day", 0), "本日": ("day", 0), "今朝": ("day", 0), "今夜": ("day", 0), "今晩": ("day", 0),
    "昨日": ("day", -1), "昨夜": ("day", -1), "昨晩": ("day", -1), "ゆうべ": ("day", -1), "昨夕": ("day", -1),
    "一昨日": ("day", -2), "おととい": ("day", -2), "おとつい": ("day", -2), "一昨夜": ("day", -2),
    "一昨晩": ("day", -2), "さきおととい": ("day", -3), "一昨々日": ("day", -3), "明日": ("day", 1),
    "あした": ("day", 1), "明朝": ("day", 1), "明晩": ("day", 1), "明後日": ("day", 2), "あさって": ("day", 2),
    "しあさって": ("day", 3), "明々後日": ("day", 3), "今週": ("week", 0), "先週": ("week", -1),
    "前の週": ("week", -1), "先々週": ("week", -2), "先先週": ("week", -2), "来週": ("week", 1),
    "再来週": ("week", 2), "今月": ("month", 0), "先月": ("month", -1), "先々月": ("month", -2),
    "先先月": ("month", -2), "来月": ("month", 1), "再来月": ("month", 2), "今年": ("year", 0), "ことし": ("year", 0),
    "本年": ("year", 0), "去年": ("year", -1), "昨年": ("year", -1), "きょねん": ("year", -1), "一昨年": ("year", -2),
    "おととし": ("year", -2), "さきおととし": ("year", -3), "一昨々年": ("year", -3), "来年": ("year", 1),
    "らいねん": ("year", 1), "再来年": ("year", 2), "今四半期": ("quarter", 0), "前四半期": ("quarter", -1),
    "先四半期": ("quarter", -1), "来四半期": ("quarter", 1), "今年度": ("fiscal", 0), "本年度": ("fiscal", 0),
    "昨年度": ("fiscal", -1), "去年度": ("fiscal", -1), "前年度": ("fiscal", -1), "一昨年度": ("fiscal", -2),
    "来年度": ("fiscal", 1), "再来年度": ("fiscal", 2), "今週末": ("weekend", 0), "先週末": ("weekend", -1),
    "前の週末": ("weekend", -1), "先々週末": ("weekend", -2), "来週末": ("weekend", 1), "再来週末": ("weekend", 2),
    "年内": ("year", 0), "さっき": ("day", 0), "先ほど": ("day", 0), "さきほど": ("day", 0),
}  # fmt: skip
SHORT_WORDS: dict[str, tuple[TimeKind, int]] = {  # also parts of others
    "きのう": ("day", -1), "きょう": ("day", 0), "けさ": ("day", 0), "あす": ("day", 1),
}  # fmt: skip
FEASTS = {
    "お正月": "new year", "正月": "new year", "三が日": "new year", "元日": "new year's day",
    "元旦": "new year's day", "大晦日": "new year's eve", "大みそか": "new year's eve",
    "年末年始": "turn of the year", "年の瀬": "year's end", "年末": "year's end", "暮れ": "year's end",
    "年の暮れ": "year's end", "歳末": "year's end", "年始": "year's begin", "年初": "year's begin",
    "年明け": "year's begin", "年頭": "year's begin", "クリスマス": "christmas", "クリスマスイブ": "christmas eve",
    "イブ": "christmas eve", "ハロウィン": "halloween", "バレンタイン": "valentine's day",
    "バレンタインデー": "valentine's day", "ゴールデンウィーク": "golden week", "ゴールデンウイーク": "golden week",
    "gw": "golden week", "シルバーウィーク": "silver week", "お盆": "obon", "お盆休み": "obon", "盆休み": "obon",
    "節分": "setsubun", "七夕": "tanabata", "ひな祭り": "hinamatsuri", "夏休み": "summer holidays",
    "冬休み": "winter holidays", "春休み": "spring holidays", "梅雨": "rainy season", "師走": "december",
}  # fmt: skip
PARTS: dict[str, DayPart] = {
    "上旬": "early", "初旬": "early", "前半": "early", "初め": "begin", "はじめ": "begin", "始め": "begin",
    "頭": "begin", "初頭": "begin", "中旬": "middle", "半ば": "middle", "なかば": "middle", "中頃": "middle",
    "下旬": "late", "後半": "late", "末": "end", "終わり": "end", "おわり": "end", "月末": "end", "月初": "begin",
    "月初め": "begin",
}  # fmt: skip
ERAS = {  # the year before the first
    "令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "r": 2018, "h": 1988, "s": 1925,
}  # fmt: skip
RECENT = {"最近": 30, "このところ": 30, "このごろ": 30, "先日": 14, "この間": 14, "このあいだ": 14, "こないだ": 14}
NEAR_SEASONS = {"今": 0, "この": 0, "昨": -1, "前の": -1, "この前の": -1, "去る": -1, "来": 1, "次の": 1, "今度の": 1}
NEAR_WEEKDAYS = {"今度": 1, "次": 1, "この次": 1, "前": -1, "この前": -1, "この間": -1, "こないだ": -1, "先日": -1}
UNITS: dict[str, TimeUnit] = {"日": "day", "週": "week", "か月": "month", "月": "month", "年": "year"}
COMING = ("今後", "これから", "向こう", "次の")

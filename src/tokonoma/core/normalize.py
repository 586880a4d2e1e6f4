"""Text made comparable. Pure, linear in the text's length, and total: any str goes in, lone surrogates and NULs too.

normalize_case   one spelling for width, compatibility forms, accents, dashes, kana and kanji variants; case kept
normalize        the first form: normalize_case, then case folded. What a reader takes for the same text
normalize_loose  the second form: kana by sound, and okurigana, hyphens, dots, brackets and slashes removed as well
"""

import re
import unicodedata
from functools import cache

# Kana that sound alike. One character each, so that a text keeps its length; ヴ with a vowel is handled by _VU.
KANA = dict(zip("ヂヅヰヱゐゑぢづヷヸヹヺ", "ジズイエいえじずワイエオ", strict=True))
VU = {"ヴァ": "バ", "ヴィ": "ビ", "ヴェ": "ベ", "ヴォ": "ボ", "ヴュ": "ビュ", "ヴ": "ブ", "ゔ": "ぶ"}

# The second form: hiragana as katakana, small kana as large ones (りんご/リンゴ, キヤノン/キャノン).
_SMALL, _LARGE = "ァィゥェォッャュョヮヵヶぁぃぅぇぉっゃゅょゎゕゖ", "アイウエオツヤユヨワカケ" * 2
SOUNDS = {code: chr(code + 0x60) for code in range(0x3041, 0x3097)} | str.maketrans(_SMALL, _LARGE)

# Old forms of kanji, and forms that live on in names, each before the one in common use.
_OLD_AND_NEW = """
亞亜惡悪壓圧圍囲爲為醫医壹壱隱隠榮栄營営衞衛驛駅圓円鹽塩緣縁艷艶應応歐欧毆殴櫻桜奧奥橫横溫温穩穏假仮價価畫画會会壞壊懷懐繪絵槪概擴拡
殼殻覺覚學学嶽岳樂楽渴渇勸勧卷巻寬寛歡歓罐缶觀観關関陷陥顏顔歸帰氣気龜亀僞偽戲戯犧犠舊旧據拠擧挙虛虚峽峡挾挟狹狭鄕郷曉暁區区驅駆勳勲
薰薫徑径惠恵溪渓經経繼継莖茎螢蛍輕軽鷄鶏藝芸擊撃缺欠儉倹劍剣圈圏檢検權権獻献縣県硏研險険顯顕驗験嚴厳效効廣広恆恒鑛鉱號号國国黑黒濟済
碎砕齋斎劑剤册冊雜雑參参慘惨棧桟蠶蚕贊賛殘残絲糸辭辞齒歯兒児實実寫写釋釈壽寿收収從従澁渋獸獣縱縦肅粛處処緖緒敍叙尙尚奬奨將将牀床涉渉
燒焼稱称證証乘乗剩剰壤壌孃嬢條条淨浄疊畳穰穣讓譲釀醸囑嘱觸触寢寝愼慎晉晋眞真盡尽圖図粹粋醉酔隨随髓髄數数樞枢聲声靜静齊斉攝摂竊窃專専
戰戦淺浅潛潜纖繊踐践錢銭禪禅雙双壯壮搜捜插挿爭争總総聰聡莊荘裝装騷騒增増臟臓藏蔵屬属續続墮堕體体對対帶帯滯滞臺台瀧滝擇択澤沢單単擔担
膽胆團団彈弾斷断癡痴遲遅晝昼蟲虫鑄鋳廳庁聽聴鎭鎮遞逓鐵鉄轉転點点傳伝黨党盜盗燈灯當当鬪闘德徳獨独讀読屆届繩縄貳弐腦脳惱悩霸覇廢廃拜拝
賣売麥麦發発髮髪拔抜蠻蛮祕秘濱浜濵浜甁瓶拂払佛仏竝並邊辺邉辺變変辨弁辯弁瓣弁步歩寶宝豐豊沒没飜翻槇槙萬万滿満默黙彌弥譯訳藥薬與与豫予
餘余譽誉搖揺樣様謠謡來来賴頼亂乱覽覧龍竜兩両獵猟綠緑壘塁勵励禮礼靈霊齡齢曆暦歷歴戀恋鍊錬爐炉勞労樓楼祿禄灣湾瑤瑶遙遥凜凛髙高﨑崎嶋島
"""
_pairs = "".join(_OLD_AND_NEW.split())
KANJI = dict(zip(_pairs[::2], _pairs[1::2], strict=True))

# Letters that Unicode does not take apart, and the letters that Arabic and Russian writers use for each other.
_TWO = {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ß": "ss", "ŋ": "ng", "Ŋ": "NG"}
LETTERS = dict(zip("øØłŁđĐħĦıŧŦðÐёЁأإآىة", "oOlLdDhHitTdDеЕااايه", strict=True)) | _TWO

COMPANIES = {"(株)": "株式会社", "(有)": "有限会社"}

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HIRAGANA = "\u3041-\u3096\u309d-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff"
HANGUL = "\uac00-\ud7a3"

# A run of combining marks is sorted by the interpreter in quadratic time: beyond 30 in a row (Unicode's own
# "stream-safe" bound) they are dropped. The first pattern finds where to look at all, and skips ordinary text quickly.
_UNCOMMON = re.compile("[^\u0000-\u02ff\u3000-\u3029\u3030-\u3098\u309b-\uabff\uac00-\ud7a3\uff00-\uffef]{31,}")
_MARKS_KEPT = 30

_ODD = re.compile(
    "["
    "\ud800-\udfff\u0000-\u0008\u000e-\u001f\u007f-\u009f"  # lone surrogates and control characters
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"  # invisible characters
    "\ufff9-\ufffb\U000e0000-\U000e0fff"
    "\u2010-\u2015\u2043\u2212\u2018\u2019\u201b\u02bc\u2032"  # dashes and apostrophes
    "\u00c0-\u024f\u0300-\u036f\u0370-\u03ff\u1e00-\u1fff"  # Latin and Greek letters, loose accents
    "\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u0660-\u0669\u06f0-\u06f9\u0966-\u096f"
    + "".join(KANA | KANJI | LETTERS)
    + "]"
)
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212", "-")
_APOSTROPHES = dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032", "'")
_VARIANTS = KANA | KANJI | LETTERS | _DASHES | _APOSTROPHES
_VU = re.compile("ヴ[ァィェォュ]?|ゔ")
_COMPANY = re.compile(r"\([株有]\)")

# データ・ベース, データ-ベース, アン=マリー
_JOINED = re.compile("(?<=[ァ-ヺー])[・=-](?=[ァ-ヺ])")
# サーバー/サーバ: a long vowel at the end of a katakana word of four characters or more. カバー is not カバ.
_LONG_END = re.compile("(?<=[ァ-ヺー]{3})ー+(?![ァ-ヺー])")
# Often left out between two kanji: 申し込み/申込み, 受け付け/受付. に, へ and で are particles there.
OKURIGANA = "いきぎしじちびみりえけげせめれべ"
_OKURIGANA = re.compile(f"(?<=[{HAN}])[{OKURIGANA}](?=[{HAN}])")
_PUNCTUATION = re.compile(r"[^\w\s.]+|_+|(?<!\d)\.+|\.+(?!\d)")
_SPACES = re.compile(r"\s+")
_SPACE_BESIDE = re.compile(f" (?=[{HAN}ぁ-ヿ])|(?<=[{HAN}ぁ-ヿ]) ")


@cache
def _find_replacement(odd: str) -> str:
    if odd in _VARIANTS:
        return _VARIANTS[odd]
    if odd.isdigit() and not odd.isascii():
        return str(unicodedata.digit(odd))
    kind = unicodedata.category(odd)
    if kind in {"Cs", "Cc"}:
        return " "
    if kind in {"Mn", "Cf", "Lm"}:
        return ""
    base = unicodedata.normalize("NFD", odd)[:1]
    return LETTERS.get(base, base) if base.isalpha() else odd


def normalize_case(text: str) -> str:
    """One spelling for variants of width, accents, dashes, long vowels, kana and kanji. Case is kept."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _UNCOMMON.sub(_limit_marks, text))
    text = _ODD.sub(lambda found: _find_replacement(found[0]), text)
    if "ヴ" in text or "ゔ" in text:
        text = _VU.sub(lambda found: VU[found[0]], text)
    if "(" in text:
        text = _COMPANY.sub(lambda found: COMPANIES[found[0]], text)
    return _LONG_END.sub("", _JOINED.sub("", text))


def normalize(text: str) -> str:
    """The first form: one spelling, without case. Idempotent."""
    if text.isascii():
        return text.lower()
    # Folding case can undo a composition and composing can bring a capital back: both end within a few rounds.
    for _ in range(4):
        before, text = text, normalize_case(text).casefold()
        if text == before:
            break
    return text


def normalize_loose(text: str) -> str:
    """The second form: variants that a reader may still take for the same word. Idempotent."""
    return loosen(normalize(text))


def loosen(normalized: str) -> str:
    """The second form of a text that is in the first form."""
    text = _SPACES.sub(" ", _PUNCTUATION.sub("", normalized)).strip()
    text = _OKURIGANA.sub("", _SPACE_BESIDE.sub("", text))
    return _LONG_END.sub("", text.translate(SOUNDS))


def _limit_marks(found: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in found[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MARKS_KEPT:
            kept.append(character)
    return "".join(kept)

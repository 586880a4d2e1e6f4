"""Tables of spellings that a reader takes for the same: kana, old kanji, letters without a decomposition. Data only."""

# Kana that sound alike. One character each, so that a text keeps its length; ヴ with a vowel is joined in fold.py.
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

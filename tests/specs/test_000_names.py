"""Names across scripts: a question finds a note that writes the name in kanji, in kana or in Latin letters, and a note
that writes it as the question does comes first."""

import pytest
from policy.houses import enforce, key
from talk import Http, Lines, Talk

# A name as it is asked for, and as the note has it. No two rows share a name.
NAMES = [
    # Latin letters → kanji
    ("Ishibashi", "石橋"), ("Nakamura", "中村"), ("Kuroda", "黒田"), ("Ogawa", "小川"), ("Takahashi", "高橋"),
    ("Matsumoto", "松本"), ("Murakami", "村上"), ("Miyazaki", "宮崎"), ("Fujimoto", "藤本"), ("Ikeda", "池田"),
    ("Hukuda", "福田"), ("Kondoh", "近藤"), ("Satou", "佐藤"), ("Katō", "加藤"), ("Jun'ichi", "純一"),
    ("Junko", "順子"), ("Takuya", "拓也"), ("Naoki", "直樹"), ("Kumiko", "久美子"), ("Sapporo", "札幌"),
    ("Kamakura", "鎌倉"), ("Asakusa", "浅草"), ("Namba", "難波"), ("Shimokitazawa", "下北沢"), ("onsen", "温泉"),
    # kanji → Latin letters
    ("石田", "Ishida"), ("長谷川", "Hasegawa"), ("五十嵐", "Igarashi"), ("工藤", "Kudo"), ("遠藤", "Endoh"),
    ("後藤", "Gotou"), ("前田", "Maeda"), ("横山", "Yokoyama"), ("由美子", "Yumiko"), ("大輔", "Daisuke"),
    ("仙台", "Sendai"), ("金沢", "Kanazawa"), ("渋谷", "Shibuya"), ("居酒屋", "izakaya"), ("着物", "kimono"),
    # kana → kanji
    ("やまぐち", "山口"), ("ナカジマ", "中島"), ("おおつか", "大塚"), ("サクライ", "桜井"), ("みさき", "美咲"),
    ("はこだて", "函館"), ("ぎょうざ", "餃子"), ("まーぼーどうふ", "麻婆豆腐"), ("ゆかた", "浴衣"),
    ("さいとう", "斎藤"),
    # kanji → kana
    ("安藤", "あんどう"), ("久保田", "くぼた"), ("西川", "ニシカワ"), ("恵子", "けいこ"), ("広島", "ひろしま"),
    # Latin letters → kana
    ("Sugawara", "すがわら"), ("Morimoto", "モリモト"), ("Chihiro", "ちひろ"),
    # kana → Latin letters
    ("たけうち", "Takeuchi"), ("ハマダ", "Hamada"), ("まつざき", "Matsuzaki"),
    # foreign names, both ways
    ("Schmidt", "シュミット"), ("Michael", "マイケル"), ("Charlotte", "シャーロット"), ("Nguyen", "グエン"),
    ("フェルナンデス", "Fernandez"), ("トンプソン", "Thompson"), ("オリヴィア", "Olivia"), ("ベルリン", "Berlin"),
]  # fmt: skip
JAPANESE = "{}さんは金曜の会議に出る。"
ENGLISH = "{} comes to the meeting on Friday."


@pytest.fixture
def house(app) -> Talk:
    return Lines(app)


def save(talk: Talk, *notes: str, namespace: str = "/people") -> None:
    talk.call("memory", "save", memos=[{"content": note, "namespace": namespace} for note in notes])


def find(talk: Talk, query: str, mode: str = "text", namespace: str = "/people") -> list[str]:
    told = talk.call("memory", "search", query=query, namespace=namespace, k=5, mode=mode, detail="full")
    return [hit.get("content") or hit["snippet"] for hit in told["items"]]


def test_every_name_is_found_in_its_other_script(house):
    notes = {written: (ENGLISH if written.isascii() else JAPANESE).format(written) for _, written in NAMES}
    save(house, *notes.values())
    assert len(NAMES) >= 60
    lost = [(asked, written) for asked, written in NAMES if notes[written] not in find(house, asked)[:1]]
    assert lost == []


def test_a_name_in_a_whole_question_is_found_by_words_and_meaning(house):
    save(
        house,
        "早川さんは甲殻類がだめ。", "平野さんは猫が苦手。", "Ueda prefers the train.", "The ferry leaves at nine.",
    )  # fmt: skip
    assert find(house, "What can't Hayakawa eat?", "hybrid")[0] == "早川さんは甲殻類がだめ。"
    assert find(house, "上田さんは何で行く？", "hybrid")[0] == "Ueda prefers the train."
    assert find(house, "はやかわさんの食べられないもの", "hybrid")[0] == "早川さんは甲殻類がだめ。"


@pytest.mark.parametrize(
    ("asked", "exact", "reading"),
    [
        ("Hayakawa", "Hayakawa called, and wants to hear about the roof, the gutter and the door.", "早川さんに電話"),
        ("早川", "早川さんから電話があり、屋根と雨樋と玄関の扉のことを聞きたいとのこと。", "Call Hayakawa"),
        ("シュミット", "シュミットさんから長い手紙が来た。庭のことと、犬のこと。", "Call Schmidt"),
    ],
)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_name_as_it_is_asked_for_comes_first(house, asked, exact, reading):
    save(house, exact, reading)
    assert find(house, asked) == [exact, reading]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_long_vowel_that_is_written_counts(house):
    save(house, "大野さんは窓側。", "小野さんは通路側。", "Ohno: window", "Ono: aisle")
    assert find(house, "Ohno") == ["Ohno: window", "大野さんは窓側。", "Ono: aisle"]
    *found, last = find(house, "おおの")
    assert (set(found), last) == ({"大野さんは窓側。", "Ohno: window"}, "Ono: aisle")
    assert find(house, "小野さん")[0] == "小野さんは通路側。"
    assert "Ohno: window" not in find(house, "小野")
    assert find(house, "Ono")[:2] == ["Ono: aisle", "小野さんは通路側。"]


OTHERS = [
    ("take", "竹さんに電話する。"), ("one", "尾根を歩く。"), ("AI", "愛さんに電話する。"), ("竹", "Take the bus."),
    ("伊達さん", "The date is open."), ("いちばん", "市場へ行く。"), ("won't", "温かい"), ("Mori", "青森へ行く。"),
    ("もりさん", "森林を歩く。"), ("赤ちゃん", "あかさんの店"), ("二宮", "ニノとミヤビ"), ("はいくら", "俳句を詠む。"),
    ("Yuko", "Yuka called."), ("Schmidt", "シュークリーム"), ("ユウコ", "Call Yuka."), ("加藤", "Saito called."),
]  # fmt: skip


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_other_words_are_not_taken_for_names(house):
    for place, (_, other) in enumerate(OTHERS):
        save(house, other, namespace=f"/others/{place}")
    found = [(asked, find(house, asked, namespace=f"/others/{place}")) for place, (asked, _) in enumerate(OTHERS)]
    assert [each for each in found if each[1]] == []


def test_a_hidden_name_is_found_in_no_script(app, house):
    """Masked words are searched by nobody who does not see them, in another script neither."""
    save(house, "連絡先は takeshita@example.jp です。")
    enforce(app, "version: 1.0\nboundary_classes: { pii: { redact: ['*'] } }\n")
    masked = Http(app, key(app, "reader"))
    for asked in ("takeshita", "竹下", "たけした", "タケシタ"):
        assert find(masked, asked) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_any_query_is_answered(house):
    save(house, "山田さんに電話する。")
    for asked in (
        "ー", "ーー", "ッ", "さん", "'", "n'", "ン", "んんん", "ゎ", "々", "々さん", "a" * 4000, "山" * 2000, "-'-",
        "Jun''ichi", "naninuneno " * 200, "か" * 3000, "ア" * 3000,
    ):  # fmt: skip
        assert len(find(house, asked)) <= 1
    assert find(house, "yamada " * 300) == find(house, "やまだ、" * 300) == ["山田さんに電話する。"]

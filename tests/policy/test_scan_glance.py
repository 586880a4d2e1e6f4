"""The glance before the scan: it may send a plain text to be scanned, and never keeps back one with something in it."""

from hypothesis import given
from hypothesis import strategies as st

from tokonoma.policy.scan import builtin_scanner

_PARTS = [
    "パスワード", "暗証番号は", "三丁目", "一番地", "合言葉", "トークン", "APIキー", "BEGIN", "https://",
    "PassWord: ", "paſſword=", "to\u212aen ", "KEY=", "ｐａｓｓ：", "Bearer ", "secret", "abcdefghijklmnop",
    "ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐ", "a@b.example", "０３", "090",
    "plain words", "床の間", "—", "ß", "İ", " ", "\n",
]  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(_PARTS), st.text(max_size=12)), max_size=6).map("".join))
def test_a_text_that_looks_clean_holds_nothing(text: str) -> None:
    scanner = builtin_scanner()
    if scanner.is_clean(text):
        assert scanner.scan_uncached(text) == ()


def test_most_texts_look_clean_and_telling_ones_do_not() -> None:
    scanner = builtin_scanner()
    for text in ("The quick brown fox jumps over the lazy dog; いろはにほへと.", "床の間に花を生ける。", "short"):
        assert scanner.is_clean(text)
    for text in (
        "my PASSword: x",
        "paſſword: x",
        "to\u212aen: x",
        "ｐａｓｓ：ｘｙｚ",
        "合言葉は山と川",
        "x" * 16,
        "see a://b",
    ):
        assert not scanner.is_clean(text)

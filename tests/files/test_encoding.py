"""Which encoding a file is in: right where it can be told, and never a wrong guess."""

import random

import pytest

from tokonoma.files.encoding import DecodedText, decode_bytes

JAPANESE = [
    "利用者は返品を三十日前までに通知するものとします", "ただし、別表第一に定める場合はこの限りではありません",
    "サーバーの設定ファイルは起動時に読み込まれます", "窓口は平日の午前九時から午後五時まで開いています",
    "パスワードは12文字以上で、英数字と記号を含めてください",
]  # fmt: skip
OTHERS = {
    "cp1252": [
        "Die Prüfung der Geräte erfolgt jährlich", "Für größere Änderungen benötigen Sie eine Bestätigung",
        "L'été dernier, la société a été créée à Besançon", "It’s the user’s data; don’t lose it",
        "“Quoted words” appear here – with dashes", "¿Cómo está el señor Muñoz?",
    ],
    "gbk": ["用户必须在三十天之前通知退货", "数据库的设置文件在启动时读取", "密码必须包含十二个以上字符"],
    "euc_kr": ["사용자는 반품을 삼십일 전에 통지해야 합니다", "비밀번호는 열두 글자 이상이어야 합니다"],
    "koi8_r": ["Пользователь обязан уведомить о возврате", "Пароль должен содержать двенадцать символов"],
    "cp1251": ["Файл настроек читается при запуске", "Пароль должен содержать двенадцать символов"],
}  # fmt: skip
SIZES = (1, 2, 3, 5, 8, 20, 60, 300, 2000)


def pieces(sentences: list[str], end: str, count: int = 40) -> list[str]:
    rng = random.Random(5)
    texts = []
    for size in SIZES * count:
        text = end.join(rng.choice(sentences) for _ in range(2 + size // 10))
        start = rng.randrange(max(1, len(text) - size))
        texts.append(text[start : start + size])
    return texts


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "euc_jp", "iso2022_jp", "utf-16", "utf-16-le", "utf-16-be"])
def test_japanese_is_read_as_it_was_written_or_not_at_all(encoding):
    for text in pieces(JAPANESE, "。\n"):
        told = decode_bytes(text.encode(encoding))
        sure = encoding in ("utf-8", "iso2022_jp", "utf-16") or len(text) >= 60
        if sure:
            assert isinstance(told, DecodedText), text
            assert told.text == text
        elif isinstance(told, DecodedText) and told.encoding != "utf-8":  # a few bytes may be text in UTF-8, too
            assert told.text == text


@pytest.mark.parametrize("encoding", OTHERS)
def test_other_languages_are_not_taken_for_japanese(encoding):
    for text in pieces(OTHERS[encoding], ". "):
        data = text.encode(encoding, "ignore")
        told = decode_bytes(data)
        assert told == "encoding" or (isinstance(told, DecodedText) and told.encoding == "utf-8"), (data, told)
        if len(text) >= 60:
            assert told == "encoding"


def test_binary_data_are_not_text():
    rng = random.Random(5)
    for size in (60, 300, 2000) * 40:
        assert decode_bytes(rng.randbytes(size)) == "not_text"
    assert decode_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR") == "not_text"
    assert decode_bytes(b"plain ascii with a NUL\x00") == "not_text"
    assert decode_bytes(b"\xff\xfea") == "not_text"  # half a character after a mark


def test_a_damaged_file_is_not_read_in_another_encoding():
    rng = random.Random(5)
    for text in pieces(JAPANESE, "。\n"):
        data = bytearray(text.encode())
        data[rng.randrange(len(data))] = 0xFF
        assert decode_bytes(bytes(data)) == "encoding"


def test_colours_of_a_terminal_are_no_japanese():
    text = "\x1b[31mred\x1b(B\x1b[m 赤\n"
    assert decode_bytes(text.encode()) == (text, "utf-8")
